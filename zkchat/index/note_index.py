"""The note index in one SQLite cache: notes, links, sections and postings."""

import json
import sqlite3
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
from zkchat.index.note_schema import (
    INSERT_LINK,
    INSERT_NOTE,
    TOUCH_KEYS,
    dated_section_rows,
    note_row,
    numbered,
    passage_row,
    posting_rows,
    require_texts,
    section_row,
    typed,
)
from zkchat.index.vector_files import VectorFiles
from zkchat.storage import CacheDatabase, last_written

_FORGET_NOTE = (
    "DELETE FROM link_keys WHERE note = ?",
    "DELETE FROM tags WHERE note = ?",
    "DELETE FROM warnings WHERE note = ?",
    "DELETE FROM tasks WHERE note = ?",
    "DELETE FROM unresolved WHERE note = ?",
    "DELETE FROM dated_sections WHERE note = ?",
    "DELETE FROM notes WHERE id = ?",
)
_AFTER_SLASH: Final = chr(ord("/") + 1)
_LAST: Final = chr(0x10FFFF)
_UNKNOWN: Final = b""
_STORE: Final = "INSERT OR REPLACE INTO folders VALUES (?, ?, ?)"


def apply_batch(database: sqlite3.Connection, batch: IndexBatch) -> int:
    """Returned is the new generation."""
    _remove_notes(database, [*batch.removed, *(each.stamp.path for each in batch.notes)])
    first_section = state(database, "next_section")
    next_section = _add_notes(database, batch.notes, first_section)
    database.executemany(
        "UPDATE notes SET size = ?, modified_ns = ?, settled = ? WHERE path = ?",
        [(each.size, each.modified_ns, each.settled, each.path) for each in batch.restamped],
    )
    _change_attachments(database, batch)
    _change_names(database, batch)
    forget_listings(database, _paths_of(batch))
    if batch.segment:
        add_segment(database, numbered(batch.segment, first_section))
    generation = state(database, "generation") + 1
    text_generation = state(database, "text_generation") + 1
    set_state(
        database,
        generation=generation,
        text_generation=text_generation,
        next_section=next_section,
        complete=0,
    )
    return generation


def _paths_of(batch: IndexBatch) -> Iterator[str]:
    """The files that the index holds otherwise after a batch."""
    yield from (stored.stamp.path for stored in batch.notes)
    yield from (stamp.path for stamp in batch.restamped)
    yield from batch.removed
    yield from batch.added_files
    yield from batch.removed_files


def _change_attachments(database: sqlite3.Connection, batch: IndexBatch) -> None:
    added = database.executemany("INSERT OR IGNORE INTO attachments VALUES (?)", singles(batch.added_files))
    removed = database.executemany("DELETE FROM attachments WHERE path = ?", singles(batch.removed_files))
    add_to_state(database, attachments=max(added.rowcount, 0) - max(removed.rowcount, 0))


def _change_names(database: sqlite3.Connection, batch: IndexBatch) -> None:
    database.executemany("DELETE FROM names WHERE key = ? AND path = ?", batch.lost_names)
    database.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", batch.names)
    touched = {key for key, _ in (*batch.names, *batch.lost_names)}
    database.execute(TOUCH_KEYS, (json.dumps([*touched]),))


def _remove_notes(database: sqlite3.Connection, paths: Sequence[str]) -> None:
    known = """SELECT notes.id, notes.path, first_section, sections
        FROM json_each(?) AS gone JOIN notes ON notes.path = gone.value"""
    for note, path, first, count in database.execute(known, (json.dumps(paths),)).fetchall():
        links = database.execute("DELETE FROM links WHERE note = ?", (note,)).rowcount
        add_to_state(database, **{_counter(path): -1}, links=-links, sections=-count)
        database.executemany("INSERT INTO dead VALUES (?)", singles(range(first, first + count)))
        database.execute("DELETE FROM sections WHERE id >= ? AND id < ?", (first, first + count))
        database.execute("DELETE FROM passages WHERE first_section = ?", (first,))
        for statement in _FORGET_NOTE:
            database.execute(statement, (note,))


def _counter(path: str) -> str:
    """What counts a file in the state."""
    return "notes" if is_note(path) else "documents"


def _count_added(database: sqlite3.Connection, notes: Sequence[IndexedNote]) -> None:
    added = sum(is_note(stored.stamp.path) for stored in notes)
    add_to_state(
        database,
        notes=added,
        documents=len(notes) - added,
        links=sum(len(stored.note.links) for stored in notes),
        sections=sum(len(stored.sections) for stored in notes),
    )


def _add_notes(database: sqlite3.Connection, notes: Sequence[IndexedNote], first_section: int) -> int:
    """Number their sections from `first_section` on; returned is the number after the last."""
    (first,) = database.execute("SELECT coalesce(max(id), 0) + 1 FROM notes").fetchone()
    numbered = [*enumerate(notes, start=first)]
    starts = [*accumulate([len(stored.sections) for stored in notes], initial=first_section)]

    database.executemany(
        INSERT_NOTE,
        (note_row(number, start, stored) for (number, stored), start in zip(numbered, starts, strict=False)),
    )
    if database.execute("SELECT 1 FROM commits LIMIT 1").fetchone():
        note_commits(database, first)
    sections = ((number, section) for number, stored in numbered for section in stored.sections)
    database.executemany(
        "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)",
        (section_row(id_, number, section) for id_, (number, section) in enumerate(sections, start=first_section)),
    )
    database.executemany(
        "INSERT INTO dated_sections VALUES (?, ?, ?, ?)",
        (
            row
            for (number, stored), start in zip(numbered, starts, strict=False)
            for row in dated_section_rows(number, start, stored)
        ),
    )
    database.executemany(
        "INSERT INTO passages VALUES (?, ?)",
        (passage_row(start, stored) for (_, stored), start in zip(numbered, starts, strict=False) if stored.sections),
    )
    database.executemany(
        INSERT_LINK,
        ((number, *link) for number, stored in numbered for link in stored.note.links),
    )
    with_links = [number for number, stored in numbered if stored.note.links]
    database.executemany("INSERT INTO unresolved VALUES (?)", singles(with_links))
    database.executemany(
        "INSERT INTO warnings (note, text, kind) VALUES (?, ?, ?)",
        ((number, each.text, each.kind) for number, stored in numbered for each in stored.note.warnings),
    )
    database.executemany(
        "INSERT INTO tasks VALUES (?, ?, ?, ?)",
        ((number, *task) for number, stored in numbered for task in stored.note.tasks),
    )
    _count_added(database, notes)
    for statement, texts_of in _LISTS_OF_NOTE:
        database.executemany(statement, ((number, text) for number, stored in numbered for text in texts_of(stored)))
    return starts[-1]


_LISTS_OF_NOTE: tuple[tuple[str, Callable[[IndexedNote], Iterable[str]]], ...] = (
    ("INSERT INTO tags (note, tag) VALUES (?, ?)", lambda stored: {tag.casefold() for tag in stored.note.tags}),
    ("INSERT INTO link_keys (note, key) VALUES (?, ?)", lambda stored: stored.link_keys),
)


def add_segment(database: sqlite3.Connection, segment: Segment) -> None:
    if not segment.slots:
        return
    ((number,),) = database.execute(
        "INSERT INTO segments (slots, sections, lengths, names) VALUES (?, ?, ?, ?) RETURNING id",
        (segment.slots, segment.sections, segment.lengths, segment.names),
    )
    database.executemany("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", posting_rows(number, segment))


def singles(values: Iterable[object]) -> list[tuple[object]]:
    return [(value,) for value in values]


def state(database: sqlite3.Connection, name: str) -> int:
    row: tuple[int] | None = database.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    if row is None or not isinstance(row[0], int):
        raise StorageDamaged("The note index is damaged.", hint="It is only a cache: delete it, and it comes back.")
    return row[0]


def set_state(database: sqlite3.Connection, **values: int) -> None:
    database.executemany("UPDATE state SET value = ? WHERE name = ?", [(value, name) for name, value in values.items()])


def add_to_state(database: sqlite3.Connection, **changes: int) -> None:
    rows = [(change, name) for name, change in changes.items() if change]
    database.executemany("UPDATE state SET value = value + ? WHERE name = ?", rows)


def known_folders(database: sqlite3.Connection) -> dict[str, KnownFolder]:
    rows = typed(database.execute("SELECT path, digest, notes FROM folders"), str, bytes, int)
    return {path: KnownFolder(digest, notes) for path, digest, notes in rows}


def store_known_folders(database: sqlite3.Connection, folders: Mapping[str, KnownFolder], gone: Iterable[str]) -> None:
    database.executemany("DELETE FROM folders WHERE path = ?", [(path,) for path in gone])
    database.executemany(_STORE, [(path, *known) for path, known in folders.items()])


def forget_listings(database: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Files changed: what their folders were when they were last listed does not tell any more what is indexed."""
    database.executemany(_STORE, [(folder, _UNKNOWN, 0) for folder in {*map(folder_of, paths)}])


def files_in(database: sqlite3.Connection, prefix: str) -> IndexedFiles:
    rows = _directly_in(database, "SELECT path, size, modified_ns, settled FROM notes", prefix)
    stamps = {path: FileStamp(path, size, modified_ns, settled == 1) for path, size, modified_ns, settled in rows}
    attachments = {path for (path,) in _directly_in(database, "SELECT path FROM attachments", prefix)}
    require_texts((*stamps, *attachments))
    return IndexedFiles(stamps, attachments)


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
    """Implements `ports.embeddings.VectorIndex`. The files stay when the index is built anew."""

    def __init__(self, file: CacheDatabase, index: Path) -> None:
        super().__init__(index)
        self._file = file

    def passages(self, after: int = 0) -> PassageDigests:
        with self._file.reading() as database:
            ((epoch,),) = note_schema.typed(database.execute("SELECT value FROM state WHERE name = 'epoch'"), int)
            query = "SELECT first_section, digests FROM passages WHERE first_section > ? ORDER BY first_section"
            notes = note_schema.typed(database.execute(query, (after,)), int, bytes)
            if any(len(digests) % DIGEST_BYTES for _, digests in notes):
                raise ValueError("digests that are cut short")
            return PassageDigests(epoch=epoch, notes=notes)

    def sections(self, numbers: Sequence[int]) -> list[StoredSection]:
        with self._file.reading() as database:
            return _sections(database, numbers)


class SqliteNoteIndex:
    """Implements `ports.note_index.NoteIndex`.

    Each thread has its own connection, so that nobody waits for a refresh to read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = CacheDatabase(path, schema=note_schema.SCHEMA, version=note_schema.VERSION)
        self._reading = self._file.reading
        self._writing = self._file.writing
        self.vectors = SqliteVectors(self._file, path)

    def __reduce__(self) -> "tuple[Callable[[Path], SqliteNoteIndex], tuple[Path]]":
        """In another process: the index of the same file, opened there once."""
        return _open_cached, (self._path,)

    def close(self) -> None:
        self._file.close()

    def reset(self) -> None:
        self._file.reset()

    def take_damage(self) -> bool:
        was_damaged, self._file.was_damaged = self._file.was_damaged, False
        return was_damaged

    # --- what is known of notes ---

    def generation(self) -> int:
        with self._reading() as database:
            return state(database, "generation")

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
        with self._reading() as database:
            if not is_note(suffix) and not state(database, "documents"):
                return []
            found = database.execute(note_schema.STAMPS_ENDING, (f"%{suffix}",))
            return [FileStamp(path, size, modified_ns, settled == 1) for path, size, modified_ns, settled in found]

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
        with self._reading() as database:
            rows = database.execute("SELECT path, privacy FROM notes WHERE privacy <> 'open'")
            return dict(note_schema.typed(rows, str, str))

    def copies(self) -> list[list[str]]:
        with self._reading() as database:
            groups = groupby(note_schema.typed(database.execute(note_schema.COPIES), bytes, str), key=itemgetter(0))
            return [[path for _, path in group] for _, group in groups]

    def folders(self) -> KnownFolders:
        with self._reading() as database:
            return KnownFolders(state(database, "generation"), state(database, "epoch"), known_folders(database))

    def files_in(self, prefix: str) -> IndexedFiles:
        with self._reading() as database:
            return files_in(database, prefix)

    def has_attachment_ending(self, suffix: str) -> bool:
        with self._reading() as database:
            query = "SELECT 1 FROM attachments WHERE path LIKE ? LIMIT 1"
            return database.execute(query, (f"%{suffix}",)).fetchone() is not None

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
        with self._reading() as database:
            groups = groupby(note_schema.typed(database.execute(query), str, str), key=itemgetter(0))
            return {tag: [path for _, path in group] for tag, group in groups}

    def tasks(self) -> list[StoredTask]:
        with self._reading() as database:
            return [*map(StoredTask._make, note_schema.typed(database.execute(note_schema.TASKS), str, int, str, str))]

    def warnings(self) -> list[NoteWarning]:
        query = "SELECT path, text, kind FROM warnings JOIN notes ON notes.id = note UNION ALL SELECT * FROM unlisted"
        with self._reading() as database:
            return _warnings(database.execute(f"{query} ORDER BY path"))

    def unlisted(self) -> list[NoteWarning]:
        with self._reading() as database:
            return _warnings(database.execute("SELECT path, text, kind FROM unlisted"))

    # --- changing it ---

    def apply(self, batch: IndexBatch) -> int:
        with self._writing() as database:
            return apply_batch(database, batch)

    def store_folders(self, generation: int, folders: Mapping[str, KnownFolder], gone: Iterable[str]) -> bool:
        with self._writing() as database:
            if state(database, "generation") != generation:
                return False
            store_known_folders(database, folders, gone)
            return True

    def name_rule(self) -> int:
        with self._reading() as database:
            return state(database, "name_rule")

    def store_names(self, rule: int, days: Mapping[str, str | None]) -> int:
        with self._writing() as database:
            rows = [(day, path, day) for path, day in days.items()]
            changed = database.executemany("UPDATE notes SET named = ? WHERE path = ? AND named IS NOT ?", rows)
            generation = state(database, "generation") + (changed.rowcount > 0)
            set_state(database, name_rule=rule, generation=generation)
            return generation

    def commits_read(self) -> tuple[str, str]:
        with self._reading() as database:
            rows = note_schema.typed(database.execute("SELECT head, trouble FROM commits_read"), str, str)
            head, trouble = rows[0] if rows else ("", "")
            return head, trouble

    def store_commits(self, commits: CommittedFiles) -> int:
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
        with self._reading() as database:
            return bool(state(database, "complete"))

    def finish(self) -> None:
        with self._writing() as database:
            set_state(database, complete=1)

    # --- links ---

    def notes_to_resolve(self, limit: int) -> list[str]:
        with self._reading() as database:
            return [
                path for (path,) in note_schema.typed(database.execute(note_schema.NOTES_TO_RESOLVE, (limit,)), str)
            ]

    def links_to_resolve(self, paths: Sequence[str]) -> list[LinkToResolve]:
        with self._reading() as database:
            rows = note_schema.typed(
                database.execute(note_schema.LINKS_TO_RESOLVE, (json.dumps(paths),)), int, str, str, str, int
            )
            return [*map(LinkToResolve._make, rows)]

    def links_from(self, paths: Sequence[str]) -> list[StoredLink]:
        return self._links(note_schema.LINKS_FROM, (json.dumps(paths),))

    def links_to(self, path: str) -> list[StoredLink]:
        return self._links(note_schema.LINKS_TO, (path,))

    def notes_with_keys(self, keys: Collection[str]) -> list[str]:
        with self._reading() as database:
            return [
                path
                for (path,) in note_schema.typed(
                    database.execute(note_schema.NOTES_WITH_KEYS, (json.dumps([*keys]),)), str
                )
            ]

    def doubtful_links(self) -> list[StoredLink]:
        return self._links(note_schema.DOUBTFUL_LINKS)

    def _links(self, query: str, parameters: tuple[str, ...] = ()) -> list[StoredLink]:
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
        with self._reading() as database:
            if touching is None:
                return note_schema.typed(database.execute(note_schema.EDGES), str, str)
            return note_schema.typed(
                database.execute(note_schema.EDGES_TOUCHING, {"paths": json.dumps([*touching])}), str, str
            )

    def store_resolutions(
        self, generation: int, sources: Sequence[str], resolutions: Sequence[tuple[int, Resolution]]
    ) -> bool:
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
            return _sections(database, numbers)

    def section_ranges(self, wanted: NoteFilter, *, newest_first: bool = False) -> list[tuple[int, int]]:
        with self._reading() as database:
            return section_ranges(database, wanted, newest_first=newest_first)

    def segment_sizes(self) -> dict[int, int]:
        with self._reading() as database:
            return dict(note_schema.typed(database.execute("SELECT id, slots FROM segments"), int, int))

    def segment_heads(self) -> list[SegmentHead]:
        with self._reading() as database:
            return _segment_heads(database)

    def dead_count(self) -> int:
        with self._reading() as database:
            count: int = database.execute("SELECT count(*) FROM dead").fetchone()[0]
            return count

    def dead_sections(self) -> list[int]:
        with self._reading() as database:
            return _dead_sections(database)

    def load_segments(self, segments: Sequence[int]) -> tuple[list[tuple[SegmentHead, list[TermPostings]]], list[int]]:
        with self._reading() as database:
            heads = [head for head in _segment_heads(database) if head.id in segments]
            return [(head, _postings(database, head.id)) for head in heads], _dead_sections(database)

    def replace_segments(self, old: Sequence[int], new: Segment, dropped: Sequence[int]) -> None:
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


def _sections(database: sqlite3.Connection, numbers: Sequence[int]) -> list[StoredSection]:
    rows = database.execute(note_schema.SECTIONS, (json.dumps([*numbers]),))
    return [note_schema.section_of(row) for row in rows]


def _warnings(rows: Iterable[tuple[object, ...]]) -> list[NoteWarning]:
    return [NoteWarning(path=path, text=text, kind=kind) for path, text, kind in note_schema.typed(rows, str, str, str)]


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


def _postings(database: sqlite3.Connection, segment: int) -> list[TermPostings]:
    return [
        each
        for row in database.execute(note_schema.POSTINGS_OF_SEGMENT, (segment,))
        for each in note_schema.postings_of_row(*row)
    ]


def _dead_sections(database: sqlite3.Connection) -> list[int]:
    return [
        section for (section,) in note_schema.typed(database.execute("SELECT section FROM dead ORDER BY section"), int)
    ]
