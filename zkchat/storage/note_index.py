"""The note index in one SQLite cache: notes, links, sections and postings."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from zkchat.model.embeddings import DIGEST_BYTES, PassageDigests
from zkchat.model.folder import IndexedFiles, KnownFolder, KnownFolders
from zkchat.model.history import CommittedFiles
from zkchat.model.index import (
    CatalogRow,
    DateFacts,
    IndexBatch,
    IndexCounts,
    KnownNote,
    LinkToResolve,
    NoteFilter,
    NotesOfDays,
    Segment,
    SegmentHead,
    StoredLink,
    StoredSection,
    StoredTask,
    TermPostings,
    TextLookup,
)
from zkchat.model.note import FileStamp, NoteWarning, PrivacyClass, Resolution, is_note
from zkchat.storage import note_schema
from zkchat.storage.cache_database import CacheDatabase
from zkchat.storage.database import last_written
from zkchat.storage.index_batches import (
    add_segment,
    apply_batch,
    files_in,
    known_folders,
    set_state,
    singles,
    state,
    store_known_folders,
)
from zkchat.storage.note_days import date_facts, facts_of_days, note_commits, section_ranges
from zkchat.storage.vector_files import VectorFiles


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
