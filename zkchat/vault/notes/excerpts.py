"""Shorten a block for quoting: cut at its sentences, items or rows, around those that were chosen."""

import re
from collections.abc import Collection, Iterator

from zkchat.vault.notes.blocks import Block
from zkchat.vault.notes.runs import ITEM, ends_in_colon, opens_fence

MAX_CODE_LINES = 12
"""Lines of a listing in an excerpt, its fences included."""
_GAP = " […] "
_MARK = "…"
_EMPTY = " \t\r\n>"
"""What may stand between two units without a meaning of its own."""
_BLANK_LINE = re.compile(r"\n[ \t\r>]*\n")
_MARKED = re.compile(r"[>|\s]*…[\s|]*$")


def excerpt(block: Block, chosen: Collection[int], limit: int) -> str:
    """The block if it has at most `limit` characters, else its sentences around the chosen ones, best first.

    What the first of them needs to be understood stays with it, for which the limit may be exceeded by three quarters.
    """
    if len(block.text) <= limit or not block.sentences:
        return block.text
    wanted = [number for number in chosen if 0 <= number < len(block.sentences)] or [0]
    kept = _Selection(block, limit)
    kept.require(wanted[0])
    for number in wanted[1:]:
        kept.take(number)
    if block.kind != "table":
        kept.take_neighbours(wanted[0])
    kept.complete()
    return kept.text()


class _Selection:
    """The units of a block that are kept, and how many characters are left for others."""

    def __init__(self, block: Block, limit: int) -> None:
        self._block = block
        self._units = block.sentences
        self._limit = limit
        self._room = limit
        self._kept: dict[int, str] = {}

    def require(self, number: int) -> None:
        """Keep a unit, and of those that it needs as much as half of the limit holds."""
        self._keep(number, self._limit)
        room = max(self._room, self._limit // 2)
        for parent in self._parents(number):
            said = self._units[parent].text
            if len(said) <= room or (room >= 40 and not said.lstrip(_EMPTY).startswith("|")):
                self._keep(parent, room)
                room -= len(self._kept[parent])

    def take(self, number: int) -> bool:
        """Keep a unit with those that it needs, if there is room."""
        needed: list[int] = []
        cost = 0
        for each in (number, *self._parents(number)):
            if each not in self._kept:
                needed.append(each)
                cost += len(self._units[each].text) + len(_GAP)
            if cost > self._room:
                return False
        for each in needed:
            self._keep(each, self._room)
        return True

    def take_neighbours(self, number: int) -> None:
        """Keep what stands after and before a unit, as far as there is room."""
        after, before = number + 1, number - 1
        while after < len(self._units) or before >= 0:
            after = after + 1 if after < len(self._units) and self.take(after) else len(self._units)
            before = before - 1 if before >= 0 and self.take(before) else -1

    def complete(self) -> None:
        """Let the excerpt not end in something that introduces what was left out."""
        last = max(self._kept)
        if last + 1 < len(self._units) and ends_in_colon(self._kept[last]) and not self.take(last + 1):
            self._keep(last + 1, self._limit // 4)

    def text(self) -> str:
        return "".join(self._parts())

    def _parts(self) -> Iterator[str]:
        before: int | None = None
        for number in sorted(self._kept):
            yield self._before(number) if before is None else self._between(before, number)
            yield self._kept[number]
            before = number
        if before is not None and not _MARKED.search(self._kept[before][-20:]):
            is_cut = before + 1 < len(self._units)
            mark = self._mark(before)
            yield ("" if not is_cut else f"\n{mark}" if self._is_structured(before) else f" {_MARK}")

    def _keep(self, number: int, room: int) -> None:
        said = self._units[number].text
        if len(said) > room:
            said = _first_lines(said, room) if self._is_code(number) else _first_words(said, room)
        self._kept[number] = said
        self._room -= len(said) + len(_GAP)

    def _parents(self, number: int) -> Iterator[int]:
        parent = self._units[number].parent
        while parent is not None:
            yield parent
            parent = self._units[parent].parent

    def _is_code(self, number: int) -> bool:
        is_last = number == len(self._units) - 1
        return bool(opens_fence(self._units[number].text.partition("\n")[0].lstrip(_EMPTY))) or (
            self._block.kind == "code" and is_last
        )

    def _is_row(self, number: int) -> bool:
        return self._units[number].text.lstrip(_EMPTY).startswith("|") or (
            self._block.kind == "table" and self._units[number].parent is not None
        )

    def _is_structured(self, number: int) -> bool:
        """Whether a unit needs lines of its own: an item, a row, a listing."""
        said = self._units[number].text.lstrip(_EMPTY)
        return bool(ITEM.match(said)) or self._is_row(number) or self._is_code(number)

    def _indent(self, number: int) -> str:
        """The quote marks or the space before a unit that is the first of its line."""
        start = self._units[number].start
        line_start = self._block.text.rfind("\n", 0, start) + 1
        indent = self._block.text[line_start:start]
        return "" if indent.strip(_EMPTY) else indent

    def _mark(self, number: int) -> str:
        """A line that stands for others that were left out beside this unit."""
        quote = "> " if self._block.text.startswith(">") and self._block.kind in {"quote", "callout"} else ""
        return quote + ("| … |" if self._is_row(number) else _MARK)

    def _before(self, number: int) -> str:
        if number == 0:
            return ""
        mark = self._mark(number)
        if self._is_structured(number) or self._units[number].text.startswith(">"):
            return f"{mark}\n{self._indent(number)}"
        return f"{mark} "

    def _between(self, before: int, number: int) -> str:
        between = self._block.text[self._units[before].end : self._units[number].start]
        is_whole = self._kept[before] == self._units[before].text
        if number == before + 1 and is_whole and not between.strip(_EMPTY):
            return between
        is_structured = self._is_structured(before) or self._is_structured(number)
        if not is_structured and not _BLANK_LINE.search(between):
            return _GAP
        indent = self._indent(number)
        if number == before + 1:
            return f"\n{indent}" if is_structured else f"\n\n{indent}"
        if is_structured:
            return f"\n{self._mark(number)}\n{indent}"
        return f"\n\n{indent}{_GAP.lstrip()}"


def _first_words(said: str, room: int) -> str:
    cut = said[: max(room, 1)]
    place = max(cut.rfind(" "), cut.rfind("\n"))
    return f"{cut[:place] if place > len(cut) // 2 else cut} {_MARK}"


def _first_lines(said: str, room: int) -> str:
    """The first lines of a listing, with the fence that closes it."""
    first, *lines = said.split("\n")
    fence = opens_fence(first.lstrip(_EMPTY))
    kept = [first if len(first) <= room else _first_words(first, room)]
    for line in lines[: MAX_CODE_LINES - 3]:
        room -= len(kept[-1]) + 1
        if len(line) > room:
            break
        kept.append(line)
    closing = [lines[-1]] if fence and lines and lines[-1].strip(_EMPTY).startswith(fence) else []
    return "\n".join((*kept, _MARK, *closing))
