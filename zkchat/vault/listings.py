"""Lists over a whole vault: its tags with their counts, and its notes by the time of their last change."""

from collections.abc import Iterator
from datetime import datetime
from heapq import nlargest

from msgspec import Struct

from zkchat.model.dates import DayRange, NoteDate, newness
from zkchat.model.index import NotesOfDays
from zkchat.vault.library import Library
from zkchat.vault.notes_by_day import changed_last, notes_by_day


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
