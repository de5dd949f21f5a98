"""What happened to a note, in order of time."""

from dataclasses import dataclass
from datetime import date, time
from typing import Literal

EventKind = Literal["written", "changed", "edit", "commit", "backlink", "link"]
"""`edit`: zkchat changed the note. `backlink`: a dated note links to it. `link`: it links to a dated note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    day: date
    time: time | None
    kind: EventKind
    text: str
    """Where a date is known from, what a change did, the subject of a commit, or the title of another note."""
    path: str = ""
    """Of the other note."""
    number: str = ""
    """Of the change in the journal, or the id of the commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    path: str
    title: str
    events: tuple[TimelineEvent, ...]
    """The earliest first."""
    earlier: int = 0
    """Events that are left out because there are too many."""
