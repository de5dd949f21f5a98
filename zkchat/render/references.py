"""The documents of an answer: in words, as plain lines, and as the panel "Referenced Documents"."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from zkchat.core import DocumentReference, file_kind, page_named, shorten
from zkchat.render.links import NO_LINKS, ClickableLinks, percent_encoded
from zkchat.render.sanitize import sanitize_line

DOUBTFUL_STYLE: Final = "doubt"


def describe_location(reference: DocumentReference) -> str:
    """Path, heading and lines of the document; empty for a broken link. A canvas or PDF is not read by its lines."""
    if reference.relative_path is None:
        return ""
    words = sanitize_line(reference.relative_path)
    if page := page_named(reference.relative_path, reference.anchor):
        return f"{words}, page {page}" if reference.anchor_found else words
    if reference.anchor:
        words += f" › {sanitize_line(reference.anchor).replace('#', ' › ')}"
    if reference.lines is not None and not file_kind(reference.relative_path):
        first, last = reference.lines.first, reference.lines.last
        words += f", line {first}" if first == last else f", lines {first}–{last}"
    return words


def describe_reason(reference: DocumentReference) -> str:
    """Why the document is in the list, and whether the answer used it."""
    if reference.is_gone:
        return f"no longer exists, {describe_reason(replace(reference, status='resolved'))}"
    if reference.via == "withheld":
        return "private: not sent to this model"
    if reference.status == "missing":
        return f"no such note, {_origin(reference)}"
    if reference.unverified:
        return f"{_origin(reference)}, never given to the model"
    if reference.via == "proposed":
        return "proposed"
    words = [*filter(None, [file_kind(reference.relative_path or "")]), _origin(reference)]
    if reference.hits > 1:
        words.append(f"{reference.hits} times")
    if reference.unsent:
        words.append(f"not sent: {sanitize_line(reference.unsent)}")
    else:
        words += [f"sent in part ({sanitize_line(reference.extent)})"] * bool(reference.extent)
        words += ["cited" if reference.cited else "not cited", *filter(None, [describe_time(reference)])]
    return ", ".join(words)


def describe_time(reference: DocumentReference) -> str:
    """The date of what was found, where it has one, and whether it is outdated or others are."""
    words = [reference.date.isoformat()] if reference.date else []
    if reference.outdated_by:
        words.append(f"outdated: the newer {sanitize_line(reference.outdated_by)} says otherwise")
    elif reference.outdates:
        words.append("older notes say otherwise")
    return ", ".join(words)


_BROUGHT: Final = {
    "embed": "embedded in a note you linked",
    "folder": "in a folder you named",
    "hub": "linked by a note you named",
}


def _origin(reference: DocumentReference) -> str:
    via = sanitize_line(reference.via)
    if via in _BROUGHT:
        return _BROUGHT[via]
    if reference.reference_type == "direct":
        return f"linked by you ({via})" if via in {"alias", "id", "title"} else "linked by you"
    if via in {"answer", "context"}:
        return "linked by the answer" if via == "answer" else "sent along"
    if via in {"", "evidence", "find_excerpts", "find_documents"}:
        return "found by search"
    # A search gives its hits a score; a tool that opened the document gives none.
    return "read by the model" if reference.included and reference.score is None else "found by the model"


def describe_doubt(reference: DocumentReference) -> str:
    """What the reader should check: other notes that the link could mean, the closest names, a missing heading."""
    candidates = ", ".join(sanitize_line(candidate) for candidate in reference.candidates)
    words = []
    if reference.status == "missing" and candidates:
        words.append(f"Closest: {candidates}")
    if reference.status == "ambiguous":
        words.append(f"Could also be: {candidates}")
    if not reference.anchor_found:
        page = page_named(reference.relative_path, reference.anchor)
        words.append(f"No page {page} in it" if page else f"No “{sanitize_line(reference.anchor)}” in that note")
    return ". ".join(words)


def describe_content(reference: DocumentReference) -> str:
    """One line about the document: what was found in it, else its summary."""
    return shorten(sanitize_line(reference.snippet or reference.summary), 160)


def reference_lines(references: Sequence[DocumentReference], *, most: int) -> Iterator[str]:
    if references:
        yield "Referenced Documents"
    for number, reference in enumerate(references[:most], start=1):
        about = [describe_location(reference), describe_reason(reference), describe_doubt(reference)]
        yield f"{number}. {sanitize_line(reference.wikilink)}: {'; '.join(filter(None, about))}"
        if content := describe_content(reference):
            yield f"   {content}"
    if len(references) > most:
        yield f"… and {len(references) - most} more"


def references_panel(
    references: Sequence[DocumentReference], *, shown: int = 10, links: ClickableLinks = NO_LINKS
) -> RenderableType:
    """The numbered documents of an answer, each with its location, its content and the reason why it is listed."""
    rows = Table.grid(padding=(0, 1))
    rows.add_column(justify="right", style="bold", no_wrap=True)
    rows.add_column(overflow="fold")
    for number, reference in enumerate(references[:shown], start=1):
        name, reason = (DOUBTFUL_STYLE, DOUBTFUL_STYLE) if reference.is_doubtful else ("bold accent", "dim")
        link = linked(sanitize_line(reference.wikilink), name, links.clickable(reference))
        entry = Text.assemble(link, "  ", (describe_reason(reference), reason))
        for words, style in (
            (describe_location(reference), "none"),
            (describe_doubt(reference), DOUBTFUL_STYLE),
            (describe_content(reference), "dim"),
        ):
            if words:
                entry.append("\n").append(words, style=style)
        rows.add_row(str(number), entry)
    if len(references) > shown:
        rows.add_row("", Text(f"… and {len(references) - shown} more", style="dim"))
    return Panel(rows, title="Referenced Documents", title_align="left", box=box.ROUNDED, border_style="dim")


def linked(text: str, style: str, address: str | None) -> Text:
    """A text that a click opens, if there is an address."""
    shown = Text(text, style=style, end="")
    if address is not None:
        shown.stylize(Style(link=percent_encoded(address)))
    return shown


def fit_cells(text: str, cells: int) -> str:
    """The text in at most so many cells; where some of it is left out, an ellipsis ends it."""
    return text if cell_len(text) <= cells else set_cell_size(text, max(0, cells - 1)).rstrip() + "…"


def flow(entries: Iterable[Text], width: int, *, gap: str = "  ") -> list[Text]:
    """The entries side by side, in as few lines as the width allows; none is divided."""
    lines: list[Text] = []
    for entry in entries:
        if lines and lines[-1].cell_len + len(gap) + entry.cell_len <= width:
            lines[-1].append(gap).append_text(entry)
        else:
            lines.append(Text.assemble(entry))  # a style of the whole entry is not one of the whole line
    return lines


_GAP: Final = "  "


class BriefList(Struct, frozen=True, kw_only=True):
    """The documents of one answer, each with its number in the whole list."""

    rows: tuple[tuple[int, DocumentReference], ...]
    more: int
    """Documents that are cited, linked or doubtful, and beyond the limit."""
    looked_at: int
    """Documents that were found and not used."""
    unused: tuple[tuple[int, DocumentReference], ...] = ()
    """Of these the few that fit best."""

    @property
    def suggestion(self) -> str:
        """`Also fits: 4 [[Naps]], 7 [[Light]]`; empty where all that fits is used."""
        named = ", ".join(f"{number} {sanitize_line(each.wikilink)}" for number, each in self.unused)
        return f"Also fits: {named}" if named else ""

    def rest(self, command: str) -> str:
        """`+ 2 more, 4 looked at (/sources)`; empty where nothing is left out."""
        counts = [f"{self.more:,} more"] * (self.more > 0) + [f"{self.looked_at:,} looked at"] * (self.looked_at > 0)
        return f"+ {', '.join(counts)}" + (f" ({command})" if command else "") if counts else ""


def in_brief(references: Sequence[DocumentReference], *, most: int, all_listed: bool = False) -> BriefList:
    """What is listed of these documents; with `all_listed`, also those that were only looked at.

    A list from the index is the answer itself, with the same numbers: it is not repeated. What goes along with every
    request is none that was looked at.
    """
    hidden = [each.via == "index" or (each.via == "context" and not each.cited) for each in references]
    numbered = [(number, each) for number, each in enumerate(references, start=1) if not hidden[number - 1]]
    listed = [
        row for row in numbered if all_listed or row[1].cited or row[1].reference_type == "direct" or row[1].is_doubtful
    ]
    listed.sort(key=lambda row: (not row[1].cited, row[1].reference_type != "direct"))
    shown = listed[:most] + [row for row in listed[most:] if row[1].is_doubtful]
    unused = [row for row in numbered if row not in listed and row[1].score and row[1].relative_path]
    unused.sort(key=lambda row: -(row[1].score or 0))
    return BriefList(
        rows=tuple(shown),
        more=len(listed) - len(shown),
        looked_at=len(numbered) - len(listed),
        unused=tuple(unused[:3]),
    )


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


def footnotes(brief: BriefList, links: ClickableLinks = NO_LINKS, *, with_content: bool) -> Iterator[Text]:
    """The list as footnotes: the number that `/open` takes, where each is, and what it says there."""
    for number, reference in brief.rows:
        said = describe_content(reference) if with_content else ""
        doubt = f", {short_reason(reference)}" if reference.is_doubtful else ""
        where = place(reference) or sanitize_line(reference.wikilink)
        yield Text.assemble(
            (f"[{number}] ", "bold"),
            linked(where, "none", links.clickable(reference)),
            (doubt, DOUBTFUL_STYLE),
            (f": “{said}”" if said else "", "dim"),
            overflow="fold",
        )


def brief_lines(brief: BriefList, *, with_content: bool = True) -> Iterator[str]:
    """The list as plain lines, each with a line about what the document says."""
    for number, reference in brief.rows:
        yield f"{number}. {_GAP.join(filter(None, _cells(reference)))}"
        if with_content and (content := describe_content(reference)):
            yield f"   {content}"


def brief_rows(brief: BriefList, links: ClickableLinks, width: int) -> RenderableType | None:
    """The list drawn: a line for each document, in columns where all of them fit, shortened where one does not.

    What room is left in a line tells what the document says.
    """
    if not brief.rows:
        return None
    digits = max(len(str(number)) for number, _ in brief.rows)
    room = width - digits - 1
    cells = [_cells(reference) for _, reference in brief.rows if not reference.is_doubtful]
    columns = [max(map(cell_len, column)) for column in zip(*cells, strict=True)] if cells else [0, 0, 0]
    is_aligned = sum(columns) + 2 * len(_GAP) <= room
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for number, reference in brief.rows:
        address = links.clickable(reference)
        if reference.is_doubtful:
            link, *about = _cells(reference)
            words = ((f"{_GAP}{each}", DOUBTFUL_STYLE) for each in about if each)
            row = Text.assemble(linked(link, DOUBTFUL_STYLE, address), *words)
        elif is_aligned:
            row = _styled(_cells(reference), address, columns)
        else:
            row = _styled(_fitted(_cells(reference), room), address)
        left = room - row.cell_len - len(_GAP)
        if left >= 20 and (content := describe_content(reference)):  # less of it tells nothing
            row.append(f"{_GAP}{fit_cells(content, left)}", style="dim")
        grid.add_row(str(number), row)
    return grid


def quoted_places(brief: BriefList, links: ClickableLinks, width: int) -> list[Text]:
    """The places of documents that the answer itself quotes, side by side."""
    entries = [
        Text.assemble((f"{number} ", "bold"), linked(place(each), "none", links.clickable(each)))
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
    least = min(cell_len(link), 14)  # less of it says nothing
    for reason in (why, shortest):
        left = room - cell_len(where) - cell_len(reason) - 2 * len(_GAP)
        if left >= least:
            return [fit_cells(link, left), where, reason]
    beside = room - cell_len(where) - len(_GAP)
    return ["", where, next((reason for reason in (why, shortest) if cell_len(reason) <= beside), "")]


def _styled(cells: Sequence[str], address: str | None, columns: Sequence[int] = (0, 0, 0)) -> Text:
    """The cells of a row, each at least as wide as its column; one that is empty takes no room."""
    styles = (("bold accent", address), ("none", address), ("dim", None))
    row = Text()
    for text, style, width in zip(cells, styles, columns, strict=True):
        if text:
            row.append(_GAP if row else "").append_text(linked(text, *style)).append(" " * (width - cell_len(text)))
    return row
