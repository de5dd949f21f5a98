"""The catalog of a vault as answers need it: notes with their times, sizes, tags, folders and incoming links."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import Final

from zkchat.errors import VaultError
from zkchat.model.note import is_note
from zkchat.vault.library import Library
from zkchat.vault.links.folders import Folders
from zkchat.vault.listings import tag_counts

_MAX_CHARACTER_BYTES: Final = 4


class CatalogView:
    """Reads each part of the catalog once, and only where it is asked for."""

    def __init__(self, library: Library, now: datetime) -> None:
        self.library = library
        self.now = now
        """In local time."""

    @cached_property
    def stamps(self) -> Mapping[str, tuple[int, int, bool]]:
        return self.library.stamps()

    @cached_property
    def notes(self) -> Sequence[str]:
        """By path."""
        return [row.path for row in self.library.notes() if row.path in self.stamps]

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

    def changed_at(self, path: str) -> datetime:
        try:
            return datetime.fromtimestamp(self.stamps[path][1] / 1e9, tz=self.now.tzinfo)
        except (OverflowError, OSError, ValueError):
            return datetime.fromtimestamp(0, tz=self.now.tzinfo)

    def date(self, path: str) -> str:
        """When a note was changed, in words: `today 09:12`, `2026-11-01`."""
        changed = self.changed_at(path)
        days = (self.now.date() - changed.date()).days
        if 0 <= days <= 1:
            return f"{'yesterday' if days else 'today'} {changed:%H:%M}"
        return f"{changed:%Y-%m-%d}"

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
