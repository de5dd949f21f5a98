"""Lists over a whole vault: its tags with their counts, and its notes by the time of their last change."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from typing import Final

from zkchat.vault.library import Library

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class TagCount:
    tag: str
    notes: int
    """With this tag, or one below it."""

    @property
    def depth(self) -> int:
        """How many tags stand above it."""
        return self.tag.count("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedNote:
    path: str
    title: str
    changed_at: datetime


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


def recent_notes(library: Library, limit: int) -> list[ChangedNote]:
    """The notes that changed last, the latest first."""
    changed = ((modified_ns, path) for path, (_, modified_ns, _) in library.stamps().items())
    return [
        ChangedNote(path=path, title=library.title(path), changed_at=_time(modified_ns))
        for modified_ns, path in nlargest(limit, changed)
    ]


def _time(nanoseconds: int) -> datetime:
    """A time of the file system; one that a calendar cannot hold is the beginning of 1970."""
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return _EPOCH
