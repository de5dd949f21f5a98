"""The terminal that slash commands write on: drawn, or plain for pipes and screen readers."""

import base64
import os
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TextIO, TypeAlias, cast

from msgspec import Struct, field
from rich.console import Console
from rich.text import Text

from zkchat import render
from zkchat.core import ChangeSet, ContextUsage, DocumentReference, OpenWith, patch_of
from zkchat.index import DailyNoteSettings, Library
from zkchat.render import (
    BLANK,
    ClickableLinks,
    DrawnNote,
    Matches,
    Place,
    Row,
    RowSection,
    context_bar,
    context_line,
    never_fail_to_encode,
    plain_sections,
    print_changes,
    print_sections,
    print_text,
    reference_lines,
    references_panel,
    sanitize_line,
    sanitize_text,
)
from zkchat.repl.picker import Further, PickRow, numbered_lines

_STATUS_BAR_ROWS: Final = 1
_ROWS_AROUND_PAGE: Final = 6
"""The command's own line, title, path and a blank row above a page; what to type next below it, which may wrap."""
_MIN_PAGE_ROWS: Final = 4


def menu_rows(height: int) -> int:
    """Rows that the prompt keeps for itself and its menu of completions, on a screen of so many rows."""
    return min(8, height // 4)


def page_rows(height: int) -> int:
    """Rows of a page of a note, so that all of it is on the screen when the prompt is back."""
    return max(_MIN_PAGE_ROWS, height - _ROWS_AROUND_PAGE - menu_rows(height) - _STATUS_BAR_ROWS)


class Position(Struct, frozen=True, kw_only=True):
    """How far a note has been shown."""

    block: int = 0
    """The first block of which not all was shown, and its first row that was not."""
    row: int = 0
    percent: int = 100
    is_end: bool = True
    is_from_top: bool = True
    """Whether the page began with the note."""


def page_start(note: DrawnNote, line: int, size: int) -> Position:
    """Where to begin so that a line is shown: at its block, or earlier where less than a page would be left."""
    if line <= 1 or not note.blocks:
        return Position()
    lines = note.lines()
    block = max(0, min(bisect_right(lines, line), len(note.blocks)) - 1)
    last, left = len(note.blocks), 0
    while last > 0:
        rows = note.rows(last - 1)
        left += len(rows)
        if left - (bool(rows) and not rows[0].cells) > size:  # the blank row would be on top
            break
        last -= 1
    rows_of_block = len(note.rows(block)) if block <= last else 0
    row = min(line - lines[block], rows_of_block - size) if rows_of_block > size else 0  # as in a long table
    return Position(block=min(block, last), row=row)


def draw_page(note: DrawnNote, start: Position, size: int | None) -> tuple[list[Row], Position]:
    """The rows from a position on, without a blank one on top: all of them, or a page of at most `size`.

    A page ends with a block where one ends in its last third, and not with a heading.
    """
    shown: list[Row] = []
    at, row, total = start.block, start.row, len(note.blocks)
    end: tuple[int, int] | None = None  # the rows and blocks after which the page may end
    while at < total:
        rows = note.rows(at)
        is_apart = bool(rows) and not rows[0].cells
        if shown and is_apart and not note.is_heading(at - 1):
            end = len(shown), at
        rows = rows[max(row, int(not shown and is_apart)) :]
        room = len(rows) if size is None else size - len(shown)
        shown += rows[:room]
        if len(rows) > room:
            row = len(note.rows(at)) - len(rows) + room
            break
        at, row = at + 1, 0
    if at < total and size and end and end[0] + 1 >= size - size // 3:
        shown, at, row = [*shown[: end[0]], BLANK][:size], end[1], 0
    lines = note.lines()
    percent = 100 if at >= total else round(100 * (lines[at] - lines[0]) / max(1, lines[-1] - lines[0]))
    is_from_top = not (start.block or start.row)
    return shown, Position(block=at, row=row, percent=percent, is_end=at >= total, is_from_top=is_from_top)


_MAX_REFRESH_SECONDS: Final = 0.5
"""How long a command waits for notes that changed; the rest goes on beside it."""


class VaultView(Struct):
    """The list and the note that were shown last; both count until another answer comes."""

    list_after: str = ""
    """The id of the answer after which the list was shown."""
    places: Sequence[Place] = ()
    note_after: str = ""
    reading: tuple[Place, str, Position] | None = None
    """The place shown last, its path, and how far it was shown."""

    def listed(self, answer_id: str) -> Sequence[Place]:
        """The list shown since this answer; empty if none was."""
        return self.places if self.list_after == answer_id else ()

    def current(self, answer_id: str) -> Place | None:
        """The note shown last, if it was shown since this answer."""
        return self.reading[0] if self.reading and self.note_after == answer_id else None


class VaultBrowser(Struct, frozen=True, kw_only=True):
    """The vault as its owner sees it on the own screen. Nothing of it goes to a model."""

    library: Library
    """All notes, private ones too."""
    view: VaultView = field(default_factory=VaultView)
    editor: str = ""
    """What the user calls their editor; empty where none is set, or can be used."""
    edit: Callable[[str, int | None], bool] = lambda _path, _line: False
    """Opens a document there and waits until it is closed; whether the editor was told the line. Raises `UsageError`
    if it cannot start."""
    open_with: OpenWith = "auto"
    daily_notes: Callable[[], DailyNoteSettings]

    def refreshed(self) -> Library:
        """The notes, as they are now as far as that is known in a moment."""
        self.library.refresh_within(_MAX_REFRESH_SECONDS)
        return self.library


_PLAIN_WIDTH: Final = 80


NEXT_STEP: Final = "/show N reads entry N, /open N opens it."


class Surface(ABC):
    """What commands print on, and ask the user by. It sanitizes everything that it prints, here as plain lines."""

    next_step: str = NEXT_STEP
    """What the numbers of a list are for."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Columns."""

    @abstractmethod
    def print(self, text: str) -> None:
        """Print one or more lines."""

    @abstractmethod
    async def confirm(self, question: str) -> bool:
        """Ask the user; False where nobody is there to answer."""

    def print_dimmed(self, text: str) -> None:
        """Print what matters less, dimmed where there is colour."""
        self.print(text)

    def print_markdown(self, text: str, _matches: Matches | None = None, /) -> None:
        """Draw the text of a message as an answer is drawn; `matches` finds words to be marked in quotations."""
        self.print(text)

    def print_sections(self, sections: Sequence[RowSection], _matches: Matches | None = None, /) -> None:
        """Show a numbered list of places in parts; `matches` finds words to be marked in their texts."""
        self.print(plain_sections(sections))

    def print_changes(self, changes: ChangeSet) -> None:
        """Show the diff of changes to notes."""
        if changes:
            self.print(patch_of(changes).removesuffix("\n"))

    def print_heading(self, name: str, place: str) -> None:
        """Show the name of a document above its text, and where it stands."""
        self.print(f"{sanitize_line(name)}\n{sanitize_line(place)}\n")

    def print_note(
        self, text: str, *, source: str, first_line: int = 1, after: Position | None = None, whole: bool = False
    ) -> Position:
        """Draw a page of the note `source`, or the `whole` rest, and return how far it was shown.

        It begins `after` what was shown, else at the top, or at a line of a note that is longer than a page. In plain
        lines it is all of it: whoever reads a pipe, or hears a text, has pages of their own.
        """
        del source, first_line, after, whole
        self.print(text.strip("\n"))
        return Position()

    def print_references(self, references: Sequence[DocumentReference]) -> None:
        self.print("\n".join(reference_lines(references, most=len(references))))

    def print_usage(self, usage: ContextUsage) -> None:
        self.print(context_line(usage))

    async def pick(
        self, _title: str, rows: Sequence[PickRow], instead: str, _further: Further = lambda _: ()
    ) -> int | None:
        """Let the user choose a row and return its number from 0; None if the user chose none.

        Where nothing can be drawn, the rows are printed, numbered from 1, and `instead`: how to choose otherwise.
        """
        self.print("\n".join([*numbered_lines(rows, self.width), instead]))
        return None

    @property
    def has_desktop(self) -> bool:
        return False

    def open(self, _address: str) -> bool:
        """Open an address on the desktop; False where there is none."""
        return False

    def copy(self, text: str) -> bool:
        """Copy the text to the clipboard through the terminal. Where that is impossible, print it and return False."""
        self.print(text)
        return False


class Questioner(Protocol):
    """Asks the user a question."""

    async def ask(self, question: str) -> str:
        """Show the question and return what the user typed. Raises EOFError where nobody is there."""

    @property
    def can_pick(self) -> bool:
        """Whether a list can be drawn to choose from."""

    async def pick(self, title: str, rows: Sequence[PickRow], further: Further) -> int | None:
        """Draw the list and return the number of the chosen row, from 0; None if the user chose none."""


Desktop: TypeAlias = Callable[[str], object] | None
"""Opens an address on the user's desktop; None where there is none."""


class PlainSurface(Surface):
    """Prints lines without boxes, colour or escape sequences."""

    def __init__(self, stream: TextIO, questioner: Questioner, desktop: Desktop) -> None:
        never_fail_to_encode(stream)
        self._stream = stream
        self._questioner = questioner
        self._desktop = desktop

    @property
    def width(self) -> int:
        return _PLAIN_WIDTH

    def print(self, text: str) -> None:
        self._stream.write(sanitize_text(text) + "\n")
        self._stream.flush()

    def print_sections(self, sections: Sequence[RowSection], _matches: Matches | None = None, /) -> None:
        """Wrapped on a narrow terminal; on any other, and in a pipe, lines stay whole."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        self.print(plain_sections(sections, columns=columns if columns < _PLAIN_WIDTH else 0))

    async def confirm(self, question: str) -> bool:
        try:
            typed = await self._questioner.ask(sanitize_text(f"{question} [y/N] "))
        except (EOFError, KeyboardInterrupt):
            return False
        return typed.strip().casefold() in {"y", "yes"}

    async def pick(
        self, title: str, rows: Sequence[PickRow], instead: str, further: Further = lambda _: ()
    ) -> int | None:
        if self._questioner.can_pick:
            return await self._questioner.pick(title, rows, further)
        return await super().pick(title, rows, instead)

    @property
    def has_desktop(self) -> bool:
        return self._desktop is not None

    def open(self, address: str) -> bool:
        if self._desktop:
            self._desktop(address)
        return self.has_desktop


class DrawnSurface(PlainSurface):
    """Draws panels, bars and Markdown on a console."""

    def __init__(self, console: Console, questioner: Questioner, desktop: Desktop, links: ClickableLinks) -> None:
        super().__init__(cast("TextIO", console.file), questioner, desktop)
        self._console = console
        self._links = links

    @property
    def width(self) -> int:
        return self._console.width

    def print(self, text: str) -> None:
        print_text(self._console, sanitize_text(text), "none")

    def print_dimmed(self, text: str) -> None:
        print_text(self._console, sanitize_text(text), "dim")

    def print_markdown(self, text: str, matches: Matches | None = None, /) -> None:
        render.print_markdown(self._console, text, matches=matches, links=self._links)

    def print_sections(self, sections: Sequence[RowSection], matches: Matches | None = None, /) -> None:
        print_sections(self._console, sections, self._links, matches)

    def print_changes(self, changes: ChangeSet) -> None:
        print_changes(self._console, changes)

    def print_heading(self, name: str, place: str) -> None:
        self._console.print(Text(sanitize_line(name), style="bold"), Text(sanitize_line(place), style="dim"), sep="\n")
        self._console.print()

    def print_note(
        self, text: str, *, source: str, first_line: int = 1, after: Position | None = None, whole: bool = False
    ) -> Position:
        note = render.DrawnNote(self._console, text, source=source, links=self._links)  # slow to import, as above
        size = page_rows(self._console.height)
        rows, position = draw_page(note, after or page_start(note, first_line, size), None if whole else size)
        self._write("".join(f"{row.text}\n" for row in rows))
        return position

    def print_references(self, references: Sequence[DocumentReference]) -> None:
        self._console.print(references_panel(references, shown=len(references), links=self._links))

    def print_usage(self, usage: ContextUsage) -> None:
        self._console.print(context_bar(usage, width=self._console.width))

    def copy(self, text: str) -> bool:
        """Copy with OSC 52, which also works over ssh. Base64 contains nothing that could end the sequence early."""
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
        if not self._console.is_interactive or len(encoded) > 74_000:  # which every terminal accepts
            self._console.print(Text(sanitize_text(text)), soft_wrap=True)
            return False
        self._write(f"\x1b]52;c;{encoded}\x07")
        return True

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()
