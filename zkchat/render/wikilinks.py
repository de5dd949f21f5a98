"""Wikilinks in an answer: kept as they are written, whatever Markdown would make of the brackets and bars in them."""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_WIKILINK: Final = re.compile(r"\[\[(?!\[)(?:(?!\]\]|\[\[)[^\n])+\]\]")
_BAR: Final = re.compile(r"(?<!\\)\|")
_HIDDEN_BAR: Final = "\ufdd0"
"""A code point that Unicode keeps free of meaning. It takes the bar's place while table rows are cut into cells."""


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
