"""Search results, as plain lines and drawn."""

from typing import TYPE_CHECKING

from zkchat.model.note import Passage
from zkchat.render.sanitize import sanitize_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zkchat.render.console import Matches


def passage_title(passage: Passage) -> str:
    """The title of the note and the headings of the passage, without a heading that repeats the title."""
    headings = passage.heading_path[passage.heading_path[:1] == (passage.title,) :]
    return " › ".join(sanitize_line(text) for text in (passage.title, *headings))


def passage_location(passage: Passage) -> str:
    """Path and lines, and why the passage was found."""
    first, last = passage.first_line, passage.last_line
    lines = f"line {first}" if first == last else f"lines {first}–{last}"
    return f"{sanitize_line(passage.path)}, {lines} · {passage.why}"


def passage_lines(passage: Passage) -> list[str]:
    """Plain lines: title, location and, if there is one, snippet."""
    return [passage_title(passage), passage_location(passage), *filter(None, [sanitize_line(passage.snippet)])]


def draw_passage(number: int, passage: Passage, matches: "Matches") -> "RenderableType":
    """The same for a terminal, with the words of the query highlighted."""
    from rich.table import Table
    from rich.text import Text

    snippet = Text(sanitize_line(passage.snippet))
    for start, end in matches(snippet.plain):
        snippet.stylize("bold yellow", start, end)
    rows = Table.grid(padding=(0, 1))
    rows.add_column(justify="right", no_wrap=True)
    rows.add_column(overflow="fold")
    rows.add_row(f"{number}.", Text(passage_title(passage), style="bold"))
    rows.add_row("", Text(passage_location(passage), style="dim"))
    if snippet:
        rows.add_row("", snippet)
    return rows
