"""Blocks of Markdown as Rich draws them: headings, quotations and callouts, code, lists and tasks, formulas."""

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, Final

from markdown_it.token import Token
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
)
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text

_RULE_WIDTH: Final = 40
_BAR: Final = "▌ "
_BOXES: Final = {" ": "☐ ", "x": "☑ ", "X": "☑ "}
_MAX_HIGHLIGHTED_LINE: Final = 1_000
"""Longer lines are data, for which lexers may take seconds."""


class LeftHeading(Heading):
    LEVEL_ALIGN: ClassVar = {}


_CALLOUT_STYLES: Final = {
    kind: style
    for style, kinds in {
        "cyan": "abstract summary tldr info todo",
        "green": "tip hint important success check done",
        "yellow": "question help faq warning caution attention",
        "red": "failure fail missing danger error bug",
        "magenta": "example",
        "dim": "quote cite",
    }.items()
    for kind in kinds.split()
}


def _callout_style(token: Token) -> str:
    kind = token.meta.get("callout")
    return _CALLOUT_STYLES.get(kind, "blue") if kind else "none"


class Quotation(BlockQuote):
    """A quotation whose paragraphs stand apart, or a callout."""

    _is_after_paragraph = False

    @classmethod
    def create(cls, _markdown: Markdown, token: Token) -> MarkdownElement:
        return cls(_callout_style(token))

    def __init__(self, bar: str) -> None:
        super().__init__()
        self._bar = bar

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
        return cls(_callout_style(token))

    def __init__(self, style: str) -> None:
        super().__init__("left")
        self.style_name = f"bold {style}" if style != "none" else "bold"


class Formula(MarkdownElement):
    """A formula, as it is written."""

    @classmethod
    def create(cls, _markdown: Markdown, token: Token) -> MarkdownElement:
        return cls(token.content)

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self._text)


class RuleLine(MarkdownElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("─" * min(_RULE_WIDTH, options.max_width), style="dim")


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
        syntax = None if console.no_color else _syntax(self._token.info.partition(" ")[0])
        lines = [*self._context, *self._code]
        if syntax is None or max(map(len, lines), default=0) > _MAX_HIGHLIGHTED_LINE:
            return [Text(line) for line in self._code]
        text = syntax.highlight("\n".join(lines))
        return text.split("\n", allow_blank=True)[len(self._context) : len(lines)]


@lru_cache(maxsize=32)
def _syntax(language: str) -> Syntax | None:
    """The highlighter of a language. Cached, because finding it takes longer than using it."""
    lexer = Syntax("", language).lexer if language else None
    return lexer and Syntax("", lexer, theme="ansi_dark")


class TaskItem(ListItem):
    """An item, which may be a task."""

    @classmethod
    def create(cls, _markdown: Markdown, token: Token) -> MarkdownElement:
        return cls(token.meta.get("task", ""))

    def __init__(self, task: str) -> None:
        super().__init__()
        self.box = _BOXES.get(task, f"[{task}] ") if task else ""


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
