"""Places in a note that a link can point to: headings and blocks."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property

from zkchat.model.note import Block, Heading, Note, page_heading, page_of_anchor

_MAX_SAME_HEADINGS = 100
_MAX_HEADING_DEPTH = 20
"""Headings that a link may name one below the other; there are six levels."""
_NO_LETTERS = re.compile(r'[!"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+')


class Anchors:
    """The headings and blocks of a note that a link can point to, indexed by key."""

    def __init__(self, headings: Sequence[Heading] = (), blocks: Sequence[Block] = ()) -> None:
        self._headings = headings
        self._blocks = blocks

    def __bool__(self) -> bool:
        return bool(self._headings or self._blocks)

    def find(self, anchor: str) -> Heading | Block | None:
        """The heading or block that `Heading`, `Heading#Sub` or `^block` names; the first where there are several."""
        if page := page_of_anchor(anchor):
            anchor = page_heading(page)
        last = _last_part(anchor)
        return self._block_by_id.get(last[1:].casefold()) if last.startswith("^") else next(self._named(anchor), None)

    def find_all(self, anchor: str) -> "list[Heading] | list[Block]":
        """All headings or blocks that an anchor names."""
        last = _last_part(anchor)
        if not last.startswith("^"):
            return [*self._named(anchor)]
        return [block for block in self._blocks if block.id.casefold() == last[1:].casefold()]

    def _named(self, anchor: str) -> Iterator[Heading]:
        """The headings that match the last part, below headings that match the others; else those that contain `#`.

        Only a limited number of headings with the same text is compared.
        """
        parts = anchor.split("#") if anchor.count("#") < _MAX_HEADING_DEPTH else [anchor]
        *above, name = [key for key in map(heading_key, parts) if key] or [""]
        is_found = False
        for heading, trail in self._headings_by_key.get(name, ()):
            ancestors = iter(trail)
            if all(wanted in ancestors for wanted in above):
                is_found = True
                yield heading
        if not is_found:
            for heading, _ in self._headings_by_key.get(heading_key(anchor), ()):
                yield heading

    @cached_property
    def _block_by_id(self) -> dict[str, Block]:
        return {block.id.casefold(): block for block in reversed(self._blocks)}

    @cached_property
    def _headings_by_key(self) -> dict[str, list[tuple[Heading, tuple[str, ...]]]]:
        """The headings by key, each with its parent headings."""
        found: dict[str, list[tuple[Heading, tuple[str, ...]]]] = {}
        trail: list[tuple[int, str]] = []
        for heading in self._headings:
            key = heading_key(heading.text)
            while trail and trail[-1][0] >= heading.level:
                trail.pop()
            alike = found.setdefault(key, [])
            if len(alike) < _MAX_SAME_HEADINGS:
                alike.append((heading, tuple(above for _, above in trail)))
            trail.append((heading.level, key))
        return found


def _last_part(anchor: str) -> str:
    return anchor.rpartition("#")[2].strip()


def heading_key(text: str) -> str:
    """A key that ignores case, punctuation, markup and Unicode normal form."""
    return _NO_LETTERS.sub(" ", unicodedata.normalize("NFC", text)).strip().casefold()


def section_lines(note: Note, anchor: str) -> tuple[int, int] | None:
    """The first and last line of the section or block that an anchor (`Heading`, `Heading#Sub`, `^block`) names."""
    place = Anchors(note.headings, note.blocks).find(anchor)
    match place:
        case Block():
            return place.first_line, place.last_line
        case Heading():
            after = (heading for heading in note.headings if heading.start > place.start)
            following = next((heading for heading in after if heading.level <= place.level), None)
            return place.line, following.line - 1 if following else note.line_count
        case None:
            return None
