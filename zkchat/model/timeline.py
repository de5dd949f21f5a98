"""What happened to a note, in order of time."""

from datetime import date, time
from typing import Literal

from msgspec import Struct

EventKind = Literal["written", "changed", "edit", "commit", "backlink", "link"]
"""`edit`: zkchat changed the note. `backlink`: a dated note links to it. `link`: it links to a dated note."""


class TimelineEvent(Struct, frozen=True, kw_only=True):
    day: date
    time: time | None
    kind: EventKind
    text: str
    """Where a date is known from, what a change did, the subject of a commit, or the title of another note."""
    path: str = ""
    """Of the other note."""
    number: str = ""
    """Of the change in the journal, or the id of the commit."""


class Timeline(Struct, frozen=True, kw_only=True):
    path: str
    title: str
    events: tuple[TimelineEvent, ...]
    """The earliest first."""
    earlier: int = 0
    """Events that are left out because there are too many."""
