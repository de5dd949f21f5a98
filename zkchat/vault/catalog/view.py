"""The catalog of a vault as answers need it: notes with their times, sizes, tags, folders and incoming links."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import cached_property
from typing import Final

from zkchat.errors import VaultError
from zkchat.model.dates import Calendar, DateOrigin, DayRange, NoteDate, NoteDates
from zkchat.model.index import NotesOfDays
from zkchat.model.note import file_title, is_note
from zkchat.vault.library import Library
from zkchat.vault.links.folders import Folders
from zkchat.vault.listings import tag_counts
from zkchat.vault.notes_by_day import changed_last, notes_by_day

_MAX_CHARACTER_BYTES: Final = 4
_ORIGINS: Final[Mapping[DateOrigin, str]] = {
    "name": "names",
    "frontmatter": "properties",
    "git": "{which} commits",
    "file": "files",
}
_ORIGINS_OF_ONE: Final[Mapping[DateOrigin, str]] = {
    "name": "its name",
    "frontmatter": "its properties",
    "git": "its {which} commit",
    "file": "the time its file was last changed",
}


class CatalogView:
    """Reads each part of the catalog once, and only where it is asked for."""

    def __init__(self, library: Library, calendar: Calendar, *, by_change: bool = True) -> None:
        """`by_change`: whether the time of a note is that of its last change, and not when it was written."""
        self.library = library
        self.calendar = calendar
        self._by_change = by_change
        self._dates: dict[str, NoteDates] = {}
        """By path, of the notes that were asked for, or of all."""

    @cached_property
    def stamps(self) -> Mapping[str, tuple[int, int, bool]]:
        return self.library.stamps()

    def date_of(self, path: str) -> NoteDate:
        """When a note was last changed, or when it was written."""
        dates = self._dates_of(path)
        return dates.changed if self._by_change else dates.written

    def _dates_of(self, path: str) -> NoteDates:
        if path not in self._dates:
            self._dates = self.library.dates()
        return self._dates[path]

    def notes_of(self, period: DayRange) -> list[str]:
        """Those that were changed, or written, on these days, by path."""
        wanted = NotesOfDays(days=period, by_change=self._by_change)
        found = notes_by_day(self.library, wanted, with_templates=True)
        self._dates |= found
        return sorted(found)

    def changed_last(self, limit: int) -> list[str]:
        """So many notes and more, the one that changed last first."""
        found = changed_last(self.library, limit)
        self._dates |= found
        return self.newest_first(found)

    @cached_property
    def notes(self) -> Sequence[str]:
        """By path."""
        return [row.path for row in self.library.notes() if row.path in self.stamps]

    @cached_property
    def taggable(self) -> Sequence[str]:
        """Notes, and canvases and other files whose text may hold tags, by path."""
        return [row.path for row in self.library.indexed() if row.path in self.stamps]

    @cached_property
    def tags(self) -> Mapping[str, Sequence[str]]:
        return self.library.tags()

    @cached_property
    def tag_counts(self) -> Mapping[str, int]:
        """How many notes have each tag or one below it, the most frequent first."""
        return dict(ranked({each.tag: each.notes for each in tag_counts(self.library)}))

    @cached_property
    def folders(self) -> Folders:
        return Folders(row.path for row in self.library.files())

    @cached_property
    def folder_sizes(self) -> Counter[str]:
        """By folder, with a slash at its end, how many notes lie in it or below it."""
        sizes: Counter[str] = Counter()
        for path in self.notes:
            end = path.find("/")
            while end >= 0:
                sizes[path[: end + 1]] += 1
                end = path.find("/", end + 1)
        return sizes

    @cached_property
    def incoming(self) -> Mapping[str, int]:
        """By note, how many others link to it; the most linked first."""
        counts = Counter(target for source, target in self.library.edges() if source != target and is_note(target))
        return dict(ranked(counts))

    def tagged(self, tag: str) -> set[str]:
        """The notes with a tag, or with one below it."""
        key = tag.casefold()
        return {path for known, paths in self.tags.items() if f"{known}/".startswith(f"{key}/") for path in paths}

    def link(self, path: str) -> str:
        """The link to a note; empty for one that may not be named."""
        return self.library.link_to(path) if self.library.confirmed([path]) else ""

    def time_of(self, path: str) -> datetime:
        return self.date_of(path).at(self.calendar.now.tzinfo)

    def newest_first(self, paths: Iterable[str]) -> list[str]:
        """By their time; those of the same time by the day they were written, then by path."""
        return sorted(sorted(paths), key=self.newness, reverse=True)

    def newness(self, path: str) -> tuple[datetime, date]:
        """Greater for a note of a later time; of the same, for one that was written on a later day."""
        return self.time_of(path), self._dates_of(path).written.day

    def origins(self, paths: Sequence[str]) -> str:
        """By what the times of these notes are known, in words."""
        found = {self.date_of(path).origin for path in paths}
        which = "last" if self._by_change else "first"
        if len(paths) == 1:
            return f"by {_ORIGINS_OF_ONE[next(iter(found))].format(which=which)}"
        words = [word.format(which=which) for origin, word in _ORIGINS.items() if origin in found]
        if words in ([], ["files"]):
            return "by the time their files were last changed"
        return f"by their {' and '.join(filter(None, (', '.join(words[:-1]), words[-1])))}"

    def date(self, path: str) -> str:
        """The time of a note in words: `today 09:12`, `2026-11-01`."""
        day, clock, _ = self.date_of(path)
        days = (self.calendar.today - day).days
        if 0 <= days <= 1:
            return f"{'yesterday' if days else 'today'}{f' {clock:%H:%M}' if clock else ''}"
        return str(day)

    def date_beside_link(self, path: str) -> str:
        """The same beside the link; empty where the name of the note tells it."""
        day, clock, _ = self.date_of(path)
        return "" if clock is None and file_title(path) == str(day) else self.date(path)

    def by_length(self, paths: Sequence[str], limit: int, *, longest: bool) -> dict[str, int]:
        """The longest or shortest notes with their characters. As few as possible are read: a character takes one to
        four bytes of the file's size."""
        found: list[tuple[int, str]] = []
        sign = -1 if longest else 1
        for path in sorted(paths, key=lambda path: (sign * self.stamps[path][0], path)):
            bytes_ = self.stamps[path][0]
            nearest = bytes_ if longest else bytes_ // _MAX_CHARACTER_BYTES
            if len(found) == limit and sign * nearest > found[-1][0]:
                break
            with suppress(VaultError):
                found = sorted([*found, (sign * len(self.library.read(path)), path)])[:limit]
        return {path: sign * length for length, path in found}


def ranked(sizes: Mapping[str, int]) -> list[tuple[str, int]]:
    """Names with their numbers, the largest first."""
    return sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
