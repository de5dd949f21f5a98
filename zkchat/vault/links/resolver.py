"""Resolve links to notes: by Obsidian's rules, then by fallbacks that are reported as such."""

from collections.abc import Iterator
from typing import NamedTuple

from zkchat.model.choices import LinkVia
from zkchat.model.index import LinkToResolve
from zkchat.model.note import (
    IMAGES,
    NOTE_SUFFIXES,
    RECORDINGS,
    Ambiguous,
    External,
    Link,
    Missing,
    Resolution,
    Resolved,
    is_note,
    is_pdf,
    page_of_anchor,
)
from zkchat.vault.links.catalog import Catalog
from zkchat.vault.notes.wikilink import name_key

_DOCUMENTS = (*(suffix[1:] for suffix in NOTE_SUFFIXES), "canvas", "base", "pdf")
KNOWN_EXTENSIONS = frozenset((*_DOCUMENTS, *IMAGES, *RECORDINGS))
"""Of the files that Obsidian shows. A target that ends in one of them is first looked for as it is written."""
_NOTES_FIRST, _AS_WRITTEN_FIRST = (*NOTE_SUFFIXES, ""), ("", *NOTE_SUFFIXES)


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
    for suffix in _suffixes(target):
        yield _by_path(catalog, target + suffix, source), "path" if "/" in target else "name"
    yield _preferred(catalog, catalog.called(target), target, source), "alias"
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
        return _preferred(catalog, catalog.at(name_key(path)), path, source) if path else []
    return _preferred(catalog, catalog.ending_with(name_key(spelling)), spelling, source)


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


def folder_of(path: str) -> str:
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


def name_of_target(target: str) -> str:
    return target.rstrip("/").rpartition("/")[2]
