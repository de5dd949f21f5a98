"""Shorten a block for quoting: cut at its sentences, items or rows, around those that were chosen."""

import re
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from zkchat.vault.notes.blocks import Block, Sentence
from zkchat.vault.notes.runs import ITEM, ends_in_colon, is_delimiter, opens_fence

MAX_CODE_LINES = 12
"""Lines of a listing in an excerpt, its fences included."""
_GAP = " […] "
_MARK = "…"
_EMPTY = " \t\r\n>"
"""What may stand between two units without a meaning of its own."""
_MAX_BETWEEN = 40
"""Characters of it that are kept."""
_BLANK_LINE = re.compile(r"\n[ \t\r>]*\n")
_PADDING = re.compile(r" {2,}|-{4,}")
_LINK = re.compile(r"\[[^\[\]\n]{0,1000}\](?:\([^()\s]{0,2000}\))?|\[\[[^\[\]\n]{0,1000}\]\]")
_MARKED = re.compile(r"[>|\s]*…[\s|]*$")


def excerpt(block: Block, chosen: Collection[int], limit: int) -> str:
    """The block if it has at most `limit` characters, else its sentences around the chosen ones, best first.

    What the first of them needs to be understood stays with it, for which the limit may be exceeded by three quarters.
    """
    if len(block.text) > limit and block.kind == "table":
        block = _without_padding(block)
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
        self._quote = "> " if block.kind in {"quote", "callout"} and block.text.startswith(">") else ""

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
                cost += self._cost(each)
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
        self._room -= self._cost(number) - len(self._units[number].text) + len(said)
        self._kept[number] = said

    def _cost(self, number: int) -> int:
        """The characters of a unit, with those between it and the one beside it that is kept."""
        unit = self._units[number]
        between = len(_GAP)
        if number - 1 in self._kept:
            between = unit.start - self._units[number - 1].end
        elif number + 1 in self._kept:
            between = self._units[number + 1].start - unit.end
        return len(unit.text) + between

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
        return self._quote + ("| … |" if self._is_row(number) else _MARK)

    def _before(self, number: int) -> str:
        if number == 0 or is_delimiter(self._units[number].text.rpartition("\n")[2]):
            return ""
        if self._is_structured(number) or self._units[number].text.startswith(">"):
            return f"{self._mark(number)}\n{self._indent(number)}"
        return f"{self._mark(number)} "

    def _between(self, before: int, number: int) -> str:
        between = self._block.text[self._units[before].end : self._units[number].start]
        is_whole = self._kept[before] == self._units[before].text
        is_next = number == before + 1
        if is_next and is_whole and len(between) <= _MAX_BETWEEN and not between.strip(_EMPTY):
            return between
        line_end = "\n\n" if _BLANK_LINE.search(between) and not self._quote else "\n"
        indent = self._indent(number)
        if self._is_structured(before) or self._is_structured(number) or self._units[number].text.startswith(">"):
            return f"\n{indent}" if is_next else f"\n{self._mark(number)}\n{indent}"
        if line_end == "\n" and not ("\n" in between and before == self._units[number].parent):
            return _GAP
        return f"{line_end}{indent or self._quote}{'' if is_next else _GAP.lstrip()}"


def _without_padding(block: Block) -> Block:
    """The block of a table without the spaces and dashes that only align its columns."""
    pieces: list[str] = []
    units: list[Sentence] = []
    length = place = 0
    for unit in block.sentences:
        between, said = (_squeeze(text) for text in (block.text[place : unit.start], unit.text))
        start = length + len(between)
        units.append(unit._replace(text=said, start=start, end=start + len(said)))
        pieces += (between, said)
        length, place = start + len(said), unit.end
    pieces.append(_squeeze(block.text[place:]))
    return replace(block, text="".join(pieces), sentences=tuple(units))


def _squeeze(text: str) -> str:
    return _PADDING.sub(lambda match: match[0][:1] if match[0].isspace() else "---", text)


def _first_words(said: str, room: int) -> str:
    cut = said[: max(room, 1)]
    opened = max(cut.rfind("[["), cut.rfind("["))
    link = _LINK.match(said, opened, len(said)) if opened > len(cut) // 2 else None
    if link and link.end() > len(cut):
        cut = cut[:opened]
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
    mark = f"> {_MARK}" if first.startswith(">") else _MARK
    return "\n".join((*kept, mark, *closing))
