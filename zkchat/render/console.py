"""The consoles that everything is drawn on, made for the terminal at hand."""

from collections.abc import Mapping
from typing import Final, TextIO

from rich.console import Console
from rich.theme import Theme

from zkchat.render.sanitize import never_fail_to_encode
from zkchat.render.terminal import can_move_cursor, uses_color

_THEME: Final = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold italic",
        "markdown.h4": "italic",
        "markdown.code": "cyan",
        "markdown.wikilink": "bright_blue",
        "markdown.block_quote": "italic",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.table.border": "dim",
    }
)


_SIZES: Final = frozenset({"COLUMNS", "LINES"})
_LARGEST: Final = 10_000


def _is_size(value: str) -> bool:
    """Whether a terminal may have so many columns or lines; Rich takes any digits at their word."""
    return value.isascii() and value.isdecimal() and len(value) < 10 and 0 < int(value) <= _LARGEST


class _PatientConsole(Console):
    """A console whose reader may go away: `zkchat … | head` is not an error."""

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
    """A console that takes no text for markup, and draws only what this terminal can show.

    `color` is `auto`, `always` or `never`. The console is interactive, so that things may be redrawn on it, only
    where the cursor can be moved.
    """
    never_fail_to_encode(stream)
    moves = is_tty and can_move_cursor(variables)
    console = _PatientConsole(
        file=stream,
        force_terminal=moves or color == "always",
        force_jupyter=False,
        color_system="standard" if color == "always" and not moves else "auto",
        no_color=not uses_color(variables, color),
        width=width,
        theme=_THEME,
        markup=False,
        highlight=False,
        emoji=False,
        _environ={name: value for name, value in variables.items() if name not in _SIZES or _is_size(value)},
    )
    console.is_interactive = moves and not console.legacy_windows
    return console
