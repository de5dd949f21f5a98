"""What of a conversation a model or a server may see: turns that were given notes which stay on this machine stay here.

A turn is such a turn as a whole, from the question to the answer, because the answer quotes what it was given; and so
is every later one that a model on this machine answers, because it was given the earlier ones.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final
from urllib.parse import unquote_plus

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.chat.journal import Journal
from zkchat.core import (
    ChatMessage,
    EvidencePart,
    FilePart,
    ImagePart,
    LeftOut,
    MessageCache,
    ModelInfo,
    ModelProvider,
    OutsideVault,
    RequestContext,
    RequestItem,
    StorageError,
    VaultError,
    Window,
    compaction_of,
    file_kind,
    is_note,
    lazy_pattern,
)
from zkchat.index import GuardedLibrary, Library
from zkchat.notes import IS_LOCAL, LOCAL_NOTES, is_folder, listed_paths

WITHHELD: Final = "[This part of the conversation is withheld: it rests on notes that stay on the user's machine.]"
_RESTS_ON: Final = "rests on "
MAX_READ: Final = 200
"""Local notes that are compared; of more, those that a search for the text finds."""
_WORD: Final = lazy_pattern(r"\w+")
_RUN: Final = lazy_pattern(r"[^\s\"'<>,;()\[\]{}`|]{6,}")
_DIGIT: Final = lazy_pattern(r"\d")
_DAY: Final = lazy_pattern(r"\d{4}-\d\d-\d\d")


class ConversationPrivacy(Struct, kw_only=True):
    """Which messages of one conversation its model may see, and which of its own stay on this machine.

    Implements `memory.FactPrivacy`.
    """

    journal: Journal
    library: GuardedLibrary
    provider: ModelProvider
    _disclosed: bool = False
    _notes_of: MessageCache[frozenset[str]] = field(default_factory=lambda: MessageCache(_notes_of))

    def begin_turn(self) -> None:
        """Forget what was disclosed to earlier turns."""
        self._disclosed = self.library.disclosed = False

    def disclose(self) -> None:
        """Note that the model was shown something that is to stay on this machine."""
        self._disclosed = True

    def withholds(self) -> bool:
        """Whether what is local is kept from the model."""
        return not self.provider.info.on_this_machine

    def keeps_local(self) -> bool:
        """Whether what is written now is to stay on this machine."""
        was_disclosed = self._disclosed or self.library.disclosed
        return not self.withholds() and (was_disclosed or self.journal.history.is_local)

    def are_sent_in(self, text: str) -> bool:
        """Whether the arguments of a call hold a passage or a name of what stays here.

        Compares words, not meanings: what is translated, or encoded otherwise than in a URL, is not found.
        """
        whole, hidden = self.library.whole, self._local_notes()
        sought = _Sought(f"{text}\n{unquote_plus(text)}", 5)  # words in a row: arguments are short
        if any(sought.names(name) for path in hidden for name in (path, *whole.names(path))):
            return True
        return any(sought.shares(note) or sought.shares_code(note) for note in _texts_of(whole, hidden, text))

    def are_received_in(self, text: str) -> bool:
        """Whether an answer of a server holds a passage of it."""
        sought = _Sought(text, 12)  # words in a row: answers may be long
        return any(map(sought.shares, _texts_of(self.library.whole, self._local_notes(), text)))

    def _local_notes(self) -> frozenset[str]:
        return self.library.whole.guarded_for(Elsewhere()).hidden()

    def hidden(self) -> frozenset[str]:
        """The ids of the messages that the model may not see."""
        return frozenset(self._withheld())

    def _withheld(self) -> dict[str, str]:
        """The messages that the model may not see, by id, and on what they rest."""
        stays = self.withholds()
        kept: dict[str, str] | None = {}
        try:
            if stays or self.library.hidden():
                notes = map(self._notes_of, self.journal.history.thread)
                kept = self.library.kept_from_turns(chain.from_iterable(notes))
        except StorageError:  # the index does not say which they are
            kept = None if stays else {}
        if not stays and not kept:
            return {}

        def rests_on(message: ChatMessage) -> str:
            if stays and message.local:
                return LOCAL_NOTES
            notes = self._notes_of(message)
            if kept is None:
                return LOCAL_NOTES if notes else ""
            return next((kept[path] for path in notes if path in kept), "")

        withheld: dict[str, str] = {}
        for turn in _turns(self.journal.history.thread):
            if reason := next(filter(None, map(rests_on, turn)), ""):
                withheld |= {message.id: reason for message in turn}
        return withheld

    def shown(self) -> tuple[Window, tuple[LeftOut, ...]]:
        """What the window holds, with a short word in the place of what is withheld, and the record of that."""
        window, hidden = self.journal.history.window, self._withheld()
        if not hidden:
            return window, ()
        stand_ins: set[str] = set()  # the questions at which withheld stretches begin, being nothing but text
        for before, message in zip([None, *window.live], window.live, strict=False):
            begins = message.id in hidden and not (before and before.id in hidden)
            if begins and message.role == "user" and not message.parts_of(ImagePart):
                stand_ins.add(message.id)
        compactions = window.compactions
        if window.summary and compactions[-1].id in hidden:
            *earlier, last = compactions
            compactions = (*earlier, replace(last, parts=(replace(window.summary, summary="", references=()),)))
        shown = Window(
            live=tuple(message for message in window.live if message.id not in hidden.keys() - stand_ins),
            compactions=compactions,
            pinned=window.pinned,
            stand_ins={(id_, ""): WITHHELD for id_ in stand_ins},
        )
        reasons = {message.id: f"{_RESTS_ON}{hidden[message.id]}" for message in window.live if message.id in hidden}
        items = (RequestItem(type="message", name=id_, reason=reason) for id_, reason in reasons.items())
        return shown, tuple(LeftOut(item=item, why="private") for item in items)


class Elsewhere:
    """Any model that is not on this machine."""

    info = ModelInfo(provider="elsewhere", id="")


def stays_here(messages: Iterable[ChatMessage], library: Library) -> bool:
    """Whether what is made of these messages is to stay on this machine: one is local, or has to do with a note that
    is private by now, or that is gone and may be."""
    asked = [*messages]
    if any(message.local for message in asked):
        return True
    notes = frozenset(chain.from_iterable(map(_notes_of, asked)))
    try:
        return bool(library.whole.guarded_for(Elsewhere()).kept_from_turns(notes))
    except StorageError:  # the index does not say which notes are private
        return bool(notes)


def withheld_warnings(context: RequestContext, info: ModelInfo) -> list[str]:
    """What to warn the user of that the model may not see, a sentence for each."""
    items = [left.item for left in context.left_out if left.why == "private"]
    elsewhere = (
        f"{info.shown} is not on this machine"
        if info.is_located
        else f"it is not known whether {info.shown} runs on this machine"
    )
    texts = [
        f"not sent: {item.name} {item.reason}" + (f" and {elsewhere}" if item.reason == IS_LOCAL else "")
        for item in items
        if item.type != "message"
    ]
    since = "" if info.on_this_machine else f"; {elsewhere}"
    earlier = [
        f"not sent: earlier messages that used {item.reason.removeprefix(_RESTS_ON)}{since}"
        for item in items
        if item.type == "message"
    ]
    return [*dict.fromkeys(texts), *dict.fromkeys(earlier)]


def _turns(thread: Iterable[ChatMessage]) -> Iterator[list[ChatMessage]]:
    """The messages from one question to the next. A compaction stands by itself: it tells of other turns."""
    turn: list[ChatMessage] = []
    for message in thread:
        if compaction_of(message):
            yield [message]
            continue
        if message.role == "user":
            yield turn
            turn = []
        turn.append(message)
    yield turn


def _notes_of(message: ChatMessage) -> frozenset[str]:
    """The paths of the notes that a message names, brings along, or was written with."""
    part = compaction_of(message)
    references = [*message.references, *(part.references if part else ())]
    notes: set[str] = set()
    for each in message.parts:
        if isinstance(each, FilePart) and not each.server:
            notes.update(listed_paths(each.text) if is_folder(each.name) else (each.name.partition("#")[0],))
        elif isinstance(each, EvidencePart):
            notes.update(found.relative_path for found in (*each.evidence, *each.nearest))
            references += each.listing.references if each.listing else ()
        elif isinstance(each, ImagePart) and each.is_of_vault:
            notes.update(filter(None, (each.name, each.embedded_in)))
    notes.update(reference.relative_path for reference in references if reference.relative_path)
    if message.request_context:
        named = (item.name.partition("#")[0] for item in message.request_context.items if not item.server)
        notes.update(name for name in named if is_note(name) or file_kind(name))
    return frozenset(notes)


def _texts_of(whole: Library, hidden: frozenset[str], text: str) -> Iterator[str]:
    paths: Iterable[str] = sorted(hidden) if text.strip() else ()
    if len(hidden) > MAX_READ:
        found = whole.search(text[:2_000], limit=MAX_READ, within=hidden, words_only=True)
        paths = dict.fromkeys(passage.path for passage in found)
    for path in paths:
        try:
            yield whole.read(path)
        except VaultError:
            continue


class _Sought:
    """A text, to be compared with many."""

    def __init__(self, text: str, passage_words: int) -> None:
        words = _words(text)
        self._line = f" {' '.join(words)} "
        self._length = passage_words
        self._passages = _passages(words, passage_words)
        self._codes = {*_codes(text)}

    def names(self, name: str) -> bool:
        words = " ".join(_words(name))
        return len(words) >= 4 and f" {words} " in self._line  # shorter ones stand everywhere

    def shares(self, other: str) -> bool:
        return bool(self._passages) and not self._passages.isdisjoint(_passages(_words(other), self._length))

    def shares_code(self, other: str) -> bool:
        return bool(self._codes) and not self._codes.isdisjoint(_codes(other))


def _codes(text: str) -> Iterator[str]:
    """What may be a code or a password: it holds a digit, and is not just a day."""
    for found in _RUN.finditer(text):
        code = found[0].strip(".:!?*")  # which a sentence or Markdown puts around it
        if _DIGIT.search(code) and not _DAY.fullmatch(code):
            yield code.casefold()


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _passages(words: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


OUTSIDE: Final = "this computer"
"""Where a file outside the vault is from, in the place of a server, whose name has no blank."""
ReadOutside = Callable[[str, ModelInfo], str | None]
"""The text of the file at a path that was typed; None where the user does not let this model have it.

Raises `VaultError` where it cannot be had."""


def nothing_outside(path: str, _model: ModelInfo) -> str | None:
    """Where nobody can be asked."""
    hint = "A chat at a terminal asks you whether to send it; zkchat ask --file sends it."
    raise OutsideVault(f"{path!r} leads out of the vault.", hint=hint)
