"""The sessions of a vault as rows to choose from, for `/resume` and `zkchat chat --resume`."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from zkchat.model.session import Session
from zkchat.model.text import counted
from zkchat.ports.sessions import SessionStore
from zkchat.repl.pick_list import PickRow

QUESTION = "Go on in which session?"
_UNITS: Final = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))


def sessions_to_resume(store: SessionStore) -> list[Session]:
    """Sessions with messages that lists show, most recently used first."""
    return [session for session in store.sessions() if session.message_count and session.listed]


def session_rows(
    sessions: Iterable[Session], *, now: datetime, current: str = "", with_ids: bool = False
) -> list[PickRow]:
    """A row for each session, in their order: title, when it was used last, number of messages, model."""
    return [
        PickRow(
            name=session.title or "(untitled)",
            about=(
                *([session.id] if with_ids else []),
                ago(now - session.updated_at),
                counted(session.message_count, "message"),
                session.model,
            ),
            search=f"{session.id} {session.first_words}",
            is_current=session.id == current,
        )
        for session in sessions
    ]


def ago(past: timedelta) -> str:
    for unit, length in _UNITS:
        if (count := past // length) > 0:
            return f"{counted(count, unit)} ago"
    return "just now"
