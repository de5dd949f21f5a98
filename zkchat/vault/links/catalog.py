"""The names by which links find their targets: a catalog in step with the index, and what a change of names touches."""

import re
from collections.abc import Iterable
from threading import RLock
from typing import TYPE_CHECKING, Protocol

from zkchat.model.index import LinkToResolve
from zkchat.model.note import Link, Missing, Resolution, without_suffix
from zkchat.vault.links.names import name_key
from zkchat.vault.links.resolver import Anchors, Catalog, CatalogEntry, resolve

if TYPE_CHECKING:
    from zkchat.ports import NoteCatalog

_MOST_MISSING = 4096
_MOST_ANCHORED = 64
"""Notes whose headings are remembered while links to them are resolved."""
_ID = re.compile(r"\d{8}t\d{4}|\d{8,17}")


class LinkResolver(Protocol):
    def resolve(self, link: Link, source: str | None, *, suggestions: int = 3) -> Resolution:
        """What a link leads to, written in the note `source` or by the user."""
        ...


class LiveCatalog:
    """Resolves links against what the index holds at the moment. Every thread may use it."""

    def __init__(self, index: "NoteCatalog") -> None:
        self._index = index
        self._lock = RLock()
        self._catalog = Catalog((), self._anchors)
        self._generation = -1
        self._anchors_of: dict[str, Anchors] = {}
        self._missing: dict[tuple[str, bool, str | None, int], Missing] = {}
        """Links that lead nowhere, as long as no name changes: what they could have meant is dear to find out."""

    def resolve(self, link: Link, source: str | None, *, suggestions: int = 3) -> Resolution:
        key = link.target, link.external, source, suggestions
        with self._lock:
            self.catch_up()
            if known := self._missing.get(key):
                return known
            found = resolve(self._catalog, link, source, suggestions=suggestions)
            if isinstance(found, Missing) and len(self._missing) < _MOST_MISSING:
                self._missing[key] = found
            return found

    def resolve_all(self, links: Iterable[LinkToResolve]) -> list[tuple[int, Resolution]]:
        """What links lead to, by their numbers, without suggestions."""
        with self._lock:
            return [(link.id, resolve(self._catalog, link, link.source, suggestions=0)) for link in links]

    def follow(self, generation: int, *, entries: Iterable[CatalogEntry], gone: Iterable[str]) -> None:
        """Change as the index just did, unless others changed it too: then it is for `catch_up` to load it anew."""
        with self._lock:
            if self._generation != generation - 1:
                return
            for path in gone:
                self._catalog.remove(path)
            for entry in entries:
                self._catalog.replace(entry)
            self._generation = generation
            self._forget()

    def catch_up(self) -> int:
        """Be of the index's generation, which is returned."""
        with self._lock:
            generation = self._index.generation()
            if self._generation != generation:
                rows = self._index.catalog()
                entries = (CatalogEntry(path=row.path, title=row.title, aliases=row.aliases) for row in rows)
                self._catalog = Catalog(entries, self._anchors)
                self._generation = generation
                self._forget()
            return generation

    def _anchors(self, path: str) -> Anchors:
        if path not in self._anchors_of:
            known = self._index.known(path)
            if len(self._anchors_of) >= _MOST_ANCHORED:
                self._anchors_of.clear()
            self._anchors_of[path] = Anchors(known.headings, known.blocks) if known else Anchors()
        return self._anchors_of[path]

    def _forget(self) -> None:
        """What was true of another generation."""
        self._missing.clear()
        self._anchors_of.clear()


def keys_of_file(path: str, title: str = "", aliases: tuple[str, ...] = ()) -> frozenset[str]:
    """Every key by which some link may look for a file. When the file changes, those links are to be resolved again."""
    return frozenset((*_keys(name_key(path)), *[name_key(name) for name in (title, *aliases) if name]))


def keys_of_links(links: Iterable[Link]) -> frozenset[str]:
    """The keys whose files decide what links lead to."""
    keys: set[str] = set()
    for target in {link.target for link in links if link.target and not link.external}:
        key = name_key(target)
        keys |= {key, *_keys(key)}
        before, caret, _ = target.partition("^")
        if caret:
            keys |= {*_keys(name_key(before.strip()))}
    return frozenset(keys)


def _keys(key: str) -> list[str]:
    """The name of a file whose path has this key, and the ids in it."""
    name = without_suffix(key.rpartition("/")[2])
    return [name, *_ID.findall(name)]
