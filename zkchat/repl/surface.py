"""The terminal that slash commands write on: drawn, or plain for pipes and screen readers."""

import base64
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol, TextIO, cast

from msgspec import Struct, field
from rich.console import Console
from rich.text import Text

from zkchat.core import ChangeSet, ContextUsage, DocumentReference, OpenWith, patch_of
from zkchat.index import DailyNoteSettings, Library
from zkchat.render import (
    BLANK,
    ClickableLinks,
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
    reference_lines,
    references_panel,
    sanitize_line,
    sanitize_text,
)
from zkchat.repl.picker import PickRow, numbered_lines

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
        if position.row >= position.rows:
            return self._page(min(position.part + 1, len(self._parts) - 1), 0)
        at = min(position.part, len(self._parts) - 1)
        # On a screen of another width the part has other rows: it goes on at about the same place.
        return self._page(at, round(position.row * len(self._rows(at)) / position.rows))

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


class DocumentEditor(Protocol):
    """The user's editor, for documents of the vault."""

    @property
    def name(self) -> str:
        """What the user calls it; empty where none is set."""

    def edit(self, path: str, line: int | None) -> None:
        """Open a document at a line, and wait until the editor is closed. Raises `UsageError` if it cannot start."""


class VaultBrowser(Struct, frozen=True, kw_only=True):
    """The vault as its owner sees it on the own screen. Nothing of it goes to a model."""

    library: Library
    """All notes, private ones too."""
    view: VaultView = field(default_factory=VaultView)
    editor: DocumentEditor
    open_with: OpenWith = "auto"
    daily_notes: Callable[[], DailyNoteSettings]

    def refreshed(self) -> Library:
        """The notes, as they are now as far as that is known in a moment."""
        self.library.refresh_within(_MAX_REFRESH_SECONDS)
        return self.library


_MAX_COPY_BYTES: Final = 74_000
"""Bytes of a copy that every terminal accepts."""
_PLAIN_WIDTH: Final = 80


class Surface(ABC):
    """What commands print on, and ask the user by. It sanitizes everything that it prints, here as plain lines."""

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
        """Show the diff of changes of notes."""
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
        return Position(row=1, rows=1)

    def print_references(self, references: Sequence[DocumentReference]) -> None:
        """Show the panel "Referenced Documents" with all of them."""
        self.print("\n".join(reference_lines(references, most=len(references))))

    def print_usage(self, usage: ContextUsage) -> None:
        """Show the context bar."""
        self.print(context_line(usage))

    async def pick(self, _title: str, rows: Sequence[PickRow], instead: str) -> int | None:
        """Let the user choose a row and return its number from 0; None if the user chose none.

        Where nothing can be drawn, the rows are printed, numbered from 1, and `instead`: how to choose otherwise.
        """
        self.print("\n".join([*numbered_lines(rows, self.width), instead]))
        return None

    @property
    def has_desktop(self) -> bool:
        """Whether there is a desktop that opens addresses."""
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

    async def pick(self, title: str, rows: Sequence[PickRow]) -> int | None:
        """Draw the list and return the number of the chosen row, from 0; None if the user chose none."""


class Desktop(Protocol):
    """The user's desktop."""

    @property
    def is_there(self) -> bool: ...

    def open(self, address: str) -> bool:
        """Open an address; False where there is no desktop."""


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

    async def pick(self, title: str, rows: Sequence[PickRow], instead: str) -> int | None:
        if self._questioner.can_pick:
            return await self._questioner.pick(title, rows)
        return await super().pick(title, rows, instead)

    @property
    def has_desktop(self) -> bool:
        return self._desktop.is_there

    def open(self, address: str) -> bool:
        return self._desktop.open(address)


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
        self._print(text, "none")

    def print_dimmed(self, text: str) -> None:
        self._print(text, "dim")

    def _print(self, text: str, style: str) -> None:
        # A word longer than the screen, such as an address, must stay in one piece to be usable.
        is_whole = any(len(word) > self.width for word in text.split())
        self._console.print(Text(sanitize_text(text), style=style), soft_wrap=is_whole)

    def print_markdown(self, text: str, matches: Matches | None = None, /) -> None:
        from zkchat.render import MarkdownStream

        stream = MarkdownStream(self._console, matches=matches, links=self._links)
        stream.feed(text)
        stream.finish()

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
        from zkchat.render import note_rows  # as above

        draw = partial(note_rows, self._console, source=source, links=self._links)
        pages = NotePages(text, draw, page_rows(self._console.height))
        if after is None:
            rows, position = pages.page_at(first_line)
        else:
            rows, position = pages.rest_after(after) if whole else pages.page_after(after)
        self._write("".join(f"{row.text}\n" for row in rows))
        return position

    def print_references(self, references: Sequence[DocumentReference]) -> None:
        self._console.print(references_panel(references, shown=len(references), links=self._links))

    def print_usage(self, usage: ContextUsage) -> None:
        self._console.print(context_bar(usage, width=self._console.width))

    def copy(self, text: str) -> bool:
        """Copy with OSC 52, which also works over ssh. Base64 contains nothing that could end the sequence early."""
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
        if not self._console.is_interactive or len(encoded) > _MAX_COPY_BYTES:
            self._console.print(Text(sanitize_text(text)), soft_wrap=True)
            return False
        self._write(f"\x1b]52;c;{encoded}\x07")
        return True

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()
