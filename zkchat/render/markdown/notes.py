"""Draws the text of a note, or of a section of it, as Obsidian's reading view would."""

import re
from typing import Final

from rich.console import Console

from zkchat.render.console import Row
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.markdown.blocks import BlockSplitter
from zkchat.render.markdown.renderer import BlockRenderer
from zkchat.render.sanitize import sanitize_text

_FRONTMATTER: Final = re.compile(r"\A---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


def note_rows(
    console: Console,
    text: str,
    *,
    source: str | None = None,
    links: ClickableLinks = NO_LINKS,
) -> list[Row]:
    """The rows of a note without its frontmatter, as wide as the console.

    `source` is the path of the note; `links` knows what wikilinks lead to.
    """
    splitter = BlockSplitter()
    splitter.add(_FRONTMATTER.sub("", sanitize_text(text)))
    renderer = BlockRenderer(console, links=links, source=source)
    rows, _ = renderer.all_rows(splitter.close(), fold_code=True)
    return rows
