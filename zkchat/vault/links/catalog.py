"""The files of a vault by the names that links use."""

from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from zkchat.model.note import is_note, without_suffix
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.links.anchors import Anchors
from zkchat.vault.links.names import SimilarNames
from zkchat.vault.notes.wikilink import name_key

_ID_SHAPE = "(?:[0-9]{8}t[0-9]{4}|[0-9]{8,17})"
_ID = lazy_pattern(f"^{_ID_SHAPE}(?![0-9])|(?<![0-9]){_ID_SHAPE}$")


class CatalogEntry(NamedTuple):
    """A file of the vault. For an attachment only the path is set."""

    path: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    is_source: bool = True
    """Not so for what zkchat saved of a conversation: any other note of the same name is meant first."""


class Catalog:
    """Every file of the vault by the names that links use. `anchors` returns the headings and blocks of a note."""

    def __init__(self, entries: Iterable[CatalogEntry], anchors: Callable[[str], Anchors]) -> None:
        self.anchors = anchors
        self._entries: dict[str, CatalogEntry] = {}
        self._tails = _PathsByKey()
        self._aliases = _PathsByKey()
        self._ids = _PathsByKey()
        self._titles = _PathsByKey()
        self._similar: SimilarNames | None = None
        self._saved: set[str] = set()
        for entry in entries:
            self.replace(entry)

    def __len__(self) -> int:
        return len(self._entries)

    def copy(self) -> "Catalog":
        """A catalog of the same files, to be changed by itself."""
        other = Catalog((), self.anchors)
        other._entries, other._saved = {**self._entries}, {*self._saved}
        for name in ("_tails", "_aliases", "_ids", "_titles"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def replace(self, entry: CatalogEntry) -> None:
        """Add an entry, replacing the one with the same path."""
        self.remove(entry.path)
        self._entries[entry.path] = entry
        if not entry.is_source:
            self._saved.add(entry.path)
        for table, key in self._places(entry):
            table.put(key, entry.path)
        if self._similar:
            for name in names_of(entry):
                self._similar.add(name)

    def remove(self, path: str) -> None:
        entry = self._entries.pop(path, None)
        if not entry:
            return
        self._saved.discard(path)
        for table, key in self._places(entry):
            table.take(key, path)
        if self._similar:
            for name in names_of(entry):
                self._similar.discard(name)

    def ending_with(self, tail: str) -> list[str]:
        """The paths whose last components match this key."""
        if tail.count("/") <= 1:
            return self._tails.get(tail)
        paths = self._tails.get("/".join(tail.split("/")[-2:]))
        return [path for path in paths if f"/{name_key(path)}".endswith(f"/{tail}")]

    def at(self, key: str) -> list[str]:
        """The paths with this key; they differ only in case or normal form."""
        two = "/".join(f"/{key}".split("/")[-2:])
        return [path for path in self._tails.get(two) if name_key(path) == key]

    def called(self, name: str) -> list[str]:
        return self._aliases.get(name_key(name))

    def titled(self, name: str) -> list[str]:
        return self._titles.get(name_key(name))

    def with_id_of(self, target: str) -> list[str]:
        stem = without_suffix(name_key(target).rpartition("/")[2])
        return sorted({path for id_ in _ids(stem) for path in self._ids.get(id_)})

    @property
    def has_saved(self) -> bool:
        """Whether there is a note that zkchat saved of a conversation."""
        return bool(self._saved)

    def sources(self, paths: list[str]) -> list[str]:
        """Those of the paths that zkchat did not save of a conversation."""
        return [path for path in paths if path not in self._saved] if self._saved else paths

    def similar_to(self, name: str, limit: int) -> tuple[str, ...]:
        """The most similar names, each of which resolves as a link."""
        if self._similar is None:
            self._similar = SimilarNames(name for entry in self._entries.values() for name in names_of(entry))
        return self._similar.closest(name, limit)

    def _places(self, entry: CatalogEntry) -> "Iterator[tuple[_PathsByKey, str]]":
        components = f"/{name_key(entry.path)}".split("/")
        yield self._tails, components[-1]
        yield self._tails, "/".join(components[-2:])
        if is_note(entry.path):
            stem = components[-1].rpartition(".")[0]
            for alias in {name_key(alias) for alias in entry.aliases}:
                yield self._aliases, alias
            for id_ in _ids(stem):
                yield self._ids, id_
            title = name_key(entry.title)
            if title and title != stem:
                yield self._titles, title


class _PathsByKey:
    """Paths by key, the shortest first. A single path is stored without a list, to save memory."""

    def __init__(self) -> None:
        self._held: dict[str, str | list[str]] = {}

    def copy(self) -> "_PathsByKey":
        other = _PathsByKey()
        other._held = {key: held if isinstance(held, str) else [*held] for key, held in self._held.items()}
        return other

    def get(self, key: str) -> list[str]:
        held = self._held.get(key, [])
        return [held] if isinstance(held, str) else held

    def put(self, key: str, path: str) -> None:
        held = self._held.get(key)
        if held is None:
            self._held[key] = path
        elif isinstance(held, str):
            self._held[key] = sorted([held, path], key=_shortest_first)
        else:
            insort(held, path, key=_shortest_first)

    def take(self, key: str, path: str) -> None:
        rest = [held for held in self.get(key) if held != path]
        if rest:
            self._held[key] = rest
        else:
            del self._held[key]


def _shortest_first(path: str) -> tuple[int, str]:
    return len(path), path


def _ids(stem: str) -> set[str]:
    return set(_ID.findall(stem)) if stem[:1].isdigit() or stem[-1:].isdigit() else set()


def names_of(entry: CatalogEntry) -> set[str]:
    """The names by which a link can refer to the entry."""
    name = entry.path.rpartition("/")[2]
    return {without_suffix(name), entry.title, *entry.aliases} - {""} if is_note(entry.path) else {name}
