"""An arriving Markdown text, cut into pieces that no further line can change.

A piece is a top-level block, an item of a list, or a stretch of a long table or code fence. Where the cuts fall
depends on the text alone, never on how it arrived.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from markdown_it.token import Token

from zkchat.render.markdown.parser import parse

FENCE_STRETCH: Final = 8
"""Lines of code that are settled together: few, so that code reaches the scrollback soon."""
FENCE_CONTEXT: Final = 24
"""Lines before them that the highlighter sees, so that a string or comment begun above keeps its colour."""
TABLE_STRETCH: Final = 20
"""Rows of a table that are settled together. The first stretch decides the widths of the columns."""

LONGEST_LINE: Final = 4_000
LARGEST_BLOCK: Final = 12_000
"""Characters of a paragraph."""

_PARTED: Final = re.compile(r"[-+*|]|\d{1,9}[.)]")
"""What begins a line of a block that is settled part by part."""
_LISTS: Final = {"bullet_list_open", "ordered_list_open"}
_WHOLE_AT_LINE_END: Final = {"heading_open", "hr"}
_WHOLE_AT_BLANK_LINE: Final = {"paragraph_open", "blockquote_open", "table_open"}
_ONLY_MARKS: Final = re.compile(r"[-=*_#>`~+|:.)\d\s]*")


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that is drawn by itself: the tokens of one block, whole or in part."""

    tokens: Sequence[Token]
    joined: bool = False
    """Whether it goes on with the block above, without a blank row between."""

    @property
    def is_code(self) -> bool:
        return self.tokens[0].type == "fence"


class _Part(NamedTuple):
    piece: Piece
    line: int
    """Where its source begins."""


@dataclass(slots=True)
class _Fence:
    """A code fence whose lines are arriving."""

    info: str
    mark: str
    indent: int
    ended: bool = False
    begun: bool = False
    """Whether its opening is settled."""
    context: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def consume(self, lines: Sequence[str]) -> tuple[list[Piece], int]:
        """The stretches that these lines fill, and how many of the lines were taken."""
        pieces = []
        for taken, line in enumerate(lines, start=1):
            self.ended = self._is_ended_by(line)
            if not self.ended:
                self.lines.append(self._unindented(line))
            if self.ended or len(self.lines) == FENCE_STRETCH:
                pieces.append(self.rest())
                self.context, self.lines = [*self.context, *self.lines][-FENCE_CONTEXT:], []
                self.begun = True
            if self.ended:
                return pieces, taken
        return pieces, len(lines)

    def rest(self) -> Piece:
        return self._piece(self.context, self.lines)

    def tail(self, arriving: str) -> Piece:
        """What has not been settled yet. A line of which only marks have arrived may still end the fence."""
        code = [*self.lines, self._unindented(arriving)] if arriving.strip(self.mark[0]) else self.lines
        # Lexers are slow, and these rows are drawn again and again: their colours may wait for the context.
        return self._piece([], code)

    def _piece(self, context: list[str], code: list[str]) -> Piece:
        token = Token("fence", "code", 0, info=self.info, markup=self.mark)
        token.meta = {"context": context, "code": code, "begun": self.begun, "ended": self.ended}
        return Piece([token], joined=self.begun)

    def _is_ended_by(self, line: str) -> bool:
        bare = line.strip(" \t")
        return len(bare) >= len(self.mark) and not bare.strip(self.mark[0]) and _indent(line) < 4

    def _unindented(self, line: str) -> str:
        return line[min(self.indent, len(line) - len(line.lstrip(" "))) :]


def _indent(line: str) -> int:
    columns = line.expandtabs(4)
    return len(columns) - len(columns.lstrip(" "))


@dataclass(frozen=True, slots=True)
class _Rest:
    """The text begins with the rest of a block whose beginning is settled."""

    number: int = 1
    """Of its first item, if it is a list."""
    head: tuple[str, ...] = ()
    """The lines that say how the others look, if it is a table."""


@dataclass(frozen=True, slots=True)
class _Group:
    """A top-level block, and what is known of its beginning if that is settled."""

    tokens: Sequence[Token]
    rest: _Rest | None
    before: int
    """Lines that were parsed before the text, to make sense of it."""

    @property
    def kind(self) -> str:
        return self.tokens[0].type

    @property
    def first(self) -> int:
        return self._lines_of(self.tokens)[0]

    @property
    def end(self) -> int:
        return self._lines_of(self.tokens)[1]

    def parts(self) -> list[_Part]:
        if self.kind in _LISTS:
            return self._items()
        if self.kind == "table_open":
            return self._stretches()
        return [_Part(Piece(self.tokens), self.first)]

    def rest_after(self, settled: int, lines: Sequence[str]) -> _Rest | None:
        """What must be known of the block once so many more of its parts are settled."""
        if settled and self.kind in _LISTS:
            return _Rest(number=self._number + settled)
        if settled and self.kind == "table_open" and self.rest is None:
            return _Rest(head=tuple(lines[self.first : self.first + 2 + TABLE_STRETCH]))
        return self.rest

    @property
    def _number(self) -> int:
        return self.rest.number if self.rest else int(self.tokens[0].attrs.get("start", 1))

    def _items(self) -> list[_Part]:
        parts = []
        for index, item in enumerate(_children(self.tokens, "list_item", level=1)):
            opening = self.tokens[0].copy(attrs={"start": self._number + index})
            piece = Piece([opening, *item, self.tokens[-1]], joined=index > 0 or self.rest is not None)
            parts.append(_Part(piece, self._lines_of(item)[0]))
        return parts

    def _stretches(self) -> list[_Part]:
        rows = _children(self.tokens, "tr", level=2)[1:]
        if len(rows) <= TABLE_STRETCH:
            return [_Part(Piece(self.tokens), self.first)]
        measure = [token for row in rows[:TABLE_STRETCH] for token in row]
        before = self.tokens[1 : self.tokens.index(measure[0])]
        after = self.tokens[-2:]
        parts = [_Part(Piece([self.tokens[0], *before, *measure, *after]), self.first)]
        opening = self.tokens[0].copy(meta={"skip": TABLE_STRETCH})
        for start in range(TABLE_STRETCH, len(rows), TABLE_STRETCH):
            stretch = [token for row in rows[start : start + TABLE_STRETCH] for token in row]
            piece = Piece([opening, *before, *measure, *stretch, *after], joined=True)
            parts.append(_Part(piece, self._lines_of(stretch)[0]))
        return parts[1:] if self.rest else parts

    def _lines_of(self, tokens: Sequence[Token]) -> tuple[int, int]:
        first, end = tokens[0].map or (0, 0)
        return first - self.before, end - self.before


def _children(tokens: Sequence[Token], name: str, *, level: int) -> list[Sequence[Token]]:
    """The tokens from each opening of that name and level to its closing."""
    opened = [index for index, token in enumerate(tokens) if token.level == level and token.type == f"{name}_open"]
    closed = [index for index, token in enumerate(tokens) if token.level == level and token.type == f"{name}_close"]
    return [tokens[first : last + 1] for first, last in zip(opened, closed, strict=True)]


def _groups(lines: Sequence[str], rest: _Rest | None) -> list[_Group]:
    head = rest.head if rest else ()
    tokens = parse("".join(f"{line}\n" for line in (*head, *lines)))
    ends = [index + 1 for index, token in enumerate(tokens) if token.level == 0 and token.nesting != 1]
    return [
        _Group(tokens[start:end], None if start else rest, len(head))
        for start, end in zip([0, *ends], ends, strict=False)
    ]


def _cut(line: str) -> list[str]:
    """A line in pieces that can be drawn at once, cut at spaces, where a paragraph reads the same."""
    pieces = []
    while len(line) > LONGEST_LINE:
        end = line.rfind(" ", 1, LONGEST_LINE)
        end = end if end > 0 else LONGEST_LINE
        pieces.append(line[:end])
        line = line[end:].removeprefix(" ")
    return [*pieces, line]


class _Breaks:
    """Ends a paragraph that has grown too long to be drawn again with each word. Lists, tables and code need no end."""

    def __init__(self) -> None:
        self._size = 0
        self._is_code = False

    def after(self, line: str) -> list[str]:
        """The line, and a blank one where a paragraph is to end there."""
        bare = line.lstrip(" >")
        if bare.startswith(("```", "~~~")):
            self._is_code = not self._is_code
        self._size = self._size + len(line) + 1 if bare else 0
        if self._size <= LARGEST_BLOCK or self._is_code or _PARTED.match(bare):
            return [line]
        self._size = 0
        return [line, ""]


class Blocks:
    """Text goes in with `add`; `settled` gives what became final, once; `tail` what is left, as it looks so far."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._arriving = ""
        self._fresh = False
        self._open: _Fence | _Rest | None = None
        self._breaks = _Breaks()

    def add(self, text: str) -> None:
        *complete, arriving = (self._arriving + text).split("\n")
        for line in complete:
            self._take(_cut(line))
        *pieces, self._arriving = _cut(arriving)
        self._take(pieces)

    def _take(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._lines += self._breaks.after(line)
        self._fresh = self._fresh or bool(lines)

    def settled(self) -> list[Piece]:
        return self._settle(closing=False) if self._fresh else []

    def close(self) -> list[Piece]:
        """Everything that is left: no further line will come."""
        self.add("\n" if self._arriving else "")
        pieces = self._settle(closing=True)
        return [*pieces, self._open.rest()] if isinstance(self._open, _Fence) else pieces

    def tail(self) -> list[Piece]:
        if isinstance(self._open, _Fence):
            return [self._open.tail(self._arriving)]
        # A line that is all marks so far may become anything; guessing would make the rows above it flicker.
        guess = [] if _ONLY_MARKS.fullmatch(self._arriving) else [self._arriving]
        return [part.piece for group in _groups([*self._lines, *guess], self._open) for part in group.parts()]

    def _settle(self, *, closing: bool) -> list[Piece]:
        self._fresh = False
        pieces: list[Piece] = []
        if isinstance(self._open, _Fence):
            pieces += self._settle_code(self._open)
        if not isinstance(self._open, _Fence):
            pieces += self._settle_blocks(self._open, closing)
        return pieces

    def _settle_code(self, fence: _Fence) -> list[Piece]:
        pieces, taken = fence.consume(self._lines)
        del self._lines[:taken]
        self._open = None if fence.ended else fence
        return pieces

    def _settle_blocks(self, rest: _Rest | None, closing: bool) -> list[Piece]:
        pieces: list[Piece] = []
        lines, start = self._lines, len(self._lines)
        still_open: _Fence | _Rest | None = None
        groups = _groups(lines, rest)
        for group in groups:
            if not closing and self._may_be_table(group):
                start = group.first
                continue
            if group.kind == "fence":
                code, still_open = self._code(group)
                pieces += code
                continue
            parts = group.parts()
            if not (closing or group is not groups[-1] or self._is_whole(group)):
                start = parts.pop().line
                still_open = group.rest_after(len(parts), lines)
            pieces += [part.piece for part in parts]
        self._lines, self._open = lines[start:], still_open
        return pieces

    def _code(self, group: _Group) -> tuple[list[Piece], _Fence | None]:
        opening, lines = self._lines[group.first], self._lines[group.first + 1 : group.end]
        token = group.tokens[0]
        fence = _Fence(token.info, token.markup, indent=_indent(opening))
        pieces, _ = fence.consume(lines)
        return pieces, None if fence.ended else fence

    def _may_be_table(self, group: _Group) -> bool:
        """Whether the next line may make the last one the head of a table, which goes before fences and headings."""
        return group.rest is None and group.first == len(self._lines) - 1 and "|" in self._lines[-1]

    def _is_whole(self, group: _Group) -> bool:
        """Whether the block, which is the last one so far, can no longer grow."""
        after_blank = group.kind in _WHOLE_AT_BLANK_LINE and not self._lines[-1].strip(" \t")
        return after_blank or group.kind in _WHOLE_AT_LINE_END
