"""Rich consoles, configured for the terminal."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TextIO

from rich.console import Console
from rich.theme import Theme

from zkchat.render.sanitize import never_fail_to_encode
from zkchat.render.terminal import can_move_cursor, uses_color

Matches = Callable[[str], Iterable[tuple[int, int]]]
"""Finds the words to be marked in a text: their beginnings and ends, in order and apart from each other."""

_THEME: Final = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold italic",
        "markdown.h4": "italic",
        "markdown.code": "cyan",
        "markdown.wikilink": "bright_blue",
        "markdown.broken": "yellow",
        "markdown.mark": "bold underline",
        "markdown.highlight": "reverse yellow",
        "markdown.tag": "magenta",
        "markdown.footnote": "cyan",
        "markdown.formula": "none",
        "markdown.block_quote": "none",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)


_SIZES: Final = frozenset({"COLUMNS", "LINES"})
_MAX_SIZE: Final = 10_000


def _is_size(value: str) -> bool:
    """Whether the value is a plausible number of columns or lines; Rich accepts any digits."""
    return value.isascii() and value.isdecimal() and len(value) < 10 and 0 < int(value) <= _MAX_SIZE


class _PipeConsole(Console):
    """A console that becomes quiet when its pipe is closed: `zkchat … | head` is not an error."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


def console_for(
    stream: TextIO,
    *,
    is_tty: bool,
    variables: Mapping[str, str],
    color: str = "auto",
    width: int | None = None,
) -> Console:
    """A console without Rich markup that draws only what the terminal can show.

    `color` is `auto`, `always` or `never`. The console is interactive, so that rows can be redrawn, only where the
    cursor can be moved.
    """
    never_fail_to_encode(stream)
    can_move = is_tty and can_move_cursor(variables)
    console = _PipeConsole(
        file=stream,
        force_terminal=can_move or color == "always",
        force_jupyter=False,
        color_system="standard" if color == "always" and not can_move else "auto",
        no_color=not uses_color(variables, color),
        width=width,
        theme=_THEME,
        markup=False,
        highlight=False,
        emoji=False,
        _environ={name: value for name, value in variables.items() if name not in _SIZES or _is_size(value)},
    )
    console.is_interactive = can_move and not console.legacy_windows
    return console
