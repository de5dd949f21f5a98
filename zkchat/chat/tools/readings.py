"""Tools that read notes, parts of messages and attachments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher, unified_diff
from itertools import accumulate
from typing import Annotated, Any, Final, Literal

from msgspec import Struct, field

from zkchat.chat.context.assembly import digest
from zkchat.chat.context.condensing import split_question
from zkchat.chat.context.unit_ranking import answering_units, split_units
from zkchat.chat.tools.registry import PAGE_CHARS, READ_ATTACHMENT, Number, Text, failure, function_tool
from zkchat.core import DocumentReference, Tool, ToolOutcome, VaultError, counted, is_note
from zkchat.index import Library
from zkchat.notes import parse_note


def attachment_tools(texts: Callable[[], Sequence[str]]) -> list[Tool]:
    """`texts` are the messages that stand in a short form, as they were sent, the latest first."""

    def read_attachment(
        *,
        query: Annotated[str, Text(description="Words to look for in it", also=("q", "text", "search"))] = "",
        offset: Annotated[int, Number(description="Character to start at", at_least=0)] = 0,
        number: Annotated[int, Number(description="1 is the latest, 2 the one before", at_least=1)] = 1,
    ) -> ToolOutcome:
        """Read on in a long text of the user that is shortened here ('left out'): a page, or what matches a query."""
        found = texts()
        if number > len(found):
            return failure(f"There is no such text. {counted(len(found), 'message')} of the user stands shortened.")
        split = split_question(found[number - 1])
        text = split.material or split.before
        return _search(text, query) if query.strip() else _page(text, offset)

    return [function_tool(read_attachment)]


def _page(text: str, offset: int) -> ToolOutcome:
    """A page of the text, up to the end of a line where there is one near."""
    end = min(len(text), offset + PAGE_CHARS)
    line = text.rfind("\n", offset + PAGE_CHARS // 2, end) + 1
    end = line if line and end < len(text) else end
    page = text[offset:end]
    more = f"\n(To go on, call {READ_ATTACHMENT} with offset {end}; {len(text) - end:,} characters are left.)"
    if not page:
        more = f"(The text ends at character {len(text):,}.)"
    return ToolOutcome(
        text=page + (more if end < len(text) or not page else ""), summary=f"{len(page):,} of {len(text):,} characters"
    )


def _search(text: str, query: str) -> ToolOutcome:
    """What matches with the lines around it, the best first, each with the offset at which it can be read."""
    units = split_units(text)
    found = answering_units(units, query)
    if not found:
        return ToolOutcome(
            text=f"Nothing in its {len(text):,} characters matches. Try other words, or read it by offset.",
            summary="nothing found",
        )
    shown: set[int] = set()
    pieces: list[str] = []
    for number in found:
        around = range(max(0, number - 1), min(len(units.spans), number + 2))
        if shown.isdisjoint(around):
            start, end = units.spans[around[0]][0], units.spans[around[-1]][1]
            pieces.append(f"(at offset {start})\n{text[start:end]}")
            shown.update(around)
        if sum(map(len, pieces)) > PAGE_CHARS:
            break
    return ToolOutcome(text="\n\n".join(pieces), summary=counted(len(found), "place"))


MAX_KEPT_CHARS: Final = 200_000
"""Characters of a text that is kept to show what changed in it."""


class GivenParts:
    """Which characters of a text stand in parts that were given. White space between them does not matter."""

    def __init__(self, text: str, parts: Iterable[str]) -> None:
        """Parts are in the order in which they were given: the same words twice are two places of the text."""
        self._text = text
        self._marks = bytearray(len(text))
        end = 0
        for part in parts:
            stripped = part.strip()
            start = text.find(stripped, end)
            start = text.find(stripped) if start < 0 else start
            if start >= 0:
                end = self._mark(start, len(stripped))
            else:
                self._mark_lines(stripped)

    @property
    def count(self) -> int:
        return len(self._text) if self._is_given(0, len(self._text)) else sum(self._marks)

    def hold(self, wanted: str) -> bool:
        """Whether all of a passage of the text was given."""
        wanted = wanted.strip()
        start = self._text.find(wanted)
        while start >= 0:
            if self._is_given(start, start + len(wanted)):
                return True
            start = self._text.find(wanted, start + 1)
        return False

    def _is_given(self, start: int, end: int) -> bool:
        return all(self._marks[place] or self._text[place].isspace() for place in range(start, end))

    def _mark(self, start: int, length: int) -> int:
        self._marks[start : start + length] = b"\1" * length
        return start + length

    def _mark_lines(self, part: str) -> None:
        """Mark the lines that are still as they were given."""
        lines = self._text.splitlines(keepends=True)
        if len(lines) > 5_000:
            return
        starts = [0, *accumulate(map(len, lines))]
        given = [line.rstrip() for line in part.splitlines()]
        matcher = SequenceMatcher(None, [line.rstrip() for line in lines], given, autojunk=False)
        for first, _, length in matcher.get_matching_blocks():
            self._mark(starts[first], starts[first + length] - starts[first])


class GivenBefore:
    """What the messages of a conversation say was given of notes: digests by path, or by path, `#` and place.

    Where only a passage of the note was given, the digest is empty. In a conversation that has just begun, nothing was.
    """

    def question(self) -> tuple[str, Mapping[str, str]]:
        """The id of the message that is being answered, and what came with it."""
        return "", {}

    def before(self) -> Mapping[str, str]:
        """What was given before that message."""
        return {}

    def texts(self, _path: str, /) -> Sequence[str]:
        """The parts of a note that stand in messages, in their order."""
        return ()


class _Known(Struct):
    """The texts of one note that a model knows: the one that it was given last, and what it made of it."""

    digests: set[str] = field(default_factory=set)
    text: str = ""
    places: dict[str, set[str]] = field(default_factory=dict)
    """The same of sections and blocks that were given by themselves."""
    parts: list[str] = field(default_factory=list)
    """What tools gave of its text, and what the model wrote itself."""


class Readings:
    """Keeps the digests of what tools gave to a model; of what came with messages the messages tell."""

    def __init__(self, library: Library, messages: GivenBefore | None = None) -> None:
        self._library = library
        self._messages = messages or GivenBefore()
        self._known: dict[str, _Known] = {}
        self._turn = ""
        self._given_now: dict[str, None] = {}

    def see(self, references: Iterable[DocumentReference], texts: Iterable[tuple[str, str]] = ()) -> None:
        """Take in what a tool, or a search before the answer, gave to the model: of which notes, and which texts."""
        self._begin_turn()
        for reference in references:
            path = reference.relative_path
            if not path or not (reference.included or reference.digest):
                continue
            self._given_now[path] = None
            if reference.digest:
                text = self._text(path)
                is_same = text is not None and digest(text) == reference.digest and len(text) <= MAX_KEPT_CHARS
                parts = self._known[path].parts if path in self._known else []
                self._known[path] = _Known({reference.digest}, text if is_same and text else "", parts=parts)
        for path, part in texts:
            self.wrote(path, part)

    def show(self, path: str, place: str) -> None:
        """The model is given a section or block as it is now, or the whole note."""
        text = self._text(path, place)
        if text is None:
            return
        known = self._known.setdefault(path, _Known())
        if place:
            known.places[place] = {digest(text)}
        else:
            self._known[path] = _Known({digest(text)}, text[:MAX_KEPT_CHARS], parts=known.parts)
        self.wrote(path, text)

    def wrote(self, path: str, text: str) -> None:
        """The model was given this text of a note, or wrote it itself."""
        parts = self._known.setdefault(path, _Known()).parts
        if text.strip() and text not in parts:
            parts.append(text)

    def was_given(self, path: str, place: str = "", *, include_children: bool = True) -> bool:
        """Whether all of a note, section or block stood in requests; without its subsections, if they do not count."""
        wanted = self._text(path, place)
        if wanted is None:
            return False
        if not include_children and len(headings := parse_note(path, wanted).headings) > 1:
            wanted = wanted[: headings[1].start]
        return self._given(path).hold(wanted)

    def given_share(self, path: str) -> tuple[int, int]:
        """How many characters of a note stood in requests, and how many there are."""
        return self._given(path).count, len(self._text(path) or "")

    def knowledge(self, path: str, place: str = "") -> Literal["unread", "current", "changed"]:
        """Whether the model was given the note, or a section or block of it, and whether it still says the same."""
        if self._text(path) is None:
            return "unread"
        current, wanted = self.current_places(path), self._text(path, place) if place else ""
        if "" in current or (wanted and any(wanted in (self._text(path, each) or "") for each in current)):
            return "current"
        return "changed" if self._digests(path).keys() - current else "unread"

    def is_own(self, path: str, text_digest: str) -> bool:
        """Whether a text of a note is one that the model was given or made itself."""
        return path in self._known and text_digest in self._known[path].digests

    def change(self, path: str) -> str:
        """What changed in a note since the model was given it, as a diff; empty where the old text is not known."""
        known, now = self._known.get(path), self._text(path)
        if known is None or not known.text or now is None:
            return ""
        lines = unified_diff(known.text.splitlines(), now.splitlines(), lineterm="", n=0)
        return "\n".join([*lines][2:])

    def current_places(self, path: str) -> frozenset[str]:
        """What the model knows of a note as it is now: sections and blocks; the empty place for the whole."""
        return frozenset(
            place
            for place, digests in self._digests(path).items()
            if (text := self._text(path, place)) is not None and digest(text) in digests
        )

    def proposed(self, path: str, known_places: Iterable[str] = ("",), source: str = "") -> None:
        """The model proposes the note as it is staged now, and had known these places of it.

        `source` is the path that it had before, if another.
        """
        given = self._digests(source or path)
        before = self._known.get(source or path)  # it stays known there: the move may be declined
        known = _Known({*given.pop("", ())}, before.text if before else "", {each: {*given[each]} for each in given})
        known.parts = self._parts(source or path) if source else before.parts if before else []
        for place in known_places:
            if (text := self._text(path, place)) is not None:
                (known.places.setdefault(place, set()) if place else known.digests).add(digest(text))
        self._known[path] = known

    def first_clippings(self) -> list[str]:
        """Web clippings of which the model was given something in this turn, and nothing before."""
        self._begin_turn()
        _, with_question = self._messages.question()
        before = {name.partition("#")[0] for name in self._messages.before()}
        now = dict.fromkeys([*(name.partition("#")[0] for name in with_question), *self._given_now])
        return [path for path in now if path not in before and is_from_web(self._library, path)]

    def _parts(self, path: str) -> list[str]:
        own = self._known[path].parts if path in self._known else []
        return [*self._messages.texts(path), *own]

    def _given(self, path: str) -> GivenParts:
        return GivenParts(self._text(path) or "", self._parts(path))

    def _begin_turn(self) -> None:
        turn, _ = self._messages.question()
        if turn != self._turn:
            self._turn = turn
            self._given_now.clear()

    def _digests(self, path: str) -> dict[str, set[str]]:
        """What the model was given of a note, the whole under the empty place."""
        found: dict[str, set[str]] = {}
        for given in (self._messages.before(), self._messages.question()[1]):
            for name, known in given.items():
                named, _, place = name.partition("#")
                if named == path and known:
                    found[place] = {known}
        if own := self._known.get(path):
            found.update(own.places)
            if own.digests:
                found[""] = own.digests
        return found

    def _text(self, path: str, place: str = "") -> str | None:
        try:
            return self._library.section(path, place)
        except VaultError:
            return None


def is_from_web(library: Library, path: str) -> bool:
    try:
        return is_note(path) and is_clipping(parse_note(path, library.read(path)).frontmatter)
    except VaultError:
        return False


_ADDRESS_PROPERTIES: Final = frozenset(
    {"source", "sources", "url", "link", "clipped", "clipped_from", "source_url", "source-url", "origin", "original"}
)


def is_clipping(properties: Mapping[str, Any]) -> bool:
    """Whether properties say that a note was taken from the web, in one in which web clippers write where."""
    return any(
        address.lstrip(" <[\"'").lower().startswith(("http://", "https://")) or "](http" in address
        for name, value in properties.items()
        if name.casefold().replace(" ", "_") in _ADDRESS_PROPERTIES
        for address in (value if isinstance(value, list) else [value])
        if isinstance(address, str)
    )
