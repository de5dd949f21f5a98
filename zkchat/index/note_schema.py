"""The tables of the note index, how values become rows, and names read from it for shells."""

import json
import sqlite3
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, assert_never

from msgspec.structs import replace

from zkchat.core import (
    Ambiguous,
    Block,
    CatalogRow,
    External,
    Heading,
    IndexedNote,
    KnownNote,
    Link,
    Missing,
    Resolution,
    Resolved,
    Section,
    Segment,
    StoredLink,
    StoredSection,
    TermPostings,
    passage_digest,
)
from zkchat.index.note_filters import DAY_COLUMNS
from zkchat.storage import open_read_only, sibling, storage_errors

VERSION = 27
"""Another number in the file: it is thrown away. To be raised when tables, tokens or parsing change."""

_STATEMENTS = (
    "CREATE TABLE state (name TEXT PRIMARY KEY, value INT) WITHOUT ROWID",
    # A generation that no earlier file has had, so that what others remember of one is not taken for this one.
    """INSERT INTO state VALUES ('generation', abs(random() % (1 << 50))), ('complete', 0),
        ('text_generation', abs(random() % (1 << 50))), ('epoch', abs(random() % (1 << 50))), ('next_section', 1),
        ('name_rule', 0), ('notes', 0), ('documents', 0), ('attachments', 0), ('links', 0), ('sections', 0)""",
    f"""CREATE TABLE notes (
        id INTEGER PRIMARY KEY, path TEXT UNIQUE, size INT, modified_ns INT,
        settled INT, digest BLOB, title TEXT, aliases TEXT,
        headings TEXT, blocks TEXT, first_section INT, sections INT,
        privacy TEXT, named TEXT, created TEXT, updated TEXT, blob BLOB, committed INTEGER,
        first_committed INTEGER, {DAY_COLUMNS})""",
    "CREATE INDEX notes_written ON notes (told, written, first_section, sections)",
    "CREATE INDEX notes_changed ON notes (changed)",
    # The last and the first commit of each file, up to a commit; which notes hold what was committed is noted with
    # them.
    """CREATE TABLE commits (
        path TEXT PRIMARY KEY, blob BLOB, seconds INT, first_seconds INT)
        WITHOUT ROWID""",
    "CREATE TABLE commits_read (head TEXT, trouble TEXT)",
    "CREATE TABLE unresolved (note INTEGER PRIMARY KEY)",
    "CREATE INDEX notes_private ON notes (path, privacy) WHERE privacy <> 'open'",
    "CREATE TABLE attachments (path TEXT PRIMARY KEY) WITHOUT ROWID",
    # The folders that hold notes or attachments, and the digest of what each held when all of it was indexed.
    "CREATE TABLE folders (path TEXT PRIMARY KEY, digest BLOB, notes INT) WITHOUT ROWID",
    # By what links may look for a file: what its name, title, aliases and ids say.
    "CREATE TABLE names (key TEXT, path TEXT, PRIMARY KEY (key, path)) WITHOUT ROWID",
    "CREATE TABLE tags (tag TEXT, note INT, PRIMARY KEY (tag, note)) WITHOUT ROWID",
    "CREATE INDEX tags_note ON tags (note)",
    "CREATE TABLE warnings (note INT, text TEXT, kind TEXT)",
    "CREATE INDEX warnings_note ON warnings (note)",
    "CREATE TABLE tasks (note INT, line INT, state TEXT, text TEXT)",
    "CREATE INDEX tasks_note ON tasks (note)",
    "CREATE TABLE unlisted (path TEXT, text TEXT, kind TEXT)",
    """CREATE TABLE links (
        id INTEGER PRIMARY KEY, note INT, text TEXT, target TEXT, anchor TEXT,
        display TEXT, size TEXT, syntax TEXT, embed INT,
        external INT, start INT, end INT, line INT,
        in_comment INT, in_frontmatter TEXT,
        status TEXT, path TEXT, via TEXT, anchor_found INTEGER, anchor_line INTEGER, ahead BLOB, others BLOB)""",
    "CREATE INDEX links_note ON links (note)",
    "CREATE INDEX links_path ON links (path) WHERE path IS NOT NULL",
    "CREATE INDEX links_ahead ON links (ahead) WHERE ahead IS NOT NULL",
    "CREATE INDEX links_others ON links (others) WHERE others IS NOT NULL",
    # The other files that an ambiguous link may mean: a list that all links of that name share, and one of those that
    # come before the rest, such as notes of the same folder. In each link, it would grow with the square of the vault.
    "CREATE TABLE path_lists (digest BLOB PRIMARY KEY, paths TEXT)",
    "CREATE TABLE link_keys (key TEXT, note INT, PRIMARY KEY (key, note)) WITHOUT ROWID",
    "CREATE INDEX link_keys_note ON link_keys (note)",
    """CREATE TABLE sections (
        id INTEGER PRIMARY KEY, note INT, heading_path TEXT, first_line INT,
        last_line INT, text TEXT)""",
    # The sections of a note whose headings tell a day, neighbours of one day in one row. There
    # is no index by day: all of them are looked through in a moment.
    "CREATE TABLE dated_sections (note, first, length, day TEXT, PRIMARY KEY (note, first)) WITHOUT ROWID",
    """CREATE TABLE segments (
        id INTEGER PRIMARY KEY AUTOINCREMENT, slots INT, sections BLOB, lengths BLOB,
        names BLOB)""",
    """CREATE TABLE postings (
        segment INT, first TEXT, terms TEXT, ends BLOB,
        standing BLOB, naming BLOB)""",
    "CREATE UNIQUE INDEX postings_first ON postings (segment, first)",
    "CREATE TABLE dead (section INTEGER PRIMARY KEY)",
    "CREATE TABLE passages (first_section INTEGER PRIMARY KEY, digests BLOB)",
)
"""A text index in segments: what is written is not rewritten. The sections of a note that is gone are `dead` until the
segments they stand in are merged."""
SCHEMA = tuple(" ".join(statement.split()) for statement in _STATEMENTS)

FILE_BYTES = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
# The last column is `IndexedNote.is_source`.
KNOWN_NOTE = """SELECT digest, title, aliases, headings, blocks, sections > 0 OR privacy = 'never'
    FROM notes WHERE path = ?"""
STORE_COMMIT = """INSERT INTO commits VALUES (
        :path, :blob, :seconds,
        coalesce((SELECT first_seconds FROM commits WHERE path = :first_path), :first_seconds))
    ON CONFLICT (path) DO UPDATE SET blob = excluded.blob, seconds = excluded.seconds"""
INSERT_NOTE = "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
CATALOG = "SELECT path, title, aliases, sections > 0 OR privacy = 'never' FROM notes"
CATALOG_OF_KEYS = """SELECT DISTINCT names.path, title, aliases, sections > 0 OR privacy = 'never'
    FROM json_each(?) AS asked CROSS JOIN names ON names.key = asked.value
    CROSS JOIN notes ON notes.path = names.path"""
ATTACHMENTS_OF_KEYS = """SELECT DISTINCT names.path
    FROM json_each(?) AS asked CROSS JOIN names ON names.key = asked.value
    CROSS JOIN attachments ON attachments.path = names.path"""
# What zkchat saved of a conversation has no sections.
TASKS = """SELECT path, line, state, text FROM tasks JOIN notes ON notes.id = note WHERE sections > 0
    ORDER BY path, line"""
SECTIONS = """SELECT sections.id, notes.path, title, aliases, heading_path, first_line, last_line, text
    FROM json_each(?) AS wanted CROSS JOIN sections ON sections.id = wanted.value CROSS JOIN notes ON notes.id = note
    ORDER BY wanted.key"""
INSERT_LINK = """INSERT INTO links (note, text, target, anchor, display, size, syntax, embed, external, start, end,
    line, in_comment, in_frontmatter) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
STORE_RESOLUTION = """UPDATE links
    SET status = ?, path = ?, via = ?, anchor_found = ?, anchor_line = ?, ahead = ?, others = ? WHERE id = ?"""
DROP_UNUSED_LISTS = """DELETE FROM path_lists WHERE NOT EXISTS (SELECT 1 FROM links WHERE others = digest)
    AND NOT EXISTS (SELECT 1 FROM links WHERE ahead = digest)"""
NOTES_TO_RESOLVE = "SELECT path FROM unresolved JOIN notes ON notes.id = note ORDER BY note LIMIT ?"
MARK_RESOLVED = """DELETE FROM unresolved
    WHERE note IN (SELECT notes.id FROM json_each(?) AS done CROSS JOIN notes ON notes.path = done.value)"""
LINKS_FROM = """SELECT notes.path, links.*
    FROM json_each(?) AS wanted CROSS JOIN notes ON notes.path = wanted.value CROSS JOIN links ON note = notes.id
    ORDER BY wanted.key, links.id"""
LINKS_TO_RESOLVE = """SELECT links.id, notes.path, target, anchor, external
    FROM json_each(?) AS wanted CROSS JOIN notes ON notes.path = wanted.value CROSS JOIN links ON note = notes.id"""
LINKS_TO = """SELECT notes.path, links.*
    FROM links JOIN notes ON notes.id = note WHERE links.path = ? ORDER BY notes.path, links.id"""
DOUBTFUL_LINKS = """SELECT notes.path, links.*
    FROM links JOIN notes ON notes.id = note
    WHERE status IN ('missing', 'ambiguous') OR (status = 'resolved' AND NOT anchor_found)
    ORDER BY notes.path, links.id"""
NOTES_WITH_KEYS = """SELECT notes.path
    FROM json_each(?) AS asked CROSS JOIN link_keys ON link_keys.key = asked.value CROSS JOIN notes ON notes.id = note
    UNION SELECT path FROM notes WHERE privacy = 'never'"""
TOUCH_KEYS = """INSERT OR IGNORE INTO unresolved
    SELECT note FROM json_each(?) AS touched CROSS JOIN link_keys ON link_keys.key = touched.value"""
EDGES = """SELECT DISTINCT source.path, target.path
    FROM links JOIN notes AS source ON source.id = note JOIN notes AS target ON target.path = links.path
    WHERE source.id != target.id"""
EDGES_TOUCHING = """SELECT source.path, target.path
    FROM json_each(?1) AS wanted CROSS JOIN notes AS source ON source.path = wanted.value
    CROSS JOIN links ON note = source.id CROSS JOIN notes AS target ON target.path = links.path
    WHERE source.id != target.id
    UNION SELECT source.path, target.path
    FROM json_each(?1) AS wanted CROSS JOIN notes AS target ON target.path = wanted.value
    CROSS JOIN links ON links.path = wanted.value CROSS JOIN notes AS source ON source.id = note
    WHERE source.id != target.id"""
# The paths are looked through in their own index, not in the far larger table.
STAMPS_ENDING = """SELECT path, size, modified_ns, settled FROM notes
    WHERE id IN (SELECT id FROM notes WHERE path LIKE ?)"""
COPIES = """SELECT digest, path FROM notes
    WHERE size > 0 AND privacy <> 'never' AND digest IN (
        SELECT digest FROM notes WHERE size > 0 AND privacy <> 'never' GROUP BY digest HAVING count(*) > 1)
    ORDER BY digest, path"""
POSTINGS_OF_TERMS = """SELECT asked.value, segment, terms, ends, standing, naming
    FROM segments CROSS JOIN json_each(?) AS asked CROSS JOIN postings ON segment = segments.id AND first =
        (SELECT max(first) FROM postings WHERE segment = segments.id AND first <= asked.value)
    ORDER BY segments.id"""
POSTINGS_OF_PREFIXES = """SELECT asked.value, segment, terms, ends, standing, naming
    FROM segments CROSS JOIN json_each(?) AS asked CROSS JOIN postings ON segment = segments.id
        AND first >= coalesce(
            (SELECT max(first) FROM postings WHERE segment = segments.id AND first <= asked.value), '')
        AND first < asked.value || char(1114111)
    ORDER BY segments.id"""
POSTINGS_OF_SEGMENT = "SELECT segment, terms, ends, standing, naming FROM postings WHERE segment = ?"

_TERMS_OF_ROW = 32
"""A row for each term would take longer to write than all the rest of a segment; with more, rows outgrow their page."""

_BETWEEN_HEADINGS = "\x1f"
SectionRow = tuple[int, str, str, str, str, int, int, str]


def note_row(number: int, first_section: int, stored: IndexedNote) -> tuple[object, ...]:
    note, stamp = stored.note, stored.stamp
    return (
        number,
        stamp.path,
        stamp.size,
        stamp.modified_ns,
        +stamp.settled,
        stored.digest,
        note.title,
        _packed(note.aliases),
        _packed(note.headings),
        _packed(note.blocks),
        first_section,
        len(stored.sections),
        stored.privacy,
        *stored.dates,
        None,
        None,
    )


def section_row(number: int, note: int, section: Section) -> tuple[object, ...]:
    heading_path, text, _, _, first_line, last_line = section
    return number, note, _BETWEEN_HEADINGS.join(heading_path), first_line, last_line, text


def dated_section_rows(note: int, first_section: int, stored: IndexedNote) -> Iterator[tuple[object, ...]]:
    places = groupby(range(len(stored.sections)), key=stored.section_days.get) if stored.section_days else ()
    for day, group in places:
        if day is not None:
            first, *others = group
            yield note, first_section + first, 1 + len(others), day


def passage_row(first_section: int, stored: IndexedNote) -> tuple[object, ...]:
    """The digests of what is embedded of the sections of a note."""
    title = stored.note.title
    return first_section, b"".join([passage_digest(title, section.text) for section in stored.sections])


def require_texts(values: Iterable[object]) -> None:
    """Raises `TypeError` for any other value: damage that SQLite does not see may put one into a column of texts."""
    if not {*map(type, values)} <= {str}:
        raise TypeError("not every value of the column is a text")


def typed(rows: Iterable[tuple[Any, ...]], *kinds: type) -> list[tuple[Any, ...]]:
    """The rows, each with a value of these kinds in each column; `TypeError` if damage has put another there."""
    found = [*rows]
    if any(tuple(map(type, row)) != kinds for row in found):
        raise TypeError("a column holds a value of another kind")
    return found


def section_of(row: SectionRow) -> StoredSection:
    number, path, title, aliases, heading_path, first_line, last_line, text = row
    typed([row], int, str, str, str, str, int, int, str)
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


def numbered(segment: Segment, first: int) -> Segment:
    """With sections that are numbered from `first` on."""
    return replace(segment, sections=struct.pack(f"<{segment.slots}I", *range(first, first + segment.slots)))


def posting_rows(number: int, segment: Segment) -> Iterator[tuple[object, ...]]:
    ends, name_ends = array("I", [0, *segment.section_ends]), array("I", [0, *segment.name_ends])
    for start in range(0, len(segment.terms), _TERMS_OF_ROW):
        terms = segment.terms[start : start + _TERMS_OF_ROW]
        end = start + len(terms)
        standing = segment.section_postings[ends[start] : ends[end]]
        naming = segment.name_postings[name_ends[start] : name_ends[end]]
        packed = (ends[start : end + 1] + name_ends[start : end + 1]).tobytes()
        yield number, terms[0], " ".join(terms), packed, standing, naming


def postings_of_row(
    segment: int,
    terms: str,
    packed_ends: bytes,
    standing: bytes,
    naming: bytes,
    *,
    wanted: str | None = None,
    prefix: str = "",
) -> list[TermPostings]:
    """Those of one term, or of all that begin with the prefix."""
    listed = terms.split(" ")
    both = array("I")
    both.frombytes(packed_ends)
    ends, name_ends = both[: len(listed) + 1], both[len(listed) + 1 :]
    if (ends[-1] - ends[0], name_ends[-1] - name_ends[0]) != (len(standing), len(naming)):
        raise ValueError("postings that do not fit their terms")
    if wanted is None:
        indexes = [index for index, term in enumerate(listed) if term.startswith(prefix)]
    else:
        indexes = [listed.index(wanted)] if wanted in listed else []
    return [
        TermPostings(
            segment=segment,
            term=listed[index],
            sections=standing[ends[index] - ends[0] : ends[index + 1] - ends[0]],
            names=naming[name_ends[index] - name_ends[0] : name_ends[index + 1] - name_ends[0]],
        )
        for index in indexes
    ]


def _packed(values: Sequence[object]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else ""


def _unpacked(packed: str) -> list[Any]:
    return json.loads(packed) if packed else []


def names_of(packed: str) -> tuple[str, ...]:
    names = tuple(_unpacked(packed))
    require_texts(names)
    return names


def known_note(digest: bytes, title: str, aliases: str, headings: str, blocks: str, is_source: int) -> KnownNote:
    require_texts((title,))
    return KnownNote(
        digest=digest,
        title=title,
        aliases=names_of(aliases),
        headings=tuple(Heading(*row) for row in _unpacked(headings)),
        blocks=tuple(Block(*row) for row in _unpacked(blocks)),
        is_source=is_source == 1,
    )


OthersOf = Callable[[str, bytes | None, bytes], tuple[str, ...]]
_FLAGS = [Link._fields.index(name) for name in ("embed", "external", "in_comment")]


def link_of(row: tuple[Any, ...], others_of: OthersOf) -> StoredLink:
    source, number, _, *written, status, path, via, anchor_found, line, ahead, everyone = row
    for flag in _FLAGS:
        written[flag] = written[flag] == 1
    link = Link(*written)
    require_texts((source, link.text, link.target, link.anchor, link.display))
    found: Resolution | None = None
    match status:
        case "resolved":
            found = Resolved(path=path, via=via, anchor_found=anchor_found == 1, line=line)
        case "ambiguous":
            others = others_of(path, ahead, everyone)
            found = Ambiguous(path=path, via=via, others=others, anchor_found=anchor_found == 1, line=line)
        case "missing":
            found = Missing(target=link.target)
        case "external":
            found = External(address=link.target)
    return StoredLink(id=number, source=source, link=link, resolution=found)


def resolution_row(found: Resolution, lists: dict[bytes, str]) -> tuple[object, ...]:
    """Status, path, via, anchor_found, anchor_line, ahead, others. The rest is known from the link.

    The lists that it refers to are added to `lists`.
    """
    match found:
        case Resolved(path=path, via=via, anchor_found=anchor_found, line=line):
            return "resolved", path, via, +anchor_found, line, None, None
        case Ambiguous(path=path, via=via, others=others, anchor_found=anchor_found, line=line):
            # Those of the other files that come before the rest, and all files, the shortest path first.
            everyone = sorted((path, *others), key=lambda each: (len(each), each))
            place = {each: at for at, each in enumerate(everyone)}
            steps = pairwise([place[each] for each in (path, *others)])
            end = max((at for at, (before, after) in enumerate(steps) if before > after), default=0)
            ahead = _listed(others[:end], lists) if end else None
            return "ambiguous", path, via, +anchor_found, line, ahead, _listed(everyone, lists)
        case Missing():
            return "missing", *[None] * 6
        case External():
            return "external", *[None] * 6
    assert_never(found)


def _listed(paths: Sequence[str], lists: dict[bytes, str]) -> bytes:
    """The digest of a list of paths, which is added to `lists`."""
    packed = _packed(paths)
    digest = blake2b(packed.encode(errors="surrogatepass"), digest_size=16).digest()
    lists[digest] = packed
    return digest


def others_among(path: str, ahead: str, everyone: str) -> tuple[str, ...]:
    """The other files that an ambiguous link may mean besides `path`, of two lists."""
    first = names_of(ahead)
    return (*first, *(each for each in names_of(everyone) if each != path and each not in first))


_SESSIONS = "SELECT id, title, listed FROM sessions ORDER BY updated_at DESC"
_FACTS = "SELECT id, text FROM facts WHERE replaced_by IS NULL ORDER BY at DESC"


def read_notes(index: Path) -> list[CatalogRow]:
    """The notes of an index of this version; none of another. Raises `StorageError`."""
    with _reading(index, version=VERSION) as database:
        rows = database.execute(CATALOG) if database else ()
        return [CatalogRow(path=path, title=title, aliases=names_of(aliases)) for path, title, aliases, _ in rows]


def read_headings(index: Path, path: str) -> list[str]:
    with _reading(index, version=VERSION) as database:
        row = database.execute(KNOWN_NOTE, (path,)).fetchone() if database else None
        return [heading.text for heading in known_note(*row).headings] if row else []


def read_tags(index: Path) -> list[str]:
    with _reading(index, version=VERSION) as database:
        return [tag for (tag,) in database.execute("SELECT DISTINCT tag FROM tags")] if database else []


def read_sessions(sessions: Path) -> list[tuple[str, str, bool]]:
    """Ids, titles, and whether they are in lists; the last used first."""
    with _reading(sessions) as database:
        return database.execute(_SESSIONS).fetchall() if database else []


def read_facts(memories: Path) -> list[tuple[str, str]]:
    """Ids and texts, the newest first."""
    with _reading(memories) as database:
        return database.execute(_FACTS).fetchall() if database else []


@contextmanager
def _reading(path: Path, *, version: int | None = None) -> Iterator[sqlite3.Connection | None]:
    """The database; None where there is none, or one of another version."""
    with storage_errors(path):
        if not path.is_file():
            yield None
            return
        # Where no other process has it open, SQLite would make the files of a log for us to read nothing from.
        is_in_use = sibling(path, "-shm").exists()
        with closing(open_read_only(path, is_immutable=not is_in_use)) as database:
            found = database.execute("PRAGMA user_version").fetchone()[0]
            yield database if version in {None, found} else None
