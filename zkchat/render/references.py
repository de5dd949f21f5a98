"""The documents of an answer: in words, as plain lines, and as the panel "Referenced Documents"."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace
from rich import box
from rich.console import RenderableType
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from zkchat.model.note import file_kind, page_named
from zkchat.model.references import DocumentReference
from zkchat.model.text import shorten
from zkchat.render.links import NO_LINKS, ClickableLinks, percent_encoded
from zkchat.render.sanitize import sanitize_line

DOUBTFUL_STYLE: Final = "yellow"
_MAX_EXCERPT_LENGTH: Final = 160


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
        return f"not there any more, {describe_reason(replace(reference, status='resolved'))}"
    if reference.via == "withheld":
        return "withheld: it is not sent to this model"
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


def _origin(reference: DocumentReference) -> str:
    via = sanitize_line(reference.via)
    if via == "embed":
        return "embedded in a note you linked"
    if reference.reference_type == "direct":
        return f"linked by you ({via})" if via in {"alias", "id", "title"} else "linked by you"
    if via in {"answer", "context"}:
        return "linked by the answer" if via == "answer" else "sent along"
    if via in {"", "evidence"}:
        return "found by search"
    # A search gives its hits a score; a tool that opened the document gives none.
    return f"read by {via}" if reference.included and reference.score is None else f"found by {via}"


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
    return shorten(sanitize_line(reference.snippet or reference.summary), _MAX_EXCERPT_LENGTH)


def reference_lines(references: Sequence[DocumentReference], *, most: int) -> Iterator[str]:
    """The references as plain lines."""
    if references:
        yield "Referenced Documents"
    for number, reference in enumerate(references[:most], start=1):
        about = [describe_location(reference), describe_reason(reference), describe_doubt(reference)]
        yield f"{number}. {sanitize_line(reference.wikilink)}: {'; '.join(filter(None, about))}"
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
        rows.add_row(str(number), _entry(reference, links.clickable(reference)))
    if len(references) > shown:
        rows.add_row("", Text(f"… and {len(references) - shown} more", style="dim"))
    return Panel(rows, title="Referenced Documents", title_align="left", box=box.ROUNDED, border_style="dim")


def _entry(reference: DocumentReference, address: str | None) -> Text:
    is_doubtful = reference.is_doubtful
    name = link_style(DOUBTFUL_STYLE if is_doubtful else "bold cyan", address)
    entry = Text(sanitize_line(reference.wikilink), style=name, end="")
    lines = Text.assemble(entry, "  ", (describe_reason(reference), DOUBTFUL_STYLE if is_doubtful else "dim"))
    for words, style in (
        (describe_location(reference), "none"),
        (describe_doubt(reference), DOUBTFUL_STYLE),
        (describe_content(reference), "dim"),
    ):
        if words:
            lines.append("\n").append(words, style=style)
    return lines


def link_style(style: str, address: str | None) -> Style:
    """The style of a text that a click opens, if there is an address."""
    plain = Style.parse(style)
    return plain if address is None else plain + Style(link=percent_encoded(address))
