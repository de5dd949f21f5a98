"""Text measured in the cells of a terminal."""

from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size
from rich.text import Text


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
