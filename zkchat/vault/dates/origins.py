"""The dates of a note by all that is known of it: its name, its frontmatter, git, its file."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from zkchat.errors import StorageDamaged
from zkchat.model.dates import DateOrigin, NoteDate, NoteDates
from zkchat.model.index import DateFacts

_DAY_LENGTH: Final = len("2026-03-08")
_DAY_SECONDS: Final = 86_400
_EPOCH: Final = date(1970, 1, 1)


def all_dates(facts: Mapping[str, DateFacts], zone: tzinfo | None) -> dict[str, NoteDates]:
    """By path. Raises `StorageDamaged` for facts that nobody stored."""
    clock = _Clock(zone)
    try:
        return {path: _dates(each, clock) for path, each in facts.items()}
    except (TypeError, ValueError) as error:
        raise StorageDamaged(
            "The dates in the note index are damaged.", hint="It is only a cache: delete it, and it comes back."
        ) from error


def note_dates(facts: DateFacts, zone: tzinfo | None) -> NoteDates:
    """When a note was written and changed, in a time zone; None is the system's."""
    return _dates(facts, _Clock(zone))


class _Clock:
    """Points in time as the clock of a time zone shows them, for many of them: most days have one offset."""

    def __init__(self, zone: tzinfo | None) -> None:
        self._zone = zone
        self._offsets: dict[int, int] = {}
        """At the beginning of a day in UTC."""

    def at(self, seconds: int) -> datetime:
        """Raises `OverflowError`, `OSError` or `ValueError` for a time that a calendar cannot hold."""
        day = seconds // _DAY_SECONDS
        offset = self._beginning(day)
        if offset != self._beginning(day + 1):  # clocks are changed on this day
            offset = self._offset(seconds)
        return datetime.fromtimestamp(seconds + offset, UTC)

    def _beginning(self, day: int) -> int:
        if day not in self._offsets:
            self._offsets[day] = self._offset(day * _DAY_SECONDS)
        return self._offsets[day]

    def _offset(self, seconds: int) -> int:
        at = datetime.fromtimestamp(seconds, UTC).astimezone(self._zone)
        return int((at.utcoffset() or timedelta()).total_seconds())


def _dates(facts: DateFacts, clock: _Clock) -> NoteDates:
    named, created, updated_text, committed, first_committed, modified_ns = facts
    updated = None if updated_text is None else _of_text(updated_text, "frontmatter", clock)
    last = None if committed is None else _of_instant(committed, "git", clock)
    if updated and last:
        changed = last if last.day > updated.day else updated
    else:
        changed = updated or last or _of_instant(modified_ns // 1_000_000_000, "file", clock)
    if named is not None:
        return NoteDates(_of_text(named, "name", clock), changed, updated)
    if created is not None:
        return NoteDates(_of_text(created, "frontmatter", clock), changed, updated)
    if updated or first_committed is None:
        return NoteDates(updated or changed, changed, updated)
    return NoteDates(_of_instant(first_committed, "git", clock), changed, updated)


def _of_instant(seconds: int, origin: DateOrigin, clock: _Clock) -> NoteDate:
    """A time that a calendar cannot hold is the beginning of 1970."""
    try:
        at = clock.at(seconds)
    except (OverflowError, OSError, ValueError):
        return NoteDate(_EPOCH, None, origin)
    return NoteDate(at.date(), at.time(), origin)


def _of_text(text: str, origin: DateOrigin, clock: _Clock) -> NoteDate:
    """Raises `ValueError` for a text that was not stored as a date."""
    if len(text) == _DAY_LENGTH:
        return NoteDate(date.fromisoformat(text), None, origin)
    at = datetime.fromisoformat(text)
    if at.tzinfo is not None:
        return _of_instant(int(at.timestamp()), origin, clock)
    return NoteDate(at.date(), at.time(), origin)
