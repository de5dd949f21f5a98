"""What the search over conversations keeps of a session."""

from dataclasses import dataclass
from datetime import datetime

from zkchat.model.message import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedMessage:
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
    """The words of its text, packed by `context.message_ranking`."""
    labels: bytes
    """The words of its speaker and its day, likewise."""


@dataclass(frozen=True, slots=True)
class IndexedUpTo:
    """How much of a session the search knows: all up to this entry."""

    sequence: int
    at: datetime
