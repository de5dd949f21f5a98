"""Notes that somebody named: by path, by title, or by a link with a place in it."""

from zkchat.model.note import Ambiguous, Link, Resolved
from zkchat.vault.library import Library
from zkchat.vault.notes import wikilink


def place_of(library: Library, name: str) -> tuple[str, str] | None:
    """The path of the note that is meant, and the heading or block in it; None where there is no such note."""
    if library.outline(name):
        return name, ""  # a path may hold signs that mean something in a link
    link = link_named(name)
    found = library.resolve(link)
    return (found.path, link.anchor) if isinstance(found, Resolved | Ambiguous) else None


def link_named(name: str) -> Link:
    """The link that somebody means by a name, which may be a link already."""
    return next(iter([*wikilink.scan(name), *wikilink.scan(f"[[{name}]]")]), Link(text=name, target=name))


def text_of(library: Library, name: str) -> str:
    """What the note, or that place in it, says now. Raises `VaultError` where there is none."""
    return library.section(*(place_of(library, name) or (name, "")))


def full_name(path: str, anchor: str) -> str:
    """How the place is called in the record of a request."""
    return f"{path}#{anchor}" if anchor else path
