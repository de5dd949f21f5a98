"""Messages of the user that stand in a short form in the prompt: a model with tools can read on in them."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from zkchat.chat.journal import Journal
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.context.condensing import split_question
from zkchat.model.choices import DEFAULT_PRIORITY, PASTE_PRIORITY
from zkchat.model.message import ChatMessage

LONG_SHARE: Final = 0.8
"""Of what a prompt may take: a message that takes more is bound to be shortened."""


PASTE_TOKENS: Final = 2_000
"""From here on a message that is mostly material counts as a paste."""


def priority_of(text: str, tokens: int) -> int:
    """How important a message of the user is by itself: less than others if most of it is pasted."""
    is_pasted = tokens > PASTE_TOKENS and 2 * len(split_question(text).material) > len(text)
    return PASTE_PRIORITY if is_pasted else DEFAULT_PRIORITY


class LongMessages(Struct, frozen=True, kw_only=True):
    journal: Journal
    privacy: ConversationPrivacy

    def texts(self) -> list[str]:
        """Those that are shortened, as they were sent, the latest first."""
        condensed = self.journal.history.window.condensed
        return [message.text for message in self._live() if _is_short(message, condensed)]

    def are_there(self, cap: int) -> bool:
        """Whether any is shortened, or will be in a prompt of at most `cap` tokens."""
        condensed = self.journal.history.window.condensed
        longest = LONG_SHARE * cap
        return any(message.token_count > longest or _is_short(message, condensed) for message in self._live())

    def _live(self) -> Iterator[ChatMessage]:
        hidden = self.privacy.hidden()
        live = reversed(self.journal.history.window.live)
        return (message for message in live if message.role == "user" and message.id not in hidden)


def _is_short(message: ChatMessage, condensed: Mapping[tuple[str, str], str]) -> bool:
    """Whether its words are shortened, and not only the notes that go with it."""
    short = condensed.get((message.id, ""))
    return short is not None and message.text not in short
