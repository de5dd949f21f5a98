"""Numbered lists of places in the vault: hits, links, statements, the daily brief; as plain text, and drawn."""

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zkchat import render
from zkchat.core import (
    CheckedStatement,
    Difference,
    DocumentReference,
    Passage,
    SourcePlace,
    Verdict,
    Verification,
    counted,
    heading_of,
    line_place,
    page_named,
    page_of,
    shorten,
)
from zkchat.render.links import ClickableLinks, percent_encoded
from zkchat.render.sanitize import sanitize_line, sanitize_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from zkchat.render.console import Matches


class Place(Struct, frozen=True, kw_only=True):
    """A place in the vault that a number, a name or a row of a list means."""

    path: str | None
    """None for what leads to no file, such as a broken link."""
    line: int | None = None
    anchor: str = ""
    """The heading or block that was named, if that alone is meant."""
    name: str = ""
    """For completion, and for what leads to no file."""
    doubt: str = ""
    """Why it leads to no file, or which names come closest."""

    @property
    def location(self) -> str:
        """Path and line, as editors take them."""
        return line_place(self.path, self.line) if self.path and self.line else f"{self.path}"


class NumberedRow(Struct, frozen=True, kw_only=True):
    """One place. Its texts are sanitized where they are drawn."""

    name: str
    lead: str = ""
    """A date or a count before the name; those of a list are set one below the other."""
    depth: int = 0
    """How many rows it stands below."""
    place: str = ""
    """Path and line, and what else is said in short."""
    text: str = ""
    """A line or two of what stands there."""
    is_doubtful: bool = False
    """Whether it is drawn as something to check, such as a broken link."""
    to: Place | None = None
    """What its number opens in a chat, and a click on its place."""
    data: Any = None
    """What scripts get of it."""


class RowSection(Struct, frozen=True, kw_only=True):
    """A part of a list under a heading; numbers run through all parts."""

    title: str = ""
    summary: str = ""
    rows: Sequence[NumberedRow] = ()
    rest: str = ""
    """A line below the rows: what is left out."""


def plain_sections(sections: Sequence[RowSection], *, is_numbered: bool = True, columns: int = 0) -> str:
    """The parts of a list as plain text, with a blank line between them; wrapped between words to `columns`."""
    width = number_width(sections) if is_numbered else 0
    indent = " " * (width + 2 if width else 2)
    parts: list[str] = []
    number = 0
    for section in sections:
        lines = [f"{section.title}: {section.summary}" if section.summary else section.title] if section.title else []
        at_most = lead_width(section)
        for row in section.rows:
            number += 1
            sign = f"{number:>{width}}. " if width else ""
            place = f" ({sanitize_line(row.place)})" if row.place else ""
            lines.append(f"{sign}{lead(row, at_most)}{sanitize_line(row.name)}{place}")
            lines += [f"{indent}{sanitize_line(row.text)}"] if row.text else []
        lines += [f"{indent}{section.rest}"] if section.rest else []
        parts.append("\n".join(_wrapped(line, columns, indent) for line in lines))
    return sanitize_text("\n\n".join(parts))


def lead_width(section: RowSection) -> int:
    return max((len(row.lead) for row in section.rows), default=0)


def lead(row: NumberedRow, width: int) -> str:
    if not width:
        return "  " * row.depth
    is_number = row.lead.replace(",", "").isdigit()
    return sanitize_text(row.lead.rjust(width) if is_number else row.lead.ljust(width)) + "  " * (row.depth + 1)


def number_width(sections: Sequence[RowSection]) -> int:
    """How wide the numbers are; 0 where no row leads anywhere, so that a number would mean nothing."""
    rows = [row for section in sections for row in section.rows]
    return len(str(len(rows))) if any(row.to for row in rows) else 0


def _wrapped(line: str, columns: int, indent: str) -> str:
    if not columns:
        return line
    return fill(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def passage_row(passage: Passage, preview: str, line: int, repetitions: int = 0) -> NumberedRow:
    """Title, location and text of a passage, and how many others have the same text."""
    repeated = f" · and {repetitions:,} more with the same text" if repetitions else ""
    page = page_of(passage.path, passage.heading_path)
    where = f"{passage.path}#page={page}" if page else line_place(passage.path, line)
    place = f"{where} · {passage.why}{repeated}"
    # Without a heading that repeats the title.
    headings = passage.heading_path[passage.heading_path[:1] == (passage.title,) :]
    title = " › ".join(sanitize_line(text) for text in (passage.title, *headings))
    to = Place(path=passage.path, line=line, name=title)
    return NumberedRow(name=title, place=place, text=preview, to=to)


_MAX_SENTENCE: Final = 240
_MARKS: Final[dict[Verdict, str]] = {"quoted": "✓", "supported": "≈", "contradicted": "✗", "unsupported": "?"}
_DIFFERENCES: Final[dict[Difference, str]] = {
    "number": "another number",
    "name": "another name",
    "negation": "the opposite",
}


def statement_row(statement: CheckedStatement) -> NumberedRow:
    """A mark, what the statement says, the verdict with the place, and what stands there."""
    best = statement.places[0] if statement.places else statement.nearest
    return NumberedRow(
        name=f"{_MARKS[statement.verdict]} {_shortened(statement.text)}",
        place=_verdict(statement),
        text=f"“{_shortened(best.quote)}”" if best and statement.verdict != "quoted" else "",
        is_doubtful=not statement.is_supported,
        to=Place(path=best.path, line=best.lines.first, name=best.title)
        if best
        else Place(path=None, name=statement.text, doubt="No note says it."),
        data=statement,
    )


def _verdict(statement: CheckedStatement) -> str:
    """The verdict with the place that it rests on."""
    if statement.nearest:
        return f"unsupported: no note says this; nearest: {_location(statement.nearest)}"
    if statement.verdict == "unsupported":
        return "unsupported: no note says this"
    difference = f": {_DIFFERENCES[statement.difference]}" if statement.difference else ""
    said = [f"{statement.verdict}{difference}", *map(_location, statement.places[:1])]
    if others := statement.places[1:]:
        said.append(f"and {counted(len(others), 'more place')}")
    return " · ".join(said)


def _location(place: SourcePlace) -> str:
    heading = heading_of(place.heading)
    if page := page_named(place.path, place.heading):
        return f"{place.path}#page={page}"
    return line_place(place.path, place.lines.first) + (f" › {heading}" if heading else "")


def _shortened(text: str) -> str:
    return shorten(" ".join(text.split()), _MAX_SENTENCE)


def summary(verification: Verification) -> str:
    """How many of the statements stand in the notes, as a sentence."""
    total = len(verification.statements)
    if not total:
        return "The text has no statements to compare with your notes."
    stand = verification.count("quoted") + verification.count("supported")
    contradicted = verification.count("contradicted")
    ends = [f"{stand} of {counted(total, 'statement')} {'is' if 1 in {stand, total} else 'are'} in your notes"]
    if contradicted:
        ends.append(f"{contradicted} {'contradicts' if contradicted == 1 else 'contradict'} them")
    if left := verification.count("unsupported"):
        ends.append(f"{left} {'is' if left == 1 else 'are'} not there")
    rest = "" if verification.is_complete else " Only the first part of the text was checked."
    return f"{', '.join(ends)}.{rest}"


def print_sections(
    console: "Console",
    sections: Sequence[RowSection],
    links: ClickableLinks | None = None,
    matches: "Matches | None" = None,
) -> None:
    """Draw the parts of a list, each below its heading, without trailing blanks, so that they can be copied cleanly.

    What a row says of its place can be clicked; `matches` finds words to be marked in the texts of rows.
    """
    from rich.console import Group

    from zkchat.render.console import render_rows

    rows = render_rows(console, Group(*draw_sections(sections, links, matches)))
    console.file.write("".join(f"{row.text}\n" for row in rows))
    console.file.flush()


def draw_sections(
    sections: Sequence[RowSection], links: ClickableLinks | None = None, matches: "Matches | None" = None
) -> Iterator["RenderableType"]:
    from rich.padding import Padding
    from rich.style import Style
    from rich.table import Table
    from rich.text import Text

    width = number_width(sections)
    number = 0
    for section in sections:
        if section is not sections[0]:
            yield Text()
        if section.title:
            summary = [(f"  {sanitize_line(section.summary)}", "dim")] if section.summary else []
            yield Text.assemble((sanitize_line(section.title), "bold accent"), *summary)
        grid = Table.grid(padding=(0, 1))
        grid.add_column(justify="right", no_wrap=True, min_width=width + 1 if width else 0)
        grid.add_column(overflow="fold")
        at_most = lead_width(section)
        for row in section.rows:
            number += 1
            name = (sanitize_line(row.name), "doubt" if row.is_doubtful else "bold")
            path = row.to.path if row.to else None
            reference = DocumentReference(wikilink=path, relative_path=path) if path else None
            address = links.clickable(reference) if links and reference else None
            style = Style(dim=True, link=percent_encoded(address) if address else None)
            place = ("  ", (sanitize_line(row.place), style)) if row.place else ()
            grid.add_row(f"{number}." if width else "", Text.assemble(lead(row, at_most), name, *place))
            if row.text:
                grid.add_row("", _marked(sanitize_line(row.text), matches))
        if section.rows:
            yield grid
        if section.rest:
            yield Padding(Text(sanitize_line(section.rest), style="dim"), (0, 0, 0, width + 2 if width else 1))


def _marked(text: str, matches: "Matches | None") -> "Text":
    """What was found; with the labels of its links, and the words of the query highlighted, where it was searched."""
    from rich.text import Text

    if matches is None:
        return Text(text)
    marked = Text(render.with_labels(text))
    for start, end in matches(marked.plain):
        marked.stylize("bold doubt", start, end)
    return marked
