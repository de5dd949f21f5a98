"""A conversation that lasts: one turn after the other, in a session on disk."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from zkchat.agents.profiles import Profiles
from zkchat.chat.document_summaries import BackgroundSummaries
from zkchat.chat.journal import Asked
from zkchat.chat.learning import learning_points
from zkchat.chat.privacy import stays_here
from zkchat.chat.request import Wants
from zkchat.chat.staleness import StaleNote
from zkchat.chat.turn import Turn
from zkchat.chat.unused import unused_items
from zkchat.context.assembly import Assembled, request_from
from zkchat.context.calibration import Calibration
from zkchat.context.strategies import CompactionPlan, Retention
from zkchat.errors import ProviderError, StorageError, UsageError
from zkchat.memory.facts import Remembered
from zkchat.model.choices import CompactionStrategy
from zkchat.model.events import Compacting, Event, PromptReady, TurnFinished, Warned
from zkchat.model.memory import FactSource
from zkchat.model.message import ChatMessage, CompactionPart, ContextUsage, RequestItem
from zkchat.model.profile import Agent
from zkchat.model.prompt import ModelInfo, ToolSpec
from zkchat.model.session import (
    AgentEntry,
    HeadEntry,
    History,
    ItemsEntry,
    MessageEntry,
    PinEntry,
    RestoreEntry,
    TitleEntry,
    Window,
    compaction_of,
)


@dataclass(frozen=True, kw_only=True)
class Preview:
    """A compaction as it would be."""

    plan: CompactionPlan
    part: CompactionPart
    trouble: str
    """Why the model's summary would not be used, if so."""


class Conversation:
    def __init__(
        self, turn: Turn, choices: Sequence[AgentEntry | ItemsEntry] = (), describing: BackgroundSummaries | None = None
    ) -> None:
        """`choices` are what the user said of the conversation before it began; its first message brings them along."""
        self._turn = turn
        self._choices = [*choices]
        self._describing = describing
        self._kept: Asked | None = None
        """What is stored and not yet said."""
        self._told: set[StaleNote | RequestItem] = set()
        """What changed or is of no use, and the user has heard of it."""

    @property
    def model(self) -> ModelInfo:
        return self._turn.provider.info

    @property
    def session_id(self) -> str:
        return self._turn.journal.session_id

    @property
    def history(self) -> History:
        return self._turn.journal.history

    @property
    def messages(self) -> list[ChatMessage]:
        return self.history.thread

    @property
    def window(self) -> Window:
        """What the model still sees."""
        return self.history.window

    @property
    def usage(self) -> ContextUsage | None:
        """What filled the context of the last answer, without what was compacted since."""
        made = None
        for message in self.history.newest_first:
            if message.request_context:
                usage = message.request_context.usage
                return _compacted(usage, made) if usage and made else usage
            part = compaction_of(message)
            if made is None and part and message in self.window.compactions:
                made = part
        return None

    @property
    def calibration(self) -> Calibration:
        """How the model's server counts, as far as it has said."""
        return self._turn.preparation.calibration

    @property
    def is_private(self) -> bool:
        """Whether nothing that is said here is to be remembered elsewhere."""
        chosen = any(isinstance(choice, ItemsEntry) and choice.private for choice in self._choices)
        return chosen or self.history.is_private

    def say(self, text: str) -> AsyncGenerator[Event, None]:
        """Store the user's words at once, and return what happens then, for whoever iterates over it.

        Closing the iterator stops the answer and keeps its part.
        """
        if self._kept is None or self._kept.message.text != text:
            self.keep(text)
        asked, self._kept = self._kept, None
        assert asked is not None
        return self.answer(asked)

    def keep(self, text: str) -> None:
        """Store the user's words now, before `say` is called with them."""
        choices, self._choices = self._choices, []
        self._kept = self._turn.ask(text, choices)

    def answer(self, asked: Asked) -> AsyncGenerator[Event, None]:
        """What happens about a question that is stored already."""
        return self._accompanied(self._turn.run(asked))

    def retry(self) -> AsyncGenerator[Event, None]:
        """Ask the last question again; the earlier answer stays on a branch of its own."""
        return self._accompanied(self._turn.run_again())

    @property
    def is_saved(self) -> bool:
        """Whether all that was said is on disk."""
        return self._turn.journal.is_saved

    def save_rest(self) -> Warned | None:
        """Store what a full disk has refused so far; what cannot be stored even now is told."""
        return self._turn.journal.save_rest()

    async def _accompanied(self, turn: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """A turn, and what a conversation does beside it."""
        if self._describing:
            self._describing.stop()
        async with aclosing(turn) as events:
            async for event in events:
                yield event
                if isinstance(event, PromptReady):
                    self._write_choices()
                    for note in self._newly_stale(event.message_id):
                        yield note.warning
                elif isinstance(event, TurnFinished):
                    self._count_facts(event.message)

    def describe_soon(self) -> None:
        """Have long documents of the last answer described in the background, until the next turn begins."""
        history, last = self.history, self.history.last
        record = last.request_context if last and last.status == "complete" else None
        if self._describing and last and record:
            self._describing.soon(last, lambda: request_from(record, history.messages, history.contents))

    def _write_choices(self) -> None:
        if self._choices:
            self._turn.journal.append(*self._choices)
            self._choices.clear()

    def _newly_stale(self, message_id: str) -> Iterator[StaleNote]:
        for note in self.wants.stale(self.history.messages[message_id]):
            if note not in self._told:
                self._told.add(note)
                yield note

    def _count_facts(self, answer: ChatMessage) -> None:
        items = answer.request_context.items if answer.request_context else ()
        facts = [item.name for item in items if item.type == "memory" and item.include == "agent"]
        if facts and self.wants.memory and not self.is_private:
            with suppress(StorageError):  # how often a fact was used matters little
                self.wants.memory.used(facts)

    def remember(self, text: str, source: FactSource = "user") -> Remembered:
        """Keep a fact for other sessions. Raises `UsageError` where nothing of this one is to be remembered."""
        hint = "To keep it all the same: zkchat memory add 'TEXT'"
        if self.is_private:
            raise UsageError("This conversation is private, so nothing of it is remembered.", hint=hint)
        if self.wants.memory is None:
            raise UsageError(f"{self.model.name} has no use for what is remembered.", hint=hint)
        return self.wants.memory.remember(text, source, self.session_id)

    def worth_keeping(self, messages: Iterable[ChatMessage]) -> list[str]:
        """What the user said in these messages that could be remembered; nothing in a private conversation."""
        if self.is_private or self.wants.memory is None:
            return []
        try:
            known = self.wants.memory.facts()
        except StorageError:
            return []
        return learning_points((message.text for message in messages if message.role == "user"), known)

    def stays_here(self, messages: Iterable[ChatMessage]) -> bool:
        """Whether what is made of these messages is to stay on this machine."""
        return stays_here(messages, self._turn.library)

    async def measure(self) -> Assembled:
        """The request as it would be now, without a new question."""
        with suppress(ProviderError):  # the window is then the one that is set, or the usual
            await self._turn.provider.connect()
        return self._turn.preparation.assemble(self._turn.wanted())

    async def preview(
        self, focus: str = "", *, keep: int | None = None, strategy: CompactionStrategy | None = None
    ) -> Preview | None:
        """What `compact` would do; None when there is nothing to summarise."""
        assembled = await self.measure()
        if (plan := self._plan(assembled, keep, strategy)) is None:
            return None
        part, trouble = await self._turn.preparation.compactor.draft(assembled, plan, focus)
        return Preview(plan=plan, part=part, trouble=trouble)

    async def compact(
        self, focus: str = "", *, keep: int | None = None, strategy: CompactionStrategy | None = None
    ) -> AsyncGenerator[Event, None]:
        """Summarise and archive older messages now, whether or not the context is full."""
        if self._describing:
            self._describing.stop()
        assembled = await self.measure()
        plan = self._plan(assembled, keep, strategy)
        if plan is None:
            yield Warned(text="There is nothing to summarise: the last messages stay as they are.")
            return
        yield Compacting(messages=len(plan.archived), tokens=assembled.usage.total)
        async with aclosing(self._turn.preparation.compactor.run(assembled, plan, focus)) as events:
            async for event in events:
                yield event

    def _plan(
        self, assembled: Assembled, keep: int | None, strategy: CompactionStrategy | None
    ) -> CompactionPlan | None:
        return self._turn.preparation.plan(
            assembled,
            strategy=strategy,
            keep=None if keep is None else Retention(recent=keep, least=min(keep, 2)),
            now=True,
        )

    def uncompact(self) -> ChatMessage | None:
        """Take the last compaction back, and return its marker; None if none is in force."""
        markers = self.window.compactions
        if not markers:
            return None
        self._turn.journal.append(RestoreEntry(compaction_id=markers[-1].id))
        return markers[-1]

    def clear(self) -> ChatMessage | None:
        """Archive everything without a summary, and return the marker; None if there is nothing to archive."""
        live = self.window.live
        if not live:
            return None
        number = 1 + sum(message.context_type == "summary" for message in self.messages)
        archived = tuple(message.id for message in live)
        usage = self.usage or ContextUsage()
        part = CompactionPart(
            number=number,
            summary="",
            strategy="clear",
            archived=archived,
            tokens_before=usage.total,
            tokens_after=usage.system + usage.tools,
        )
        return self._turn.preparation.compactor.apply(part)[0]

    def pin(self, message_id: str, *, pinned: bool = True) -> None:
        """Keep a message word for word through compactions, or no longer."""
        self._turn.journal.append(PinEntry(message_id=self._known(message_id), pinned=pinned))

    def branch(self, message_id: str | None) -> None:
        """Go on after this message, or from the beginning; what came after it stays in the session."""
        known = self._known(message_id) if message_id is not None else None
        self._turn.journal.append(HeadEntry(message_id=known))

    def rename(self, title: str) -> None:
        self._turn.journal.append(TitleEntry(title=title))

    def prioritise(self, message_id: str, priority: int) -> None:
        """Say how important a message is, from 1 to 10; from 8 on it is kept word for word while it fits."""
        message = self.history.messages[self._known(message_id)]
        changed = ChatMessage.model_validate({**message.model_dump(), "priority": priority})
        self._turn.journal.append(MessageEntry(message=changed))

    @property
    def wants(self) -> Wants:
        """What goes into requests beside the conversation."""
        return self._turn.wants

    @property
    def profiles(self) -> Profiles:
        """The agents and rules at hand."""
        return self.wants.profiles

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self._turn.tools.specs

    @property
    def agent(self) -> Agent:
        """Who answers a message that speaks to nobody else."""
        return self._turn.agent_for("")

    def use_agent(self, name: str) -> Agent:
        """Let this agent answer from now on. Raises `ConfigError` with the closest where there is none."""
        agent = self.profiles.agent(name)
        self._turn.journal.begin()
        self._turn.journal.append(AgentEntry(name=agent.name))
        return agent

    def add(self, item: RequestItem) -> None:
        """Keep a rule, a note or a tool in every request of this session."""
        self._turn.journal.begin()
        self._turn.journal.append(ItemsEntry(added=(item,)))

    def drop(self, item: RequestItem) -> None:
        """Leave it out of every further request of this session."""
        self._turn.journal.begin()
        self._turn.journal.append(ItemsEntry(dropped=(item,)))

    def unused(self) -> list[RequestItem]:
        """What the user added and no answer of the last ten turns cited or called: it may as well be dropped."""
        return unused_items(self.history)

    def newly_unused(self) -> list[RequestItem]:
        """Those of them that were not told of before."""
        new = [item for item in self.unused() if item not in self._told]
        self._told.update(new)
        return new

    def _known(self, message_id: str) -> str:
        if message_id not in self.history.messages:
            raise UsageError(f"There is no message {message_id} in this session.", hint="/history lists them.")
        return message_id


def _compacted(usage: ContextUsage, part: CompactionPart) -> ContextUsage:
    left = max(0, part.tokens_after - (usage.total - usage.messages - usage.references))
    messages = min(usage.messages, left)
    return usage.model_copy(update={"messages": messages, "references": left - messages, "estimated": True})
