"""What every turn asks of notes again, kept for one generation of the index."""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from zkchat.model.note import NoteWarning, file_title
from zkchat.ports.note_index import NoteIndex
from zkchat.vault.note_warnings import without_templates


class _Cache(Struct, kw_only=True):
    """Of what is known at one generation of the index."""

    generation: int | None = None
    note_count: int | None = None
    digests: dict[str, bytes] = field(default_factory=dict)
    link_texts: dict[str, set[str]] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)


class CachedDetails:
    """Implements `NoteDetails` for all notes. Answers are kept for one generation of the index."""

    def __init__(self, index: NoteIndex, templates: Callable[[], Sequence[str]]) -> None:
        self._index = index
        self._templates = templates
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
        return tuple(without_templates(self._index.warnings(), self._templates))

    def _current(self) -> _Cache:
        generation = self._index.generation()
        if self._cache.generation != generation:
            self._cache = _Cache(generation=generation)
        return self._cache
