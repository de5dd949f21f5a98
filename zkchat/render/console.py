"""Rich consoles, and the live region whose rows are redrawn."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple, TextIO
from zlib import crc32

from rich.console import Console, ConsoleDimensions, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text
from rich.theme import Theme

from zkchat.core import NO_THEME, parse_theme
from zkchat.render.sanitize import PROSE_WIDTH, can_move_cursor, never_fail_to_encode, uses_color, wrap

_ERASE_LINE: Final = "\x1b[K"
_ERASE_LINES_BELOW: Final = "\x1b[B\x1b[J\x1b[A"
_LINK_ID: Final = re.compile("\x1b\\]8;id=[^;]*;([^\x1b]*)\x1b")


class Row(NamedTuple):
    """One line as it is written, with escape sequences, and its width in columns."""

    text: str
    cells: int


BLANK: Final = Row("", 0)


def render_rows(console: Console, renderable: RenderableType, *, width: int | None = None) -> list[Row]:
    """Render into rows without trailing blanks, so that they can be copied cleanly."""
    options = console.options.update(width=width or console.width)
    lines = [_trimmed(line) for line in console.render_lines(renderable, options, pad=False)]
    segments = [segment for line in lines for segment in (*line, Segment.line())]
    with console.capture() as capture:
        console.print(Segments(segments), end="", crop=False)
    # Rich draws a new id of a link at random each time; a row that has not changed must look the same.
    drawn = _LINK_ID.sub(lambda link: f"\x1b]8;id={crc32(link[1].encode())};{link[1]}\x1b", capture.get())
    texts = drawn.split("\n")[: len(lines)]
    return [Row(text, Segment.get_line_length(line)) for text, line in zip(texts, lines, strict=True)]


def _trimmed(line: list[Segment]) -> list[Segment]:
    while line and not line[-1].text.rstrip(" "):
        line = line[:-1]
    return [*line[:-1], Segment(line[-1].text.rstrip(" "), line[-1].style)] if line else line


class LiveRegion:
    """Prints final rows once, and below them a tail that the next call replaces.

    The tail stays shorter than the screen, since a row that has scrolled away cannot be redrawn. Where the cursor
    cannot be moved, there is no tail.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._drawn: list[Row] = []
        self._width = console.width

    def show(self, final: Iterable[Row], tail: Sequence[Row] = ()) -> None:
        printed = [f"{row.text}\n" for row in final]
        if not self._console.is_interactive:
            self.write("".join(printed))
            return
        width, height = self._console.size
        rows = list(tail[-max(1, height - 2) :])
        if not printed and rows == self._drawn and width == self._width:
            return
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self._drawn, rows, strict=False)))
        # The row of the cursor is always redrawn.
        kept = 0 if printed or width != self._width else max(0, min(same, len(self._drawn) - 1, len(rows) - 1))
        # Terminals disagree about the width of some characters. Without wrapping, a row is one row on all of them.
        changed = ["\x1b[?7l", "\n".join(row.text for row in rows[kept:]), "\x1b[?7h"] if rows else []
        self.write("".join([self._back_to(kept, width), *printed, *changed]))
        self._drawn, self._width = rows, width

    def _back_to(self, kept: int, width: int) -> str:
        """Move to the first row of the tail that changes, and erase everything below.

        A terminal that was made narrower has wrapped its rows.
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


class Throttle:
    """Limits drawing to 20 frames per second, and to a tenth of the time on a slow terminal."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._due = clock()

    def draw(self, frame: Callable[[], None]) -> None:
        """Call `frame`, unless the last call was too recent."""
        begun = self._clock()
        if begun < self._due:
            return
        frame()
        took = self._clock() - begun
        self._due = begun + max(1 / 20, min(1.0, 10 * took))


def print_text(console: Console, text: str, style: str = "none") -> None:
    """Print sanitized lines, wrapped between words: an address must stay in one piece to be usable."""
    shown = wrap(text, terminal_width(console), prose=console.width)
    console.print(Text(shown, style=style), soft_wrap=True)


Matches = Callable[[str], Iterable[tuple[int, int]]]
"""Finds the words to be marked in a text: their beginnings and ends, in order and apart from each other."""

_STYLES: Final = {"": "{}", "bold ": "bold {}", "reverse ": "reverse {}", "bold reverse ": "bold reverse {}"}


_MARKDOWN: Final = {
    "markdown.h1": "bold underline",
    "markdown.h2": "bold",
    "markdown.h3": "bold italic",
    "markdown.h4": "italic",
    "markdown.code": "accent",
    "markdown.wikilink": "link",
    "markdown.broken": "doubt",
    "markdown.mark": "bold underline",
    "markdown.highlight": "reverse doubt",
    "markdown.tag": "tag",
    "markdown.footnote": "accent",
    "markdown.formula": "none",
    "markdown.block_quote": "none",
    "markdown.item.bullet": "bold",
    "markdown.item.number": "bold",
    "markdown.table.border": "dim",
    "markdown.table.header": "bold",
}


class _PipeConsole(Console):
    """A console that becomes quiet when its pipe is closed: `zkchat … | head` is not an error.

    Where the terminal is wider than `prose`, so many columns of it are used.
    """

    def __init__(self, *, prose: int, code_theme: str, **options: Any) -> None:
        super().__init__(**options)
        self._prose = prose
        self.code_theme = code_theme

    def on_broken_pipe(self) -> None:
        self.quiet = True

    @property
    def size(self) -> ConsoleDimensions:
        """What is drawn on; no wider than prose is to be."""
        width, height = super().size
        return ConsoleDimensions(min(width, self._prose), height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size

    @property
    def terminal_width(self) -> int:
        return super().size.width


def terminal_width(console: Console) -> int:
    """For what may be wider than prose."""
    return console.terminal_width if isinstance(console, _PipeConsole) else console.width


def code_theme(console: Console) -> str:
    return console.code_theme if isinstance(console, _PipeConsole) else "ansi_dark"


def console_for(
    stream: TextIO,
    *,
    is_tty: bool,
    variables: Mapping[str, str],
    color: str = "auto",
    theme: str = "dark",
    width: int | None = None,
    prose: int = PROSE_WIDTH,
) -> Console:
    """A console without Rich markup that draws only what the terminal can show.

    `color` is `auto`, `always` or `never`, `theme` the setting `ui.theme`. The console is interactive, so that rows can
    be redrawn, only where the cursor can be moved.
    """
    never_fail_to_encode(stream)
    can_move = is_tty and can_move_cursor(variables)
    name, colors = parse_theme(theme)
    # By the names that the code has for them: `bold accent` is bold, in the colour of what is named.
    styles = {f"{how}{role}": form.format(color) for role, color in colors.items() for how, form in _STYLES.items()}
    console = _PipeConsole(
        prose=prose if is_tty else sys.maxsize,
        file=stream,
        force_terminal=can_move or color == "always",
        force_jupyter=False,
        color_system="standard" if color == "always" and not can_move else "auto",
        no_color=name == NO_THEME or not uses_color(variables, color),
        width=width,
        theme=Theme(styles | {name: styles.get(style, style) for name, style in _MARKDOWN.items()}),
        code_theme="ansi_light" if name == "light" else "ansi_dark",
        markup=False,
        highlight=False,
        emoji=False,
        _environ={
            name: value
            for name, value in variables.items()
            if name not in {"COLUMNS", "LINES"} or re.fullmatch(r"0*([1-9]\d{0,3}|10000)", value, re.ASCII)
        },
    )
    console.is_interactive = can_move and not console.legacy_windows
    return console
