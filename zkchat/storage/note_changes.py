"""Writing to the tables of the note index. All of it happens inside a transaction of the caller."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from zkchat.errors import StorageDamaged
from zkchat.model.index import IndexedNote, Segment
from zkchat.storage.note_rows import INSERT_LINK, link_row, note_row, posting_rows, section_row

_FORGET_NOTE = (
    "DELETE FROM links WHERE note = ?",
    "DELETE FROM link_keys WHERE note = ?",
    "DELETE FROM tags WHERE note = ?",
    "DELETE FROM warnings WHERE note = ?",
    "DELETE FROM unresolved WHERE note = ?",
    "DELETE FROM notes WHERE id = ?",
)


def state(database: sqlite3.Connection, name: str) -> int:
    row: tuple[int] | None = database.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    if row is None or not isinstance(row[0], int):
        raise StorageDamaged("The note index is damaged.", hint="It is only a cache: delete it, and it comes back.")
    return row[0]


def set_state(database: sqlite3.Connection, **values: int) -> None:
    database.executemany("UPDATE state SET value = ? WHERE name = ?", [(value, name) for name, value in values.items()])


def remove_notes(database: sqlite3.Connection, paths: Sequence[str]) -> None:
    known = "SELECT notes.id, first_section, sections FROM json_each(?) AS gone JOIN notes ON notes.path = gone.value"
    for note, first, count in database.execute(known, (json.dumps(paths),)).fetchall():
        database.executemany("INSERT INTO dead VALUES (?)", singles(range(first, first + count)))
        database.execute("DELETE FROM sections WHERE id >= ? AND id < ?", (first, first + count))
        database.execute("DELETE FROM vectors WHERE section >= ? AND section < ?", (first, first + count))
        for statement in _FORGET_NOTE:
            database.execute(statement, (note,))


def add_notes(database: sqlite3.Connection, notes: Sequence[IndexedNote], first_section: int) -> int:
    """Number their sections from `first_section` on; returned is the number after the last."""
    first = database.execute("SELECT coalesce(max(id), 0) + 1 FROM notes").fetchone()[0]
    numbered = [*enumerate(notes, start=first)]
    places = [*accumulate([len(stored.sections) for stored in notes], initial=first_section)]

    database.executemany(
        "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (note_row(number, place, stored) for (number, stored), place in zip(numbered, places, strict=False)),
    )
    sections = ((number, section) for number, stored in numbered for section in stored.sections)
    database.executemany(
        "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)",
        (section_row(place, number, section) for place, (number, section) in enumerate(sections, start=first_section)),
    )
    database.executemany(
        INSERT_LINK,
        (link_row(number, link) for number, stored in numbered for link in stored.note.links),
    )
    with_links = [number for number, stored in numbered if stored.note.links]
    database.executemany("INSERT INTO unresolved VALUES (?)", singles(with_links))
    for statement, texts_of in _LISTS_OF_NOTE:
        database.executemany(statement, ((number, text) for number, stored in numbered for text in texts_of(stored)))
    return places[-1]


_LISTS_OF_NOTE: tuple[tuple[str, Callable[[IndexedNote], Iterable[str]]], ...] = (
    ("INSERT INTO tags (note, tag) VALUES (?, ?)", lambda stored: {tag.casefold() for tag in stored.note.tags}),
    ("INSERT INTO warnings (note, text) VALUES (?, ?)", lambda stored: stored.note.warnings),
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
