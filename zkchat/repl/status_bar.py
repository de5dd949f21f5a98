"""The bar below the prompt: vault, model, session, context, and what goes on in the background."""

from dataclasses import dataclass
from typing import Final

from prompt_toolkit.utils import get_cwidth

from zkchat.model.message import ContextUsage
from zkchat.render.sanitize import sanitize_line

_SEPARATOR: Final = " · "
_LONGEST_TITLE: Final = 30


@dataclass(frozen=True, kw_only=True)
class Status:
    vault: str
    model: str
    session: str = ""
    """Its title; empty for one without a message."""
    usage: ContextUsage | None = None
    doing: str = ""
    """What goes on in the background."""


def status_line(status: Status, width: int) -> str:
    """The status in one line. On a narrow screen what matters least is left out: vault, then session, then model."""
    pieces = [
        cut(sanitize_line(status.vault), _LONGEST_TITLE),
        cut(sanitize_line(status.model), _LONGEST_TITLE),
        cut(sanitize_line(status.session) or "new session", _LONGEST_TITLE),
        _context(status.usage),
        sanitize_line(status.doing),
    ]
    for dropped in ((), (0,), (0, 2), (0, 1, 2), (0, 1, 2, 4)):
        line = _SEPARATOR.join(piece for place, piece in enumerate(pieces) if piece and place not in dropped)
        if get_cwidth(line) <= width:
            return line
    return cut(pieces[3], width)


def _context(usage: ContextUsage | None) -> str:
    if usage is None or not usage.window:
        return ""
    about = "≈ " if usage.estimated else ""
    return f"context {about}{100 * usage.total // usage.window} % of {usage.window:,}"


def cut(text: str, cells: int) -> str:
    """The text, or as much of its beginning as there is room for."""
    if get_cwidth(text) <= cells:
        return text
    while text and get_cwidth(text) > cells - 1:
        text = text[:-1]
    return f"{text.rstrip()}…" if cells > 0 else ""
