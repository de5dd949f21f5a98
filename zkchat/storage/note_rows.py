"""The tables of the note index, and how values become rows and rows values."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Generic, TypeVar, assert_never

from zkchat.model.index import IndexedNote, KnownNote, StoredLink, StoredSection
from zkchat.model.note import Ambiguous, Block, External, Heading, Link, Missing, Resolution, Resolved

T = TypeVar("T")

VERSION = 3
"""Another number in the file: it is thrown away. To be raised when tables, tokens or parsing change."""

SCHEMA = (
    "CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    # A generation that no earlier file has had, so that what others remember of one is not taken for this one.
    """INSERT INTO state VALUES ('generation', abs(random() % (1 << 50))), ('complete', 0),
        ('text_generation', abs(random() % (1 << 50))), ('next_section', 1)""",
    """CREATE TABLE notes (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, modified_ns INTEGER NOT NULL,
        settled INTEGER NOT NULL, digest BLOB NOT NULL, title TEXT NOT NULL, aliases TEXT NOT NULL,
        headings TEXT NOT NULL, blocks TEXT NOT NULL, first_section INTEGER NOT NULL, sections INTEGER NOT NULL,
        unresolved INTEGER NOT NULL)""",
    "CREATE INDEX notes_unresolved ON notes (id) WHERE unresolved",
    "CREATE TABLE attachments (path TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE tags (tag TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (tag, note)) WITHOUT ROWID",
    "CREATE INDEX tags_note ON tags (note)",
    "CREATE TABLE warnings (note INTEGER NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX warnings_note ON warnings (note)",
    """CREATE TABLE links (
        id INTEGER PRIMARY KEY, note INTEGER NOT NULL, link TEXT NOT NULL, status TEXT, path TEXT, details TEXT)""",
    "CREATE INDEX links_note ON links (note)",
    "CREATE INDEX links_path ON links (path) WHERE path IS NOT NULL",
    "CREATE TABLE link_keys (key TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (key, note)) WITHOUT ROWID",
    "CREATE INDEX link_keys_note ON link_keys (note)",
    """CREATE TABLE sections (
        id INTEGER PRIMARY KEY, note INTEGER NOT NULL, heading_path TEXT NOT NULL, first_line INTEGER NOT NULL,
        last_line INTEGER NOT NULL, text TEXT NOT NULL)""",
    """CREATE TABLE segments (
        id INTEGER PRIMARY KEY AUTOINCREMENT, slots INTEGER NOT NULL, sections BLOB NOT NULL, lengths BLOB NOT NULL,
        names BLOB NOT NULL)""",
    """CREATE TABLE postings (
        segment INTEGER NOT NULL, term TEXT NOT NULL, sections BLOB NOT NULL, names BLOB NOT NULL,
        PRIMARY KEY (segment, term)) WITHOUT ROWID""",
    "CREATE TABLE dead (section INTEGER PRIMARY KEY)",
    "CREATE TABLE vectors (section INTEGER PRIMARY KEY, vector BLOB NOT NULL)",
    "CREATE TABLE vector_method (name TEXT NOT NULL)",
)
"""A text index in segments: what is written is not rewritten. The sections of a note that is gone are `dead` until the
segments they stand in are merged."""

COUNTS = """SELECT count(*), (SELECT count(*) FROM links), coalesce(sum(sections), 0),
    (SELECT count(*) FROM attachments), (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)
    FROM notes"""
LINKS_FROM = """SELECT links.id, notes.path, link, status, links.path, details
    FROM json_each(?) AS wanted CROSS JOIN notes ON notes.path = wanted.value CROSS JOIN links ON note = notes.id
    ORDER BY wanted.key, links.id"""
LINKS_TO = """SELECT links.id, notes.path, link, status, links.path, details
    FROM links JOIN notes ON notes.id = note WHERE links.path = ? ORDER BY notes.path, links.id"""
DOUBTFUL_LINKS = """SELECT links.id, notes.path, link, status, links.path, details
    FROM links JOIN notes ON notes.id = note
    WHERE status IN ('missing', 'ambiguous') OR (status = 'resolved' AND NOT json_extract(details, '$.anchor_found'))
    ORDER BY notes.path, links.id"""
EDGES = """SELECT DISTINCT source.path, target.path
    FROM links JOIN notes AS source ON source.id = note JOIN notes AS target ON target.path = links.path
    WHERE source.id != target.id"""
EDGES_TOUCHING = """SELECT source.path, target.path
    FROM json_each(:paths) AS wanted CROSS JOIN notes AS source ON source.path = wanted.value
    CROSS JOIN links ON note = source.id CROSS JOIN notes AS target ON target.path = links.path
    WHERE source.id != target.id
    UNION SELECT source.path, target.path
    FROM json_each(:paths) AS wanted CROSS JOIN notes AS target ON target.path = wanted.value
    CROSS JOIN links ON links.path = wanted.value CROSS JOIN notes AS source ON source.id = note
    WHERE source.id != target.id"""
COPIES = """SELECT digest, path FROM notes
    WHERE size > 0 AND digest IN (SELECT digest FROM notes WHERE size > 0 GROUP BY digest HAVING count(*) > 1)
    ORDER BY digest, path"""
POSTINGS_OF_TERMS = """SELECT segment, term, postings.sections, postings.names
    FROM segments CROSS JOIN json_each(?) AS asked CROSS JOIN postings ON segment = segments.id AND term = asked.value
    ORDER BY segments.id"""

_BETWEEN_HEADINGS = "\x1f"
SectionRow = tuple[int, str, str, str, str, int, int, str]


class _Packing(Generic[T]):
    """Flat values of one class as JSON, and back."""

    def __init__(self, kind: type[T], *names: str) -> None:
        self._kind = kind
        self._names = names
        self._values_of = attrgetter(*names)

    def packed(self, values: Iterable[T]) -> str:
        rows = [*map(self._values_of, values)]
        return json.dumps(rows, ensure_ascii=False) if rows else ""

    def unpacked(self, packed: str) -> tuple[T, ...]:
        rows = json.loads(packed) if packed else ()
        return tuple(self._kind(**dict(zip(self._names, row, strict=True))) for row in rows)


_HEADINGS = _Packing(Heading, *(each.name for each in fields(Heading)))
_BLOCKS = _Packing(Block, *(each.name for each in fields(Block)))
_LINKS = _Packing(Link, *(each.name for each in fields(Link)))


def note_row(number: int, stored: IndexedNote) -> tuple[object, ...]:
    note, stamp = stored.note, stored.stamp
    return (
        number,
        stamp.path,
        stamp.size,
        stamp.modified_ns,
        stamp.settled,
        stored.digest,
        note.title,
        packed_names(note.aliases),
        _HEADINGS.packed(note.headings),
        _BLOCKS.packed(note.blocks),
        stored.first_section,
        len(stored.sections),
        bool(note.links),
    )


def section_rows(number: int, stored: IndexedNote) -> Iterable[tuple[object, ...]]:
    return (
        (place, number, _BETWEEN_HEADINGS.join(each.heading_path), each.first_line, each.last_line, each.text)
        for place, each in enumerate(stored.sections, start=stored.first_section)
    )


def section_of(row: SectionRow) -> StoredSection:
    number, path, title, aliases, heading_path, first_line, last_line, text = row
    return StoredSection(
        id=number,
        path=path,
        title=title,
        aliases=names_of(aliases),
        heading_path=tuple(heading_path.split(_BETWEEN_HEADINGS)) if heading_path else (),
        first_line=first_line,
        last_line=last_line,
        text=text,
    )


def packed_names(names: Sequence[str]) -> str:
    return json.dumps(names, ensure_ascii=False) if names else ""


def names_of(packed: str) -> tuple[str, ...]:
    return tuple(json.loads(packed)) if packed else ()


def known_note(digest: bytes, title: str, aliases: str, headings: str, blocks: str) -> KnownNote:
    return KnownNote(
        digest=digest,
        title=title,
        aliases=names_of(aliases),
        headings=_HEADINGS.unpacked(headings),
        blocks=_BLOCKS.unpacked(blocks),
    )


def packed_link(link: Link) -> str:
    return _LINKS.packed([link])


def link_of(
    number: int, source: str, packed: str, status: str | None, path: str | None, details: str | None
) -> StoredLink:
    (link,) = _LINKS.unpacked(packed)
    return StoredLink(
        id=number,
        source=source,
        link=link,
        resolution=_resolution_of(status, path or "", details or "{}"),
    )


def packed_resolution(found: Resolution) -> tuple[str, str | None, str | None]:
    """Status, path and the rest."""
    match found:
        case Resolved(path=path, via=via, anchor_found=anchor_found, line=line):
            return "resolved", path, json.dumps({"via": via, "anchor_found": anchor_found, "line": line})
        case Ambiguous(path=path, via=via, others=others, anchor_found=anchor_found, line=line):
            rest = {"via": via, "others": others, "anchor_found": anchor_found, "line": line}
            return "ambiguous", path, json.dumps(rest, ensure_ascii=False)
        case Missing(target=target):
            return "missing", None, json.dumps({"target": target}, ensure_ascii=False)
        case External(address=address):
            return "external", None, json.dumps({"address": address}, ensure_ascii=False)
    assert_never(found)


def _resolution_of(status: str | None, path: str, details: str) -> Resolution | None:
    rest = json.loads(details)
    match status:
        case "resolved":
            return Resolved(path=path, **rest)
        case "ambiguous":
            return Ambiguous(path=path, **{**rest, "others": tuple(rest["others"])})
        case "missing":
            return Missing(**rest)
        case "external":
            return External(**rest)
        case _:
            return None
