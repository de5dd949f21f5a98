"""Numbered lists as they are drawn on a terminal."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from zkchat import render
from zkchat.core import DocumentReference
from zkchat.render.console import Matches, render_rows
from zkchat.render.links import ClickableLinks, percent_encoded
from zkchat.render.numbered_rows import NumberedRow, RowSection, lead, lead_width, number_width
from zkchat.render.sanitize import sanitize_line

_MATCH: Final = "bold yellow"
_DOUBTFUL: Final = "yellow"


def print_sections(
    console: Console,
    sections: Sequence[RowSection],
    links: ClickableLinks | None = None,
    matches: Matches | None = None,
) -> None:
    """Draw the parts of a list, each below its heading, without trailing blanks, so that they can be copied cleanly.

    What a row says of its place can be clicked; `matches` finds words to be marked in the texts of rows.
    """
    rows = render_rows(console, Group(*draw_sections(sections, links, matches)))
    console.file.write("".join(f"{row.text}\n" for row in rows))
    console.file.flush()


def draw_sections(
    sections: Sequence[RowSection], links: ClickableLinks | None = None, matches: Matches | None = None
) -> Iterator[RenderableType]:
    width = number_width(sections)
    number = 0
    for section in sections:
        if section is not sections[0]:
            yield Text()
        if section.title:
            summary = [(f"  {sanitize_line(section.summary)}", "dim")] if section.summary else []
            yield Text.assemble((sanitize_line(section.title), "bold cyan"), *summary)
        grid = Table.grid(padding=(0, 1))
        grid.add_column(justify="right", no_wrap=True, min_width=width + 1 if width else 0)
        grid.add_column(overflow="fold")
        at_most = lead_width(section)
        for row in section.rows:
            number += 1
            name = (sanitize_line(row.name), _DOUBTFUL if row.is_doubtful else "bold")
            place = ("  ", (sanitize_line(row.place), _place_style(row, links))) if row.place else ()
            grid.add_row(f"{number}." if width else "", Text.assemble(lead(row, at_most), name, *place))
            if row.text:
                grid.add_row("", _marked(sanitize_line(row.text), matches))
        if section.rows:
            yield grid
        if section.rest:
            yield Padding(Text(sanitize_line(section.rest), style="dim"), (0, 0, 0, width + 2 if width else 1))


def _place_style(row: NumberedRow, links: ClickableLinks | None) -> Style:
    path = row.to.path if row.to else None
    reference = DocumentReference(wikilink=path, relative_path=path) if path else None
    address = links.clickable(reference) if links and reference else None
    return Style(dim=True, link=percent_encoded(address) if address else None)


def _marked(text: str, matches: Matches | None) -> Text:
    """What was found; with the labels of its links, and the words of the query highlighted, where it was searched."""
    if matches is None:
        return Text(text)
    marked = Text(render.with_labels(text))
    for start, end in matches(marked.plain):
        marked.stylize(_MATCH, start, end)
    return marked
