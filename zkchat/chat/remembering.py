"""What a conversation gives to memory, and what it reports of its use."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.chat.request_plan import RequestPlanner
from zkchat.errors import StorageError, UsageError
from zkchat.model.memory import FactSource
from zkchat.model.message import ChatMessage
from zkchat.model.profile import Agent

if TYPE_CHECKING:
    from zkchat.memory.facts import Remembered


class Remembering(Struct, frozen=True, kw_only=True):
    """The memory as one conversation uses it, unless it is private."""

    planner: RequestPlanner
    is_private: Callable[[], bool]
    """Whether nothing that is said is to be remembered elsewhere."""

    def remember(self, text: str, source: FactSource, session_id: str) -> "Remembered":
        """Keep a fact for other sessions. Raises `UsageError` where nothing of this one is to be remembered."""
        hint = "To keep it all the same: zkchat memory add 'TEXT'"
        if self.is_private():
            raise UsageError("This conversation is private, so nothing of it is remembered.", hint=hint)
        if not self.planner.remembers:
            raise UsageError("Memory is switched off: memory.enabled is false.", hint=hint)
        if self.planner.memory is None:
            name = self.planner.provider.info.name
            raise UsageError(f"{name} has no use for what is remembered.", hint=hint)
        return self.planner.memory.remember(text, source, session_id)

    def worth_keeping(self, messages: Iterable[ChatMessage], agent: Agent) -> list[str]:
        """What the user said in these messages that could be remembered; nothing in a private conversation."""
        if self.is_private() or self.planner.memory is None or not agent.memory:
            return []
        from zkchat.chat.learning import learning_points

        try:
            known = self.planner.memory.facts()
        except StorageError:
            return []
        # The steps of a goal are the model's words.
        typed = (message.text for message in messages if message.role == "user" and message.brief is None)
        return learning_points(typed, known)

    def count_use(self, answer: ChatMessage) -> None:
        """Count the facts that went into the request of an answer."""
        items = answer.request_context.items if answer.request_context else ()
        facts = [item.name for item in items if item.type == "memory" and item.include == "agent"]
        if facts and self.planner.memory and not self.is_private():
            with suppress(StorageError):  # how often a fact was used matters little
                self.planner.memory.used(facts)
