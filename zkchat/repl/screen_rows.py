"""How the rows of the screen are divided between a page of a note and the prompt below it."""

from typing import Final

_MAX_MENU_ROWS: Final = 8
_STATUS_BAR_ROWS: Final = 1
_ROWS_AROUND_PAGE: Final = 6
"""The command's own line, title, path and a blank row above a page; what to type next below it, which may wrap."""
_MIN_PAGE_ROWS: Final = 4


def menu_rows(height: int) -> int:
    """Rows that the prompt keeps for itself and its menu of completions, on a screen of so many rows."""
    return min(_MAX_MENU_ROWS, height // 4)


def page_rows(height: int) -> int:
    """Rows of a page of a note, so that all of it is on the screen when the prompt is back."""
    return max(_MIN_PAGE_ROWS, height - _ROWS_AROUND_PAGE - menu_rows(height) - _STATUS_BAR_ROWS)
