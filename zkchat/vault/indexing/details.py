"""What every turn asks of notes again: names, digests, link texts. Cached for one generation of the index."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from zkchat.model.note import NoteWarning
from zkchat.ports import NoteIndex
from zkchat.vault.indexing.indexer import Indexer
from zkchat.vault.notes.parse import file_title


class NoteDetails(Protocol):
    def note_count(self) -> int: ...

    def names(self, path: str) -> tuple[str, ...]:
        """What a note is called, each name once: its title, the name of its file, its aliases."""
        ...

    def digests(self, paths: Iterable[str]) -> dict[str, bytes]:
        """By path, the digests of the texts that were indexed; nothing for what is no note."""
        ...

    def link_texts(self, paths: Sequence[str]) -> dict[str, set[str]]:
        """By path, the links of a note as they are written."""
        ...

    def warnings(self) -> tuple[NoteWarning, ...]:
        """All there is to say about files that cannot be used as they are."""
        ...


@dataclass(slots=True, kw_only=True)
class _Cache:
    """Of the index at one generation."""

    generation: int | None = None
    note_count: int | None = None
    digests: dict[str, bytes] = field(default_factory=dict)
    link_texts: dict[str, set[str]] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)


class CachedDetails:
    """Implements `NoteDetails` for all notes."""

    def __init__(self, index: NoteIndex, indexer: Indexer) -> None:
        self._index = index
        self._indexer = indexer
        self._cache = _Cache()

    def note_count(self) -> int:
        cache = self._current()
        if cache.note_count is None:
            cache.note_count = self._index.counts().notes
        return cache.note_count

    def names(self, path: str) -> tuple[str, ...]:
        names = self._current().names
        if path not in names:
            known = self._index.known(path)
            named = (known.title, file_title(path), *known.aliases) if known else (file_title(path),)
            names[path] = tuple(dict.fromkeys(named))
        return names[path]

    def digests(self, paths: Iterable[str]) -> dict[str, bytes]:
        digests = self._current().digests
        asked = [*paths]
        digests |= {path: note.digest for path in asked if path not in digests and (note := self._index.known(path))}
        return {path: digests[path] for path in asked if path in digests}

    def link_texts(self, paths: Sequence[str]) -> dict[str, set[str]]:
        texts = self._current().link_texts
        if new := [path for path in paths if path not in texts]:
            links = self._index.links_from(new)
            texts |= {path: set() for path in new}
            for stored in links:
                texts[stored.source].add(stored.link.text)
        return {path: texts[path] for path in paths}

    def warnings(self) -> tuple[NoteWarning, ...]:
        warnings = (*self._indexer.unlisted, *self._index.warnings())
        return tuple(sorted(warnings, key=lambda warning: warning.path))

    def _current(self) -> _Cache:
        generation = self._index.generation()
        if self._cache.generation != generation:
            self._cache = _Cache(generation=generation)
        return self._cache
