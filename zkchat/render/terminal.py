"""Capabilities of the terminal, read from the environment variables. Imports no drawing library."""

import os
from collections.abc import Mapping


def can_move_cursor(variables: Mapping[str, str]) -> bool:
    """Whether the cursor can be moved, so that rows can be redrawn."""
    return variables.get("TERM", "" if os.name == "posix" else "windows").lower() not in {"", "dumb", "unknown"}


def can_edit_text(variables: Mapping[str, str]) -> bool:
    """Whether a prompt can be drawn in which text is edited; not where a program plays the user."""
    return can_move_cursor(variables) and not variables.get("CI")


def uses_color(variables: Mapping[str, str], color: str) -> bool:
    """Whether to use colour, by the setting `ui.color` and NO_COLOR."""
    return color == "always" or (color == "auto" and not variables.get("NO_COLOR"))
