"""Draws the text of a note, or of a section of it, as Obsidian's reading view would."""

import re
from typing import Final

from rich.console import Console

from zkchat.render.console import BLANK, Row
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.markdown.blocks import FENCE_CHUNK_LINES, BlockSplitter
from zkchat.render.markdown.renderer import BlockRenderer
from zkchat.render.sanitize import sanitize_text

_FRONTMATTER: Final = re.compile(r"\A---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


class DrawnNote:
    """The blocks of a note without its frontmatter, as wide as the console; each is drawn when it is asked for.

    `source` is the path of the note; `links` knows what wikilinks lead to.
    """

    def __init__(
        self, console: Console, text: str, *, source: str | None = None, links: ClickableLinks = NO_LINKS
    ) -> None:
        splitter = BlockSplitter()
        shown = _FRONTMATTER.sub("", sanitize_text(text))
        splitter.add(shown)
        self._line_count = shown.count("\n")
        self.blocks = splitter.close()
        self._renderer = BlockRenderer(console, links=links, source=source)

    def rows(self, number: int) -> list[Row]:
        """The rows of a block, below a blank one where it stands apart from the block above."""
        block, rows = self.blocks[number], self._renderer.rows(self.blocks[number], fold_code=True)
        is_apart = number and rows and not block.follows_closely(self.blocks[number - 1])
        return [BLANK, *rows] if is_apart else rows

    def is_heading(self, number: int) -> bool:
        return self.blocks[number].tokens[0].type == "heading_open"

    def lines(self) -> list[int]:
        """The line of the text, from 1, at which each block begins, and the one below them all."""
        lines = [1]
        for block in self.blocks:
            token = block.tokens["list" in block.tokens[0].type]
            chunk = FENCE_CHUNK_LINES if block.joined else 1
            lines.append(token.map[0] + 1 if token.map else lines[-1] + chunk)
        return [*lines[1:], self._line_count + 1]


def note_rows(console: Console, text: str, *, source: str | None = None, links: ClickableLinks = NO_LINKS) -> list[Row]:
    """All rows of a note."""
    note = DrawnNote(console, text, source=source, links=links)
    rows = [row for number in range(len(note.blocks)) for row in note.rows(number)]
    return rows[1:] if rows and not rows[0].cells else rows
