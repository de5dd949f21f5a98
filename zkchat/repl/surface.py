"""The terminal that slash commands write on: drawn, or plain for pipes and screen readers."""

import base64
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Final, Protocol, TextIO

from rich.console import Console
from rich.text import Text

from zkchat.model.change import ChangeSet
from zkchat.model.patch import patch_of
from zkchat.model.references import DocumentReference
from zkchat.model.usage import ContextUsage
from zkchat.render.console import Matches
from zkchat.render.context_bar import context_bar, context_line
from zkchat.render.diffs import print_changes
from zkchat.render.links import ClickableLinks
from zkchat.render.numbered_rows import RowSection, plain_sections, print_sections
from zkchat.render.references import reference_lines, references_panel
from zkchat.render.sanitize import never_fail_to_encode, sanitize_line, sanitize_text
from zkchat.repl.note_pages import NotePages, Position, page_rows
from zkchat.repl.pick_list import PickRow, numbered_lines

_MAX_COPY_BYTES: Final = 74_000
"""Bytes of a copy that every terminal accepts."""
_PLAIN_WIDTH: Final = 80


class Questioner(Protocol):
    """Asks the user a question."""

    async def ask(self, question: str) -> str:
        """Show the question and return what the user typed. Raises EOFError where nobody is there."""
        ...

    @property
    def can_pick(self) -> bool:
        """Whether a list can be drawn to choose from."""
        ...

    async def pick(self, title: str, rows: Sequence[PickRow]) -> int | None:
        """Draw the list and return the number of the chosen row, from 0; None if the user chose none."""
        ...


class Desktop(Protocol):
    """The user's desktop."""

    @property
    def is_there(self) -> bool: ...

    def open(self, address: str) -> bool:
        """Open an address; False where there is no desktop."""
        ...


class _Surface(ABC):
    """What plain and drawn surfaces share: questions, lists to choose from, and the desktop."""

    def __init__(self, questioner: Questioner, desktop: Desktop) -> None:
        self._questioner = questioner
        self._desktop = desktop

    async def confirm(self, question: str) -> bool:
        try:
            typed = await self._questioner.ask(sanitize_text(f"{question} [y/N] "))
        except (EOFError, KeyboardInterrupt):
            return False
        return typed.strip().casefold() in {"y", "yes"}

    async def pick(self, title: str, rows: Sequence[PickRow], instead: str) -> int | None:
        if self._questioner.can_pick:
            return await self._questioner.pick(title, rows)

        self.print("\n".join([*numbered_lines(rows, self.width), instead]))
        return None

    @property
    @abstractmethod
    def width(self) -> int: ...

    @abstractmethod
    def print(self, text: str) -> None: ...

    @property
    def has_desktop(self) -> bool:
        return self._desktop.is_there

    def open(self, address: str) -> bool:
        return self._desktop.open(address)


class PlainSurface(_Surface):
    """Prints lines without boxes, colour or escape sequences."""

    def __init__(self, stream: TextIO, questioner: Questioner, desktop: Desktop) -> None:
        super().__init__(questioner, desktop)
        never_fail_to_encode(stream)
        self._stream = stream

    @property
    def width(self) -> int:
        return _PLAIN_WIDTH

    def print(self, text: str) -> None:
        self._stream.write(sanitize_text(text) + "\n")
        self._stream.flush()

    def print_dimmed(self, text: str) -> None:
        self.print(text)

    def print_markdown(self, text: str, _matches: Matches | None = None, /) -> None:
        self.print(text)

    def print_sections(self, sections: Sequence[RowSection], _matches: Matches | None = None, /) -> None:
        self.print(plain_sections(sections, columns=self._narrow_columns()))

    def _narrow_columns(self) -> int:
        """The width of a narrow terminal; 0 for any other, and for a pipe, where lines stay whole."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            return 0
        return columns if columns < _PLAIN_WIDTH else 0

    def print_changes(self, changes: ChangeSet) -> None:
        if changes:
            self.print(patch_of(changes).removesuffix("\n"))

    def print_heading(self, name: str, place: str) -> None:
        self.print(f"{sanitize_line(name)}\n{sanitize_line(place)}\n")

    def print_note(
        self, text: str, *, source: str, first_line: int = 1, after: Position | None = None, whole: bool = False
    ) -> Position:
        """Print all of it: whoever reads a pipe, or hears a text, has pages of their own."""
        del source, first_line, after, whole
        self.print(text.strip("\n"))
        return Position(row=1, rows=1)

    def print_references(self, references: Sequence[DocumentReference]) -> None:
        self.print("\n".join(reference_lines(references, most=len(references))))

    def print_usage(self, usage: ContextUsage) -> None:
        self.print(context_line(usage))

    def copy(self, text: str) -> bool:
        self.print(text)
        return False


class DrawnSurface(_Surface):
    """Draws panels, bars and Markdown on a console."""

    def __init__(self, console: Console, questioner: Questioner, desktop: Desktop, links: ClickableLinks) -> None:
        super().__init__(questioner, desktop)
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
        from zkchat.render.markdown.stream import (
            MarkdownStream,
        )  # with the lexers: a tenth of the time until the prompt

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
        from zkchat.render.markdown.notes import note_rows  # as above

        draw = partial(note_rows, self._console, source=source, links=self._links)
        pages = NotePages(text, draw, page_rows(self._console.height))
        if after is None:
            rows, position = pages.page_at(first_line)
        else:
            rows, position = pages.rest_after(after) if whole else pages.page_after(after)
        self._console.file.write("".join(f"{row.text}\n" for row in rows))
        self._console.file.flush()
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
        self._console.file.write(f"\x1b]52;c;{encoded}\x07")
        self._console.file.flush()
        return True
