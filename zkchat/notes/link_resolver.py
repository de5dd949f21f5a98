"""Resolve links to notes: by Obsidian's rules, then by fallbacks; and explain why."""

from collections.abc import Iterable, Iterator, Sequence
from threading import RLock
from typing import NamedTuple, Protocol, assert_never

from zkchat.core import (
    IMAGES,
    NOTE_SUFFIXES,
    RECORDINGS,
    Ambiguous,
    CatalogRow,
    External,
    Link,
    LinkTargets,
    LinkToResolve,
    LinkVia,
    Missing,
    Resolution,
    Resolved,
    folder_of,
    is_note,
    is_pdf,
    page_of_anchor,
    without_suffix,
)
from zkchat.notes.link_catalog import Anchors, Catalog, CatalogEntry, SimilarNames, keys_of_links, name_key, names_of

_ALONE: dict[LinkVia, str] = {
    "self": "It leads to a place in the same note.",
    "path": "It is the only file whose path ends with what the link says.",
    "name": "It is the only file of that name.",
    "alias": "The only note with that alias; no file has that name.",
    "id": "The only note with that id; no file has that name.",
    "title": "The only note with that title; no file has that name.",
}
_AMONG = {
    "path": "The paths of {count} files end like that",
    "name": "{count} files have that name",
    "alias": "No file has that name; {count} notes have that alias",
}
_FROM_A_PLACE = ("/", "./", "../")


def explain(link: Link, found: Resolution, source: str | None) -> str:
    """Explain how a link in the note `source`, or in the user's text, was resolved."""
    match found:
        case Resolved():
            at_place = link.target.startswith(_FROM_A_PLACE)
            return ("It is the file at that path." if at_place else _ALONE[found.via]) + _lost_place(link, found)
        case Ambiguous():
            among = _AMONG[found.via].format(count=len(found.others) + 1)
            return f"{among}; this one wins because {_advantage(link, found, source)}.{_lost_place(link, found)}"
        case Missing():
            if not link.target:
                return "It leads to a place in the note that contains it, and that note was not given."
            if link.target.startswith(_FROM_A_PLACE):
                return "There is no file at that path."
            return "Nothing has that name, alias, id or title; or several notes share that id or title."
        case External():
            return "It is an address outside the vault."
    assert_never(found)


def _advantage(link: Link, found: Ambiguous, source: str | None) -> str:
    """The first rule that ranks the chosen path before the runner-up."""
    winner, rival = found.path, found.others[0]
    asked = link.target.lstrip("/")
    if without_suffix(winner) == without_suffix(asked) != without_suffix(rival):
        return "its path is exactly that"
    if name_key(without_suffix(winner)) == name_key(without_suffix(asked)) != name_key(without_suffix(rival)):
        return "its path differs only in upper and lower case"
    if source is not None and folder_of(winner) == folder_of(source) != folder_of(rival):
        return f"it is in the same folder as {source}"
    return "its path is the shortest" if len(winner) < len(rival) else "its path comes first in the alphabet"


def _lost_place(link: Link, found: Resolved | Ambiguous) -> str:
    if found.anchor_found:
        return ""
    kind = "block" if "^" in (link.anchor or link.target) else "heading"
    return f" It has no such {kind}, so the link leads to its beginning."


_DOCUMENTS = (*(suffix[1:] for suffix in NOTE_SUFFIXES), "canvas", "base", "pdf")
KNOWN_EXTENSIONS = frozenset((*_DOCUMENTS, *IMAGES, *RECORDINGS))
"""Of the files that Obsidian shows. A target that ends in one of them is first looked for as it is written."""
_NOTES_FIRST, _AS_WRITTEN_FIRST = (*NOTE_SUFFIXES, ""), ("", *NOTE_SUFFIXES)
"""The suffixes that may be missing at the end of a target, the likeliest first."""


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
    similar = catalog.similar_to(name_of_target(link.target), suggestions) if suggestions else ()
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
    for suffix in _AS_WRITTEN_FIRST if _extension(target) in KNOWN_EXTENSIONS else _NOTES_FIRST:
        yield _by_path(catalog, target + suffix, source), "path" if "/" in target else "name"
    yield _preferred(catalog, catalog.called(target, "alias"), target, source), "alias"
    yield _only_one(catalog, catalog.with_id_of(target)), "id"
    yield _only_one(catalog, catalog.called(target, "title")), "title"


def _only_one(catalog: Catalog, paths: list[str]) -> list[str]:
    first = catalog.sources(paths) or paths
    return first if len(first) == 1 else []


def _extension(target: str) -> str:
    _, dot, extension = target.rpartition("/")[2].rpartition(".")
    return extension.lower() if dot else ""


def _by_path(catalog: Catalog, spelling: str, source: str | None) -> list[str]:
    if not spelling.startswith(_FROM_A_PLACE):
        return _preferred(catalog, catalog.ending_with(name_key(spelling)), spelling, source)
    path = spelling.lstrip("/")
    if not spelling.startswith("/"):
        components = source.split("/")[:-1] if source else []
        for component in spelling.split("/"):
            if component == ".." and not components:  # outside the vault
                return []
            if component == "..":
                components.pop()
            elif component != ".":
                components.append(component)
        path = "/".join(components)
    return _preferred(catalog, catalog.at(name_key(path)), path, source) if path else []


def _preferred(catalog: Catalog, paths: list[str], spelling: str, source: str | None) -> list[str]:
    """Sort paths: exact vault path, then the source's own folder, then the shortest path, then alphabetically.

    They come in the order of the last two.
    """
    if len(paths) < 2:
        return paths
    folder = source[: source.rfind("/") + 1] if source is not None else "/"
    near = [path for path in paths if path.startswith(folder) and path.rfind("/") < len(folder)]
    exact = sorted(catalog.at(name_key(spelling)), key=lambda path: (path != spelling, path not in near))
    return [*dict.fromkeys((*exact, *near, *paths))]


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


def name_of_target(target: str) -> str:
    return target.rstrip("/").rpartition("/")[2]


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
            if not (isinstance(found, Missing) and found.target and suggestions):
                return found
            if self._similar is None:
                self._similar = SimilarNames(name for row in self._index.catalog() for name in names_of(_entry(row)))
            similar = self._similar.closest(name_of_target(found.target), suggestions)
            return Missing(target=found.target, suggestions=similar)

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
                self._unload()
                self._similar = None
                self._anchors_of.clear()
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

    def _anchors(self, path: str) -> Anchors:
        if path not in self._anchors_of:
            known = self._index.known(path)
            if len(self._anchors_of) >= _MAX_CACHED_ANCHORS:
                self._anchors_of.clear()
            self._anchors_of[path] = Anchors(known.headings, known.blocks) if known else Anchors()
        return self._anchors_of[path]

    def _unload(self) -> None:
        self._catalog = Catalog((), self._anchors)
        self._loaded.clear()


def _meaning(link: LinkToResolve) -> tuple[str, str, bool, str]:
    """What decides where a link leads: of its source only the folder, unless it leads into the note itself."""
    return link.target, link.anchor, link.external, folder_of(link.source) if link.target else link.source


def _entry(row: CatalogRow) -> CatalogEntry:
    return CatalogEntry(row.path, row.title, row.aliases, row.is_source)
