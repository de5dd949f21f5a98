"""Wikilinks as they are read: by their label, clickable where that is safe, and marked where they lead nowhere."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from zkchat.model.note import NOTE_SUFFIXES
from zkchat.render.links import LinkTarget

Lookup = Callable[[str], LinkTarget]
"""Finds out what a wikilink leads to, given as it is written."""

WIKILINK: Final = re.compile(r"!?\[\[(?!\[)(?:(?!\]\]|\[\[)[^\n])+\]\]")
BROKEN: Final = "[?]"
"""Stands behind a link to a note that does not exist: not every terminal has colours."""
_SIZE: Final = re.compile(r"\s*\d+(?:x\d+)?\s*")
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)


def wikilinks(parser: MarkdownIt) -> None:
    """A plugin for markdown-it: a wikilink outside code becomes one token, before emphasis is parsed."""
    parser.inline.ruler.before("link", "wikilink", _wikilink)


def _wikilink(state: StateInline, silent: bool) -> bool:
    link = WIKILINK.match(state.src, state.pos, state.posMax)
    if link is None:
        return False
    if not silent:
        state.push("wikilink", "wikilink", 0).content = link.group()
    state.pos = link.end()
    return True


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
    return display.strip() or " › ".join(filter(None, [_title(target.strip(), with_folder), *_places(anchor)]))


def _title(target: str, with_folder: bool) -> str:
    if _ADDRESS.match(target):
        return target
    title = target.strip("/") if with_folder else target.rstrip("/").rpartition("/")[2]
    suffix = next((suffix for suffix in NOTE_SUFFIXES if title.lower().endswith(suffix)), "")
    return title[: len(title) - len(suffix)] or target


def _places(anchor: str) -> Iterator[str]:
    for heading in anchor.split("#"):
        yield heading.strip().replace("page=", "page ", 1)


def draw_links(tokens: Sequence[Token], look_up: Lookup) -> list[Token]:
    """The tokens of a block, with the label of each wikilink in its place."""
    return [
        token.copy(children=[*_labelled(token.children, look_up)]) if token.type == "inline" else token
        for token in tokens
    ]


def _labelled(children: Sequence[Token] | None, look_up: Lookup) -> Iterator[Token]:
    for child in children or ():
        if child.type != "wikilink":
            yield child
            continue
        target = look_up(child.content)
        label = label_of(child.content, with_folder=target.shares_name)
        if not label:
            yield child.copy(type="text", tag="")
            continue
        tag = "broken" if target.is_missing else "wikilink"
        meta = {"address": target.address}
        yield Token("wikilink_open", tag, 1, meta=meta)
        yield Token("text", "", 0, content=label + BROKEN * target.is_missing)
        yield Token("wikilink_close", tag, -1, meta=meta)
