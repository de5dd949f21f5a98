"""What stands below an answer: the documents it rests on, and the bar of the context."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final
from urllib.parse import quote

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from zkchat.model.message import ContextUsage, DocumentReference
from zkchat.render import phrases
from zkchat.render.sanitize import shown_in_line

LinkFor = Callable[[DocumentReference], str | None]

_DOUBTFUL: Final = "yellow"


def no_link(_reference: DocumentReference) -> None:
    """For terminals, and vaults, where nothing can be clicked."""


def references_panel(
    references: Sequence[DocumentReference], *, shown: int = 10, link_for: LinkFor = no_link
) -> RenderableType:
    """The documents of an answer, numbered, each with where it is, what it says and why it is there."""
    rows = Table.grid(padding=(0, 1))
    rows.add_column(justify="right", style="bold", no_wrap=True)
    rows.add_column(overflow="fold")
    for number, reference in enumerate(references[:shown], start=1):
        rows.add_row(str(number), _entry(reference, link_for(reference)))
    if len(references) > shown:
        rows.add_row("", Text(f"… and {len(references) - shown} more", style="dim"))
    return Panel(rows, title="Referenced Documents", title_align="left", box=box.ROUNDED, border_style="dim")


def _entry(reference: DocumentReference, address: str | None) -> Text:
    sure = reference.status == "resolved" and reference.anchor_found and not reference.unverified
    name = Style.parse("bold cyan" if sure else _DOUBTFUL)
    if address is not None:
        name += Style(link=_percent_encoded(address))
    entry = Text(shown_in_line(reference.wikilink), style=name, end="")
    lines = Text.assemble(entry, "  ", (phrases.reason(reference), "dim" if sure else _DOUBTFUL))
    for words, style in (
        (phrases.place(reference), "none"),
        (phrases.doubt(reference), _DOUBTFUL),
        (phrases.excerpt(reference), "dim"),
    ):
        if words:
            lines.append("\n").append(words, style=style)
    return lines


def _percent_encoded(address: str) -> str:
    """The address with nothing in it that could end or change the sequence that makes it clickable."""
    return quote(address, safe="%/:?#[]@!$&'()*+,;=~-._", errors="replace")


_MARKS: Final = (("█", "blue"), ("▓", "magenta"), ("▒", "cyan"), ("░", "green"), ("■", "default"))
"""One for each part, so that the parts can be told from each other without colour."""
_FREE: Final = ("·", "dim")
_RESERVE: Final = ("╱", "dim")
_THRESHOLD: Final = ("│", "bold yellow")
_NARROWEST_BAR: Final = 30


def context_bar(usage: ContextUsage, *, width: int) -> RenderableType:
    """The window with what fills it, what is kept for the answer, and the mark where compaction begins."""
    numbers = Text(phrases.tokens_used(usage), style=_alarm(usage))
    legend = _legend(usage, width)
    if not usage.window:
        return Group(numbers, *legend)
    beside = width - numbers.cell_len - 2
    if beside >= _NARROWEST_BAR:
        return Group(Text.assemble(_bar(usage, beside), "  ", numbers), *legend)
    return Group(_bar(usage, width), numbers, *legend)


def _alarm(usage: ContextUsage) -> str:
    if usage.window and usage.total > usage.window - usage.reserve:
        return "bold red"
    return "bold yellow" if usage.window and usage.total >= usage.threshold * usage.window else "none"


def _bar(usage: ContextUsage, width: int) -> Text:
    filled = [cell for (start, end), cell in zip(_spans(usage, width), _MARKS, strict=True) for _ in range(start, end)]
    reserved = min(width - len(filled), round(width * usage.reserve / usage.window))
    cells = [*filled, *[_FREE] * (width - len(filled) - reserved), *[_RESERVE] * reserved]
    if usage.threshold < 1:
        cells[int(width * usage.threshold)] = _THRESHOLD
    return Text.assemble(*((mark * len(list(run)), style) for (mark, style), run in groupby(cells)))


def _spans(usage: ContextUsage, width: int) -> Iterator[tuple[int, int]]:
    """Where each part begins and ends; a part that is there at all is seen, while there is room."""
    start = used = 0
    for _, tokens in phrases.parts_of(usage):
        used += tokens
        end = min(width, max(round(width * used / usage.window), start + (tokens > 0)))
        yield start, end
        start = end


def _legend(usage: ContextUsage, width: int) -> list[Text]:
    """What the marks mean, in as few lines as the width allows."""
    entries = [
        Text.assemble(mark, f" {name} {tokens:,}")
        for (name, tokens), mark in zip(phrases.parts_of(usage), _MARKS, strict=True)
        if tokens
    ]
    if usage.window:
        entries.append(Text.assemble(_RESERVE, f" reserve {usage.reserve:,}"))
        entries.append(Text.assemble(_THRESHOLD, f" compaction at {100 * usage.threshold:.0f} %"))
    lines: list[Text] = []
    for entry in entries:
        if lines and lines[-1].cell_len + 2 + entry.cell_len <= width:
            lines[-1].append("  ").append_text(entry)
        else:
            lines.append(entry)
    return lines
