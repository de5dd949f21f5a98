"""The status bar below the prompt: vault, model, session, context usage, background activity.

To change what it shows, change `Status`, `status_of` and `status_line`.
"""

from typing import Final

from msgspec import Struct
from prompt_toolkit.utils import get_cwidth

from zkchat.chat.conversation import Conversation
from zkchat.model.session import Session
from zkchat.model.usage import ContextUsage
from zkchat.render.sanitize import sanitize_line
from zkchat.repl.pick_list import truncate_cells

_SEPARATOR: Final = " · "
_MAX_TITLE_CELLS: Final = 30


class Status(Struct, frozen=True, kw_only=True):
    """The values that the bar shows."""

    vault: str
    model: str
    session: str = ""
    """Its title; empty for a session without a message."""
    usage: ContextUsage | None = None
    activity: str = ""
    """What is being done in the background."""
    may_write: bool = False
    """Whether the model may propose changes of notes."""


def status_of(
    conversation: Conversation,
    *,
    vault: str,
    session: Session | None,
    activity: str = "",
    is_measured: bool = True,
) -> Status:
    """What the bar shows; of the context nothing without a model, nor until it can be measured without a delay."""
    has_window = is_measured and not conversation.model.needs_notes
    return Status(
        vault=vault,
        model=conversation.model.name,
        session=session.title if session else "",
        usage=conversation.usage if has_window else None,
        activity=activity,
        may_write=conversation.writing.is_on,
    )


def status_line(status: Status, width: int) -> str:
    """The status in one line. On a narrow screen the least important is dropped: vault, then session, then model."""
    pieces = [
        truncate_cells(sanitize_line(status.vault), _MAX_TITLE_CELLS),
        truncate_cells(sanitize_line(status.model), _MAX_TITLE_CELLS),
        truncate_cells(sanitize_line(status.session) or "new session", _MAX_TITLE_CELLS),
        _context(status.usage),
        sanitize_line(status.activity),
        "write" if status.may_write else "",
    ]
    for dropped in ((), (0,), (0, 2), (0, 1, 2), (0, 1, 2, 4)):
        line = _SEPARATOR.join(piece for place, piece in enumerate(pieces) if piece and place not in dropped)
        if get_cwidth(line) <= width:
            return line
    return truncate_cells(pieces[3], width)


def _context(usage: ContextUsage | None) -> str:
    if usage is None or not usage.window:
        return ""
    about = "≈ " if usage.estimated else ""
    return f"context {about}{100 * usage.total // usage.window} % of {usage.window:,}"
