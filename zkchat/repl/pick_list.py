"""A list to choose from: its rows, the search over them, the selected row, and each row as one line of the screen."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from prompt_toolkit.utils import get_cwidth

from zkchat.render.sanitize import sanitize_line
from zkchat.repl.note_names import normalize_name

_GAP: Final = 2
_SEPARATOR: Final = " · "
_MAX_NUMBERED: Final = 30
_MIN_NAME_CELLS: Final = 16
"""Cells that a name keeps before the rest of its row may take any."""


class PickRow(Struct, frozen=True, kw_only=True):
    """A row to choose. Its texts are sanitized where they are shown."""

    name: str
    about: tuple[str, ...] = ()
    """What stands beside the name, the most important first: a narrow screen drops the last of it."""
    search: str = ""
    """Further text that is not shown; the search finds its words by their beginnings."""
    is_current: bool = False
    """Whether it is the one in use, which is marked."""


class PickList:
    """The rows that match what was typed, and the one of them that is selected."""

    def __init__(self, rows: Sequence[PickRow]) -> None:
        self.rows = rows
        self._searched = [_searched_text(row) for row in rows]
        self.matches: list[int] = [*range(len(rows))]
        """The numbers of the rows that match, in their order."""
        self.position = 0
        """The place of the selected row among the matches."""

    @property
    def selected(self) -> int | None:
        """The number of the selected row; None where no row matches."""
        return self.matches[self.position] if self.matches else None

    def search(self, typed: str) -> None:
        """Keep the rows that contain every word, in any order, whatever the case and the accents."""
        words = normalize_name(typed).split()
        self.matches = [
            number
            for number, (shown, hidden) in enumerate(self._searched)
            if all(word in shown or f" {word}" in hidden for word in words)
        ]
        self.position = 0

    def move(self, by: int) -> None:
        """Select another row, the last one at most."""
        self.position = max(0, min(self.position + by, len(self.matches) - 1))


def _searched_text(row: PickRow) -> tuple[str, str]:
    return normalize_name(" ".join((row.name, *row.about))), f" {normalize_name(row.search)}"


def row_line(row: PickRow, width: int) -> str:
    """A row in at most so many cells: the name, and as much of the rest as fits at the right."""
    name = f"{'* ' if row.is_current else ''}{sanitize_line(row.name)}"
    for about in _shorter_and_shorter(row.about):
        room = width - get_cwidth(about) - _GAP
        if room >= min(_MIN_NAME_CELLS, get_cwidth(name)):
            shown = truncate_cells(name, room)
            return f"{shown}{' ' * (width - get_cwidth(shown) - get_cwidth(about))}{about}"
    return truncate_cells(name, width)


def numbered_lines(rows: Sequence[PickRow], width: int) -> list[str]:
    """The first rows with their numbers from 1, for where nothing can be drawn."""
    digits, more = len(str(_MAX_NUMBERED)), len(rows) - _MAX_NUMBERED
    lines = [
        f"{number:>{digits}}. {row_line(row, width - digits - 2)}"
        for number, row in enumerate(rows[:_MAX_NUMBERED], start=1)
    ]
    return [*lines, f"… and {more:,} more"] if more > 0 else lines


def _shorter_and_shorter(about: Sequence[str]) -> Iterator[str]:
    pieces = [piece for text in about if (piece := sanitize_line(text))]
    for count in range(len(pieces), 0, -1):
        yield _SEPARATOR.join(pieces[:count])


def truncate_cells(text: str, cells: int) -> str:
    """Truncate the text to so many terminal cells."""
    if get_cwidth(text) <= cells:
        return text
    while text and get_cwidth(text) > cells - 1:
        text = text[:-1]
    return f"{text.rstrip()}…" if cells > 0 else ""
