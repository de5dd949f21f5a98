"""Numbered lists of places in the vault: what a search finds, links, recent notes; as plain lines and drawn."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from zkchat.render.sanitize import sanitize_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from zkchat.render.console import Matches

_MATCH: Final = "bold yellow"
_DOUBTFUL: Final = "yellow"
_WIKILINK: Final = re.compile(r"\[\[[^\[\]]+\]\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedRow:
    """One place. Its texts are sanitized where they are drawn."""

    name: str
    place: str = ""
    """Path and line, and what else is said in short."""
    text: str = ""
    """A line or two of what stands there."""
    is_doubtful: bool = False
    """Whether it is drawn as something to check, such as a broken link."""

    @property
    def lines(self) -> list[str]:
        """Its texts without those that are empty."""
        return [line for line in map(sanitize_line, (self.name, self.place, self.text)) if line]


def plain_rows(rows: Sequence[NumberedRow]) -> Iterator[str]:
    """The rows as plain text, one after the other."""
    width = len(str(len(rows)))
    for number, row in enumerate(rows, start=1):
        yield f"\n{' ' * (width + 2)}".join([f"{number:>{width}}. {row.lines[0]}", *row.lines[1:]])


def print_rows(console: "Console", rows: Sequence[NumberedRow], matches: "Matches | None" = None) -> None:
    """Draw the rows without trailing blanks, so that they can be copied cleanly."""
    from zkchat.render.live import render_rows

    console.file.write("".join(f"{row.text}\n" for row in render_rows(console, draw_rows(rows, matches))))
    console.file.flush()


def draw_rows(rows: Sequence[NumberedRow], matches: "Matches | None" = None) -> "RenderableType":
    """The rows for a terminal, with the words of a query highlighted in their texts."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    for number, row in enumerate(rows, start=1):
        name = (sanitize_line(row.name), _DOUBTFUL if row.is_doubtful else "bold")
        place = ("  ", (sanitize_line(row.place), "dim")) if row.place else ()
        grid.add_row(f"{number}.", Text.assemble(name, *place))
        if row.text:
            grid.add_row("", _marked(sanitize_line(row.text), matches) if matches else Text(sanitize_line(row.text)))
    return grid


def _marked(text: str, matches: "Matches") -> "Text":
    """What was found, with the labels of its links, and the words of the query highlighted."""
    from rich.text import Text

    from zkchat.render.markdown.wikilinks import label_of

    marked = Text(_WIKILINK.sub(lambda link: label_of(link[0]), text))
    for start, end in matches(marked.plain):
        marked.stylize(_MATCH, start, end)
    return marked
