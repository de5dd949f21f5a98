"""Draws Markdown while it streams: final blocks are printed once, the unfinished end is redrawn."""

import time
from collections.abc import Callable, Sequence

from rich.console import Console

from zkchat.render.console import LiveRegion, Matches, Row, Throttle
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.markdown.blocks import BlockSplitter, DrawableBlock
from zkchat.render.markdown.renderer import BlockRenderer
from zkchat.render.sanitize import sanitize_text

MAX_PENDING = 3_000
"""Characters that may wait to be drawn, so that a stopped answer is drawn quickly."""


class MarkdownStream:
    """One Markdown text. What is on the screen at the end depends on the text alone, not on its chunks.

    Where nothing can be redrawn, the text is written as it arrives.
    """

    def __init__(
        self,
        console: Console,
        *,
        clock: Callable[[], float] = time.monotonic,
        matches: Matches | None = None,
        links: ClickableLinks = NO_LINKS,
    ) -> None:
        """`matches` finds the words that are marked in quotations; `links` knows what wikilinks lead to."""
        self._console = console
        self._splitter = BlockSplitter()
        self._renderer = BlockRenderer(console, matches, links)
        self._region = LiveRegion(console)
        self._throttle = Throttle(clock)
        self._pending: list[str] = []
        self._pending_size = 0
        self._last: DrawableBlock | None = None
        """The last block that is final."""
        self._is_at_line_start = True

    def feed(self, text: str) -> None:
        safe = sanitize_text(text)
        if self._console.is_interactive:
            self._pending.append(safe)
            self._pending_size += len(safe)
            if self._pending_size > MAX_PENDING:
                self._region.show(self._take_final())  # without the unfinished end
            self._throttle.draw(self._draw)
        elif safe:
            self._region.write(safe)
            self._is_at_line_start = safe.endswith("\n")

    def draw(self, below: Sequence[Row]) -> None:
        """Draw all that came, also what may still become something else, and these rows below it."""
        final = self._take_final()
        self._region.show(final, [*self._tail_rows(whole=True), *below])

    def finish(self) -> None:
        """Draw the rest, and leave the cursor at the beginning of a line."""
        self._splitter.add("".join(self._pending))
        self._region.show(self._final_rows(self._splitter.close()))
        if not self._is_at_line_start:
            self._region.write("\n")

    def _draw(self) -> None:
        final = self._take_final()
        self._region.show(final, self._tail_rows())

    def _tail_rows(self, *, whole: bool = False) -> list[Row]:
        rows, _ = self._renderer.all_rows(self._splitter.tail(whole=whole), self._last, fold_code=True)
        return rows

    def _take_final(self) -> list[Row]:
        """Rows of the blocks that became final with the pending text."""
        self._splitter.add("".join(self._pending))
        self._pending.clear()
        self._pending_size = 0
        return self._final_rows(self._splitter.take_final())

    def _final_rows(self, blocks: list[DrawableBlock]) -> list[Row]:
        rows, self._last = self._renderer.all_rows(blocks, self._last)
        return rows
