"""Draws the text of a note, or of a section of it, as Obsidian's reading view would."""

from typing import TYPE_CHECKING, Final

from zkchat.model.patterns import lazy_pattern
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.sanitize import sanitize_text

if TYPE_CHECKING:
    from rich.console import Console

    from zkchat.render.live import Row

_FRONTMATTER: Final = lazy_pattern(r"\A---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


def note_rows(
    console: "Console",
    text: str,
    *,
    source: str | None = None,
    links: ClickableLinks = NO_LINKS,
) -> "list[Row]":
    """The rows of a note without its frontmatter, as wide as the console.

    `source` is the path of the note; `links` knows what wikilinks lead to.
    """
    from zkchat.render.markdown.blocks import BlockSplitter
    from zkchat.render.markdown.renderer import BlockRenderer

    splitter = BlockSplitter()
    splitter.add(_FRONTMATTER.sub("", sanitize_text(text)))
    renderer = BlockRenderer(console, links=links, source=source)
    rows, _ = renderer.all_rows(splitter.close(), fold_code=True)
    return rows
