"""Tables of Markdown: aligned, folded where they are too wide, and drawn in chunks while they arrive."""

from collections.abc import Sequence

from markdown_it.token import Token
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, MarkdownElement, TableElement, TableRowElement
from rich.table import Table

from zkchat.render.markdown.blocks import TABLE_CHUNK_ROWS


class ChunkedTable(TableElement):
    """A table whose first rows decide the column widths, so that it can be drawn in chunks."""

    @classmethod
    def create(cls, _markdown: Markdown, token: Token) -> MarkdownElement:
        return cls(skip=token.meta.get("skip", 0))

    def __init__(self, *, skip: int) -> None:
        super().__init__()
        self._skip = skip

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        assert self.header is not None
        assert self.header.row is not None
        head = self.header.row
        rows = self.body.rows if self.body else []
        table = Table(
            box=box.SIMPLE, pad_edge=False, show_edge=False, show_header=not self._skip, style="markdown.table.border"
        )
        widths = _widths([head, *rows[:TABLE_CHUNK_ROWS]], options.max_width)
        for cell, width in zip(head.cells, widths, strict=True):
            title = cell.content.copy()
            title.stylize("markdown.table.header")
            table.add_column(title, width=width, justify=cell.justify, overflow="fold")
        for row in rows[self._skip :]:
            table.add_row(*(cell.content for cell in row.cells))
        yield table


def _unbroken(word: str) -> int:
    """Columns that a word needs; between wide characters a row may end anywhere."""
    cells = cell_len(word)
    return cells if cells <= len(word) else 2


def _widths(rows: Sequence[TableRowElement], available: int) -> list[int]:
    """Widths that the contents need; if they exceed the screen, the widest columns shrink, at first to whole words."""
    columns = [[cell.content for cell in column] for column in zip(*(row.cells for row in rows), strict=True)]
    widths = [max(1, *(min(available, text.cell_len) for text in column)) for column in columns]
    words = [max([1, *(_unbroken(word) for text in column for word in text.plain.split())]) for column in columns]
    available -= 3 * (len(widths) - 1)
    for least in (words, [1] * len(widths)):
        while sum(widths) > available and (spare := [w for w, low in zip(widths, least, strict=True) if w > low]):
            column = next(number for number, low in enumerate(least) if widths[number] == max(spare) > low)
            widths[column] -= 1
    return widths
