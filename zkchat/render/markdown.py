"""Draws Markdown with Rich, while it streams too, without trailing blanks. Only links to notes can be clicked."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import ClassVar, Final

from markdown_it.token import Token
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import (
    BlockQuote,
    Heading,
    ListElement,
    ListItem,
    Markdown,
    MarkdownContext,
    MarkdownElement,
    Paragraph,
    TableElement,
    TableRowElement,
)
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from zkchat.render.console import BLANK, LiveRegion, Matches, Row, Throttle, code_theme, render_rows, terminal_width
from zkchat.render.links import NO_LINKS, ClickableLinks, LinkTarget, percent_encoded
from zkchat.render.markdown_parser import FENCE_CHUNK_LINES, BlockSplitter, DrawableBlock, label_of
from zkchat.render.sanitize import sanitize_text

_BAR: Final = "▌ "
_BOXES: Final = {" ": "☐ ", "x": "☑ ", "X": "☑ "}
_ENDS: Final = tuple(".!?:;…。！？：")
"""Marks after which a line may end for another reason than its length."""
BROKEN: Final = "[?]"
"""Stands behind a link to a note that does not exist: not every terminal has colours."""


class BlockRenderer:
    """Renders blocks for one console. What a link leads to is looked up once."""

    def __init__(
        self,
        console: Console,
        matches: Matches | None = None,
        links: ClickableLinks = NO_LINKS,
        source: str | None = None,
    ) -> None:
        """`matches` finds the words that are marked in quotations; `source` is the note that the text is from."""
        self._console = console
        self._matches = matches
        self._links = links
        self._source = source
        self._targets: dict[str, LinkTarget] = {}

    def rows(self, block: DrawableBlock, *, fold_code: bool = False) -> list[Row]:
        """Rows of one block. Without `fold_code`, long lines of code are wrapped by the terminal and copied whole."""
        first = block.tokens[0].type
        is_quotation, wide = first == "blockquote_open", block.is_code or first == "table_open"
        width = terminal_width(self._console) if wide else self._console.width
        if block.is_code and not fold_code:
            width = 1_000_000
        tokens = [
            token.copy(children=self._adapted(token, is_quotation)) if token.type == "inline" else token
            for token in block.tokens
        ]
        rows = render_rows(self._console, _TokenMarkdown(_without_empty_paragraphs(tokens)), width=width)
        filled = [index for index, row in enumerate(rows) if row.text or block.is_code]
        return rows[filled[0] : filled[-1] + 1] if filled else []

    def all_rows(
        self, blocks: Iterable[DrawableBlock], previous: DrawableBlock | None = None, *, fold_code: bool = False
    ) -> tuple[list[Row], DrawableBlock | None]:
        """Rows of blocks that follow the `previous` one, with a blank row between two, and the last that has any."""
        drawn: list[Row] = []
        for block in blocks:
            rows = self.rows(block, fold_code=fold_code)
            if not rows:
                continue
            if previous and not block.follows_closely(previous):
                drawn.append(BLANK)
            drawn += rows
            previous = block
        return drawn, previous

    def _adapted(self, inline: Token, is_quotation: bool) -> list[Token]:
        """What a text holds, with the label of each wikilink in its place.

        In a quotation with flowing lines, and a `mark` around each word that matches. Code stays as it is.
        """
        children = [piece for child in inline.children or () for piece in self._labelled(child)]
        if is_quotation and _is_wrapped(inline.content.split("\n")):
            children = [_SPACE if child.meta.get("is_soft") else child for child in children]
        return [*_marked(children, self._matches)] if is_quotation and self._matches else children

    def _labelled(self, child: Token) -> list[Token]:
        if child.type != "wikilink":
            return [child]
        if child.content not in self._targets:
            self._targets[child.content] = self._links.target_of(child.content, self._source)
        target = self._targets[child.content]
        label = label_of(child.content, with_folder=target.shares_name)
        if not label:
            return [child.copy(type="text", tag="")]
        tag = "broken" if target.is_missing else "wikilink"
        text = Token("text", "", 0, content=label + BROKEN * target.is_missing)
        meta = {"address": target.address}
        return [Token("wikilink_open", tag, 1, meta=meta), text, Token("wikilink_close", tag, -1, meta=meta)]


def _without_empty_paragraphs(tokens: Sequence[Token]) -> Iterator[Token]:
    """Leave out the paragraphs inside other blocks of which a comment or an id was all."""
    number = 0
    while number < len(tokens):
        token = tokens[number]
        is_inner = token.type == "paragraph_open" and number and tokens[number - 1].type != "list_item_open"
        if is_inner and not any(child.content or child.nesting for child in tokens[number + 1].children or ()):
            number += 3
        else:
            yield token
            number += 1


_SPACE: Final = Token("text", "", 0, content=" ")


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Whether lines end where the next word would not fit, most of them within a sentence."""
    longest = max(map(len, lines))
    breaks = [(line, following.split(maxsplit=1)[:1]) for line, following in pairwise(lines)]
    return (
        bool(breaks)
        and longest in range(60, 140)
        and all(len(line) + 1 + len("".join(word)) > longest for line, word in breaks)
        and 2 * sum(line.endswith(_ENDS) for line, _ in breaks) < len(breaks)
    )


def _marked(children: Sequence[Token], matches: Matches) -> Iterator[Token]:
    """Words are looked for in the text as it is read: emphasis may begin or end within one."""
    read = ["\n" if child.type == "hardbreak" else child.content for child in children]
    cuts = [*chain.from_iterable(matches("".join(read)))]
    start = 0
    for child, text in zip(children, read, strict=True):
        end = start + len(text)
        within = [cut - start for cut in cuts if start < cut < end]
        is_matched = sum(cut <= start for cut in cuts) % 2 == 1
        for first, last in pairwise([0, *within, end - start]):
            piece = child.copy(content=child.content[first:last]) if within else child
            if is_matched and piece.content:
                yield from (Token("mark_open", "mark", 1), piece, Token("mark_close", "mark", -1))
            else:
                yield piece
            is_matched = not is_matched
        start = end


class LeftHeading(Heading):
    LEVEL_ALIGN: ClassVar = {}


_CALLOUT_STYLES: Final = {
    kind: style
    for style, kinds in {
        "accent": "abstract summary tldr info todo",
        "good": "tip hint important success check done",
        "doubt": "question help faq warning caution attention",
        "error": "failure fail missing danger error bug",
        "tag": "example",
        "dim": "quote cite",
    }.items()
    for kind in kinds.split()
}


def _callout_style(token: Token) -> str:
    kind = token.meta.get("callout")
    return _CALLOUT_STYLES.get(kind, "info") if kind else "none"


class Quotation(BlockQuote):
    """A quotation whose paragraphs stand apart, or a callout."""

    _is_after_paragraph = False
    _bar: str

    @classmethod
    def create(cls, _markdown: Markdown, token: Token) -> MarkdownElement:
        quotation = cls()
        quotation._bar = _callout_style(token)
        return quotation

    def on_child_close(self, context: MarkdownContext, child: MarkdownElement) -> bool:
        is_paragraph = isinstance(child, Paragraph)
        if is_paragraph and self._is_after_paragraph:
            self.elements.append(Text())
        self._is_after_paragraph = is_paragraph and not isinstance(child, CalloutTitle)
        return super().on_child_close(context, child)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = options.update(width=max(1, options.max_width - len(_BAR)))
        for line in console.render_lines(self.elements, inner):
            yield Segment(_BAR, console.get_style(self._bar))
            yield from line
            yield Segment.line()


class CalloutTitle(Paragraph):
    """The kind and title of a callout."""

    @classmethod
    def create(cls, _markdown: Markdown, token: Token) -> "CalloutTitle":
        title, style = cls("left"), _callout_style(token)
        title.style_name = f"bold {style}" if style != "none" else "bold"
        return title


class Formula(MarkdownElement):
    _text: str

    @classmethod
    def create(cls, _markdown: Markdown, token: Token) -> MarkdownElement:
        formula = cls()
        formula._text = token.content
        return formula

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self._text)


class RuleLine(MarkdownElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("─" * min(40, options.max_width), style="dim")


class CodeBlock(MarkdownElement):
    """A code block with its fence, so that code is recognized without colour."""

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
        language = self._token.info.partition(" ")[0]
        syntax = None if console.no_color else _syntax(language, code_theme(console))
        lines = [*self._context, *self._code]
        # Longer ones are data, for which lexers may take seconds.
        if syntax is None or max(map(len, lines), default=0) > 1_000:
            return [Text(line) for line in self._code]
        text = syntax.highlight("\n".join(lines))
        return text.split("\n", allow_blank=True)[len(self._context) : len(lines)]


@lru_cache(maxsize=32)
def _syntax(language: str, theme: str) -> Syntax | None:
    """The highlighter of a language. Cached, because finding it takes longer than using it."""
    lexer = Syntax("", language).lexer if language else None
    return lexer and Syntax("", lexer, theme=theme)


class TaskItem(ListItem):
    box = ""

    @classmethod
    def create(cls, _markdown: Markdown, token: Token) -> MarkdownElement:
        item = cls()
        if task := token.meta.get("task"):
            item.box = _BOXES.get(task, f"[{task}] ")
        return item


class MarkedList(ListElement):
    """A list whose items are indented like those of a longer list, since it may still grow."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for index, item in enumerate(self.items):
            box = item.box if isinstance(item, TaskItem) else ""
            is_bullet = self.list_type == "bullet_list_open"
            mark = f" {box or '• '}" if is_bullet else f"{(self.list_start or 0) + index:>2}. {box}"
            style = console.get_style("markdown.item.bullet" if is_bullet else "markdown.item.number", default="none")
            inner = options.update(width=max(1, options.max_width - len(mark)))
            lines = console.render_lines(item.elements, inner, style=item.style) or ([[]] if box else [])
            for row, line in enumerate(lines):
                yield Segment(mark if row == 0 else " " * len(mark), style)
                yield from line
                yield Segment.line()


class FoldedTable(TableElement):
    """A table whose cells are folded where it is too wide."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        assert self.header is not None
        assert self.header.row is not None
        head = self.header.row
        rows = self.body.rows if self.body else []
        table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False, style="markdown.table.border")
        for cell, width in zip(head.cells, _widths([head, *rows], options.max_width), strict=True):
            title = cell.content.copy()
            title.stylize("markdown.table.header")
            table.add_column(title, width=width, justify=cell.justify, overflow="fold")
        for row in rows:
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


class _TokenMarkdown(Markdown):
    elements: ClassVar = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "blockquote_open": Quotation,
        "callout_title_open": CalloutTitle,
        "fence": CodeBlock,
        "code_block": CodeBlock,
        "formula": Formula,
        "hr": RuleLine,
        "bullet_list_open": MarkedList,
        "ordered_list_open": MarkedList,
        "list_item_open": TaskItem,
        "table_open": FoldedTable,
    }
    inlines = Markdown.inlines | {"wikilink", "broken", "mark", "formula", "highlight", "tag", "footnote"}

    def __init__(self, tokens: Iterable[Token]) -> None:
        # Rich would create a parser, which takes longer than most blocks, and parse the text again.
        self.parsed = list(tokens)
        self.markup = ""
        self.code_theme = self.inline_code_theme = "ansi_dark"
        self.justify = None
        self.style = "none"
        self.hyperlinks = False
        self.inline_code_lexer = None
        self._addresses: dict[str, str] = {}
        """Addresses of links to notes, by the name of their style."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.parsed = [self._clickable(token) for token in self.parsed]
        if not self._addresses:
            yield from super().__rich_console__(console, options)
            return
        styles = {
            f"markdown.{tag}": console.get_style(f"markdown.{tag.partition(' ')[0]}") + Style(link=address)
            for tag, address in self._addresses.items()
        }
        self.inlines = self.inlines | self._addresses.keys()
        with console.use_theme(Theme(styles, inherit=False)):
            yield from super().__rich_console__(console, options)

    def _clickable(self, token: Token) -> Token:
        """The token with a style of its own for each link to a note that a click may open."""
        if token.type == "inline":
            return token.copy(children=[self._clickable(child) for child in token.children or ()])
        address = token.meta.get("address") if token.type in {"wikilink_open", "wikilink_close"} else None
        if address is None:
            return token
        tag = f"{token.tag} {address}"
        self._addresses[tag] = percent_encoded(address)
        return token.copy(tag=tag)


_FRONTMATTER: Final = re.compile(r"\A---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


class DrawnNote:
    """The blocks of a note without its frontmatter, as wide as the console; each is drawn when it is asked for.

    `source` is the path of the note; `links` knows what wikilinks lead to.
    """

    def __init__(
        self, console: Console, text: str, *, source: str | None = None, links: ClickableLinks = NO_LINKS
    ) -> None:
        splitter = BlockSplitter()
        shown = _FRONTMATTER.sub("", sanitize_text(text))
        splitter.add(shown)
        self._line_count = shown.count("\n")
        self.blocks = splitter.close()
        self._renderer = BlockRenderer(console, links=links, source=source)

    def rows(self, number: int) -> list[Row]:
        """The rows of a block, below a blank one where it stands apart from the block above."""
        block, rows = self.blocks[number], self._renderer.rows(self.blocks[number], fold_code=True)
        is_apart = number and rows and not block.follows_closely(self.blocks[number - 1])
        return [BLANK, *rows] if is_apart else rows

    def is_heading(self, number: int) -> bool:
        return self.blocks[number].tokens[0].type == "heading_open"

    def lines(self) -> list[int]:
        """The line of the text, from 1, at which each block begins, and the one below them all."""
        lines = [1]
        for block in self.blocks:
            token = block.tokens["list" in block.tokens[0].type]
            chunk = FENCE_CHUNK_LINES if block.joined else 1
            lines.append(token.map[0] + 1 if token.map else lines[-1] + chunk)
        return [*lines[1:], self._line_count + 1]


def note_rows(console: Console, text: str, *, source: str | None = None, links: ClickableLinks = NO_LINKS) -> list[Row]:
    note = DrawnNote(console, text, source=source, links=links)
    rows = [row for number in range(len(note.blocks)) for row in note.rows(number)]
    return rows[1:] if rows and not rows[0].cells else rows


class MarkdownStream:
    """One Markdown text. What is on the screen at the end depends on the text alone, not on its chunks.

    Where nothing can be redrawn, the text is written as it arrives.
    """

    def __init__(
        self,
        console: Console,
        *,
        clock: Callable[[], float] = time.monotonic,
        matches: Matches | None = None,
        links: ClickableLinks = NO_LINKS,
    ) -> None:
        """`matches` finds the words that are marked in quotations; `links` knows what wikilinks lead to."""
        self._console = console
        self._splitter = BlockSplitter()
        self._renderer = BlockRenderer(console, matches, links)
        self._region = LiveRegion(console)
        self._throttle = Throttle(clock)
        self._pending: list[str] = []
        self._pending_size = 0
        self._last: DrawableBlock | None = None
        """The last block that is final."""
        self._is_at_line_start = True

    def feed(self, text: str) -> None:
        safe = sanitize_text(text)
        if self._console.is_interactive:
            self._pending.append(safe)
            self._pending_size += len(safe)
            if self._pending_size > 3_000:  # so that a stopped answer is drawn quickly
                self._region.show(self._take_final())  # without the unfinished end
            self._throttle.draw(lambda: self._region.show(self._take_final(), self._tail_rows()))
        elif safe:
            self._region.write(safe)
            self._is_at_line_start = safe.endswith("\n")

    def draw(self, below: Sequence[Row]) -> None:
        """Draw all that came, also what may still become something else, and these rows below it."""
        self._region.show(self._take_final(), [*self._tail_rows(whole=True), *below])

    def finish(self) -> None:
        """Draw the rest, and leave the cursor at the beginning of a line."""
        self._splitter.add("".join(self._pending))
        self._region.show(self._final_rows(self._splitter.close()))
        if not self._is_at_line_start:
            self._region.write("\n")

    def _tail_rows(self, *, whole: bool = False) -> list[Row]:
        rows, _ = self._renderer.all_rows(self._splitter.tail(whole=whole), self._last, fold_code=True)
        return rows

    def _take_final(self) -> list[Row]:
        """Rows of the blocks that became final with the pending text."""
        self._splitter.add("".join(self._pending))
        self._pending.clear()
        self._pending_size = 0
        return self._final_rows(self._splitter.take_final())

    def _final_rows(self, blocks: list[DrawableBlock]) -> list[Row]:
        rows, self._last = self._renderer.all_rows(blocks, self._last)
        return rows


def print_markdown(
    console: Console, text: str, *, matches: Matches | None = None, links: ClickableLinks = NO_LINKS
) -> None:
    """Draw the text of a message as an answer is drawn."""
    stream = MarkdownStream(console, matches=matches, links=links)
    stream.feed(text)
    stream.finish()
