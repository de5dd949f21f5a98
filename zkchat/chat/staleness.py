"""What was sent of notes, and what has changed since: notes of this conversation, and items of an old request."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeGuard

from msgspec import Struct

from zkchat.chat.agents import DEFAULT, Profiles, instructions
from zkchat.chat.context.assembly import BRIEF_REASONS, SMALL_AGENT, STRICT, WRITING, PromptItem, digest, prompt_item
from zkchat.chat.context.formatting import format_document
from zkchat.chat.context.selection import build_candidates
from zkchat.chat.journal import Journal
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.chat.quotations import given_texts
from zkchat.chat.references import place_of, text_of
from zkchat.core import (
    ChatMessage,
    FilePart,
    MessageCache,
    Part,
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


class Staleness:
    """Compares what the model read in a conversation with the notes of now.

    A text is read again only when the index reports a change.
    """

    def __init__(self, library: Library, is_own: Callable[[str, str], bool] = lambda _path, _digest: False) -> None:
        """`is_own` tells whether the text of a note with a digest is one that the model made itself."""
        self._library = library
        self._is_own = is_own
        self._read = MessageCache(read_in)
        self._now: dict[str, _Present] = {}

    def stale_notes(self, live: Sequence[ChatMessage], user: ChatMessage) -> Iterator[StaleNote]:
        """The stale notes of the live messages, for a new message of the user."""
        before = last_readings(self._read(message) for message in live if message.id != user.id)
        sent = self._read(user)
        present = self._digests_now(readings := last_readings([before, sent]))
        for name, known in readings.items():
            now = present[name]
            if now != known and not self._is_own(name, now):
                yield StaleNote(name=name, now=now, is_sent_again=False)
            elif name in sent and before.get(name, now) != now:
                yield StaleNote(name=name, now=now, is_sent_again=True)

    def _digests_now(self, names: Iterable[str]) -> dict[str, str]:
        """The current digests by name; empty where the text is gone."""
        remembered = {name: self._now[name] for name in names if name in self._now}
        prints = self._library.fingerprints({each.path for each in remembered.values()})
        return {
            name: known.digest
            if (known := remembered.get(name)) and known.fingerprint == prints.get(known.path)
            else self._digest_now(name)
            for name in names
        }

    def _digest_now(self, name: str) -> str:
        try:
            path, anchor = place_of(self._library, name) or (name, "")
            fingerprint = self._library.fingerprints([path]).get(path)
            now = digest(self._library.section(path, anchor))
        except VaultError:
            return ""
        if fingerprint:
            self._now[name] = _Present(path=path, fingerprint=fingerprint, digest=now)
        return now


class _Present(Struct, frozen=True, kw_only=True):
    """The digest of a place in a note, valid as long as the note has this fingerprint."""

    path: str
    fingerprint: bytes
    digest: str


def read_in(message: ChatMessage) -> dict[str, str]:
    """The digests of the notes, or parts of notes, that were sent with a message or read for it."""
    files = {part.name: part.digest or digest(part.text) for part in message.parts if _is_note(part)}
    return files | {
        each.relative_path: each.digest for each in message.references if each.relative_path and each.digest
    }


def last_readings(readings: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The latest digest of each note and part of a note."""
    last: dict[str, str] = {}
    places: set[str] = set()
    for read in readings:
        for name, known in read.items():
            inside = {place for place in places if place.startswith(f"{name}#")}
            for place in inside:
                del last[place]  # the whole note came later than this part of it
            places -= inside
            if "#" in name:
                places.add(name)
            last[name] = known
    return last


def _is_note(part: Part) -> TypeGuard[FilePart]:
    return isinstance(part, FilePart) and part.media_type == NOTE


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
        if item.type == "image" and item.digest and item.tokens and not item.title:
            now_is = _image_digest_now(library, item.name)
            if now_is != item.digest:
                changed[item.type, item.name, item.digest] = ChangedItem(item=item, now=now_is)
            continue
        texts = _present_texts(item, profiles, library) if item.digest else None
        if texts is not None and item.digest not in (now := [*map(digest, texts)]):
            changed[item.type, item.name, item.digest] = ChangedItem(item=item, now=now[0] if now else "")
    return [*changed.values()]


def _image_digest_now(library: Library, path: str) -> str:
    try:
        return digest_of(library.read_data(path, MAX_FILE_BYTES))
    except (VaultError, StorageError):
        return ""


def _present_texts(item: RequestItem, profiles: Profiles, library: Library) -> list[str] | None:
    """The texts that would be sent now; empty if the file is gone, None for an item without a file."""
    match item.type:
        case "system":
            agent = profiles.agents.get(item.name.casefold())
            small = [SMALL_AGENT] if item.name == DEFAULT else []
            return [instructions(agent), *small] if agent else []
        case "rule" | "reference" if item.server or item.reason in BRIEF_REASONS.values():
            return None
        case "rule":
            rules = build_candidates(profiles.agents[DEFAULT], rules=profiles.rules.values())
            asked_for = {"strict": STRICT, "write": WRITING}.get(item.name)  # by an option, and not by a file
            return [*(rule.text for rule in rules if rule.name == item.name), *([asked_for] if asked_for else [])]
        case "reference":
            try:
                text = text_of(library, item.name)
            except (VaultError, StorageError):
                return []
            return [text if item.part_of else format_document(item.name, text)]
        case _:
            return None


class GivenNotes(Struct, frozen=True, kw_only=True):
    """Implements `tools.readings.GivenBefore`, from the messages that the model sees."""

    journal: Journal
    privacy: ConversationPrivacy

    def question(self) -> tuple[str, Mapping[str, str]]:
        question = self.journal.history.last_question
        return (question.id, _given_in(question)) if question else ("", {})

    def before(self) -> Mapping[str, str]:
        history = self.journal.history
        question, hidden = history.last_question, self.privacy.hidden()
        earlier: list[ChatMessage] = []
        for message in history.window.live:
            if question and message.id == question.id:
                break
            if message.id not in hidden:
                earlier.append(message)
        passages = {name: "" for message in earlier for name in _given_in(message)}
        return passages | last_readings(map(read_in, earlier))

    def texts(self, path: str) -> Sequence[str]:
        hidden = self.privacy.hidden()
        live = (message for message in self.journal.history.window.live if message.id not in hidden)
        return [given.text for given in given_texts(live) if given.path.partition("#")[0] == path]


def _given_in(message: ChatMessage) -> dict[str, str]:
    """The notes of which a message brought any text, with digests where that was the whole."""
    passages = {each.relative_path: "" for each in message.references if each.relative_path and each.included}
    return passages | read_in(message)
