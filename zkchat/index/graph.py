"""The link graph: links, backlinks, mentions, neighbours, orphans, broken links and duplicates."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import Ambiguous, Link, Missing, Resolution, Resolved, StoredLink, VaultError, file_title
from zkchat.index.library import Library
from zkchat.index.search.passages import snippet
from zkchat.index.search.terms import UNSPACED_SCRIPTS, begins_unspaced, terms
from zkchat.notes import PLACEHOLDER, Lines, Span, flatten, name_key, prose_of

_LINE_END = re.compile(r"\n")
_CONTEXT_CHARACTERS = 80
"""Characters of a long line that are shown before and after a link."""
_BATCH_NOTES = 500
MAX_MENTION_LINES = 100
"""Lines of one note that mention another."""
_MAX_CANDIDATES = 500
"""Notes that are read, at most, to see where one name is mentioned."""


class Followed(Struct, frozen=True, kw_only=True):
    """A link, the note that contains it, and its resolution."""

    source: str | None
    """None for a link that stands in no note."""
    link: Link
    found: Resolution
    context: str = ""
    """Of a backlink: the line it stands on, or what of a long one is around it."""


class Mention(Struct, frozen=True, kw_only=True):
    """A line of a note that names another note without linking to it."""

    path: str
    line: int
    name: str
    """As it is written there."""
    context: str


class Doubts(Struct, frozen=True, kw_only=True):
    broken: list[Followed]
    ambiguous: list[Followed]
    """Several files answer to them."""
    astray: list[Followed]
    """They find their note, but not the heading or block in it."""


def links(library: Library, path: str) -> list[Followed]:
    return [with_suggestions(library, _followed(library, stored)) for stored in library.links_from(path)]


def with_suggestions(library: Library, followed: Followed) -> Followed:
    if isinstance(followed.found, Missing):
        return replace(followed, found=library.resolve(followed.link, followed.source))
    return followed


def all_links(library: Library) -> Iterator[Followed]:
    paths = [row.path for row in library.indexed()]
    for start in range(0, len(paths), _BATCH_NOTES):
        for stored in library.links_from(*paths[start : start + _BATCH_NOTES]):
            yield _followed(library, stored)


def backlinks(library: Library, path: str) -> list[Followed]:
    stored = [each for each in library.links_to(path) if each.source != path]
    found: list[Followed] = []
    for source, group in groupby(stored, key=attrgetter("source")):
        text = _text_of(library, source)
        starts = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text) + 1]
        for each in group:
            link, context = each.link, ""
            if link.line < len(starts):  # else the note is a shorter one by now
                line = starts[link.line - 1], starts[link.line] - 1
                context = _context(text, line, (link.start, link.end), terms(link.text))
            found.append(replace(_followed(library, each), context=context))
    return found


def mentions(library: Library, path: str) -> list[Mention]:
    """The places where other notes name this one (by title, file name or alias) without linking to it."""
    names = library.names(path)
    pattern = re.compile("|".join(_spellings(names)), re.IGNORECASE)
    asked = [f'"{name.replace(chr(34), " ")}"' for name in names]
    candidates = {hit.path for phrase in asked for hit in library.documents(phrase, limit=_MAX_CANDIDATES)}
    return [mention for source in sorted(candidates - {path}) for mention in _mentions_in(library, source, pattern)]


def neighbours(library: Library, path: str, *, steps: int = 1) -> dict[str, int]:
    """The notes within a number of links of this one, in either direction, with their distance."""
    distances = {path: 0}
    outermost = {path}
    for step in range(1, steps + 1):
        outermost = {note for edge in library.edges(outermost) for note in edge} - distances.keys()
        distances |= dict.fromkeys(sorted(outermost), step)
    return {note: distance for note, distance in distances.items() if distance}


def orphans(library: Library) -> list[str]:
    """The notes without links to or from other notes. Templates are none: they are linked by what is made of them."""
    connected = {note for edge in library.edges() for note in edge}
    return library.without_templates(note.path for note in library.notes() if note.path not in connected)


def doubts(library: Library) -> Doubts:
    """Those of templates that are filled in later, such as `[[{{title}}]]`, are left out."""
    written = (each for each in library.doubtful_links() if not PLACEHOLDER.search(each.link.text))
    followed = [_followed(library, stored) for stored in written]
    return Doubts(
        broken=[each for each in followed if isinstance(each.found, Missing)],
        ambiguous=[each for each in followed if isinstance(each.found, Ambiguous)],
        astray=[
            each for each in followed if isinstance(each.found, Resolved | Ambiguous) and not each.found.anchor_found
        ],
    )


def namesakes(library: Library) -> list[list[str]]:
    """Groups of notes with the same name in different folders: a link by name resolves to only one of them."""
    by_name: dict[str, list[str]] = {}
    for note in library.notes():
        by_name.setdefault(name_key(file_title(note.path)), []).append(note.path)
    return [paths for paths in by_name.values() if len(paths) > 1]


def copies(library: Library) -> list[list[str]]:
    return sorted(library.copies())


def _followed(library: Library, stored: StoredLink) -> Followed:
    """A stored link with its resolution; resolved now if the index has none yet, as while its note is indexed."""
    found = stored.resolution or library.resolve(stored.link, stored.source, suggestions=0)
    return Followed(source=stored.source, link=stored.link, found=found)


def _context(text: str, line: Span, place: Span, asked: Sequence[str]) -> str:
    """The text of a line; of a long line only the part around the position, to bound the cost."""
    start, end = line
    if end - start <= 2_000:
        return snippet(text[start:end], asked)
    first, last = max(start, place[0] - _CONTEXT_CHARACTERS), min(end, place[1] + _CONTEXT_CHARACTERS)
    return f"{'… ' * (first > start)}{' '.join(text[first:last].split())}{' …' * (last < end)}"


def _text_of(library: Library, path: str) -> str:
    """The text of a note; empty if it cannot be read any more."""
    try:
        return flatten(library.read(path))
    except VaultError:
        return ""


_LETTERS = r"\w\u0300-\u036f\u0900-\u0dff"
_BEFORE = rf"(?:(?<![{_LETTERS}#])|(?<=[{UNSPACED_SCRIPTS}]))"
_AFTER = rf"(?:(?![{_LETTERS}])|(?=[{UNSPACED_SCRIPTS}]))"
"""A word ends where its letters do, or where a script without spaces begins."""
_SPACE = r"(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*)"
"""Between the words of a name: a line may end there, a paragraph may not."""
_ADDRESS = re.compile(r"\b\w+://\S+")


def _spellings(names: Iterable[str]) -> list[str]:
    """Regular expressions for names in both normal forms, the longest first. After `#` none matches: it is a tag."""
    written = {unicodedata.normalize(form, " ".join(name.split())) for name in names for form in ("NFC", "NFD")}
    return [
        ("(?<!#)" if begins_unspaced(name) else _BEFORE)
        + _SPACE.join(map(re.escape, name.split()))
        + ("" if begins_unspaced(name[-1]) else _AFTER)
        for name in sorted(written - {""}, key=lambda name: (-len(name), name))
    ]


def _mentions_in(library: Library, path: str, pattern: re.Pattern[str]) -> Iterator[Mention]:
    text = _text_of(library, path)
    prose = _ADDRESS.sub(lambda match: "\0" * len(match[0]), prose_of(text))
    counted, end = Lines(text), 0
    for _ in range(MAX_MENTION_LINES):
        match = pattern.search(prose, end)
        if not match:
            return
        start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.start())
        end = end if end >= 0 else len(text)
        name = " ".join(match[0].split())
        context = _context(text, (start, end), match.span(), terms(name))
        yield Mention(path=path, line=counted.at(match.start()), name=name, context=context)
