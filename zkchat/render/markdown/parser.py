"""The Markdown dialect of answers and notes: CommonMark with tables, wikilinks and what notes add."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from zkchat.core import NOTE_SUFFIXES
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


def parse(text: str) -> list[Token]:
    return _parser().parse(escape_pipes(text))


@cache
def _parser() -> MarkdownIt:
    # Link definitions and HTML blocks would not be drawn. Disabled, they are shown as they are written.
    parser = MarkdownIt().enable(["strikethrough", "table"]).disable(["reference", "html_block"])
    parser.inline.ruler.before("link", "wikilink", partial(_take, WIKILINK, "wikilink"))  # before emphasis
    parser.core.ruler.push("sanitize", _sanitize)
    return parser.use(_note_syntax)


def _sanitize(state: StateCore) -> None:
    for token in state.tokens:
        _sanitize_token(token)
        if token.children is not None:
            token.children = list(_drawable(token.children))


def _sanitize_token(token: Token) -> Token:
    """Sanitize again: the parser has just decoded entities such as `&#x202e;`."""
    token.content = unescape_pipes(sanitize_text(token.content))
    token.info = unescape_pipes(sanitize_text(token.info))
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


def escape_pipes(text: str) -> str:
    """Escape the pipe of `[[X|y]]`, so that it does not end a table cell."""
    return WIKILINK.sub(lambda link: _PIPE.sub(_ESCAPED_PIPE, link.group()), text) if "[[" in text else text


def unescape_pipes(text: str) -> str:
    return text.replace(_ESCAPED_PIPE, "|")


def with_labels(text: str) -> str:
    """A line of text with the labels of its links."""
    return _PLAIN_LINK.sub(lambda link: label_of(link[0]), text)


def label_of(written: str, *, with_folder: bool = False) -> str:
    """What a reader sees of `[[folder/Note#Heading|label]]`: the label, else `Note › Heading`.

    Empty where it names nothing and therefore is no link.
    """
    is_embed = written.startswith("!")
    name, _, display = written[2 + is_embed : -2].partition("|")
    target, _, anchor = name.removesuffix("\\").strip().partition("#")
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


def _note_syntax(parser: MarkdownIt) -> None:
    """A plugin for markdown-it: tokens for what only notes have. Comments and the ids of blocks are left out."""
    parser.block.ruler.before("fence", "enclosed", _enclosed, {"alt": ["paragraph", "blockquote", "list"]})
    parser.inline.ruler.before("link", "comment", _comment)
    parser.inline.ruler.before("link", "formula", partial(_take, _FORMULA, "formula"))  # its signs mean nothing else
    parser.inline.ruler.before("link", "highlight", _highlight)
    parser.inline.ruler.before("link", "tag", _tag)
    parser.inline.ruler.before("link", "footnote", partial(_take, _FOOTNOTE, "footnote"))
    parser.core.ruler.push("note_blocks", _note_blocks)


def opens_enclosed(line: str) -> bool:
    """Whether a comment or formula begins with this line that a later line may end."""
    bare = line.lstrip(" \t")
    return bare.startswith(_MARKS) and bare[:2] not in bare[2:]


def _closes(line: str, mark: str) -> bool:
    return line.rstrip(" \t").endswith(mark)


def _enclosed(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """A comment or formula of whole lines."""
    line = _line(state, first)
    mark = line[:2]
    if mark not in _MARKS or state.is_code_block(first):
        return False
    if opens_enclosed(line):
        last = _closing_line(state, mark, first + 1, min(end, first + 1 + MAX_ENCLOSED_LINES))
    else:
        last = first if line.count(mark) == 2 and _closes(line, mark) else -1
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


def _closing_line(state: StateBlock, mark: str, first: int, end: int) -> int:
    """The line that ends with the mark; negative where the block ends before it."""
    for number in range(first, end):
        if not state.isEmpty(number) and state.sCount[number] < state.blkIndent:
            break
        if _closes(_line(state, number), mark):
            return number
    return -1


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
    tokens += [
        Token("callout_title_open", "", 1, meta=tokens[-1].meta, level=opening.level),
        Token("inline", "", 0, children=_callout_title(kind, title), level=inline.level),
        Token("callout_title_close", "", -1, level=opening.level),
    ]
    body = inline.copy(children=rest, content=inline.content.partition("\n")[2])
    _cut_block_id(body)
    tokens += [opening, body]


def _callout_title(kind: str, written: Sequence[Token]) -> list[Token]:
    """The kind stands before the title, since there is no icon that tells it."""
    name = kind.replace("-", " ").replace("_", " ")
    name = name[:1].upper() + name[1:]
    text = "".join(child.content for child in written).strip()
    if not text or text.casefold() == name.casefold():
        return [Token("text", "", 0, content=name)]
    return [Token("text", "", 0, content=f"{name}: "), *written]
