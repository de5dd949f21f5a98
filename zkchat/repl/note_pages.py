"""A note in pages: the rows of each, how far it was shown, and the parts in which a very long one is drawn."""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from zkchat.render.live import BLANK, Row

MAX_PART_CHARACTERS: Final = 10_000
"""Of a part of a note that is drawn at once, in a fraction of a second; a part ends at the next blank line."""
_MAX_CUT: Final = 3
"""The part of a page that is left out at most, so that the page ends with a block: a third."""
_HEADING: Final = re.compile(r"\x1b\[1[\d;]*m[^\x1b]*\x1b\[0m")
"""A row that is bold from end to end."""
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")

_MAX_MENU_ROWS: Final = 8
_STATUS_BAR_ROWS: Final = 1
_ROWS_AROUND_PAGE: Final = 6
"""The command's own line, title, path and a blank row above a page; what to type next below it, which may wrap."""
_MIN_PAGE_ROWS: Final = 4


def menu_rows(height: int) -> int:
    """Rows that the prompt keeps for itself and its menu of completions, on a screen of so many rows."""
    return min(_MAX_MENU_ROWS, height // 4)


def page_rows(height: int) -> int:
    """Rows of a page of a note, so that all of it is on the screen when the prompt is back."""
    return max(_MIN_PAGE_ROWS, height - _ROWS_AROUND_PAGE - menu_rows(height) - _STATUS_BAR_ROWS)


class Part(NamedTuple):
    text: str
    first_line: int


class Position(Struct, frozen=True, kw_only=True):
    """How far a note has been shown."""

    row: int
    """The first row of the part that was not shown."""
    rows: int
    """All rows of the part, as it was drawn."""
    is_from_top: bool = True
    """Whether the page began with the note."""
    part: int = 0
    parts: int = 1

    @property
    def is_end(self) -> bool:
        return self.row >= self.rows and self.part == self.parts - 1

    @property
    def percent(self) -> int:
        return round(100 * (self.part + self.row / max(1, self.rows)) / self.parts)

    def row_of(self, rows: int) -> int:
        """The same position where the part is drawn in so many rows, as on a screen of another width."""
        return self.row if rows == self.rows else round(self.row * rows / max(1, self.rows))


class NotePages:
    """The pages of one note. Each part is drawn only when a page of it is shown."""

    def __init__(self, text: str, draw: Callable[[str], list[Row]], size: int) -> None:
        """`draw` draws Markdown; a page has `size` rows at most."""
        self._parts = split_parts(text)
        self._draw = draw
        self._size = size
        self._drawn: tuple[int, list[Row]] | None = None
        """The part drawn last."""

    def page_at(self, line: int) -> tuple[list[Row], Position]:
        """The page that begins at a line, or earlier where less than a page would be left of the part."""
        at = max(index for index, part in enumerate(self._parts) if part.first_line <= max(1, line))
        rows = self._rows(at)
        is_last, most = at == len(self._parts) - 1, max(0, len(rows) - self._size)
        if is_last and not most:
            return self._page(at, 0)
        first = self._row_of(line, self._parts[at], rows)
        return self._page(at, min(first, most) if is_last else first)

    def page_after(self, position: Position) -> tuple[list[Row], Position]:
        """The page after one that was shown, without a blank row at its top."""
        rows, after = self._following(position)
        return (rows[1:] if len(rows) > 1 and not rows[0].cells else rows), after

    def rest_after(self, position: Position) -> tuple[list[Row], Position]:
        """All that follows a page that was shown."""
        shown: list[Row] = []
        while not position.is_end:
            rows, position = self._following(position)
            shown += rows
        return shown, position

    def _following(self, position: Position) -> tuple[list[Row], Position]:
        is_over = position.row >= position.rows
        at = min(position.part + is_over, len(self._parts) - 1)
        return self._page(at, 0 if is_over else position.row_of(len(self._rows(at))))

    def _rows(self, at: int) -> list[Row]:
        if self._drawn is None or self._drawn[0] != at:
            self._drawn = at, self._draw(self._parts[at].text)
        return self._drawn[1]

    def _page(self, at: int, first: int) -> tuple[list[Row], Position]:
        """The page that begins at a row of a part; it may go on in the next part."""
        is_from_top = not (at or first)
        shown = self._rows(at)[first : first + self._size]
        end = first + len(shown)
        while end >= len(self._rows(at)) and at < len(self._parts) - 1 and len(shown) < self._size - 1:
            at += 1
            taken = self._rows(at)[: self._size - len(shown) - 1]
            end = len(taken)
            shown += [BLANK, *taken]
        rows = len(self._rows(at))
        if end < rows and (cut := rows_after_block(shown)) <= end:
            shown, end = shown[: len(shown) - cut], end - cut
        return shown, Position(row=end, rows=rows, is_from_top=is_from_top, part=at, parts=len(self._parts))

    def _row_of(self, line: int, part: Part, rows: list[Row]) -> int:
        """The row at which a line is drawn, by what is drawn of the lines above it."""
        above = "".join(part.text.splitlines(keepends=True)[: line - part.first_line])
        row = len(self._draw(above)) if above.strip() else 0
        return row + 1 if row < len(rows) and not rows[row].cells else row


def rows_after_block(page: Sequence[Row]) -> int:
    """How many rows at the end of a page begin a block that goes on; 0 where too little of the page would be left.

    A heading belongs to the block below it.
    """
    for cut in range(len(page) // _MAX_CUT + 1):
        kept = page[: len(page) - cut]
        if kept and not kept[-1].cells and not (len(kept) > 1 and _HEADING.fullmatch(kept[-2].text)):
            return cut
    return 0


def split_parts(text: str) -> list[Part]:
    """Split a very long text at blank lines outside code; most texts are one part."""
    parts: list[Part] = []
    lines: list[str] = []
    size, first, fence = 0, 1, ""
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        lines.append(line)
        size += len(line)
        fence = _fence_after(fence, line)
        if size >= MAX_PART_CHARACTERS and not (fence or line.strip()):
            parts.append(Part("".join(lines), first))
            lines, size, first = [], 0, number + 1
    return [*parts, Part("".join(lines), first)] if lines or not parts else parts


def _fence_after(fence: str, line: str) -> str:
    """The mark of the code block that is open after a line; empty where none is."""
    match = _FENCE.match(line)
    if not match:
        return fence
    if not fence:
        return match[1]
    is_closed = match[1].startswith(fence) and not line.strip().strip(fence[0])
    return "" if is_closed else fence
