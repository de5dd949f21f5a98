"""Markdown as it looks on the screen: Rich's, with clean edges for copying and nothing in it that can be clicked."""

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, Final

from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, ListElement, Markdown, MarkdownElement, TableElement, TableRowElement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from zkchat.render.live import Row, rows_of
from zkchat.render.markdown.blocks import TABLE_STRETCH, Piece

_RULE_WIDTH: Final = 40
_LONGEST_HIGHLIGHTED_LINE: Final = 1_000
"""A longer one is data, and lexers may take seconds over it."""
_UNFOLDED: Final = 1_000_000


def rows_of_piece(console: Console, piece: Piece, *, fold_code: bool = False) -> list[Row]:
    """The rows of one piece. Long lines of code are left to the terminal to fold, so that they are copied whole."""
    if piece.is_code:
        return rows_of(console, _Answer(piece.tokens), width=console.width if fold_code else _UNFOLDED)
    return _without_blank_ends(rows_of(console, _Answer(piece.tokens), width=console.width))


def _without_blank_ends(rows: list[Row]) -> list[Row]:
    filled = [index for index, row in enumerate(rows) if row.text]
    return rows[filled[0] : filled[-1] + 1] if filled else []


class _LeftHeading(Heading):
    LEVEL_ALIGN: ClassVar = {}


class _Rule(MarkdownElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("─" * min(_RULE_WIDTH, options.max_width), style="dim")


class _Code(MarkdownElement):
    """A fence with its marks, so that code is told from prose without colour too."""

    @classmethod
    def create(cls, _markdown: Markdown, token: Token) -> MarkdownElement:
        return cls(token)

    def __init__(self, token: Token) -> None:
        self._token = token
        meta = token.meta or {"context": [], "code": token.content.rstrip("\n").split("\n"), "begun": False}
        self._context: list[str] = meta["context"]
        self._code: list[str] = meta["code"]
        self._is_begun: bool = meta["begun"]
        self._is_ended: bool = meta.get("ended", True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        mark = self._token.markup
        if mark and not self._is_begun:
            yield Text(mark + self._token.info, style="dim", overflow="fold")
        for line in self._highlighted(console):
            line.expand_tabs(4)
            line.overflow = "fold"
            line.pad_left(0 if mark else 4)
            yield line
        if mark and self._is_ended:
            yield Text(mark, style="dim")

    def _highlighted(self, console: Console) -> Sequence[Text]:
        syntax = None if console.no_color else _syntax(self._token.info.partition(" ")[0])
        lines = [*self._context, *self._code]
        if syntax is None or max(map(len, lines), default=0) > _LONGEST_HIGHLIGHTED_LINE:
            return [Text(line) for line in self._code]
        text = syntax.highlight("\n".join(lines))
        return text.split("\n", allow_blank=True)[len(self._context) : len(lines)]


@lru_cache(maxsize=32)
def _syntax(language: str) -> Syntax | None:
    """What colours that language, if anything does. To find out takes longer than to use it."""
    lexer = Syntax("", language).lexer if language else None
    return lexer and Syntax("", lexer, theme="ansi_dark")


class _List(ListElement):
    """Items as far in as they would be in a longer list: it may still become one."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for index, item in enumerate(self.items):
            is_bullet = self.list_type == "bullet_list_open"
            mark = " • " if is_bullet else f"{(self.list_start or 0) + index:>2}. "
            style = console.get_style("markdown.item.bullet" if is_bullet else "markdown.item.number", default="none")
            room = options.update(width=max(1, options.max_width - len(mark)))
            for row, line in enumerate(console.render_lines(item.elements, room, style=item.style)):
                yield Segment(mark if row == 0 else " " * len(mark), style)
                yield from line
                yield Segment.line()


class _Table(TableElement):
    """A table whose first rows decide its widths, so that it can be drawn in stretches."""

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
        widths = _widths([head, *rows[:TABLE_STRETCH]], options.max_width)
        for cell, width in zip(head.cells, widths, strict=True):
            title = cell.content.copy()
            title.stylize("markdown.table.header")
            table.add_column(title, width=width, justify=cell.justify, overflow="fold")
        for row in rows[self._skip :]:
            table.add_row(*(cell.content for cell in row.cells))
        yield table


def _widths(rows: Sequence[TableRowElement], room: int) -> list[int]:
    """As wide as the contents need; where there is not enough room, the widest columns give way."""
    columns = zip(*(row.cells for row in rows), strict=True)
    widths = [max(1, *(min(room, cell.content.cell_len) for cell in column)) for column in columns]
    room -= 3 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths


class _Answer(Markdown):
    elements: ClassVar = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _Code,
        "code_block": _Code,
        "hr": _Rule,
        "bullet_list_open": _List,
        "ordered_list_open": _List,
        "table_open": _Table,
    }
    inlines = Markdown.inlines | {"wikilink"}

    def __init__(self, tokens: Sequence[Token]) -> None:
        # Rich would make a parser, which takes longer than most blocks do, and parse the text once more.
        self.parsed = list(tokens)
        self.markup = ""
        self.code_theme = self.inline_code_theme = "ansi_dark"
        self.justify = None
        self.style = "none"
        self.hyperlinks = False
        self.inline_code_lexer = None
