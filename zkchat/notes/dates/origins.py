"""The dates of a note by all that is known of it: its name, its frontmatter, git, its file."""

from collections.abc import Mapping
from datetime import date, datetime, tzinfo
from typing import Final

from zkchat.core import DateFacts, DateOrigin, NoteDate, NoteDates, StorageDamaged

_DAY_LENGTH: Final = len("2026-03-08")
_EPOCH: Final = date(1970, 1, 1)


def all_dates(facts: Mapping[str, DateFacts], zone: tzinfo | None) -> dict[str, NoteDates]:
    """By path. Raises `StorageDamaged` for facts that nobody stored."""
    try:
        return {path: note_dates(each, zone) for path, each in facts.items()}
    except (TypeError, ValueError) as error:
        raise StorageDamaged(
            "The dates in the note index are damaged.", hint="It is only a cache: delete it, and it comes back."
        ) from error


def note_dates(facts: DateFacts, zone: tzinfo | None) -> NoteDates:
    """When a note was written and changed, in a time zone; None is the system's."""
    named, created, updated_text, committed, first_committed, modified_ns = facts
    updated = None if updated_text is None else _of_text(updated_text, "frontmatter", zone)
    last = None if committed is None else _of_instant(committed, "git", zone)
    if updated and last:
        changed = last if last.day > updated.day else updated
    else:
        changed = updated or last or _of_instant(modified_ns // 1_000_000_000, "file", zone)
    if named is not None:
        return NoteDates(_of_text(named, "name", zone), changed, updated)
    if created is not None:
        return NoteDates(_of_text(created, "frontmatter", zone), changed, updated)
    if updated or first_committed is None:
        return NoteDates(updated or changed, changed, updated)
    return NoteDates(_of_instant(first_committed, "git", zone), changed, updated)


def _of_instant(seconds: int, origin: DateOrigin, zone: tzinfo | None) -> NoteDate:
    """A time that a calendar cannot hold is the beginning of 1970."""
    try:
        at = datetime.fromtimestamp(seconds, zone)
    except (OverflowError, OSError, ValueError):
        return NoteDate(_EPOCH, None, origin)
    return NoteDate(at.date(), at.time(), origin)


def _of_text(text: str, origin: DateOrigin, zone: tzinfo | None) -> NoteDate:
    """Raises `ValueError` for a text that was not stored as a date."""
    if len(text) == _DAY_LENGTH:
        return NoteDate(date.fromisoformat(text), None, origin)
    at = datetime.fromisoformat(text)
    if at.tzinfo is not None:
        return _of_instant(int(at.timestamp()), origin, zone)
    return NoteDate(at.date(), at.time(), origin)
