"""Dates of notes, where they come from, and ranges of days."""

from datetime import UTC, date, datetime, time, tzinfo
from typing import Literal, NamedTuple

from msgspec import Struct

DateOrigin = Literal["name", "frontmatter", "git", "file"]
"""Where a date was found, the most trusted first."""


class NoteDate(NamedTuple):
    """A date of a note, in the user's time zone. A tuple, because a vault has two for each of its notes."""

    day: date
    time: time | None
    """None where only the day is known."""
    origin: DateOrigin

    @property
    def is_told(self) -> bool:
        """Whether the note tells it, by its name or its properties."""
        return self.origin in {"name", "frontmatter"}

    def at(self, zone: tzinfo | None) -> datetime:
        """The point in time; of a day alone, its beginning. The zone is the one that the date is in."""
        return datetime.combine(self.day, self.time or time.min, tzinfo=zone)

    def __str__(self) -> str:
        """`2026-03-08 12:30`, or the day alone."""
        return f"{self.day} {self.time:%H:%M}" if self.time else str(self.day)


class NoteDates(NamedTuple):
    """When a note was written, and when it was last changed."""

    written: NoteDate
    changed: NoteDate
    updated: NoteDate | None = None
    """The last change that its properties tell of, which a commit may be later than."""


def newness(dates: NoteDates) -> tuple[date, time, date]:
    """Greater for a note that changed later; of those of one time, for one that was written on a later day."""
    return dates.changed.day, dates.changed.time or time.min, dates.written.day


class DayRange(Struct, frozen=True):
    """Days from `first` up to, and without, `end`; None is open."""

    first: date | None = None
    end: date | None = None

    def __contains__(self, day: date) -> bool:
        return (self.first is None or self.first <= day) and (self.end is None or day < self.end)

    def overlap(self, other: "DayRange | None") -> "DayRange":
        """The days that lie in both."""
        if other is None:
            return self
        return DayRange(
            first=max(filter(None, (self.first, other.first)), default=None),
            end=min(filter(None, (self.end, other.end)), default=None),
        )


class Calendar(Struct, frozen=True):
    """What "today" and "this week" mean to the user."""

    now: datetime
    """Aware, in the user's time zone."""
    first_weekday: int = 0
    """The day on which weeks begin, Monday being 0."""
    looks_ahead: bool = False
    """Whether a day or month without a year is the coming one and not the latest, as where tasks are due."""

    @property
    def today(self) -> date:
        return self.now.date()


def unknown_calendar() -> Calendar:
    """The calendar of a library that was told none: it is the first day of 1970."""
    return Calendar(datetime(1970, 1, 1, tzinfo=UTC))
