"""Lists over a whole vault: its tags with their counts, and its notes by their days and by their last change."""

from collections.abc import Iterator
from datetime import datetime
from heapq import nlargest
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.model.dates import DayRange, NoteDate, NoteDates, newness
from zkchat.model.index import NotesOfDays
from zkchat.model.note import is_note
from zkchat.vault.library import Library

_MORE: Final = 8
"""How many times as many are looked at where too many were templates or no notes."""


class TagCount(Struct, frozen=True, kw_only=True):
    tag: str
    notes: int
    """With this tag, or one below it."""

    @property
    def depth(self) -> int:
        """How many tags stand above it."""
        return self.tag.count("/")


class ChangedNote(Struct, frozen=True, kw_only=True):
    path: str
    title: str
    changed: NoteDate
    changed_at: datetime
    """The same as a point in time, in the user's time zone."""


def tag_counts(library: Library, prefix: str = "") -> list[TagCount]:
    """The tags that begin with the prefix: each tag before those below it, otherwise the most used first."""
    notes: dict[str, set[str]] = {}
    for tag, paths in library.tags().items():
        for each in _with_parents(tag):
            notes.setdefault(each, set()).update(paths)

    def position(tag: str) -> list[tuple[int, str]]:
        return [(-len(notes[each]), each) for each in _with_parents(tag)]

    wanted = prefix.strip().lstrip("#").casefold()
    found = sorted((tag for tag in notes if tag.startswith(wanted)), key=position)
    return [TagCount(tag=tag, notes=len(notes[tag])) for tag in found]


def _with_parents(tag: str) -> Iterator[str]:
    """The tags above a nested tag, the outermost first, and the tag itself."""
    parts = tag.split("/")
    for end in range(1, len(parts) + 1):
        yield "/".join(parts[:end])


def count_changed(library: Library, period: DayRange) -> int:
    """How many notes changed in a period."""
    return len(notes_by_day(library, NotesOfDays(days=period, by_change=True), with_templates=True))


def recent_notes(library: Library, limit: int, period: DayRange | None = None) -> list[ChangedNote]:
    """The notes that changed last, of all days or in a period, the latest first."""
    zone = library.calendar().now.tzinfo
    dates = changed_last(library, limit, period)
    latest = nlargest(limit, sorted(dates), key=lambda path: newness(dates[path]))
    return [
        ChangedNote(
            path=path, title=library.title(path), changed=dates[path].changed, changed_at=dates[path].changed.at(zone)
        )
        for path in latest
    ]


def notes_by_day(library: Library, wanted: NotesOfDays, *, with_templates: bool = False) -> dict[str, NoteDates]:
    """By path the dates of the notes that are wanted, in the order of their days: the newest first unless the oldest
    are wanted, those of one day by path.

    By the days on which they were written, notes that tell them come before those whose file alone has a date.
    """
    looked_at = wanted
    while True:
        known = library.dates_of_days(looked_at)
        first = _in_order(known, wanted)[: looked_at.most]
        notes = [path for path in first if is_note(path)]
        found = (notes if with_templates else library.without_templates(notes))[: wanted.most]
        if wanted.most is None or looked_at.most is None or len(found) == wanted.most or len(first) < looked_at.most:
            return {path: known[path] for path in found}
        looked_at = replace(looked_at, most=_MORE * looked_at.most)


def changed_last(library: Library, limit: int, period: DayRange | None = None) -> dict[str, NoteDates]:
    """By path the dates of the notes that changed last, of all days or in a period: so many, and all others that
    changed on the same days."""
    wanted = NotesOfDays(days=period or DayRange(), by_change=True, most=limit)
    found = notes_by_day(library, wanted, with_templates=True)
    if not found or len(found) < limit:
        return found
    days = DayRange(min(each.changed.day for each in found.values()), wanted.days.end)
    return notes_by_day(library, NotesOfDays(days=days, by_change=True), with_templates=True)


def _in_order(known: dict[str, NoteDates], wanted: NotesOfDays) -> list[str]:
    dates = {path: each.changed if wanted.by_change else each.written for path, each in known.items()}
    sign = 1 if wanted.oldest_first else -1

    def position(path: str) -> tuple[bool, int, str]:
        is_told = wanted.by_change or dates[path].is_told
        return not is_told, sign * dates[path].day.toordinal(), path

    return sorted((path for path, each in dates.items() if each.day in wanted.days), key=position)
