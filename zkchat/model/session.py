"""Sessions as lists show them, and their messages as searches keep and find them."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from zkchat.model.choices import Role
from zkchat.model.values import Value


class Session(Value, frozen=True, kw_only=True):
    """What a list of sessions shows."""

    id: str
    title: str = ""
    created_at: datetime
    updated_at: datetime
    message_count: int = 0
    listed: bool = True
    """Whether lists show it unasked: not a single question of `zkchat ask` that nobody went on with."""
    first_words: str = ""
    """The beginning of its first question, whatever its title is."""
    model: str = ""


class MessageHit(Value, frozen=True, kw_only=True):
    """A message that a search over conversations found."""

    session: str
    message: str
    external_id: str = ""
    role: Role
    name: str = ""
    time: datetime
    snippet: str
    score: float


class IndexedMessage(Struct, frozen=True, kw_only=True):
    """A message as the search over conversations keeps it."""

    session: str
    id: str
    place: int
    """The entry that first stored it: its place in the session."""
    changed: int
    """The entry that stored it last."""
    external_id: str = ""
    role: Role
    name: str = ""
    time: datetime
    text: str
    said: bytes
    """The words of its text, packed by `context.recall.ranking`."""
    labels: bytes
    """The words of its speaker and its day, likewise."""
    features: bytes
    """What beside its words helps to rank it, packed by `context.recall.ranking`."""
    vector: bytes = b""
    """What it means, packed by `context.recall.search`; empty if no vector could be made."""


class MessageRow(NamedTuple):
    """What is read of every message to rank it; see `IndexedMessage`."""

    session: str
    id: str
    place: int
    changed: int
    said: bytes
    labels: bytes
    features: bytes
    vector: bytes


class IndexedUpTo(Struct, frozen=True):
    """How much of a session the search knows: all up to this entry."""

    sequence: int
    at: datetime
    vectors: str = ""
    """How the vectors of its messages were made; empty if some have none."""


def sessions_called(name: str, sessions: Iterable[Session]) -> list[Session]:
    """Those that a name can mean, one if it is clear: by id, the beginning of an id, title, title in any case."""
    known, wanted = list(sessions), name.strip()
    if not wanted:
        return []
    ways = (
        [session for session in known if session.id == wanted],
        [session for session in known if session.id.startswith(wanted)],
        [session for session in known if session.title == wanted],
        [session for session in known if session.title.casefold() == wanted.casefold()],
    )
    clear = (called for called in ways if len(called) == 1)
    several = (called for called in ways if called)
    return next(clear, None) or next(several, [])
