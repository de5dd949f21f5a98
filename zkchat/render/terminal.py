"""What the terminal at hand can do, by what it says of itself."""

import os
from collections.abc import Mapping


def can_move_cursor(variables: Mapping[str, str]) -> bool:
    """Whether what was drawn on this terminal can be drawn again."""
    return variables.get("TERM", "" if os.name == "posix" else "windows").lower() not in {"", "dumb", "unknown"}


def uses_color(variables: Mapping[str, str], color: str) -> bool:
    """What the setting `ui.color` means on a terminal."""
    return color == "always" or (color == "auto" and not variables.get("NO_COLOR"))
