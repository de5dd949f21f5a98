"""What is asked of the catalog of notes: which of them, since when, in which order."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal

QueryKind = Literal[
    "notes", "orphans", "untagged", "broken_links", "overview", "count", "tags", "folders", "backlinks", "links", "hubs"
]
Order = Literal["newest", "oldest", "longest", "shortest"]
Unit = Literal["day", "week", "month", "year"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A time by the calendar, told as people say it: `this week` is 0 weeks back, `last week` one."""

    unit: Unit
    back: int = 0
    rolling: bool = False
    """`The last 7 days`: so many units up to now."""
    is_open: bool = False
    """`Since`: from its beginning up to now."""
    weekday: int | None = None
    """The last day of that name, Monday being 0."""
    day: date | None = None

    def bounds(self, now: datetime) -> tuple[datetime, datetime | None]:
        """Its beginning and its end, in the time zone of `now`; no end for what goes on."""
        first, last = self._days(now.date())
        is_over = not (self.is_open or self.rolling) and last <= now.date()
        return _midnight(first, now), _midnight(last, now) if is_over else None

    def _days(self, today: date) -> tuple[date, date]:
        """Its first day, and the first one after it."""
        if self.day or self.weekday is not None:
            ago = (today.weekday() - (self.weekday or 0)) % 7
            first = self.day or today - timedelta(days=ago or (7 if self.is_open else 0))
            return first, _back(first, "day", -1)
        if self.rolling:
            return _back(today, self.unit, self.back), today
        begun = {
            "day": today,
            "week": today - timedelta(days=today.weekday()),
            "month": today.replace(day=1),
            "year": today.replace(month=1, day=1),
        }
        first = _back(begun[self.unit], self.unit, self.back)
        return first, _back(first, self.unit, -1)

    def describe(self, now: datetime) -> str:
        """`this week (since Monday 2026-11-09)`."""
        first, end = self.bounds(now)
        since = "since " * self.is_open
        if self.day:
            return f"{since or 'on '}{self.day}"
        if self.weekday is not None:
            return f"{since or 'on '}{first:%A} ({first:%Y-%m-%d})"
        if self.rolling:
            many = f"{self.back} {self.unit}s" if self.back != 1 else self.unit
            return f"in the last {many} (since {first:%Y-%m-%d})"
        if self.unit == "day":
            return f"{since}{'yesterday' if self.back else 'today'} ({first:%Y-%m-%d})"
        place = f"since {first:%A} {first:%Y-%m-%d}" if end is None else f"{first:%Y-%m-%d} to {_last_day(end)}"
        return f"{since}{'last' if self.back else 'this'} {self.unit} ({place})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogQuery:
    kind: QueryKind
    tags: tuple[str, ...] = ()
    """Without their `#`; a note has all of them, or tags below them."""
    any_tag: bool = False
    """Whether one of the tags is enough."""
    without_tags: tuple[str, ...] = ()
    """A note has none of these, nor tags below them."""
    folder: str | None = None
    """As it is written."""
    period: Period | None = None
    order: Order | None = None
    is_about_changes: bool = False
    """Whether it asks what was changed, and not only for the notes of a time."""
    limit: int | None = None
    wants_all: bool = False
    """Whether it asks for all of them in so many words."""
    note: str | None = None
    """The link whose links are asked for, as it is written; or the name of a note."""


def _last_day(end: datetime) -> date:
    return end.date() - timedelta(days=1)


def _midnight(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time.min, tzinfo=now.tzinfo)


def _back(day: date, unit: Unit, count: int) -> date:
    """So many units before a day; the first day there is where that is too long ago."""
    try:
        if unit == "day":
            return day - timedelta(days=count)
        if unit == "week":
            return day - timedelta(weeks=count)
        months = day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1)
        first = date(months // 12, months % 12 + 1, 1)
        return first + timedelta(days=min(day.day, _length_of_month(first)) - 1)
    except (OverflowError, ValueError):
        return date.min


def _length_of_month(first: date) -> int:
    following = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return (following - first).days
