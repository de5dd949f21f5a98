"""The note that a user names by its path, its title or a link, and the place in it."""

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from zkchat.errors import NoteNotFound, UsageError
from zkchat.model.note import Ambiguous, Link, Missing, Resolved, page_named
from zkchat.model.text import counted
from zkchat.vault.library import Library
from zkchat.vault.notes.wikilink import scan

_LINE: Final = re.compile(r"(?P<path>.+):(?P<line>[1-9]\d{0,8})")
"""A path and a line, as lists show them."""


class NamedNote(Struct, frozen=True, kw_only=True):
    """A note, or another file, and the place in it."""

    path: str
    anchor: str = ""
    """The heading or block; empty where none was named, or where the note has no such place."""
    line: int | None = None
    others: tuple[str, ...] = ()
    """Other notes that the name could mean."""
    missing_anchor: str = ""
    """The heading or block that was named and is not there."""


def parse_link(text: str) -> Link:
    """The one link of a text, or the text itself as the name of a note."""
    links = scan(text) or scan(f"[[{text}]]")
    if len(links) != 1:
        raise UsageError(f"{text!r} is not one link.", hint='Write one, for example "[[Note#Heading]]".')
    return links[0]


def find_named_note(library: Library, name: str, paths: Iterable[str] = (), *, search: str) -> NamedNote:
    """Find the note that a user names. Raises `NoteNotFound` with the closest names as a hint.

    `paths` are tried first, as paths in the vault. `search` is the command that the hint names where nothing is close.
    """
    for path in (*paths, name):
        if found := _at_path(library, path):
            return found
    link = parse_link(name)
    resolved = library.resolve(link)
    match resolved:
        case Resolved() | Ambiguous():
            if not resolved.anchor_found and (page := page_named(resolved.path, link.anchor)):
                raise _no_page(library, resolved.path, page)
            return NamedNote(
                path=resolved.path,
                anchor=link.anchor if resolved.anchor_found else "",
                line=resolved.line,
                others=resolved.others if isinstance(resolved, Ambiguous) else (),
                missing_anchor="" if resolved.anchor_found else link.anchor,
            )
        case Missing() if resolved.suggestions:
            closest = ", ".join(f"[[{suggestion}]]" for suggestion in resolved.suggestions)
            raise NoteNotFound(f"There is no note {name!r} in the vault.", hint=f"Closest: {closest}.")
    raise NoteNotFound(f"There is no note {name!r} in the vault.", hint=f"Look for it: {search} WORDS")


def _no_page(library: Library, path: str, page: int) -> NoteNotFound:
    outline = library.outline(path)
    pages = counted(len(outline.headings) if outline else 0, "page")
    return NoteNotFound(f"There is no page {page:,} in {path}: it has {pages}.", hint=f"The first: {path}#page=1")


def _at_path(library: Library, name: str) -> NamedNote | None:
    """The file with exactly this path, with or without a line."""
    located = _LINE.fullmatch(name)
    for path, line in ((name, None), *([(located["path"], int(located["line"]))] if located else [])):
        found = library.resolve(Link(text=path, target=f"/{path}"), suggestions=0)
        if isinstance(found, Resolved):
            return NamedNote(path=found.path, line=line)
    return None
