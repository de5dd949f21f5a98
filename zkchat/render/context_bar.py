"""How full the context is: in words, as a plain line, as a short gauge below an answer, and as a bar with a legend."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from zkchat.model.usage import ContextUsage
from zkchat.render.cells import flow

_MARKS: Final = (("█", "blue"), ("▓", "magenta"), ("▒", "cyan"), ("░", "green"), ("▤", "yellow"), ("■", "default"))
"""One for each part, so that the parts can be distinguished without colour."""
_FREE: Final = ("·", "dim")
_RESERVE: Final = ("╱", "dim")
_THRESHOLD: Final = ("│", "bold yellow")
_MIN_BAR_WIDTH: Final = 30
_GAUGE_WIDTH: Final = 20
_MIN_GAUGE_WIDTH: Final = 8
_NEWS_POINTS: Final = 15
"""Points by which the use of the window changes before it is shown again."""
_ALWAYS_ABOVE: Final = 60
"""Per cent from which on it is shown after every answer."""


class ShownUsage:
    """Remembers which use of the window was shown last, to tell when it is worth showing again."""

    def __init__(self) -> None:
        self._percent = 0.0

    def is_news(self, usage: ContextUsage) -> bool:
        """Whether to show it now: it has changed by several points, or little is left."""
        if not usage.window:
            return False
        percent = 100 * usage.total / usage.window
        if percent <= _ALWAYS_ABOVE and abs(percent - self._percent) <= _NEWS_POINTS:
            return False
        self._percent = percent
        return True


def tokens_used(usage: ContextUsage) -> str:
    """`1,234 / 8,192 tokens (15 %)`, with `≈` for an estimate."""
    about = "≈ " if usage.estimated else ""
    if not usage.window:
        return f"{about}{usage.total:,} tokens"
    return f"{about}{usage.total:,} / {usage.window:,} tokens ({100 * usage.total // usage.window} %)"


def parts_of(usage: ContextUsage) -> tuple[tuple[str, int], ...]:
    """The parts of the context, in the order in which they are sent."""
    return (
        ("system", usage.system),
        ("tools", usage.tools),
        ("memory", usage.memory),
        ("references", usage.references),
        ("images", usage.images),
        ("messages", usage.messages),
    )


def context_line(usage: ContextUsage) -> str:
    parts = ", ".join(f"{name} {tokens:,}" for name, tokens in parts_of(usage) if tokens)
    return f"Context: {tokens_used(usage)}" + (f": {parts}" if parts else "")


def context_bar(usage: ContextUsage, *, width: int) -> RenderableType:
    """The context window: its parts, the reserve for the answer, and the threshold of compaction."""
    numbers = Text(tokens_used(usage), style=_usage_style(usage))
    legend = _legend(usage, width)
    if not usage.window:
        return Group(numbers, *legend)
    beside = width - numbers.cell_len - 2
    if beside >= _MIN_BAR_WIDTH:
        return Group(Text.assemble(_bar(usage, beside), "  ", numbers), *legend)
    return Group(_bar(usage, width), numbers, *legend)


def context_gauge(usage: ContextUsage, *, width: int) -> Text:
    """The same in one short line: a bar of the parts, if there is room for one, and the numbers."""
    numbers = Text(tokens_used(usage), style=_usage_style(usage))
    room = min(_GAUGE_WIDTH, width - numbers.cell_len - 1)
    if not usage.window or room < _MIN_GAUGE_WIDTH:
        return numbers
    return Text.assemble(_bar(usage, room), " ", numbers)


def _usage_style(usage: ContextUsage) -> str:
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
    """Start and end of each part; every part that is not empty gets at least one cell, while there are cells."""
    start = used = 0
    for _, tokens in parts_of(usage):
        used += tokens
        end = min(width, max(round(width * used / usage.window), start + (tokens > 0)))
        yield start, end
        start = end


def _legend(usage: ContextUsage, width: int) -> list[Text]:
    """The legend, in as few lines as the width allows."""
    entries = [
        Text.assemble(mark, f" {name} {tokens:,}")
        for (name, tokens), mark in zip(parts_of(usage), _MARKS, strict=True)
        if tokens
    ]
    if usage.window:
        entries.append(Text.assemble(_RESERVE, f" reserve {usage.reserve:,}"))
        entries.append(Text.assemble(_THRESHOLD, f" compaction at {100 * usage.threshold:.0f} %"))
    return flow(entries, width)
