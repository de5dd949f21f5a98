"""What the terminal can do and how wide it is. Imports no drawing library."""

import os
from collections.abc import Mapping
from typing import TextIO


def can_move_cursor(variables: Mapping[str, str]) -> bool:
    """Whether the cursor can be moved, so that rows can be redrawn."""
    return variables.get("TERM", "" if os.name == "posix" else "windows").lower() not in {"", "dumb", "unknown"}


def can_edit_text(variables: Mapping[str, str]) -> bool:
    """Whether a prompt can be drawn in which text is edited; not where a program plays the user."""
    return can_move_cursor(variables) and not variables.get("CI")


def uses_color(variables: Mapping[str, str], color: str) -> bool:
    """Whether to use colour, by the setting `ui.color` and NO_COLOR."""
    return color == "always" or (color == "auto" and not variables.get("NO_COLOR"))


def columns(variables: Mapping[str, str], stream: TextIO | None) -> int:
    """How wide the terminal behind a stream is; `COLUMNS` counts before what it says. 0 where nothing is known."""
    named = variables.get("COLUMNS", "")
    if named.isdecimal() and len(named) < 10 and int(named):
        return int(named)
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream else 0
    except (OSError, ValueError):  # a closed stream, or no terminal behind it that knows its size
        return 0
