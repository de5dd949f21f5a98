"""The Markdown of answers: CommonMark with tables and wikilinks, of which nothing vanishes and nothing acts."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from zkchat.render.sanitize import sanitize_text

_WIKILINK: Final = re.compile(r"\[\[(?!\[)(?:(?!\]\]|\[\[)[^\n])+\]\]")
_BAR: Final = re.compile(r"(?<!\\)\|")
_HIDDEN_BAR: Final = "\ufdd0"
"""A code point that Unicode keeps free of meaning. It takes the bar's place while table rows are cut into cells."""
_LINE_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)


def parse(text: str) -> list[Token]:
    return _parser().parse(with_hidden_bars(text))


@cache
def _parser() -> MarkdownIt:
    # Definitions and blocks of HTML would vanish from the screen. Switched off, they are shown as they are written.
    parser = MarkdownIt().enable(["strikethrough", "table"]).disable(["reference", "html_block"]).use(wikilinks)
    parser.core.ruler.push("show", _show)
    return parser


def _show(state: StateCore) -> None:
    for token in state.tokens:
        _make_safe(token)
        if token.children is not None:
            token.children = list(_as_shown(token.children))


def _make_safe(token: Token) -> Token:
    """Once more through the door: an entity such as `&#x202e;` has become a character only now."""
    token.content = with_bars(sanitize_text(token.content))
    token.info = with_bars(sanitize_text(token.info))
    return token


def _as_shown(tokens: Iterable[Token]) -> Iterator[Token]:
    """Lines break where the text breaks them, as in a note; an address is shown, and never clickable."""
    for token in tokens:
        match token.type:
            case "softbreak":
                yield Token("hardbreak", "br", 0)
            case "html_inline":
                is_break = _LINE_BREAK.fullmatch(token.content)
                yield (
                    Token("hardbreak", "br", 0) if is_break else _make_safe(Token("text", "", 0, content=token.content))
                )
            case "image":
                yield _make_safe(Token("text", "", 0, content=f"{token.content} ({token.attrs.get('src', '')})"))
            case "link_open" | "link_close" if token.markup == "autolink":
                pass
            case "link_open":
                token.attrs["href"] = sanitize_text(str(token.attrs.get("href", "")))
                yield token
            case _:
                yield _make_safe(token)


def with_hidden_bars(text: str) -> str:
    """The text, ready to be parsed: the bar of `[[X|y]]` no longer ends a table cell."""
    return _WIKILINK.sub(lambda link: _BAR.sub(_HIDDEN_BAR, link.group()), text) if "[[" in text else text


def with_bars(text: str) -> str:
    return text.replace(_HIDDEN_BAR, "|")


def wikilinks(parser: MarkdownIt) -> None:
    """A plug-in: a wikilink becomes one token of its own, outside code and before emphasis is looked for."""
    parser.inline.ruler.before("link", "wikilink", _wikilink)


def _wikilink(state: StateInline, silent: bool) -> bool:
    link = _WIKILINK.match(state.src, state.pos, state.posMax)
    if link is None:
        return False
    if not silent:
        state.push("wikilink", "wikilink", 0).content = link.group()
    state.pos = link.end()
    return True
