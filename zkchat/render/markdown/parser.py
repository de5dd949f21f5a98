"""The Markdown dialect of answers and notes: CommonMark with tables and what notes add, sanitized.

Nothing but comments and the ids of blocks is hidden.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from zkchat.render.markdown.note_syntax import note_syntax
from zkchat.render.markdown.wikilinks import WIKILINK, wikilinks
from zkchat.render.sanitize import sanitize_text

_PIPE: Final = re.compile(r"(?<!\\)\|")
_ESCAPED_PIPE: Final = "\ufdd0"
"""A noncharacter of Unicode that replaces the pipe while table rows are split into cells."""
_LINE_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)


def parse(text: str) -> list[Token]:
    return _parser().parse(escape_pipes(text))


@cache
def _parser() -> MarkdownIt:
    # Link definitions and HTML blocks would not be drawn. Disabled, they are shown as they are written.
    parser = MarkdownIt().enable(["strikethrough", "table"]).disable(["reference", "html_block"]).use(wikilinks)
    parser.core.ruler.push("sanitize", _sanitize)
    return parser.use(note_syntax)


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
