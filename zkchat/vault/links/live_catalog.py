"""Links resolved against the index as it is now, of which only the files in question are loaded."""

from collections.abc import Iterable, Sequence
from threading import RLock
from typing import Protocol

from zkchat.model.index import CatalogRow, LinkToResolve
from zkchat.model.note import Link, Missing, Resolution
from zkchat.ports.note_index import LinkTargets
from zkchat.vault.links.anchors import Anchors
from zkchat.vault.links.catalog import Catalog, CatalogEntry, SimilarNames, names_of
from zkchat.vault.links.keys import keys_of_links
from zkchat.vault.links.resolver import folder_of, name_of_target, resolve

_MAX_CACHED_ANCHORS = 64
"""Notes whose headings are remembered while links to them are resolved."""
_MAX_LOADED_FILES = 100_000
"""Files that are remembered while links are resolved."""


class LinkResolver(Protocol):
    def resolve(self, link: Link, source: str | None, *, suggestions: int = 3) -> Resolution:
        """Resolve a link of the note `source` or of the user."""
        ...


class LiveCatalog:
    """Resolves links against the current content of the index. Thread-safe.

    Of a large vault only those files are loaded for which a link that is to be resolved may look.
    """

    def __init__(self, index: LinkTargets) -> None:
        self._index = index
        self._lock = RLock()
        self._generation = -1
        self._catalog = Catalog((), self._anchors)
        self._loaded: set[str] = set()
        """The keys whose files are in the catalog."""
        self._similar: SimilarNames | None = None
        self._anchors_of: dict[str, Anchors] = {}

    def resolve(self, link: Link, source: str | None, *, suggestions: int = 3) -> Resolution:
        with self._lock:
            self.catch_up()
            self._load([link])
            found = resolve(self._catalog, link, source, suggestions=0)
            return self._with_suggestions(found, suggestions) if isinstance(found, Missing) else found

    def resolve_all(self, links: Sequence[LinkToResolve]) -> list[tuple[int, Resolution]]:
        """The resolution of each link by its number, without suggestions."""
        with self._lock:
            self._load(links)
            found: dict[tuple[str, str, bool, str], Resolution] = {}
            for link in links:
                if (key := _meaning(link)) not in found:
                    found[key] = resolve(self._catalog, link, link.source, suggestions=0)
            return [(link.id, found[_meaning(link)]) for link in links]

    def catch_up(self) -> int:
        """Forget what was loaded if the index has a newer generation, and return that generation."""
        with self._lock:
            generation = self._index.generation()
            if self._generation != generation:
                self._generation = generation
                self._forget()
            return generation

    def _load(self, links: Iterable[Link | LinkToResolve]) -> None:
        """Load the files for which these links may look."""
        if len(self._catalog) > _MAX_LOADED_FILES:
            self._unload()
        keys = keys_of_links(links) - self._loaded
        if keys:
            for row in self._index.files_with_keys(keys):
                self._catalog.replace(_entry(row))
            self._loaded |= keys

    def _with_suggestions(self, missing: Missing, count: int) -> Missing:
        if not (count and missing.target):
            return missing
        if self._similar is None:
            self._similar = SimilarNames(name for row in self._index.catalog() for name in names_of(_entry(row)))
        return Missing(target=missing.target, suggestions=self._similar.closest(name_of_target(missing.target), count))

    def _anchors(self, path: str) -> Anchors:
        if path not in self._anchors_of:
            known = self._index.known(path)
            if len(self._anchors_of) >= _MAX_CACHED_ANCHORS:
                self._anchors_of.clear()
            self._anchors_of[path] = Anchors(known.headings, known.blocks) if known else Anchors()
        return self._anchors_of[path]

    def _forget(self) -> None:
        """Drop what was loaded of an older generation."""
        self._unload()
        self._similar = None
        self._anchors_of.clear()

    def _unload(self) -> None:
        self._catalog = Catalog((), self._anchors)
        self._loaded.clear()


def _meaning(link: LinkToResolve) -> tuple[str, str, bool, str]:
    """What decides where a link leads: of its source only the folder, unless it leads into the note itself."""
    return link.target, link.anchor, link.external, folder_of(link.source) if link.target else link.source


def _entry(row: CatalogRow) -> CatalogEntry:
    return CatalogEntry(row.path, row.title, row.aliases, row.is_source)
