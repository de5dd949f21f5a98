"""Splits streaming Markdown into blocks that no further line can change.

A block is a top-level block, an item of a list, or a chunk of a long code fence. Where the text is split
depends on the text alone, never on how it was chunked.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from markdown_it.token import Token
from msgspec import Struct, field

from zkchat.render.markdown.parser import MAX_ENCLOSED_LINES, opens_enclosed, parse

FENCE_CHUNK_LINES: Final = 8
"""Lines of code that become final together: few, so that code reaches the scrollback soon."""
FENCE_CONTEXT_LINES: Final = 24
"""Preceding lines that the highlighter sees, so that a string or comment begun above keeps its colour."""
MAX_LINE_LENGTH: Final = 4_000
MAX_PARAGRAPH_LENGTH: Final = 12_000
"""Characters of a paragraph."""

_PARTWISE: Final = re.compile(r"[-+*|]|\d{1,9}[.)]")
"""The beginning of a line of a list, which becomes final item by item, or of a table, which cannot be split."""
_LISTS: Final = {"bullet_list_open", "ordered_list_open"}
_WHOLE_AT_LINE_END: Final = {"heading_open", "hr", "comment", "formula"}
_CODE: Final = {"fence", "code_block"}
_WHOLE_AT_BLANK_LINE: Final = {"paragraph_open", "blockquote_open", "table_open"}
_ONLY_MARKS: Final = re.compile(r"[-=*_#>`~+|:.)\d\s]*(?:\[(?:!?[^\[\]]?\]?|![^\[\]]*\]?[-+]?))?")
"""A line that may become anything, among others a callout or a task."""
_UNCLOSED: Final = re.compile(r"(?:!?\[\[(?!\[)(?:(?!\]\]|\[\[).){0,200}|%%(?:(?!%%).){0,200})$")
"""A link or comment that is still arriving: drawn as it is, it would jump when it is complete."""


class DrawableBlock(Struct, frozen=True):
    """The tokens of one block, or of a part of it, that are drawn together."""

    tokens: Sequence[Token]
    joined: bool = False
    """Whether it continues the block above, without a blank row between."""

    @property
    def is_code(self) -> bool:
        return self.tokens[0].type == "fence"

    def follows_closely(self, previous: "DrawableBlock") -> bool:
        """Whether no blank row stands between them: parts of one block, or a quotation and who said it."""
        is_quoted = previous.tokens[0].type == "blockquote_open" and self.tokens[0].type == "paragraph_open"
        return self.joined or (is_quoted and self.tokens[1].content.startswith("— "))


class _Part(NamedTuple):
    block: DrawableBlock
    line: int
    """The line where its source begins."""


class _Fence(Struct):
    """An open code fence."""

    info: str
    mark: str
    indent: int
    ended: bool = False
    begun: bool = False
    """Whether its first chunk is final."""
    context: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def consume(self, lines: Sequence[str]) -> tuple[list[DrawableBlock], int]:
        """The chunks that these lines complete, and how many of the lines were consumed."""
        blocks = []
        for taken, line in enumerate(lines, start=1):
            self.ended = self._is_ended_by(line)
            if not self.ended:
                self.lines.append(self._unindented(line))
            if self.ended or len(self.lines) == FENCE_CHUNK_LINES:
                blocks.append(self.remaining())
                self.context, self.lines = [*self.context, *self.lines][-FENCE_CONTEXT_LINES:], []
                self.begun = True
            if self.ended:
                return blocks, taken
        return blocks, len(lines)

    def remaining(self) -> DrawableBlock:
        return self._block(self.context, self.lines)

    def tail(self, arriving: str) -> DrawableBlock:
        """The lines that are not final yet. A line of fence characters only may still close the fence."""
        code = [*self.lines, self._unindented(arriving)] if arriving.strip(self.mark[0]) else self.lines
        # Lexers are slow, and these rows are redrawn often: exact colours can wait until the chunk is final.
        return self._block([], code)

    def _block(self, context: list[str], code: list[str]) -> DrawableBlock:
        token = Token("fence", "code", 0, info=self.info, markup=self.mark)
        token.meta = {"context": context, "code": code, "begun": self.begun, "ended": self.ended}
        return DrawableBlock([token], joined=self.begun)

    def _is_ended_by(self, line: str) -> bool:
        bare = line.strip(" \t")
        return len(bare) >= len(self.mark) and not bare.strip(self.mark[0]) and _indent(line) < 4

    def _unindented(self, line: str) -> str:
        return line[min(self.indent, len(line) - len(line.lstrip(" "))) :]


def _indent(line: str) -> int:
    columns = line.expandtabs(4)
    return len(columns) - len(columns.lstrip(" "))


class _Group(Struct, frozen=True):
    """A top-level block."""

    tokens: Sequence[Token]
    following: int | None = None
    """The number of its first item, where it is a list whose beginning is final."""

    @property
    def kind(self) -> str:
        return self.tokens[0].type

    @property
    def first(self) -> int:
        return _lines_of(self.tokens)[0]

    @property
    def end(self) -> int:
        return _lines_of(self.tokens)[1]

    def parts(self) -> list[_Part]:
        return self._items() if self.kind in _LISTS else [_Part(DrawableBlock(self.tokens), self.first)]

    def following_after(self, finished: int) -> int | None:
        """The number of the next item, once so many more of its parts are final."""
        return self._number + finished if finished and self.kind in _LISTS else self.following

    @property
    def _number(self) -> int:
        return self.following or int(self.tokens[0].attrs.get("start", 1))

    def _items(self) -> list[_Part]:
        parts = []
        for index, item in enumerate(_list_items(self.tokens)):
            opening = self.tokens[0].copy(attrs={"start": self._number + index})
            block = DrawableBlock([opening, *item, self.tokens[-1]], joined=index > 0 or self.following is not None)
            parts.append(_Part(block, _lines_of(item)[0]))
        return parts


def _lines_of(tokens: Sequence[Token]) -> tuple[int, int]:
    first, end = tokens[0].map or (0, 0)
    return first, end


def _list_items(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The tokens of each item of a list."""
    opened = [index for index, token in enumerate(tokens) if token.level == 1 and token.type == "list_item_open"]
    closed = [index for index, token in enumerate(tokens) if token.level == 1 and token.type == "list_item_close"]
    return [tokens[first : last + 1] for first, last in zip(opened, closed, strict=True)]


def _groups(lines: Sequence[str], following: int | None) -> list[_Group]:
    tokens = parse("".join(f"{line}\n" for line in lines))
    ends = [index + 1 for index, token in enumerate(tokens) if token.level == 0 and token.nesting != 1]
    return [
        _Group(tokens[start:end], None if start else following) for start, end in zip([0, *ends], ends, strict=False)
    ]


def _split_line(line: str) -> list[str]:
    """Split a very long line at spaces."""
    blocks = []
    while len(line) > MAX_LINE_LENGTH:
        end = line.rfind(" ", 1, MAX_LINE_LENGTH)
        end = end if end > 0 else MAX_LINE_LENGTH
        blocks.append(line[:end])
        line = line[end:].removeprefix(" ")
    return [*blocks, line]


class _ParagraphSplitter:
    """Splits paragraphs that are too long to be redrawn with each word."""

    def __init__(self) -> None:
        self._size = 0
        self._is_code = False

    def after(self, line: str) -> list[str]:
        """The line, followed by a blank one where the paragraph is split."""
        bare = line.lstrip(" >")
        if bare.startswith(("```", "~~~")):
            self._is_code = not self._is_code
        self._size = self._size + len(line) + 1 if bare else 0
        if self._size <= MAX_PARAGRAPH_LENGTH or self._is_code or _PARTWISE.match(bare):
            return [line]
        self._size = 0
        return [line, ""]


class BlockSplitter:
    """`add` takes text; `take_final` returns each final block once; `tail` the unfinished rest."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._arriving = ""
        self._has_new_lines = False
        self._open: _Fence | int | None = None
        self._paragraphs = _ParagraphSplitter()

    def add(self, text: str) -> None:
        *complete, arriving = (self._arriving + text).split("\n")
        for line in complete:
            self._take(_split_line(line))
        *blocks, self._arriving = _split_line(arriving)
        self._take(blocks)

    def _take(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._lines += self._paragraphs.after(line)
        self._has_new_lines = self._has_new_lines or bool(lines)

    def take_final(self) -> list[DrawableBlock]:
        return self._finalize(closing=False) if self._has_new_lines else []

    def close(self) -> list[DrawableBlock]:
        """All remaining blocks: no further line will come."""
        self.add("\n" if self._arriving else "")
        blocks = self._finalize(closing=True)
        return [*blocks, self._open.remaining()] if isinstance(self._open, _Fence) else blocks

    def tail(self, *, whole: bool = False) -> list[DrawableBlock]:
        """What is not final yet. Unless all of it is wanted, without an end that may become anything."""
        if isinstance(self._open, _Fence):
            return [self._open.tail(self._arriving)]
        lines = [*self._lines, self._arriving] if whole else self._steady_lines()
        return [part.block for group in _groups(lines, self._open) for part in group.parts()]

    def _steady_lines(self) -> list[str]:
        """The lines without an end that, once more of it came, would make the rows above it flicker."""
        arriving = _UNCLOSED.sub("", self._arriving)
        lines = self._lines if _ONLY_MARKS.fullmatch(arriving) else [*self._lines, arriving]
        comment = next((number for number, line in enumerate(lines) if opens_enclosed(line) and "%%" in line), None)
        return lines[:comment]

    def _finalize(self, *, closing: bool) -> list[DrawableBlock]:
        self._has_new_lines = False
        blocks: list[DrawableBlock] = []
        if isinstance(self._open, _Fence):
            blocks += self._settle_code(self._open)
        if not isinstance(self._open, _Fence):
            blocks += self._finalize_blocks(self._open, closing)
        return blocks

    def _settle_code(self, fence: _Fence) -> list[DrawableBlock]:
        blocks, taken = fence.consume(self._lines)
        del self._lines[:taken]
        self._open = None if fence.ended else fence
        return blocks

    def _finalize_blocks(self, following: int | None, closing: bool) -> list[DrawableBlock]:
        blocks: list[DrawableBlock] = []
        lines, start = self._lines, len(self._lines)
        still_open: _Fence | int | None = None
        groups = _groups(lines, following)
        for group in groups:
            if not closing and self._may_be_enclosed(group):
                start, still_open = group.first, group.following
                break
            if not closing and self._may_be_table(group):
                start = group.first
                continue
            if group.kind == "fence":
                code, still_open = self._code(group)
                blocks += code
                continue
            parts = group.parts()
            if not (closing or group is not groups[-1] or self._is_whole(group)):
                start = parts.pop().line
                still_open = group.following_after(len(parts))
            blocks += [part.block for part in parts]
        self._lines, self._open = lines[start:], still_open
        return blocks

    def _code(self, group: _Group) -> tuple[list[DrawableBlock], _Fence | None]:
        opening, lines = self._lines[group.first], self._lines[group.first + 1 : group.end]
        token = group.tokens[0]
        fence = _Fence(token.info, token.markup, indent=_indent(opening))
        blocks, _ = fence.consume(lines)
        return blocks, None if fence.ended else fence

    def _may_be_table(self, group: _Group) -> bool:
        """Whether the next line may make the last one the head of a table, which goes before fences and headings."""
        return group.following is None and group.first == len(self._lines) - 1 and "|" in self._lines[-1]

    def _may_be_enclosed(self, group: _Group) -> bool:
        """Whether a later line may make a comment or formula of what now is text."""
        lines = self._lines
        newest = range(max(group.first, len(lines) - MAX_ENCLOSED_LINES), group.end)
        return group.kind not in _CODE and any(opens_enclosed(lines[number]) for number in newest)

    def _is_whole(self, group: _Group) -> bool:
        """Whether the block, which is the last one so far, can no longer grow."""
        after_blank = group.kind in _WHOLE_AT_BLANK_LINE and not self._lines[-1].strip(" \t")
        return after_blank or group.kind in _WHOLE_AT_LINE_END
