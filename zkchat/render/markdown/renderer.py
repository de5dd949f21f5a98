"""Draws blocks of Markdown with Rich, without trailing blanks. Nothing is clickable but links to notes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown
from rich.style import Style
from rich.theme import Theme

from zkchat.render.console import Matches
from zkchat.render.links import NO_LINKS, ClickableLinks, LinkTarget, percent_encoded
from zkchat.render.live import BLANK, Row, render_rows
from zkchat.render.markdown.blocks import DrawableBlock
from zkchat.render.markdown.elements import (
    CalloutTitle,
    CodeBlock,
    Formula,
    LeftHeading,
    MarkedList,
    Quotation,
    RuleLine,
    TaskItem,
)
from zkchat.render.markdown.quotations import adapt_quotation
from zkchat.render.markdown.tables import ChunkedTable
from zkchat.render.markdown.wikilinks import draw_links

_NO_WRAP_WIDTH: Final = 1_000_000


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
        width = _NO_WRAP_WIDTH if block.is_code and not fold_code else self._console.width
        tokens = adapt_quotation(draw_links(block.tokens, self._target_of), self._matches)
        rows = render_rows(self._console, _TokenMarkdown(_without_empty_paragraphs(tokens)), width=width)
        return rows if block.is_code else _without_blank_ends(rows)

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

    def _target_of(self, written: str) -> LinkTarget:
        if written not in self._targets:
            self._targets[written] = self._links.target_of(written, self._source)
        return self._targets[written]


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


def _without_blank_ends(rows: list[Row]) -> list[Row]:
    filled = [index for index, row in enumerate(rows) if row.text]
    return rows[filled[0] : filled[-1] + 1] if filled else []


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
        "table_open": ChunkedTable,
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
