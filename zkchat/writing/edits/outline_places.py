"""The sections of a note as places to edit: where each begins and ends, and the outline that a refusal shows."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Final, NamedTuple

from zkchat.errors import EditRefused
from zkchat.model.note import Block, Heading, Note
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.links.anchors import Anchors, heading_key
from zkchat.vault.notes.markdown import flatten
from zkchat.vault.notes.parse import parse_note

_ATX: Final = lazy_pattern(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE: Final = lazy_pattern(r"^ {0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)
_MARKS: Final = lazy_pattern(r"\s*(#{1,6})\s+")
_MAX_OUTLINE: Final = 40
"""Headings, or ids of blocks, that a refusal lists."""
_MAX_NAME: Final = 80
"""Characters of a heading in a list."""


class Section(NamedTuple):
    """A heading with what stands under it, as character offsets."""

    heading: Heading
    start: int
    """Where the line of the heading begins."""
    text_start: int
    """Where the line after the heading begins."""
    own_end: int
    """Where the next heading of any level begins, or the note ends."""
    end: int
    """Where the next heading of the same or a higher level begins, or the note ends."""
    children: tuple[Heading, ...]


class ParsedNote:
    """A note that is to be edited: its text, and what the parser says of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = flatten(text)
        self._first = int(text.startswith("\ufeff"))
        self.note: Note = parse_note("", text)
        if left_out := [warning.text for warning in self.note.warnings if warning.kind == "excess"]:
            raise EditRefused(f"The note is too large for its sections to be told. {left_out[0]}")

    def line_start(self, offset: int) -> int:
        """Where the line of an offset begins; the first begins after a byte order mark."""
        return self.flat.rfind("\n", 0, offset) + 1 or self._first

    def line_end(self, offset: int) -> int:
        """The offset after the line end of the line that an offset is in."""
        return self.flat.find("\n", offset) + 1 or len(self.flat)

    def offset_of_line(self, number: int) -> int:
        """Where a line begins that is counted from 1."""
        offset = self._first
        for _ in range(number - 1):
            offset = self.line_end(offset)
        return offset

    def is_underlined(self, heading: Heading) -> bool:
        start = self.line_start(heading.start)
        return not _ATX.match(self.flat[start : self.line_end(start)])

    def text_start(self, heading: Heading) -> int:
        """Where the line after a heading begins."""
        first_end = self.line_end(heading.start)
        if not self.is_underlined(heading):
            return first_end
        underline = _UNDERLINE.search(self.flat, first_end)
        return self.line_end(underline.start()) if underline else first_end

    def section(self, heading: Heading) -> Section:
        following = [each for each in self.note.headings if each.start > heading.start]
        after = next((each for each in following if each.level <= heading.level), None)
        own_end = self.line_start(following[0].start) if following else len(self.text)
        end = self.line_start(after.start) if after else len(self.text)
        return Section(
            heading=heading,
            start=self.line_start(heading.start),
            text_start=self.text_start(heading),
            own_end=own_end,
            end=end,
            children=tuple(each for each in following if each.start < end),
        )

    def find(self, place: str) -> Heading | Block:
        """The one heading or block that a place names. Raises `EditRefused` with the outline."""
        found: Sequence[Heading | Block] = Anchors(self.note.headings, self.note.blocks).find_all(place)
        if marks := _MARKS.match(place):
            found = [each for each in found if _level(each) == len(marks[1])] or found
        if len(found) == 1:
            return found[0]
        if not place.strip(" #^"):
            raise EditRefused("No section was named.", hint=self._outline())
        if "^" in place.rpartition("#")[2][:1]:
            raise self._no_block(place, found)
        if not found:
            raise EditRefused(f"There is no heading “{_cut(place)}” in the note.", hint=self._outline(place))
        lines = ", ".join(str(each.line) for each in found[:_MAX_OUTLINE])
        raise EditRefused(
            f"There are {len(found)} headings “{_cut(place)}” in the note, in lines {lines}.",
            hint="Name the heading above it too (`Above#Heading`), or edit the passage itself. " + self._outline(),
        )

    def _no_block(self, place: str, found: Sequence[Heading | Block]) -> EditRefused:
        if found:
            lines = ", ".join(str(each.line) for each in found[:_MAX_OUTLINE])
            return EditRefused(f"There are {len(found)} blocks {_cut(place)} in the note, in lines {lines}.")
        ids = [f"^{block.id} (line {block.line})" for block in self.note.blocks[:_MAX_OUTLINE]]
        return EditRefused(
            f"There is no block {_cut(place)} in the note.",
            hint=f"It has: {', '.join(ids)}." if ids else "No block of it has an id: name a heading.",
        )

    def _outline(self, place: str = "") -> str:
        headings = self.note.headings
        if not headings:
            return "The note has no headings."
        lines = [f"{'#' * each.level} {_cut(each.text)} (line {each.line})" for each in headings[:_MAX_OUTLINE]]
        if len(headings) > len(lines):
            lines.append(f"… and {len(headings) - len(lines):,} more")
        keys = {heading_key(each.text): each.text for each in headings}
        close = get_close_matches(heading_key(place.rpartition("#")[2]), keys, n=1, cutoff=0.7) if place else []
        nearest = f"The nearest is “{_cut(keys[close[0]])}”. " if close else ""
        return "\n".join((f"{nearest}Its headings are:", *lines))


def trails(headings: Iterable[Heading]) -> Iterator[tuple[Heading, tuple[str, ...]]]:
    """Each heading with the texts of those above it."""
    above: list[Heading] = []
    for heading in headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        yield heading, tuple(each.text for each in above)
        above.append(heading)


def _level(place: Heading | Block) -> int:
    return place.level if isinstance(place, Heading) else 0


def _cut(name: str) -> str:
    name = " ".join(islice(name.split(), 40))
    return name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}…"
