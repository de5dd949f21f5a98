"""The note index in one SQLite cache: notes, links, sections and postings."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from zkchat.core import (
    DIGEST_BYTES,
    CatalogRow,
    CommittedFiles,
    DateFacts,
    FileStamp,
    IndexBatch,
    IndexCounts,
    IndexedFiles,
    IndexedNote,
    KnownFolder,
    KnownFolders,
    KnownNote,
    LinkToResolve,
    NoteFilter,
    NotesOfDays,
    NoteWarning,
    PassageDigests,
    PrivacyClass,
    Resolution,
    Segment,
    SegmentHead,
    StorageDamaged,
    StoredLink,
    StoredSection,
    StoredTask,
    TermPostings,
    TextLookup,
    folder_of,
    is_note,
)
from zkchat.index import note_schema
from zkchat.index.note_filters import date_facts, facts_of_days, note_commits, section_ranges
from zkchat.index.vector_files import VectorFiles
from zkchat.storage import CacheDatabase, last_written

_OF_A_NOTE: Final = ("links", "link_keys", "tags", "warnings", "tasks", "unresolved", "dated_sections")
"""The tables with rows of a note, by its number."""
_AFTER_SLASH: Final = chr(ord("/") + 1)
_LAST: Final = chr(0x10FFFF)
_STORE_FOLDER: Final = "INSERT OR REPLACE INTO folders VALUES (?, ?, ?)"


def apply_batch(database: sqlite3.Connection, batch: IndexBatch) -> int:
    """Returned is the new generation."""
    _remove_notes(database, [*batch.removed, *(each.stamp.path for each in batch.notes)])
    first_section = state(database, "next_section")
    next_section = _add_notes(database, batch.notes, first_section)
    database.executemany(
        "UPDATE notes SET size = ?, modified_ns = ?, settled = ? WHERE path = ?",
        [(each.size, each.modified_ns, each.settled, each.path) for each in batch.restamped],
    )
    added = database.executemany("INSERT OR IGNORE INTO attachments VALUES (?)", singles(batch.added_files))
    removed = database.executemany("DELETE FROM attachments WHERE path = ?", singles(batch.removed_files))
    add_to_state(database, attachments=max(added.rowcount, 0) - max(removed.rowcount, 0))
    database.executemany("DELETE FROM names WHERE key = ? AND path = ?", batch.lost_names)
    database.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", batch.names)
    touched = {key for key, _ in (*batch.names, *batch.lost_names)}
    database.execute(note_schema.TOUCH_KEYS, (json.dumps([*touched]),))
    # What these folders were when they were last listed does not tell any more what is indexed.
    stamps = (*(stored.stamp for stored in batch.notes), *batch.restamped)
    paths = (*(stamp.path for stamp in stamps), *batch.removed, *batch.added_files, *batch.removed_files)
    database.executemany(_STORE_FOLDER, [(folder, b"", 0) for folder in {*map(folder_of, paths)}])
    if batch.segment:
        add_segment(database, note_schema.numbered(batch.segment, first_section))
    generation = state(database, "generation") + 1
    text_generation = state(database, "text_generation") + 1
    set_state(database, generation=generation, text_generation=text_generation, next_section=next_section, complete=0)
    return generation


def _remove_notes(database: sqlite3.Connection, paths: Sequence[str]) -> None:
    known = """SELECT notes.id, notes.path, first_section, sections
        FROM json_each(?) AS gone JOIN notes ON notes.path = gone.value"""
    for note, path, first, count in database.execute(known, (json.dumps(paths),)).fetchall():
        removed = {
            table: database.execute(f"DELETE FROM {table} WHERE note = ?", (note,)).rowcount  # noqa: S608 - of ours
            for table in _OF_A_NOTE
        }
        add_to_state(database, **{_counter(path): -1}, links=-removed["links"], sections=-count)
        database.executemany("INSERT INTO dead VALUES (?)", singles(range(first, first + count)))
        database.execute("DELETE FROM sections WHERE id >= ? AND id < ?", (first, first + count))
        database.execute("DELETE FROM passages WHERE first_section = ?", (first,))
        database.execute("DELETE FROM notes WHERE id = ?", (note,))


def _counter(path: str) -> str:
    return "notes" if is_note(path) else "documents"


def _add_notes(database: sqlite3.Connection, notes: Sequence[IndexedNote], first_section: int) -> int:
    """Number their sections from `first_section` on; returned is the number after the last."""
    (first,) = database.execute("SELECT coalesce(max(id), 0) + 1 FROM notes").fetchone()
    starts = [*accumulate([len(stored.sections) for stored in notes], initial=first_section)]
    numbered = [*zip(range(first, first + len(notes)), starts, notes, strict=False)]
    sections = ((number, section) for number, _, stored in numbered for section in stored.sections)

    database.executemany(note_schema.INSERT_NOTE, (note_schema.note_row(*each) for each in numbered))
    if database.execute("SELECT 1 FROM commits LIMIT 1").fetchone():
        note_commits(database, first)
    section_rows = (note_schema.section_row(id_, *each) for id_, each in enumerate(sections, start=first_section))
    database.executemany("INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)", section_rows)
    dated = (row for each in numbered for row in note_schema.dated_section_rows(*each))
    database.executemany("INSERT INTO dated_sections VALUES (?, ?, ?, ?)", dated)
    digests = (note_schema.passage_row(start, stored) for _, start, stored in numbered if stored.sections)
    database.executemany("INSERT INTO passages VALUES (?, ?)", digests)
    for statement, rows_of in _ROWS_OF_NOTES.items():
        database.executemany(statement, ((number, *row) for number, _, stored in numbered for row in rows_of(stored)))
    counts = Counter(_counter(stored.stamp.path) for stored in notes)
    links = sum(len(stored.note.links) for stored in notes)
    add_to_state(database, **counts, links=links, sections=starts[-1] - first_section)
    return starts[-1]


_ROWS_OF_NOTES: Final[Mapping[str, Callable[[IndexedNote], Iterable[tuple[object, ...]]]]] = {
    note_schema.INSERT_LINK: lambda stored: stored.note.links,
    "INSERT INTO unresolved VALUES (?)": lambda stored: [()] if stored.note.links else (),
    "INSERT INTO warnings VALUES (?, ?, ?)": lambda stored: [(each.text, each.kind) for each in stored.note.warnings],
    "INSERT INTO tasks VALUES (?, ?, ?, ?)": lambda stored: stored.note.tasks,
    "INSERT INTO tags (note, tag) VALUES (?, ?)": lambda stored: {(tag.casefold(),) for tag in stored.note.tags},
    "INSERT INTO link_keys (note, key) VALUES (?, ?)": lambda stored: singles(stored.link_keys),
}
"""By statement, what is stored of a note beside its number."""


def add_segment(database: sqlite3.Connection, segment: Segment) -> None:
    if not segment.slots:
        return
    ((number,),) = database.execute(
        "INSERT INTO segments (slots, sections, lengths, names) VALUES (?, ?, ?, ?) RETURNING id",
        (segment.slots, segment.sections, segment.lengths, segment.names),
    )
    database.executemany("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", note_schema.posting_rows(number, segment))


def singles(values: Iterable[object]) -> list[tuple[object]]:
    return [(value,) for value in values]


def state(database: sqlite3.Connection, name: str) -> int:
    row: tuple[int] | None = database.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    if row is None or not isinstance(row[0], int):
        raise StorageDamaged("The search index is damaged.", hint="Rebuild it: zkchat config index --rebuild")
    return row[0]


def set_state(database: sqlite3.Connection, **values: int) -> None:
    database.executemany("UPDATE state SET value = ? WHERE name = ?", [(value, name) for name, value in values.items()])


def add_to_state(database: sqlite3.Connection, **changes: int) -> None:
    rows = [(change, name) for name, change in changes.items() if change]
    database.executemany("UPDATE state SET value = value + ? WHERE name = ?", rows)


def _directly_in(database: sqlite3.Connection, query: str, prefix: str) -> Iterator[tuple[Any, ...]]:
    """The rows whose path is in a folder itself. Those of the folders in it are skipped, folder by folder."""
    ordered = f"{query} WHERE path >= ? AND path < ? ORDER BY path"
    start: str | None = prefix
    end = prefix[:-1] + _AFTER_SLASH if prefix else _LAST
    while start is not None:
        rows, start = database.execute(ordered, (start, end)), None
        for row in rows:
            below, slash, _ = row[0][len(prefix) :].partition("/")
            if slash:
                start = f"{prefix}{below}{_AFTER_SLASH}"
                break
            yield row


class SqliteVectors(VectorFiles):
    """Vectors of passages, by the digest of what was embedded and by method. They stay when the index is built anew."""

    def __init__(self, file: CacheDatabase, index: Path) -> None:
        super().__init__(index)
        self._file = file

    def passages(self, after: int = 0) -> PassageDigests:
        """The digests of all sections whose notes begin after this number, in the order of their numbers."""
        with self._file.reading() as database:
            query = "SELECT first_section, digests FROM passages WHERE first_section > ? ORDER BY first_section"
            notes = note_schema.typed(database.execute(query, (after,)), int, bytes)
            if any(len(digests) % DIGEST_BYTES for _, digests in notes):
                raise ValueError("digests that are cut short")
            return PassageDigests(epoch=state(database, "epoch"), notes=notes)


class SqliteNoteIndex:
    """The whole index: a cache, so any method may raise `StorageDamaged`, and `reset` helps.

    Each method sees, or makes, one consistent state. Every thread may use it, and has its own connection, so that
    nobody waits for a refresh to read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = CacheDatabase(path, schema=note_schema.SCHEMA, version=note_schema.VERSION)
        self._reading = self._file.reading
        self._writing = self._file.writing
        self.close = self._file.close
        self.reset = self._file.reset
        self.vectors = SqliteVectors(self._file, path)

    def __reduce__(self) -> "tuple[Callable[[Path], SqliteNoteIndex], tuple[Path]]":
        """In another process: the index of the same file, opened there once."""
        return _open_cached, (self._path,)

    def take_damage(self) -> bool:
        """Whether it was found damaged when it was opened, and begun anew; told once."""
        was_damaged, self._file.was_damaged = self._file.was_damaged, False
        return was_damaged

    def _rows(self, kinds: Sequence[type], query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """What a query finds, with values of these kinds in its columns."""
        with self._reading() as database:
            return note_schema.typed(database.execute(query, parameters), *kinds)

    def _state(self, name: str) -> int:
        with self._reading() as database:
            return state(database, name)

    # --- what is known of notes ---

    def generation(self) -> int:
        return self._state("generation")

    def counts(self) -> IndexCounts:
        with self._reading() as database:
            return IndexCounts(
                notes=state(database, "notes"),
                links=state(database, "links"),
                sections=state(database, "sections"),
                attachments=state(database, "attachments") + state(database, "documents"),
                bytes=database.execute(note_schema.FILE_BYTES).fetchone()[0],
                changed_at=last_written(self._path),
            )

    def stamps(self) -> dict[str, tuple[int, int, bool]]:
        with self._reading() as database:
            rows = database.execute("SELECT path, size, modified_ns, settled FROM notes")
            stamps = {path: (size, modified_ns, settled == 1) for path, size, modified_ns, settled in rows}
            note_schema.require_texts(stamps)
            return stamps

    def stamps_ending(self, suffix: str) -> list[FileStamp]:
        """Of the files whose names end so, in any case, as they were last read."""
        with self._reading() as database:
            if not is_note(suffix) and not state(database, "documents"):
                return []
            return _stamps(database.execute(note_schema.STAMPS_ENDING, (f"%{suffix}",)))

    def known(self, path: str) -> KnownNote | None:
        with self._reading() as database:
            row = database.execute(note_schema.KNOWN_NOTE, (path,)).fetchone()
            return note_schema.known_note(*row) if row else None

    def date_facts(self, paths: Collection[str] | None = None) -> dict[str, DateFacts]:
        with self._reading() as database:
            return date_facts(database, paths)

    def facts_of_days(self, wanted: NotesOfDays) -> dict[str, DateFacts]:
        with self._reading() as database:
            return facts_of_days(database, wanted)

    def private(self) -> dict[str, PrivacyClass]:
        return dict(self._rows((str, str), "SELECT path, privacy FROM notes WHERE privacy <> 'open'"))

    def copies(self) -> list[list[str]]:
        groups = groupby(self._rows((bytes, str), note_schema.COPIES), key=itemgetter(0))
        return [[path for _, path in group] for _, group in groups]

    def folders(self) -> KnownFolders:
        with self._reading() as database:
            rows = note_schema.typed(database.execute("SELECT path, digest, notes FROM folders"), str, bytes, int)
            known = {path: KnownFolder(digest, notes) for path, digest, notes in rows}
            return KnownFolders(state(database, "generation"), state(database, "epoch"), known)

    def files_in(self, prefix: str) -> IndexedFiles:
        """What is known of a folder, without the folders in it."""
        with self._reading() as database:
            found = _stamps(_directly_in(database, "SELECT path, size, modified_ns, settled FROM notes", prefix))
            attachments = {path for (path,) in _directly_in(database, "SELECT path FROM attachments", prefix)}
            note_schema.require_texts((*(stamp.path for stamp in found), *attachments))
            return IndexedFiles({stamp.path: stamp for stamp in found}, attachments)

    def has_attachment_ending(self, suffix: str) -> bool:
        return bool(self._rows((int,), "SELECT 1 FROM attachments WHERE path LIKE ? LIMIT 1", f"%{suffix}"))

    def catalog(self) -> list[CatalogRow]:
        with self._reading() as database:
            attachments = database.execute("SELECT path FROM attachments")
            return _catalog_rows(database.execute(note_schema.CATALOG), attachments)

    def files_with_keys(self, keys: Collection[str]) -> list[CatalogRow]:
        asked = (json.dumps([*keys]),)
        with self._reading() as database:
            return _catalog_rows(
                database.execute(note_schema.CATALOG_OF_KEYS, asked),
                database.execute(note_schema.ATTACHMENTS_OF_KEYS, asked),
            )

    def tags(self) -> dict[str, list[str]]:
        query = "SELECT tag, path FROM tags JOIN notes ON notes.id = note ORDER BY tag, path"
        groups = groupby(self._rows((str, str), query), key=itemgetter(0))
        return {tag: [path for _, path in group] for tag, group in groups}

    def tasks(self) -> list[StoredTask]:
        return [*map(StoredTask._make, self._rows((str, int, str, str), note_schema.TASKS))]

    def warnings(self) -> list[NoteWarning]:
        query = "SELECT path, text, kind FROM warnings JOIN notes ON notes.id = note UNION ALL SELECT * FROM unlisted"
        return self._warnings(f"{query} ORDER BY path")

    def unlisted(self) -> list[NoteWarning]:
        return self._warnings("SELECT path, text, kind FROM unlisted")

    def _warnings(self, query: str) -> list[NoteWarning]:
        rows = self._rows((str, str, str), query)
        return [NoteWarning(path=path, text=text, kind=kind) for path, text, kind in rows]

    # --- changing it ---

    def apply(self, batch: IndexBatch) -> int:
        """Change it, all or nothing; returned is the new generation. It counts as unfinished until `finish`."""
        with self._writing() as database:
            return apply_batch(database, batch)

    def store_folders(self, generation: int, folders: Mapping[str, KnownFolder], gone: Iterable[str]) -> bool:
        """Remember listings of folders, and forget folders. Refused if notes changed since `generation`."""
        with self._writing() as database:
            if state(database, "generation") != generation:
                return False
            database.executemany("DELETE FROM folders WHERE path = ?", singles(gone))
            database.executemany(_STORE_FOLDER, [(path, *known) for path, known in folders.items()])
            return True

    def name_rule(self) -> int:
        """The number of the rule by which dates were found in names; 0 at first."""
        return self._state("name_rule")

    def store_names(self, rule: int, days: Mapping[str, str | None]) -> int:
        """By path, the dates in names by another rule. Returned is the generation of the index."""
        with self._writing() as database:
            rows = [(day, path, day) for path, day in days.items()]
            changed = database.executemany("UPDATE notes SET named = ? WHERE path = ? AND named IS NOT ?", rows)
            generation = state(database, "generation") + (changed.rowcount > 0)
            set_state(database, name_rule=rule, generation=generation)
            return generation

    def commits_read(self) -> tuple[str, str]:
        """The commit up to which the history was read, and what was in the way."""
        for head, trouble in self._rows((str, str), "SELECT head, trouble FROM commits_read"):
            return head, trouble
        return "", ""

    def store_commits(self, commits: CommittedFiles) -> int:
        """The last and first commits of files. Returned is the generation of the index."""
        rows = [{"path": path, **each._asdict()} for path, each in commits.files.items()]
        with self._writing() as database:
            if commits.is_whole:
                database.execute("DELETE FROM commits")
            database.executemany(note_schema.STORE_COMMIT, rows)
            database.execute("DELETE FROM commits_read")
            database.execute("INSERT INTO commits_read VALUES (?, ?)", (commits.head, commits.trouble))
            generation = state(database, "generation") + (note_commits(database) > 0)
            set_state(database, generation=generation)
            return generation

    def store_unlisted(self, warnings: Sequence[NoteWarning]) -> None:
        rows = [(warning.path, warning.text, warning.kind) for warning in warnings]
        with self._writing() as database:
            database.execute("DELETE FROM unlisted")
            database.executemany("INSERT INTO unlisted VALUES (?, ?, ?)", rows)

    def is_complete(self) -> bool:
        """False while a refresh is under way, and after one that was interrupted."""
        return bool(self._state("complete"))

    def finish(self) -> None:
        with self._writing() as database:
            set_state(database, complete=1)

    # --- links ---

    def notes_to_resolve(self, limit: int) -> list[str]:
        """Notes whose links may lead elsewhere now, some of them."""
        return [path for (path,) in self._rows((str,), note_schema.NOTES_TO_RESOLVE, limit)]

    def links_to_resolve(self, paths: Sequence[str]) -> list[LinkToResolve]:
        rows = self._rows((int, str, str, str, int), note_schema.LINKS_TO_RESOLVE, json.dumps(paths))
        return [*map(LinkToResolve._make, rows)]

    def links_from(self, paths: Sequence[str]) -> list[StoredLink]:
        return self._links(note_schema.LINKS_FROM, json.dumps(paths))

    def links_to(self, path: str) -> list[StoredLink]:
        return self._links(note_schema.LINKS_TO, path)

    def notes_with_keys(self, keys: Collection[str]) -> list[str]:
        return [path for (path,) in self._rows((str,), note_schema.NOTES_WITH_KEYS, json.dumps([*keys]))]

    def doubtful_links(self) -> list[StoredLink]:
        return self._links(note_schema.DOUBTFUL_LINKS)

    def _links(self, query: str, *parameters: str) -> list[StoredLink]:
        with self._reading() as database:

            @cache
            def others_of(path: str, ahead: bytes | None, everyone: bytes) -> tuple[str, ...]:
                first, rest = (
                    database.execute("SELECT paths FROM path_lists WHERE digest = ?", (digest,)).fetchone()
                    for digest in (ahead, everyone)
                )
                return note_schema.others_among(path, first[0] if ahead else "", rest[0])

            return [note_schema.link_of(row, others_of) for row in database.execute(query, parameters)]

    def edges(self, touching: Collection[str] | None = None) -> list[tuple[str, str]]:
        if touching is None:
            return self._rows((str, str), note_schema.EDGES)
        return self._rows((str, str), note_schema.EDGES_TOUCHING, json.dumps([*touching]))

    def store_resolutions(
        self, generation: int, sources: Sequence[str], resolutions: Sequence[tuple[int, Resolution]]
    ) -> bool:
        """What the links of these notes lead to, by the links' numbers. Refused if notes changed since `generation`."""
        with self._writing() as database:
            if state(database, "generation") != generation:
                return False
            lists: dict[bytes, str] = {}
            answers = {id(found): found for _, found in resolutions}  # which many links may share
            rows = {number: note_schema.resolution_row(found, lists) for number, found in answers.items()}
            database.executemany(
                note_schema.STORE_RESOLUTION, ((*rows[id(found)], number) for number, found in resolutions)
            )
            database.executemany("INSERT OR IGNORE INTO path_lists VALUES (?, ?)", lists.items())
            database.execute(note_schema.DROP_UNUSED_LISTS)
            database.execute(note_schema.MARK_RESOLVED, (json.dumps(sources),))
            return True

    # --- the text index ---

    def look_up(self, terms: Collection[str], known: int | None, prefixes: Collection[str] = ()) -> TextLookup:
        with self._reading() as database:
            generation = state(database, "text_generation")
            segments = _segment_heads(database) if generation != known else None
            dead = _dead_sections(database) if generation != known else []
            rows = database.execute(note_schema.POSTINGS_OF_TERMS, (json.dumps([*terms]),))
            postings = [each for term, *row in rows for each in note_schema.postings_of_row(*row, wanted=term)]
            if prefixes:
                found = database.execute(note_schema.POSTINGS_OF_PREFIXES, (json.dumps([*prefixes]),))
                begun = (each for prefix, *row in found for each in note_schema.postings_of_row(*row, prefix=prefix))
                postings = [*{(each.segment, each.term): each for each in (*postings, *begun)}.values()]
        return TextLookup(generation=generation, postings=postings, segments=segments, dead=dead)

    def sections(self, numbers: Sequence[int]) -> list[StoredSection]:
        with self._reading() as database:
            rows = database.execute(note_schema.SECTIONS, (json.dumps([*numbers]),))
            return [note_schema.section_of(row) for row in rows]

    def section_ranges(self, wanted: NoteFilter, *, newest_first: bool = False) -> list[tuple[int, int]]:
        with self._reading() as database:
            return section_ranges(database, wanted, newest_first=newest_first)

    def segment_sizes(self) -> dict[int, int]:
        return dict(self._rows((int, int), "SELECT id, slots FROM segments"))

    def segment_heads(self) -> list[SegmentHead]:
        with self._reading() as database:
            return _segment_heads(database)

    def dead_sections(self) -> list[int]:
        """The sections of segments that are in the vault no more."""
        with self._reading() as database:
            return _dead_sections(database)

    def load_segments(self, segments: Sequence[int]) -> tuple[list[tuple[SegmentHead, list[TermPostings]]], list[int]]:
        """Those that are there, with their postings, and the dead sections."""

        def postings_of(segment: int) -> list[TermPostings]:
            rows = database.execute(note_schema.POSTINGS_OF_SEGMENT, (segment,))
            return [each for row in rows for each in note_schema.postings_of_row(*row)]

        with self._reading() as database:
            parts = [(head, postings_of(head.id)) for head in _segment_heads(database) if head.id in segments]
            return parts, _dead_sections(database)

    def replace_segments(self, old: Sequence[int], new: Segment, dropped: Sequence[int]) -> None:
        """Put one segment in the place of several, unless somebody else already did; `dropped` are gone from it."""
        with self._writing() as database:
            present = {number for (number,) in database.execute("SELECT id FROM segments")}
            if not present.issuperset(old):
                return
            database.executemany("DELETE FROM segments WHERE id = ?", singles(old))
            database.executemany("DELETE FROM postings WHERE segment = ?", singles(old))
            database.executemany("DELETE FROM dead WHERE section = ?", singles(dropped))
            add_segment(database, new)
            set_state(database, text_generation=state(database, "text_generation") + 1)


@cache
def _open_cached(path: Path) -> SqliteNoteIndex:
    return SqliteNoteIndex(path)


def _stamps(rows: Iterable[tuple[Any, ...]]) -> list[FileStamp]:
    return [FileStamp(path, size, modified_ns, settled == 1) for path, size, modified_ns, settled in rows]


def _catalog_rows(notes: Iterable[tuple[Any, ...]], attachments: Iterable[tuple[str]]) -> list[CatalogRow]:
    rows = [
        *(
            CatalogRow(path=path, title=title, aliases=note_schema.names_of(aliases), is_source=is_source == 1)
            for path, title, aliases, is_source in notes
        ),
        *(CatalogRow(path=path) for (path,) in attachments),
    ]
    note_schema.require_texts(text for row in rows for text in (row.path, row.title))
    return rows


def _segment_heads(database: sqlite3.Connection) -> list[SegmentHead]:
    rows = database.execute("SELECT id, slots, sections, lengths, names FROM segments ORDER BY id")
    return [
        SegmentHead(id=number, slots=slots, sections=sections, lengths=lengths, names=names)
        for number, slots, sections, lengths, names in note_schema.typed(rows, int, int, bytes, bytes, bytes)
    ]


def _dead_sections(database: sqlite3.Connection) -> list[int]:
    rows = note_schema.typed(database.execute("SELECT section FROM dead ORDER BY section"), int)
    return [section for (section,) in rows]
