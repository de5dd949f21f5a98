"""The last rows on the screen, which may still change. What stands above them is final and never touched again."""

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments

_ERASE_LINE: Final = "\x1b[K"
_ERASE_LINES_BELOW: Final = "\x1b[B\x1b[J\x1b[A"
_WRAP_OFF: Final = "\x1b[?7l"
_WRAP_ON: Final = "\x1b[?7h"
_FRAME: Final = 1 / 20
_REST_PER_WORK: Final = 10
_LONGEST_REST: Final = 1.0


class Row(NamedTuple):
    """One line as it is written, colours included, and the columns that it takes."""

    text: str
    cells: int


BLANK: Final = Row("", 0)


def rows_of(console: Console, renderable: RenderableType, *, width: int | None = None) -> list[Row]:
    """The renderable drawn into rows without trailing blanks, which nobody wants to copy."""
    options = console.options.update(width=width or console.width)
    lines = [_trimmed(line) for line in console.render_lines(renderable, options, pad=False)]
    segments = [segment for line in lines for segment in (*line, Segment.line())]
    with console.capture() as capture:
        console.print(Segments(segments), end="", crop=False)
    texts = capture.get().split("\n")[: len(lines)]
    return [Row(text, Segment.get_line_length(line)) for text, line in zip(texts, lines, strict=True)]


def _trimmed(line: list[Segment]) -> list[Segment]:
    while line and not line[-1].text.rstrip(" "):
        line = line[:-1]
    return [*line[:-1], Segment(line[-1].text.rstrip(" "), line[-1].style)] if line else line


class LiveTail:
    """Draws final rows once, and below them a tail that the next call replaces.

    The tail stays shorter than the screen, since a row that has scrolled away cannot be replaced. On a console where
    the cursor cannot be moved there is no tail.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._drawn: list[Row] = []
        self._width = console.width

    def show(self, final: Iterable[Row], tail: Sequence[Row] = ()) -> None:
        settled = [f"{row.text}\n" for row in final]
        if not self._console.is_interactive:
            self.write("".join(settled))
            return
        width, height = self._console.size
        rows = list(tail[-max(1, height - 2) :])
        kept = 0 if settled or width != self._width else self._unchanged(rows)
        if not settled and rows == self._drawn and width == self._width:
            return
        # Terminals disagree about the width of some characters. With wrapping off, a row is one row for all of them.
        changed = [_WRAP_OFF, "\n".join(row.text for row in rows[kept:]), _WRAP_ON] if rows else []
        self.write("".join([self._back_to(kept, width), *settled, *changed]))
        self._drawn, self._width = rows, width

    def _unchanged(self, rows: Sequence[Row]) -> int:
        """How many rows of the tail, from its top, can stay as they are. The cursor's own row is always redrawn."""
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self._drawn, rows, strict=False)))
        return max(0, min(same, len(self._drawn) - 1, len(rows) - 1))

    def _back_to(self, kept: int, width: int) -> str:
        """From the end of the tail to the beginning of its first row that changes, and everything below erased.

        A terminal that was made narrower has folded its rows.
        """
        if not self._drawn:
            return ""
        height = sum(max(1, -(-row.cells // width)) for row in self._drawn[kept:])
        # Erased from the top of the screen to its end at once, the rows would be kept in the scrollback by tmux.
        return f"\r\x1b[{height - 1}A{_ERASE_LINE}{_ERASE_LINES_BELOW}" if height > 1 else f"\r{_ERASE_LINE}"

    def write(self, text: str) -> None:
        if not text or self._console.quiet:
            return
        try:
            self._console.file.write(text)
            self._console.file.flush()
        except BrokenPipeError:
            self._console.quiet = True


class Pace:
    """How often to draw: 20 times in a second, and less on a slow terminal, so that it takes a tenth of the time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._due = clock()

    def draw(self, frame: Callable[[], None]) -> None:
        """Call `frame`, unless it is too soon."""
        begun = self._clock()
        if begun < self._due:
            return
        frame()
        took = self._clock() - begun
        self._due = begun + max(_FRAME, min(_LONGEST_REST, _REST_PER_WORK * took))
