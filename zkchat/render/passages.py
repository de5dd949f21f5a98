"""What a search found, in words and drawn."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from zkchat.model.note import Passage
from zkchat.render.sanitize import sanitize_line

if TYPE_CHECKING:
    from rich.console import RenderableType

Matches = Callable[[str], Iterable[tuple[int, int]]]
"""Where the words asked for stand in a text."""


def name(passage: Passage) -> str:
    """The title of its note and the headings above it, without the one that repeats the title."""
    headings = passage.heading_path[passage.heading_path[:1] == (passage.title,) :]
    return " › ".join(sanitize_line(text) for text in (passage.title, *headings))


def place(passage: Passage) -> str:
    """Where it stands, and why it was found."""
    first, last = passage.first_line, passage.last_line
    lines = f"line {first}" if first == last else f"lines {first}–{last}"
    return f"{sanitize_line(passage.path)}, {lines} · {passage.why}"


def passage_lines(passage: Passage) -> list[str]:
    """For pipes: a line each for its name, its place and, if there is one, its snippet."""
    return [name(passage), place(passage), *filter(None, [sanitize_line(passage.snippet)])]


def drawn_passage(number: int, passage: Passage, matches: Matches) -> "RenderableType":
    """For a terminal: the same, with the words asked for marked."""
    from rich.table import Table
    from rich.text import Text

    snippet = Text(sanitize_line(passage.snippet))
    for start, end in matches(snippet.plain):
        snippet.stylize("bold yellow", start, end)
    rows = Table.grid(padding=(0, 1))
    rows.add_column(justify="right", no_wrap=True)
    rows.add_column(overflow="fold")
    rows.add_row(f"{number}.", Text(name(passage), style="bold"))
    rows.add_row("", Text(place(passage), style="dim"))
    if snippet:
        rows.add_row("", snippet)
    return rows
