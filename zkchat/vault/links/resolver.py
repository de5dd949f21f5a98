"""Resolve links to notes: by Obsidian's rules, then by fallbacks that are reported as such."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from zkchat.model.choices import LinkVia
from zkchat.model.index import LinkToResolve
from zkchat.model.note import (
    IMAGES,
    NOTE_SUFFIXES,
    RECORDINGS,
    Ambiguous,
    Block,
    External,
    Heading,
    Link,
    Missing,
    Note,
    Resolution,
    Resolved,
    is_note,
    is_pdf,
    page_heading,
    page_of_anchor,
    without_suffix,
)
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.links.names import SimilarNames
from zkchat.vault.notes.wikilink import name_key

if TYPE_CHECKING:
    from zkchat.model.index import CatalogRow
    from zkchat.ports.note_index import LinkTargets

_DOCUMENTS = (*(suffix[1:] for suffix in NOTE_SUFFIXES), "canvas", "base", "pdf")
KNOWN_EXTENSIONS = frozenset((*_DOCUMENTS, *IMAGES, *RECORDINGS))
"""Of the files that Obsidian shows. A target that ends in one of them is first looked for as it is written."""

_NOTES_FIRST, _AS_WRITTEN_FIRST = (*NOTE_SUFFIXES, ""), ("", *NOTE_SUFFIXES)
_ID_SHAPE = "(?:[0-9]{8}t[0-9]{4}|[0-9]{8,17})"
_ID = lazy_pattern(f"^{_ID_SHAPE}(?![0-9])|(?<![0-9]){_ID_SHAPE}$")
_ANY_ID = lazy_pattern(r"\d{8}t\d{4}|\d{8,17}")
_MAX_SAME_HEADINGS = 100
_MAX_CACHED_MISSING = 4096
_MAX_CACHED_ANCHORS = 64
"""Notes whose headings are remembered while links to them are resolved."""
_MAX_LOADED_FILES = 100_000
"""Files that are remembered while links are resolved."""
_MAX_HEADING_DEPTH = 20
"""Headings that a link may name one below the other; there are six levels."""
_NO_LETTERS = lazy_pattern(r'[!"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+')


class CatalogEntry(NamedTuple):
    """A file of the vault. For an attachment only the path is set."""

    path: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    is_source: bool = True
    """Not so for what zkchat saved of a conversation: any other note of the same name is meant first."""


class Anchors:
    """The headings and blocks of a note that a link can point to, indexed by key."""

    def __init__(self, headings: Sequence[Heading] = (), blocks: Sequence[Block] = ()) -> None:
        self._headings = headings
        self._blocks = blocks

    def __bool__(self) -> bool:
        return bool(self._headings or self._blocks)

    def find(self, anchor: str) -> Heading | Block | None:
        """The heading or block that `Heading`, `Heading#Sub` or `^block` names; the first where there are several."""
        if page := page_of_anchor(anchor):
            anchor = page_heading(page)
        last = _last_part(anchor)
        return self._block_by_id.get(last[1:].casefold()) if last.startswith("^") else next(self._named(anchor), None)

    def find_all(self, anchor: str) -> "list[Heading] | list[Block]":
        """All headings or blocks that an anchor names."""
        last = _last_part(anchor)
        if not last.startswith("^"):
            return [*self._named(anchor)]
        return [block for block in self._blocks if block.id.casefold() == last[1:].casefold()]

    def _named(self, anchor: str) -> Iterator[Heading]:
        """The headings that match the last part, below headings that match the others; else those that contain `#`.

        Only a limited number of headings with the same text is compared.
        """
        parts = anchor.split("#") if anchor.count("#") < _MAX_HEADING_DEPTH else [anchor]
        *above, name = [key for key in map(heading_key, parts) if key] or [""]
        is_found = False
        for heading, trail in self._headings_by_key.get(name, ()):
            ancestors = iter(trail)
            if all(wanted in ancestors for wanted in above):
                is_found = True
                yield heading
        if not is_found:
            for heading, _ in self._headings_by_key.get(heading_key(anchor), ()):
                yield heading

    @cached_property
    def _block_by_id(self) -> dict[str, Block]:
        return {block.id.casefold(): block for block in reversed(self._blocks)}

    @cached_property
    def _headings_by_key(self) -> dict[str, list[tuple[Heading, tuple[str, ...]]]]:
        """The headings by key, each with its parent headings."""
        found: dict[str, list[tuple[Heading, tuple[str, ...]]]] = {}
        trail: list[tuple[int, str]] = []
        for heading in self._headings:
            key = heading_key(heading.text)
            while trail and trail[-1][0] >= heading.level:
                trail.pop()
            alike = found.setdefault(key, [])
            if len(alike) < _MAX_SAME_HEADINGS:
                alike.append((heading, tuple(above for _, above in trail)))
            trail.append((heading.level, key))
        return found


def _last_part(anchor: str) -> str:
    return anchor.rpartition("#")[2].strip()


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
            for name in _names(entry):
                self._similar.add(name)

    def remove(self, path: str) -> None:
        entry = self._entries.pop(path, None)
        if not entry:
            return
        self._saved.discard(path)
        for table, key in self._places(entry):
            table.take(key, path)
        if self._similar:
            for name in _names(entry):
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
            self._similar = SimilarNames(name for entry in self._entries.values() for name in _names(entry))
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
    """Paths by key. A single path is stored without a list, to save memory."""

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
            self._held[key] = [held, path]
        else:
            held.append(path)

    def take(self, key: str, path: str) -> None:
        rest = [held for held in self.get(key) if held != path]
        if rest:
            self._held[key] = rest
        else:
            del self._held[key]


def resolve(catalog: Catalog, link: Link | LinkToResolve, source: str | None, *, suggestions: int = 3) -> Resolution:
    """Resolve a link in the note `source`.

    Suggestions are slow to compute: callers that resolve a whole vault ask for none.
    """
    if link.external:
        return External(address=link.target)
    if not link.target:
        return _answer(catalog, [source], "self", link.anchor) if source else Missing(target="")
    found = _find(catalog, link.target, source)
    if found:
        return _answer(catalog, *found, link.anchor)
    before, caret, block = link.target.partition("^")
    found = _find(catalog, before.strip(), source) if caret else None
    if found:
        return _answer(catalog, *found, f"^{block.strip()}")
    similar = catalog.similar_to(_name_of(link.target), suggestions) if suggestions else ()
    return Missing(target=link.target, suggestions=similar)


class FoundTarget(NamedTuple):
    path: str
    named: str
    """The part of the target that names the file: all of it, but for `Note^block`."""
    by_name: bool
    """Not so for one that was found by an alias, an id or a title."""


def find_target(catalog: Catalog, target: str, source: str | None) -> FoundTarget | None:
    """What the target of a link means; None where it means no file."""
    for named in (target, target.partition("^")[0].rstrip()):
        found = _find(catalog, named, source) if named else None
        if found:
            paths, via = found
            return FoundTarget(paths[0], named, via in {"path", "name"})
    return None


def is_attachment(target: str) -> bool:
    """Whether a link to this target names a file that is not a note, whether or not it exists."""
    return _extension(target) in KNOWN_EXTENSIONS and not is_note(target)


def heading_key(text: str) -> str:
    """A key that ignores case, punctuation, markup and Unicode normal form."""
    return _NO_LETTERS.sub(" ", unicodedata.normalize("NFC", text)).strip().casefold()


def section_lines(note: Note, anchor: str) -> tuple[int, int] | None:
    """The first and last line of the section or block that an anchor (`Heading`, `Heading#Sub`, `^block`) names."""
    place = Anchors(note.headings, note.blocks).find(anchor)
    match place:
        case Block():
            return place.first_line, place.last_line
        case Heading():
            after = (heading for heading in note.headings if heading.start > place.start)
            following = next((heading for heading in after if heading.level <= place.level), None)
            return place.line, following.line - 1 if following else note.line_count
        case None:
            return None


def _find(catalog: Catalog, target: str, source: str | None) -> tuple[list[str], LinkVia] | None:
    """The paths that a target means, the preferred one first, and how they were found."""
    if catalog.has_saved and "/" not in target:
        for paths, via in _named(catalog, target, source):
            if via != "id" and (sources := catalog.sources(paths)):  # a name that a file has is no mere id
                return sources, via
    for paths, via in _named(catalog, target, source):
        if paths:
            return paths, via
    return None


def _named(catalog: Catalog, target: str, source: str | None) -> Iterator[tuple[list[str], LinkVia]]:
    """What a target may mean, the likeliest first: by path or name, by alias, by id, by title."""
    for suffix in _suffixes(target):
        yield _by_path(catalog, target + suffix, source), "path" if "/" in target else "name"
    yield _preferred(catalog.called(target), target, source), "alias"
    yield _only_one(catalog, catalog.with_id_of(target)), "id"
    yield _only_one(catalog, catalog.titled(target)), "title"


def _only_one(catalog: Catalog, paths: list[str]) -> list[str]:
    """The one path, or none where there are several."""
    first = catalog.sources(paths) or paths
    return first if len(first) == 1 else []


def _suffixes(target: str) -> tuple[str, ...]:
    """The suffixes that may be missing at the end of a target, the likeliest first."""
    return _AS_WRITTEN_FIRST if _extension(target) in KNOWN_EXTENSIONS else _NOTES_FIRST


def _extension(target: str) -> str:
    if "." not in target:
        return ""
    _, dot, extension = target.rpartition("/")[2].rpartition(".")
    return extension.lower() if dot else ""


def _by_path(catalog: Catalog, spelling: str, source: str | None) -> list[str]:
    if spelling.startswith(("/", "./", "../")):
        path = _inside_vault(spelling, source)
        return _preferred(catalog.at(name_key(path)), path, source) if path else []
    return _preferred(catalog.ending_with(name_key(spelling)), spelling, source)


def _inside_vault(spelling: str, source: str | None) -> str | None:
    """The vault path of a relative or absolute target; None if it is outside the vault."""
    if spelling.startswith("/"):
        return spelling.lstrip("/")
    components = source.split("/")[:-1] if source else []
    for component in spelling.split("/"):
        if component == ".." and not components:
            return None
        if component == "..":
            components.pop()
        elif component != ".":
            components.append(component)
    return "/".join(components)


def _preferred(paths: list[str], spelling: str, source: str | None) -> list[str]:
    """Sort paths: exact vault path, then the source's own folder, then the shortest path, then alphabetically."""
    if len(paths) < 2:
        return paths
    key = name_key(spelling)
    folder = _folder(source) if source is not None else None
    return sorted(
        paths,
        key=lambda path: (path != spelling, name_key(path) != key, _folder(path) != folder, len(path), path),
    )


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _answer(catalog: Catalog, paths: list[str], via: LinkVia, anchor: str) -> Resolved | Ambiguous:
    path, *others = paths
    found, line = True, None
    if anchor:
        anchors = catalog.anchors(path)
        place = anchors.find(anchor)
        # Of an attachment no place may be known, and of a PDF none but its pages.
        is_known = is_note(path) or (bool(anchors) and not (is_pdf(path) and page_of_anchor(anchor) is None))
        found, line = place is not None or not is_known, place.line if place else None
    if others:
        return Ambiguous(path=path, via=via, others=tuple(others), anchor_found=found, line=line)
    return Resolved(path=path, via=via, anchor_found=found, line=line)


def _ids(stem: str) -> set[str]:
    return set(_ID.findall(stem)) if stem[:1].isdigit() or stem[-1:].isdigit() else set()


def _names(entry: CatalogEntry) -> set[str]:
    """The names by which a link can refer to the entry."""
    name = entry.path.rpartition("/")[2]
    return {without_suffix(name), entry.title, *entry.aliases} - {""} if is_note(entry.path) else {name}


class LinkResolver(Protocol):
    def resolve(self, link: Link, source: str | None, *, suggestions: int = 3) -> Resolution:
        """Resolve a link of the note `source` or of the user."""
        ...


class LiveCatalog:
    """Resolves links against the current content of the index. Thread-safe.

    Of a large vault only those files are loaded for which a link that is to be resolved may look.
    """

    def __init__(self, index: "LinkTargets") -> None:
        self._index = index
        self._lock = RLock()
        self._generation = -1
        self._catalog = Catalog((), self._anchors)
        self._loaded: set[str] = set()
        """The keys whose files are in the catalog."""
        self._similar: SimilarNames | None = None
        self._anchors_of: dict[str, Anchors] = {}
        self._missing: dict[tuple[str, bool, str | None, int], Missing] = {}
        """Links that lead nowhere, as long as no name changes: what they could have meant is dear to find out."""

    def resolve(self, link: Link, source: str | None, *, suggestions: int = 3) -> Resolution:
        key = link.target, link.external, source, suggestions
        with self._lock:
            self.catch_up()
            if known := self._missing.get(key):
                return known
            self._load([link])
            found = resolve(self._catalog, link, source, suggestions=0)
            if isinstance(found, Missing):
                found = self._with_suggestions(found, suggestions)
                if len(self._missing) < _MAX_CACHED_MISSING:
                    self._missing[key] = found
            return found

    def resolve_all(self, links: Sequence[LinkToResolve]) -> list[tuple[int, Resolution]]:
        """The resolution of each link by its number, without suggestions."""
        with self._lock:
            self._load(links)
            return [(link.id, resolve(self._catalog, link, link.source, suggestions=0)) for link in links]

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
            self._similar = SimilarNames(name for row in self._index.catalog() for name in _names(_entry(row)))
        return Missing(target=missing.target, suggestions=self._similar.closest(_name_of(missing.target), count))

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
        self._missing.clear()

    def _unload(self) -> None:
        self._catalog = Catalog((), self._anchors)
        self._loaded.clear()


def _entry(row: "CatalogRow") -> CatalogEntry:
    return CatalogEntry(row.path, row.title, row.aliases, row.is_source)


def _name_of(target: str) -> str:
    return target.rstrip("/").rpartition("/")[2]


def keys_of_file(path: str, title: str = "", aliases: tuple[str, ...] = ()) -> frozenset[str]:
    """Every key by which a link may look up a file. When the file changes, links with these keys are resolved again."""
    return frozenset((*_keys(name_key(path)), *[name_key(name) for name in (title, *aliases) if name]))


def keys_of_links(links: Iterable[Link | LinkToResolve]) -> frozenset[str]:
    """The keys under which the targets of links are looked up."""
    keys: set[str] = set()
    for target in {link.target for link in links if link.target and not link.external}:
        key = name_key(target)
        keys |= {key, *_keys(key)}
        before, caret, _ = target.partition("^")
        if caret:
            keys |= {*_keys(name_key(before.strip()))}
    return frozenset(keys)


def _keys(key: str) -> list[str]:
    """The file name in a path key, and the ids in that name."""
    name = without_suffix(key.rpartition("/")[2])
    return [name, *_ANY_ID.findall(name)]
