"""Changes of the note index that take effect together: notes with all their rows come and go.

Also the numbers that an index keeps of itself, and which folders of the vault it knows.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from zkchat.errors import StorageDamaged
from zkchat.model.folder import IndexedFiles, KnownFolder, folder_of
from zkchat.model.index import IndexBatch, IndexedNote, Segment
from zkchat.model.note import FileStamp, is_note
from zkchat.storage.note_days import note_commits
from zkchat.storage.note_schema import (
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
