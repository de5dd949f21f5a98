"""The Markdown dialect of answers and notes: CommonMark with tables, wikilinks and what notes add.

Splits streaming Markdown into blocks that no further line can change: a top-level block, an item of a list, or a chunk
of a long code fence. Where the text is split depends on the text alone, never on how it was chunked.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec import Struct, field

from zkchat.core import NOTE_SUFFIXES, Link
from zkchat.render.sanitize import sanitize_text

WIKILINK: Final = re.compile(r"!?\[\[(?!\[)(?:(?!\]\]|\[\[)[^\n])+\]\]")
_PLAIN_LINK: Final = re.compile(r"\[\[[^\[\]]+\]\]")
_SIZE: Final = re.compile(r"\s*\d+(?:x\d+)?\s*")
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
MAX_ENCLOSED_LINES: Final = 200
"""Lines of a comment or a formula: one that is longer was never closed, and is text."""
_MARKS: Final = ("%%", "$$")
_COMMENT: Final = re.compile(r"%%(?!%).*?%%", re.DOTALL)
_FORMULA: Final = re.compile(
    r"\$\$(?!\$)(?:[^$\\]|\\.|\$(?!\$))+\$\$|\$(?![\s$])(?:\\.|[^$\n\\])*(?<![\s\\])\$(?!\d)", re.DOTALL
)
_TAG: Final = re.compile(r"#(?=[\w/-]*[^\W\d_])[\w/-]+")
_FOOTNOTE: Final = re.compile(r"\[\^([^\[\]\s^]+)\]")
_CALLOUT: Final = re.compile(r"\[!([^\[\]\n|]+)(?:\|[^\[\]\n]*)?\][-+]?(?:[ \t]+|$)")
_TASK: Final = re.compile(r"\[(.)\](?:[ \t]+|$)")
_BLOCK_ID: Final = re.compile(r"(?:^|[ \t])\^(?=[A-Za-z0-9-]*[A-Za-z])[A-Za-z0-9-]+[ \t]*$")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_ESCAPED_PIPE: Final = "\ufdd0"
"""A noncharacter of Unicode that replaces the pipe while table rows are split into cells."""
_LINE_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
FENCE_CHUNK_LINES: Final = 8
"""Lines of code that become final together: few, so that code reaches the scrollback soon."""
FENCE_CONTEXT_LINES: Final = 24
"""Preceding lines that the highlighter sees, so that a string or comment begun above keeps its colour."""
MAX_LINE_LENGTH: Final = 4_000
_PARTWISE: Final = re.compile(r"[-+*|]|\d{1,9}[.)]")
"""The beginning of a line of a list, which becomes final item by item, or of a table, which cannot be split."""
_LISTS: Final = {"bullet_list_open", "ordered_list_open"}
_CODE: Final = {"fence", "code_block"}
_ONLY_MARKS: Final = re.compile(r"[-=*_#>`~+|:.)\d\s]*(?:\[(?:!?[^\[\]]?\]?|![^\[\]]*\]?[-+]?))?")
"""A line that may become anything, among others a callout or a task."""
_UNCLOSED: Final = re.compile(r"(?:!?\[\[(?!\[)(?:(?!\]\]|\[\[).){0,200}|%%(?:(?!%%).){0,200})$")
"""A link or comment that is still arriving: drawn as it is, it would jump when it is complete."""


def parse(text: str) -> list[Token]:
    if "[[" in text:  # so that the pipe of `[[X|y]]` does not end a table cell
        text = WIKILINK.sub(lambda link: _PIPE.sub(_ESCAPED_PIPE, link.group()), text)
    return _parser().parse(text)


@cache
def _parser() -> MarkdownIt:
    # Link definitions and HTML blocks would not be drawn. Disabled, they are shown as they are written.
    parser = MarkdownIt().enable(["strikethrough", "table"]).disable(["reference", "html_block"])
    parser.block.ruler.before("fence", "enclosed", _enclosed, {"alt": ["paragraph", "blockquote", "list"]})
    inline: dict[str, Callable[[StateInline, bool], bool]] = {
        "wikilink": partial(_take, WIKILINK, "wikilink"),  # before emphasis
        "comment": _comment,
        "formula": partial(_take, _FORMULA, "formula"),  # its signs mean nothing else
        "highlight": _highlight,
        "tag": _tag,
        "footnote": partial(_take, _FOOTNOTE, "footnote"),
    }
    for name, take in inline.items():
        parser.inline.ruler.before("link", name, take)
    parser.core.ruler.push("sanitize", _sanitize)
    parser.core.ruler.push("note_blocks", _note_blocks)
    return parser


def _sanitize(state: StateCore) -> None:
    for token in state.tokens:
        _sanitize_token(token)
        if token.children is not None:
            token.children = list(_drawable(token.children))


def _sanitize_token(token: Token) -> Token:
    """Sanitize again: the parser has just decoded entities such as `&#x202e;`."""
    token.content = sanitize_text(token.content).replace(_ESCAPED_PIPE, "|")
    token.info = sanitize_text(token.info).replace(_ESCAPED_PIPE, "|")
    return token


def _drawable(tokens: Iterable[Token]) -> Iterator[Token]:
    """Lines break where the text breaks them, as in a note; addresses are shown and never clickable."""
    for token in tokens:
        match token.type:
            case "softbreak":
                yield Token("hardbreak", "br", 0, meta={"is_soft": True})
            case "html_inline":
                if token.content.startswith("<!--"):
                    continue
                if _LINE_BREAK.fullmatch(token.content):
                    yield Token("hardbreak", "br", 0)
                else:
                    yield _sanitize_token(Token("text", "", 0, content=token.content))
            case "image":
                yield _sanitize_token(Token("text", "", 0, content=f"{token.content} ({token.attrs.get('src', '')})"))
            case "link_open" | "link_close" if token.markup == "autolink":
                pass
            case "link_open":
                token.attrs["href"] = sanitize_text(str(token.attrs.get("href", "")))
                yield token
            case _:
                yield _sanitize_token(token)


def with_labels(text: str) -> str:
    """A line of text with the labels of its links."""
    return _PLAIN_LINK.sub(lambda link: label_of(link[0]), text)


def label_of(written: str, *, with_folder: bool = False) -> str:
    """What a reader sees of `[[folder/Note#Heading|label]]`: the label, else `Note › Heading`.

    Empty where it names nothing and therefore is no link.
    """
    is_embed = written.startswith("!")
    name, _, display = written[2 + is_embed : -2].partition("|")
    target, _, anchor = Link.split(name.removesuffix("\\").strip())
    if not target.strip() and not anchor.strip():
        return ""
    if is_embed:
        *texts, last = display.split("|")
        display = "|".join(texts if _SIZE.fullmatch(last) else [*texts, last])
    places = [heading.strip().replace("page=", "page ", 1) for heading in anchor.split("#")]
    return display.strip() or " › ".join(filter(None, [_title(target.strip(), with_folder), *places]))


def _title(target: str, with_folder: bool) -> str:
    if _ADDRESS.match(target):
        return target
    title = target.strip("/") if with_folder else target.rstrip("/").rpartition("/")[2]
    suffix = next((suffix for suffix in NOTE_SUFFIXES if title.lower().endswith(suffix)), "")
    return title[: len(title) - len(suffix)] or target


def opens_enclosed(line: str) -> bool:
    """Whether a comment or formula begins with this line that a later line may end."""
    bare = line.lstrip(" \t")
    return bare.startswith(_MARKS) and bare[:2] not in bare[2:]


def _enclosed(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """A comment or formula of whole lines."""
    line = _line(state, first)
    mark = line[:2]
    if mark not in _MARKS or state.is_code_block(first):
        return False
    last = first if line.count(mark) == 2 and line.rstrip(" \t").endswith(mark) else -1
    if opens_enclosed(line):
        for number in range(first + 1, min(end, first + 1 + MAX_ENCLOSED_LINES)):
            if not state.isEmpty(number) and state.sCount[number] < state.blkIndent:
                break
            if _line(state, number).rstrip(" \t").endswith(mark):
                last = number
                break
    if last < 0:
        return False
    if not silent:
        token = state.push("comment" if mark == "%%" else "formula", "", 0)
        token.content = "\n".join(_line(state, number) for number in range(first, last + 1))
        token.map = [first, last + 1]
    state.line = last + 1
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _comment(state: StateInline, silent: bool) -> bool:
    """Left out, with the spaces behind it where there are others before it."""
    if not _take(_COMMENT, "", state, silent):
        return False
    if not state.pending or state.pending.endswith(" "):
        while state.pos < state.posMax and state.src[state.pos] == " ":
            state.pos += 1
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    before = state.src[state.pos - 1 : state.pos] if state.pos else ""
    return (not before or before.isspace() or before in "(,;") and _take(_TAG, "tag", state, silent)


def _take(pattern: re.Pattern[str], kind: str, state: StateInline, silent: bool) -> bool:
    """A token for what matches here, and one for each further line of it; without a kind it is left out."""
    found = pattern.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    text = f"[{found[1]}]" if kind == "footnote" else found.group()
    for number, line in enumerate(text.split("\n") if kind and not silent else ()):
        if number:
            state.push("softbreak", "br", 0)
        state.push(kind, kind, 0).content = line
    state.pos = found.end()
    return True


def _highlight(state: StateInline, silent: bool) -> bool:
    start, end = state.pos + 2, state.posMax
    if not state.src.startswith("==", state.pos, end) or state.src[start : start + 1] in {"", "=", " ", "\n"}:
        return False
    close = state.src.find("==", start, end)
    if close < 0 or state.src[close - 1].isspace() or "\n\n" in state.src[start:close]:
        return False
    if not silent:
        state.push("highlight_open", "highlight", 1)
        state.pos, state.posMax = start, close
        state.md.inline.tokenize(state)
        state.posMax = end
        state.push("highlight_close", "highlight", -1)
    state.pos = close + 2
    return True


def _note_blocks(state: StateCore) -> None:
    """Recognize callouts, tasks and the ids of blocks, after the text of each block is parsed."""
    tokens: list[Token] = []
    for number, token in enumerate(state.tokens):
        opening = state.tokens[number - 2].type if number > 1 else ""
        if token.type != "inline":
            tokens.append(token)
        elif opening == "blockquote_open" and (callout := _first_match(_CALLOUT, token)):
            _begin_callout(tokens, token, callout)
        else:
            if opening == "list_item_open" and (task := _first_match(_TASK, token)):
                tokens[-2].meta = {"task": task[1]}
                _cut_beginning(token, task.end())
            _cut_block_id(token)
            tokens.append(token)
    state.tokens = tokens


def _first_match(pattern: re.Pattern[str], inline: Token) -> re.Match[str] | None:
    """What a text begins with, unless it is escaped."""
    first = inline.children[0] if inline.children else None
    is_plain = first is not None and first.type == "text" and inline.content.startswith("[")
    return pattern.match(first.content) if first and is_plain else None


def _cut_beginning(inline: Token, length: int) -> None:
    assert inline.children
    inline.children[0].content = inline.children[0].content[length:]
    inline.content = inline.content[length:]


def _cut_block_id(inline: Token) -> None:
    last = inline.children[-1] if inline.children else None
    if last and last.type == "text" and "^" in last.content:
        last.content = _BLOCK_ID.sub("", last.content)


def _begin_callout(tokens: list[Token], inline: Token, callout: re.Match[str]) -> None:
    """The first line is the title. The paragraph that began with it goes on without it."""
    kind = callout[1].strip()
    tokens[-2].meta = {"callout": kind.lower()}
    opening = tokens.pop()
    _cut_beginning(inline, callout.end())
    children = inline.children or []
    breaks = [number for number, child in enumerate(children) if child.type in {"softbreak", "hardbreak"}]
    title, rest = (children[: breaks[0]], children[breaks[0] + 1 :]) if breaks else (children, [])
    # The kind stands before the title, since there is no icon that tells it.
    name = kind.replace("-", " ").replace("_", " ")
    name = name[:1].upper() + name[1:]
    text = "".join(child.content for child in title).strip()
    is_said = not text or text.casefold() == name.casefold()
    shown = [Token("text", "", 0, content=name if is_said else f"{name}: "), *([] if is_said else title)]
    tokens += [
        Token("callout_title_open", "", 1, meta=tokens[-1].meta, level=opening.level),
        Token("inline", "", 0, children=shown, level=inline.level),
        Token("callout_title_close", "", -1, level=opening.level),
    ]
    body = inline.copy(children=rest, content=inline.content.partition("\n")[2])
    _cut_block_id(body)
    tokens += [opening, body]


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
            bare = line.strip(" \t")
            self.ended = len(bare) >= len(self.mark) and not bare.strip(self.mark[0]) and _indent(line) < 4
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
        """The items of a list, else the block."""
        if self.kind not in _LISTS:
            return [_Part(DrawableBlock(self.tokens), self.first)]
        parts = []
        opened, closed = (
            [index for index, token in enumerate(self.tokens) if token.level == 1 and token.type == kind]
            for kind in ("list_item_open", "list_item_close")
        )
        for index, (first, last) in enumerate(zip(opened, closed, strict=True)):
            item = self.tokens[first : last + 1]
            opening = self.tokens[0].copy(attrs={"start": self._number + index})
            block = DrawableBlock([opening, *item, self.tokens[-1]], joined=index > 0 or self.following is not None)
            parts.append(_Part(block, _lines_of(item)[0]))
        return parts

    def following_after(self, finished: int) -> int | None:
        """The number of the next item, once so many more of its parts are final."""
        return self._number + finished if finished and self.kind in _LISTS else self.following

    @property
    def _number(self) -> int:
        return self.following or int(self.tokens[0].attrs.get("start", 1))


def _lines_of(tokens: Sequence[Token]) -> tuple[int, int]:
    first, end = tokens[0].map or (0, 0)
    return first, end


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


class BlockSplitter:
    """`add` takes text; `take_final` returns each final block once; `tail` the unfinished rest."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._arriving = ""
        self._has_new_lines = False
        self._open: _Fence | int | None = None
        self._size = 0
        """Characters of the paragraph that is arriving."""
        self._is_code = False

    def add(self, text: str) -> None:
        *complete, arriving = (self._arriving + text).split("\n")
        for line in complete:
            self._take(_split_line(line))
        *blocks, self._arriving = _split_line(arriving)
        self._take(blocks)

    def _take(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._lines.append(line)
            bare = line.lstrip(" >")
            if bare.startswith(("```", "~~~")):
                self._is_code = not self._is_code
            self._size = self._size + len(line) + 1 if bare else 0
            if self._size > 12_000 and not self._is_code and not _PARTWISE.match(bare):
                self._lines.append("")  # a paragraph that is too long to be redrawn with each word is split
                self._size = 0
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
        if isinstance(fence := self._open, _Fence):
            blocks, taken = fence.consume(self._lines)
            del self._lines[:taken]
            self._open = None if fence.ended else fence
        if not isinstance(self._open, _Fence):
            blocks += self._finalize_blocks(self._open, closing)
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
            # The next line may make the last one the head of a table, which goes before fences and headings.
            if not closing and group.following is None and group.first == len(lines) - 1 and "|" in lines[-1]:
                start = group.first
                continue
            if group.kind == "fence":
                token = group.tokens[0]
                fence = _Fence(token.info, token.markup, indent=_indent(lines[group.first]))
                blocks += fence.consume(lines[group.first + 1 : group.end])[0]
                still_open = None if fence.ended else fence
                continue
            parts = group.parts()
            if not (closing or group is not groups[-1] or self._is_whole(group)):
                start = parts.pop().line
                still_open = group.following_after(len(parts))
            blocks += [part.block for part in parts]
        self._lines, self._open = lines[start:], still_open
        return blocks

    def _may_be_enclosed(self, group: _Group) -> bool:
        """Whether a later line may make a comment or formula of what now is text."""
        lines = self._lines
        newest = range(max(group.first, len(lines) - MAX_ENCLOSED_LINES), group.end)
        return group.kind not in _CODE and any(opens_enclosed(lines[number]) for number in newest)

    def _is_whole(self, group: _Group) -> bool:
        """Whether the block, which is the last one so far, can no longer grow."""
        if self._lines[-1].strip(" \t"):
            return group.kind in {"heading_open", "hr", "comment", "formula"}
        return group.kind not in {*_LISTS, *_CODE}
