"""What was sent of notes, and what has changed since: notes of this conversation, and items of an old request."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Final, get_args

from msgspec import Struct

from zkchat.chat.agents import DEFAULT, Profiles, Tier, instructions
from zkchat.chat.context.assembly import BRIEF_REASONS, STRICT, STRICT_PLAIN, WRITING, PromptItem, digest, prompt_item
from zkchat.chat.context.formatting import format_document
from zkchat.chat.context.selection import build_candidates
from zkchat.chat.journal import Journal
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.chat.quotations import given_texts
from zkchat.chat.references import text_of
from zkchat.core import (
    ChatMessage,
    FilePart,
    RequestContext,
    RequestItem,
    StorageError,
    VaultError,
    Warned,
    without_suffix,
)
from zkchat.index import Library
from zkchat.notes import MAX_FILE_BYTES, digest_of, is_folder

NOTE: Final = "text/markdown"
"""The media type of notes that were sent; whatever else a message holds has no file in the vault."""


class StaleNote(Struct, frozen=True, kw_only=True):
    """A note that has changed since the model read it in this conversation."""

    name: str
    now: str
    """The digest of its present text; empty where it is gone, or kept from this model."""
    is_sent_again: bool

    def prompt_item(self, *, can_read: bool) -> PromptItem:
        """The prompt item that tells the model of the change."""
        if self.is_sent_again:
            more = "The text that comes with this message is the present one."
        else:
            more = "What stands there is its old text." + (" Read it again before you rely on it." if can_read else "")
        text = f"{self.name} has changed since it was quoted earlier in this conversation. {more}"
        return prompt_item("memory", self.name, text, reason="changed since the model read it", this_turn_only=True)

    @property
    def warning(self) -> Warned:
        if not self.now:
            hint = "What was said of it stays in the conversation; /branch goes back to before it."
            return Warned(text=f"{self.name} is not there any more; the model read it earlier.", hint=hint)
        if self.is_sent_again:
            hint = "Its present text goes with your message."
        else:
            again = f"@{self.name}" if is_folder(self.name) else f"[[{without_suffix(self.name)}]]"
            hint = f"To send its present text, link it again: {again}"
        return Warned(text=f"{self.name} has changed since the model read it.", hint=hint)


def stale_notes(
    library: Library, live: Iterable[ChatMessage], user: ChatMessage, is_own: Callable[[str, str], bool]
) -> Iterator[StaleNote]:
    """The notes that the live messages quote and that differ now, for a new message of the user.

    `is_own` tells whether the text of a note with a digest is one that the model made itself.
    """
    before = last_readings(read_in(message) for message in live if message.id != user.id)
    sent = read_in(user)
    for name, known in last_readings([before, sent]).items():
        try:
            now = digest(text_of(library, name))
        except VaultError:
            now = ""
        if now != known and not is_own(name, now):
            yield StaleNote(name=name, now=now, is_sent_again=False)
        elif name in sent and before.get(name, now) != now:
            yield StaleNote(name=name, now=now, is_sent_again=True)


def read_in(message: ChatMessage) -> dict[str, str]:
    """The digests of the notes, or parts of notes, that were sent with a message or read for it."""
    files = {
        part.name: part.digest or digest(part.text)
        for part in message.parts
        if isinstance(part, FilePart) and part.media_type == NOTE
    }
    return files | {
        each.relative_path: each.digest for each in message.references if each.relative_path and each.digest
    }


def last_readings(readings: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The latest digest of each note and part of a note."""
    last: dict[str, str] = {}
    for read in readings:
        for name, known in read.items():
            for place in [each for each in last if each.startswith(f"{name}#")]:
                del last[place]  # the whole note came later than this part of it
            last[name] = known
    return last


class ChangedItem(Struct, frozen=True, kw_only=True):
    """A rule, a note, an image or an agent's instructions in a request that have changed since."""

    item: RequestItem
    now: str
    """The digest of what it says now; empty where it is gone."""

    @property
    def sentence(self) -> str:
        what = {"system": "agent", "reference": "note"}.get(self.item.type, self.item.type)
        then = f"The {what} {self.item.name} has changed since: it was {self.item.digest}"
        return f"{then}, and is {self.now} now." if self.now else f"{then}, and is not there any more."


def changed_items(context: RequestContext, profiles: Profiles, library: Library) -> list[ChangedItem]:
    """The items of a request that would differ if it were built from the current files."""
    changed: dict[tuple[str, str, str], ChangedItem] = {}
    for item in context.items:
        now = _digests_now(item, profiles, library) if item.digest else None
        if now is not None and item.digest not in now:
            changed[item.type, item.name, item.digest] = ChangedItem(item=item, now=now[0] if now else "")
    return [*changed.values()]


def _digests_now(item: RequestItem, profiles: Profiles, library: Library) -> list[str] | None:
    """The digests of what could be sent now; empty if the file is gone, None for an item without a file."""
    texts: list[str] = []
    match item.type:
        case "image" if item.tokens and not item.title:
            with suppress(VaultError, StorageError):
                return [digest_of(library.read_data(item.name, MAX_FILE_BYTES))]
        case "system" if item.reason:  # words for this message alone
            return None
        case "system":
            if agent := profiles.agents.get(item.name.casefold()):
                texts = [instructions(agent, tier) for tier in get_args(Tier)]
        case "rule" | "reference" if item.server or item.reason in BRIEF_REASONS.values():
            return None
        case "rule":
            rules = build_candidates(profiles.agents[DEFAULT], rules=profiles.rules.values())
            asked_for = {"strict": [STRICT, STRICT_PLAIN], "write": [WRITING]}  # by an option, and not by a file
            texts = [*(rule.text for rule in rules if rule.name == item.name), *asked_for.get(item.name, ())]
        case "reference":
            with suppress(VaultError, StorageError):
                text = text_of(library, item.name)
                texts = [text if item.part_of else format_document(item.name, text)]
        case _:
            return None
    return [*map(digest, texts)]


class GivenNotes(Struct, frozen=True, kw_only=True):
    """Implements `tools.readings.GivenBefore`, from the messages that the model sees."""

    journal: Journal
    privacy: ConversationPrivacy

    def question(self) -> tuple[str, Mapping[str, str]]:
        question = self.journal.history.last_question
        return (question.id, _given_in(question)) if question else ("", {})

    def before(self) -> Mapping[str, str]:
        question = self.journal.history.last_question
        earlier = [*takewhile(lambda message: not question or message.id != question.id, self._seen())]
        passages = {name: "" for message in earlier for name in _given_in(message)}
        return passages | last_readings(map(read_in, earlier))

    def texts(self, path: str) -> Sequence[str]:
        return [given.text for given in given_texts(self._seen()) if given.path.partition("#")[0] == path]

    def _seen(self) -> Iterator[ChatMessage]:
        hidden = self.privacy.hidden()
        return (message for message in self.journal.history.window.live if message.id not in hidden)


def _given_in(message: ChatMessage) -> dict[str, str]:
    """The notes of which a message brought any text, with digests where that was the whole."""
    passages = {each.relative_path: "" for each in message.references if each.relative_path and each.included}
    return passages | read_in(message)
