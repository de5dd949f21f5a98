"""An answer that appears while it arrives: finished blocks are printed once, the unfinished end is redrawn."""

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from rich.console import Console

from zkchat.render.live import BLANK, LiveTail, Pace, Row
from zkchat.render.sanitize import sanitize_text

if TYPE_CHECKING:
    from zkchat.render.markdown.blocks import Piece


MOST_WAITING = 3_000
"""Characters that wait to be drawn: an answer that is stopped must not take long to draw what came of it."""


class MarkdownStream:
    """One text of Markdown. The screen at its end depends on the text alone, not on the chunks it came in.

    Where nothing can be redrawn, the text is written through as it comes.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        # These take long to import; at the start of the program nothing is drawn yet.
        from zkchat.render.markdown.blocks import Blocks
        from zkchat.render.markdown.renderer import rows_of_piece

        self._console = console
        self._blocks = Blocks()
        self._rows_of_piece = rows_of_piece
        self._tail = LiveTail(console)
        self._pace = Pace(clock)
        self._waiting: list[str] = []
        self._backlog = 0
        self._is_first = True
        self._is_at_line_start = True

    def feed(self, text: str) -> None:
        safe = sanitize_text(text)
        if self._console.is_interactive:
            self._waiting.append(safe)
            self._backlog += len(safe)
            if self._backlog > MOST_WAITING:
                self._settle()
            self._pace.draw(self._draw)
        elif safe:
            self._tail.write(safe)
            self._is_at_line_start = safe.endswith("\n")

    def finish(self) -> None:
        """Everything that is left becomes final, and the cursor stands at the beginning of a line."""
        self._blocks.add("".join(self._waiting))
        self._tail.show(self._settled_rows(self._blocks.close()))
        if not self._is_at_line_start:
            self._tail.write("\n")

    def _draw(self) -> None:
        settled = self._taken()
        self._tail.show(settled, self._rows(self._blocks.tail(), is_first=self._is_first, fold_code=True))

    def _settle(self) -> None:
        """Draw what is final, without an end that is drawn anew in a moment."""
        self._tail.show(self._taken())

    def _taken(self) -> list[Row]:
        """What became final by all that has arrived."""
        self._blocks.add("".join(self._waiting))
        self._waiting.clear()
        self._backlog = 0
        return self._settled_rows(self._blocks.settled())

    def _settled_rows(self, pieces: "list[Piece]") -> list[Row]:
        rows = self._rows(pieces, is_first=self._is_first, fold_code=False)
        self._is_first = self._is_first and not pieces
        return rows

    def _rows(self, pieces: "Iterable[Piece]", *, is_first: bool, fold_code: bool) -> list[Row]:
        rows: list[Row] = []
        for piece in pieces:
            if not (is_first or piece.joined):
                rows.append(BLANK)
            rows += self._rows_of_piece(self._console, piece, fold_code=fold_code)
            is_first = False
        return rows
