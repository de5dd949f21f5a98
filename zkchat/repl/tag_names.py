"""The tags of a vault for completion, with the number of notes that have each, or a tag below it."""

from collections.abc import Collection, Mapping
from heapq import nsmallest

from msgspec import Struct

from zkchat.repl.note_names import normalize_name


class CountedTag(Struct, frozen=True):
    """A tag without its `#`."""

    name: str
    notes: int
    """How many notes have it or a tag below it."""


class TagNames:
    """An immutable list of tags, those of most notes first. `a` is there where only `a/b` is used, too."""

    def __init__(self, tags: Mapping[str, Collection[str]] | None = None) -> None:
        notes: dict[str, set[str]] = {}
        for name, paths in (tags or {}).items():
            for tag in _with_parents(name):
                notes.setdefault(tag, set()).update(paths)
        counted = sorted((-len(paths), tag) for tag, paths in notes.items())
        self._tags = [(normalize_name(tag), CountedTag(tag, -count)) for count, tag in counted]

    def find(self, typed: str, *, limit: int = 40) -> list[CountedTag]:
        """Those that contain what was typed: first those that begin with it, then those with a part that does."""
        query = normalize_name(typed)
        ranked = (
            (rank, place) for place, (name, _) in enumerate(self._tags) if (rank := _rank(query, name)) is not None
        )
        return [self._tags[place][1] for _, place in nsmallest(limit, ranked)]


def _with_parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _rank(query: str, name: str) -> int | None:
    if name.startswith(query):
        return 0
    if f"/{query}" in name:
        return 1
    return 2 if query in name else None
