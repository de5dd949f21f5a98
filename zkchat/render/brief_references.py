"""The documents of an answer in brief: a line for each that is cited, linked or doubtful, the others counted."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.console import RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from zkchat.model.note import file_kind, page_named
from zkchat.model.references import DocumentReference
from zkchat.render.cells import fit_cells, flow
from zkchat.render.links import ClickableLinks
from zkchat.render.references import (
    DOUBTFUL_STYLE,
    describe_doubt,
    describe_location,
    describe_reason,
    describe_time,
    link_style,
)
from zkchat.render.sanitize import sanitize_line

_GAP: Final = "  "
_MIN_LINK_WIDTH: Final = 14
"""Cells of a link that is cut; less of it says nothing."""


class BriefList(Struct, frozen=True, kw_only=True):
    """The documents of one answer, each with its number in the whole list."""

    rows: tuple[tuple[int, DocumentReference], ...]
    more: int
    """Documents that are cited, linked or doubtful, and beyond the limit."""
    looked_at: int
    """Documents that were found and not used."""

    def rest(self, command: str) -> str:
        """`+ 2 more, 4 looked at (/refs)`; empty where nothing is left out."""
        counts = [f"{self.more:,} more"] * (self.more > 0) + [f"{self.looked_at:,} looked at"] * (self.looked_at > 0)
        return f"+ {', '.join(counts)}" + (f" ({command})" if command else "") if counts else ""


def in_brief(references: Sequence[DocumentReference], *, most: int, all_listed: bool = False) -> BriefList:
    """What is listed of these documents; with `all_listed`, also those that were only looked at.

    A list from the index is the answer itself, with the same numbers: it is not repeated. What goes along with every
    request is none that was looked at.
    """
    hidden = [each.via == "index" or (each.via == "context" and not each.cited) for each in references]
    numbered = [(number, each) for number, each in enumerate(references, start=1) if not hidden[number - 1]]
    listed = [(number, each) for number, each in numbered if all_listed or _is_listed(each)]
    listed.sort(key=lambda row: (not row[1].cited, row[1].reference_type != "direct"))
    shown = listed[:most] + [row for row in listed[most:] if row[1].is_doubtful]
    return BriefList(rows=tuple(shown), more=len(listed) - len(shown), looked_at=len(numbered) - len(listed))


def _is_listed(reference: DocumentReference) -> bool:
    return reference.cited or reference.reference_type == "direct" or reference.is_doubtful


def place(reference: DocumentReference) -> str:
    """`path:line`, as editors and terminals open it; `path › heading` of a canvas or PDF; empty for a broken link."""
    path = sanitize_line(reference.relative_path or "")
    if page := page_named(reference.relative_path, reference.anchor):
        return f"{path}#page={page}"
    if file_kind(path):
        return describe_location(reference)
    return f"{path}:{reference.lines.first}" if path and reference.lines else path


def short_reason(reference: DocumentReference) -> str:
    """Why the document is listed, in a few words; for a doubtful one, what the reader should check."""
    if reference.is_doubtful:
        is_told = reference.status == "missing" or reference.unverified
        doubt = describe_doubt(reference)
        words = [describe_reason(reference)] * is_told + [doubt[:1].lower() + doubt[1:]] * bool(doubt)
        return "; ".join(words)
    if reference.via == "proposed":
        return describe_reason(reference)
    linked = "embedded in a note you linked" if reference.via == "embed" else "linked by you"
    is_linked = reference.reference_type == "direct"
    kind = file_kind(reference.relative_path or "")
    words = ["cited"] * reference.cited + [linked] * is_linked + ["sent in part"] * bool(reference.extent)
    words += ["not sent"] * bool(reference.unsent)
    return ", ".join(filter(None, (kind, *(words or ["looked at"]), describe_time(reference))))


def brief_lines(brief: BriefList) -> Iterator[str]:
    """The list as plain lines."""
    for number, reference in brief.rows:
        about = filter(None, [sanitize_line(reference.wikilink), place(reference), short_reason(reference)])
        yield f"{number}. {_GAP.join(about)}"


def brief_rows(brief: BriefList, links: ClickableLinks, width: int) -> RenderableType | None:
    """The list drawn: a line for each document, in columns where all of them fit, shortened where one does not."""
    if not brief.rows:
        return None
    digits = max(len(str(number)) for number, _ in brief.rows)
    room = width - digits - 1
    cells = [_cells(reference) for _, reference in brief.rows if not reference.is_doubtful]
    columns = [max(map(_cell_len, column)) for column in zip(*cells, strict=True)] if cells else [0, 0, 0]
    is_aligned = sum(columns) + 2 * len(_GAP) <= room
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for number, reference in brief.rows:
        address = links.clickable(reference)
        if reference.is_doubtful:
            row = _doubtful(reference, address)
        elif is_aligned:
            row = _styled(_cells(reference), address, columns)
        else:
            row = _styled(_fitted(_cells(reference), room), address)
        grid.add_row(str(number), row)
    return grid


def quoted_places(brief: BriefList, links: ClickableLinks, width: int) -> list[Text]:
    """The places of documents that the answer itself quotes, side by side."""
    entries = [
        Text.assemble((f"{number} ", "bold"), (place(each), link_style("none", links.clickable(each))))
        for number, each in brief.rows
        if not each.is_doubtful
    ]
    return flow(entries, width, gap="   ")


def _cells(reference: DocumentReference) -> tuple[str, str, str]:
    return sanitize_line(reference.wikilink), place(reference), short_reason(reference)


def _fitted(cells: tuple[str, str, str], room: int) -> list[str]:
    """The cells of a row in one line: the link and the reason give way, since the place must stay whole."""
    link, where, why = cells
    shortest = why.partition(",")[0]
    least = min(_cell_len(link), _MIN_LINK_WIDTH)
    for reason in (why, shortest):
        left = room - _cell_len(where) - _cell_len(reason) - 2 * len(_GAP)
        if left >= least:
            return [fit_cells(link, left), where, reason]
    beside = room - _cell_len(where) - len(_GAP)
    return ["", where, next((reason for reason in (why, shortest) if _cell_len(reason) <= beside), "")]


def _styled(cells: Sequence[str], address: str | None, columns: Sequence[int] = (0, 0, 0)) -> Text:
    """The cells of a row, each at least as wide as its column; one that is empty takes no room."""
    styles: tuple[Style | str, ...] = (link_style("bold cyan", address), link_style("none", address), "dim")
    row = Text()
    for text, style, width in zip(cells, styles, columns, strict=True):
        if text:
            row.append(_GAP if row else "").append(text, style=style).append(" " * (width - _cell_len(text)))
    return row


def _doubtful(reference: DocumentReference, address: str | None) -> Text:
    link = Text(sanitize_line(reference.wikilink), style=link_style(DOUBTFUL_STYLE, address))
    about = filter(None, [place(reference), short_reason(reference)])
    return Text.assemble(link, *((f"{_GAP}{words}", DOUBTFUL_STYLE) for words in about))


def _cell_len(text: str) -> int:
    return cell_len(text)
