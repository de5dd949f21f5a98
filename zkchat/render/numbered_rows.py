"""Numbered lists of places in the vault: what a search finds, links, recent notes; as plain lines and drawn."""

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import Final

from msgspec import Struct
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from zkchat.model.references import DocumentReference
from zkchat.render.console import Matches
from zkchat.render.links import ClickableLinks, percent_encoded
from zkchat.render.live import render_rows
from zkchat.render.markdown.parser import with_labels
from zkchat.render.sanitize import sanitize_line

_MATCH: Final = "bold yellow"
_DOUBTFUL: Final = "yellow"


class NumberedRow(Struct, frozen=True, kw_only=True):
    """One place. Its texts are sanitized where they are drawn."""

    name: str
    place: str = ""
    """Path and line, and what else is said in short."""
    text: str = ""
    """A line or two of what stands there."""
    is_doubtful: bool = False
    """Whether it is drawn as something to check, such as a broken link."""
    path: str = ""
    """Of the note that a click on its place opens."""

    @property
    def lines(self) -> list[str]:
        """Its texts without those that are empty."""
        return [line for line in map(sanitize_line, (self.name, self.place, self.text)) if line]


class RowSection(Struct, frozen=True, kw_only=True):
    """A part of a list under a heading; numbers run through all parts."""

    title: str
    summary: str = ""
    rows: Sequence[NumberedRow] = ()
    rest: str = ""
    """A line below the rows: what is left out."""


def plain_rows(rows: Sequence[NumberedRow], first: int = 1, width: int = 0, columns: int = 0) -> Iterator[str]:
    """The rows as plain text, one after the other, numbered from `first` on; wrapped between words to `columns`."""
    width = width or len(str(len(rows)))
    indent = " " * (width + 2)
    for number, row in enumerate(rows, start=first):
        lines = [f"{number:>{width}}. {row.lines[0]}", *(f"{indent}{line}" for line in row.lines[1:])]
        yield "\n".join(_wrapped(line, columns, indent) if columns else line for line in lines)


def _wrapped(line: str, columns: int, indent: str) -> str:
    return fill(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def plain_sections(sections: Sequence[RowSection]) -> str:
    """The parts of a list as plain text, with a blank line between them."""
    width = len(str(sum(len(section.rows) for section in sections)))
    parts: list[str] = []
    first = 1
    for section in sections:
        heading = f"{section.title}: {section.summary}" if section.summary else section.title
        rest = [f"{' ' * (width + 2)}{sanitize_line(section.rest)}"] if section.rest else []
        rows = [_on_one_line(row) for row in section.rows]
        parts.append("\n".join([sanitize_line(heading), *plain_rows(rows, first, width), *rest]))
        first += len(section.rows)
    return "\n\n".join(parts)


def _on_one_line(row: NumberedRow) -> NumberedRow:
    """With its place beside its name."""
    return NumberedRow(name=f"{row.name} ({row.place})" if row.place else row.name, text=row.text)


def print_rows(console: Console, rows: Sequence[NumberedRow], matches: Matches | None = None) -> None:
    """Draw the rows without trailing blanks, so that they can be copied cleanly."""
    console.file.write("".join(f"{row.text}\n" for row in render_rows(console, draw_rows(rows, matches))))
    console.file.flush()


def print_sections(console: Console, sections: Sequence[RowSection], links: ClickableLinks) -> None:
    """Draw the parts of a list, each below its heading. What a row says of its place can be clicked."""
    width = len(str(sum(len(section.rows) for section in sections))) + 1
    parts: list[RenderableType] = []
    first = 1
    for section in sections:
        if parts:
            parts.append(Text())
        summary = (f"  {sanitize_line(section.summary)}", "dim")
        parts.append(Text.assemble((sanitize_line(section.title), "bold cyan"), *[summary] * bool(section.summary)))
        if section.rows:
            parts.append(draw_rows(section.rows, first=first, width=width, links=links))
        if section.rest:
            parts.append(Padding(Text(sanitize_line(section.rest), style="dim"), (0, 0, 0, width + 1)))
        first += len(section.rows)
    console.file.write("".join(f"{row.text}\n" for row in render_rows(console, Group(*parts))))
    console.file.flush()


def draw_rows(
    rows: Sequence[NumberedRow],
    matches: Matches | None = None,
    *,
    first: int = 1,
    width: int = 0,
    links: ClickableLinks | None = None,
) -> RenderableType:
    """The rows for a terminal, numbered from `first` on, with the words of a query highlighted in their texts."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True, min_width=width or None)
    grid.add_column(overflow="fold")
    for number, row in enumerate(rows, start=first):
        name = (sanitize_line(row.name), _DOUBTFUL if row.is_doubtful else "bold")
        place = ("  ", (sanitize_line(row.place), _place_style(row, links))) if row.place else ()
        grid.add_row(f"{number}.", Text.assemble(name, *place))
        if row.text:
            grid.add_row("", _marked(sanitize_line(row.text), matches) if matches else Text(sanitize_line(row.text)))
    return grid


def _place_style(row: NumberedRow, links: ClickableLinks | None) -> Style:
    reference = DocumentReference(wikilink=row.path, relative_path=row.path) if row.path else None
    address = links.clickable(reference) if links and reference else None
    return Style(dim=True, link=percent_encoded(address) if address else None)


def _marked(text: str, matches: Matches) -> Text:
    """What was found, with the labels of its links, and the words of the query highlighted."""
    marked = Text(with_labels(text))
    for start, end in matches(marked.plain):
        marked.stylize(_MATCH, start, end)
    return marked
