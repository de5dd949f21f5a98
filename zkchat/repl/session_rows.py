"""The sessions of a vault as rows to choose from, for `/resume` and `zkchat chat --resume`."""

from collections.abc import Iterable
from datetime import datetime

from zkchat.model.session import Session
from zkchat.model.text import counted
from zkchat.repl.greeting import ago
from zkchat.repl.pick_list import PickRow

QUESTION = "Go on in which session?"


def session_rows(sessions: Iterable[Session], *, now: datetime, current: str = "") -> list[PickRow]:
    """A row for each session, in their order: title, when it was used last, number of messages."""
    return [
        PickRow(
            name=session.title or "(untitled)",
            about=(ago(now - session.updated_at), counted(session.message_count, "message")),
            search=session.id,
            is_current=session.id == current,
        )
        for session in sessions
    ]
