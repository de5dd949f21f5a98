"""The files of a vault by the names that links use."""

import re
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from heapq import nlargest, nsmallest
from typing import Literal, NamedTuple

from zkchat.model.note import is_note, without_suffix
from zkchat.vault.links.anchors import Anchors
from zkchat.vault.notes.wikilink import name_key

_Kind = Literal["tail", "alias", "id", "title"]
_ID_SHAPE = "(?:[0-9]{8}t[0-9]{4}|[0-9]{8,17})"
_ID = re.compile(f"^{_ID_SHAPE}(?![0-9])|(?<![0-9]){_ID_SHAPE}$")
_MAX_SHARING = 4_000
"""Names that share a piece with the one asked for. Those of rare pieces come first, so that the best are among them."""
_MAX_LIKELY = 60
_MAX_COMPARED = 12
"""Names that are compared letter by letter, which takes a tenth of a millisecond for each."""
_MAX_NAME_CHARACTERS = 200
"""Characters of a name that are compared; no file name is longer."""
_MIN_SIMILARITY = 0.6


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
        self._tables: dict[_Kind, dict[str, list[str]]] = {"tail": {}, "alias": {}, "id": {}, "title": {}}
        """Paths by key, the shortest first."""
        self._saved: set[str] = set()
        for entry in entries:
            self.replace(entry)

    def __len__(self) -> int:
        return len(self._entries)

    def copy(self) -> "Catalog":
        """A catalog of the same files, to be changed by itself."""
        return Catalog(self._entries.values(), self.anchors)

    def replace(self, entry: CatalogEntry) -> None:
        """Add an entry, replacing the one with the same path."""
        self.remove(entry.path)
        self._entries[entry.path] = entry
        if not entry.is_source:
            self._saved.add(entry.path)
        for kind, key in _places(entry):
            insort(self._tables[kind].setdefault(key, []), entry.path, key=lambda path: (len(path), path))

    def remove(self, path: str) -> None:
        entry = self._entries.pop(path, None)
        self._saved.discard(path)
        for kind, key in _places(entry) if entry else ():
            paths = self._tables[kind][key]
            paths[:] = [each for each in paths if each != path]

    def ending_with(self, tail: str) -> list[str]:
        """The paths whose last components match this key."""
        if tail.count("/") <= 1:
            return self._paths("tail", tail)
        paths = self._paths("tail", "/".join(tail.split("/")[-2:]))
        return [path for path in paths if f"/{name_key(path)}".endswith(f"/{tail}")]

    def at(self, key: str) -> list[str]:
        """The paths with this key; they differ only in case or normal form."""
        two = "/".join(f"/{key}".split("/")[-2:])
        return [path for path in self._paths("tail", two) if name_key(path) == key]

    def called(self, name: str) -> list[str]:
        return self._paths("alias", name_key(name))

    def titled(self, name: str) -> list[str]:
        return self._paths("title", name_key(name))

    def with_id_of(self, target: str) -> list[str]:
        stem = without_suffix(name_key(target).rpartition("/")[2])
        return sorted({path for id_ in _ids(stem) for path in self._paths("id", id_)})

    @property
    def has_saved(self) -> bool:
        """Whether there is a note that zkchat saved of a conversation."""
        return bool(self._saved)

    def sources(self, paths: list[str]) -> list[str]:
        """Those of the paths that zkchat did not save of a conversation."""
        return [path for path in paths if path not in self._saved] if self._saved else paths

    def similar_to(self, name: str, limit: int) -> tuple[str, ...]:
        """The most similar names, each of which resolves as a link."""
        return SimilarNames(name for entry in self._entries.values() for name in names_of(entry)).closest(name, limit)

    def _paths(self, kind: _Kind, key: str) -> list[str]:
        return self._tables[kind].get(key, [])


def _places(entry: CatalogEntry) -> Iterator[tuple[_Kind, str]]:
    components = f"/{name_key(entry.path)}".split("/")
    yield "tail", components[-1]
    yield "tail", "/".join(components[-2:])
    if is_note(entry.path):
        stem = components[-1].rpartition(".")[0]
        for alias in {name_key(alias) for alias in entry.aliases}:
            yield "alias", alias
        for id_ in _ids(stem):
            yield "id", id_
        title = name_key(entry.title)
        if title and title != stem:
            yield "title", title


def _ids(stem: str) -> set[str]:
    return set(_ID.findall(stem)) if stem[:1].isdigit() or stem[-1:].isdigit() else set()


def names_of(entry: CatalogEntry) -> set[str]:
    """The names by which a link can refer to the entry."""
    name = entry.path.rpartition("/")[2]
    return {without_suffix(name), entry.title, *entry.aliases} - {""} if is_note(entry.path) else {name}


class SimilarNames:
    """An index of names by trigram, to find names similar to a given one.

    Only every second trigram of a name is stored; a query looks up all of its own.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_piece: defaultdict[str, list[str]] = defaultdict(list)
        for name in {*names}:
            for piece in _pieces(_beginning(name), step=2):
                self._by_piece[piece].append(name)

    def closest(self, name: str, limit: int) -> tuple[str, ...]:
        """The most similar names, best first; empty if none is similar enough."""
        key = _beginning(name)
        matcher = SequenceMatcher(autojunk=False, b=key)
        likeness: dict[str, float] = {}
        for candidate in self._shortlist(key):
            matcher.set_seq1(_beginning(candidate))
            likeness[candidate] = matcher.ratio() + (0.3 if key in _beginning(candidate) else 0.0)
        alike: dict[str, str] = {}
        for candidate in sorted(likeness, key=lambda candidate: (-likeness[candidate], candidate)):
            if likeness[candidate] >= _MIN_SIMILARITY:
                alike.setdefault(name_key(candidate), candidate)
        return tuple(alike.values())[:limit]

    def _shortlist(self, key: str) -> list[str]:
        """The candidates that share most trigrams with the name, relative to their own number of trigrams."""
        asked = _pieces(key)

        def unlikeness(name: str) -> float:
            pieces = _pieces(_beginning(name))
            return -len(asked & pieces) / len(asked | pieces)

        shared = self._sharing(asked)
        least = min(nlargest(_MAX_LIKELY, shared.values()), default=0)
        likely = [name for name, pieces in shared.items() if pieces >= least]
        likely = nsmallest(_MAX_LIKELY, likely, key=lambda name: (-shared[name], abs(len(name) - len(key)), name))
        return nsmallest(_MAX_COMPARED, likely, key=lambda name: (unlikeness(name), name))

    def _sharing(self, asked: set[str]) -> Counter[str]:
        """The number of shared trigrams by name, counted over the rarest trigrams."""
        shared: Counter[str] = Counter()
        looked_at = 0
        for count, piece in sorted((len(self._by_piece.get(piece, ())), piece) for piece in asked):
            if looked_at and looked_at + count > _MAX_SHARING:
                break
            shared.update(self._by_piece.get(piece, ()))
            looked_at += count
        return shared


def _beginning(name: str) -> str:
    return name_key(name[:_MAX_NAME_CHARACTERS])


def _pieces(key: str, step: int = 1) -> set[str]:
    padded = f" {key} "
    return {padded[start : start + 3] for start in range(0, len(padded) - 2, step)}
