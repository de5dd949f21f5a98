"""The days of notes as the index keeps them, and the notes of some days by them.

Kept is a day as a note tells it, and of a point in time the day in UTC: whatever the time zone, a note is of that day,
of the one before it or of the one after it. Days are numbers, as `date.toordinal` counts them.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import Any, Final

from zkchat.model.dates import DayRange
from zkchat.model.index import DateFacts, NotesOfDays

_MAX_DAY: Final = 1 << 62
_DAY_SECONDS: Final = 86_400
_1970: Final = date(1970, 1, 1).toordinal()
_FIRST_SECOND, _LAST_SECOND = (_DAY_SECONDS * (date(year, 1, 1).toordinal() - _1970) for year in (2, 9999))
"""Of commits whose days are kept. What no calendar holds is of the first day of 1970."""


def day_columns(places: Mapping[str, str]) -> str:
    """The values of `told`, `written` and `changed` by where each of the `DateFacts` of a note stands.

    They are: whether its name or properties tell when it was written, the day of that, the day of its last change.
    """
    told = "coalesce({named}, {created}, {updated})"
    modified = _of_seconds("{modified_ns} / 1000000000")
    updated, committed = _of_text("{updated}"), _of_commit("{committed}")
    written = f"coalesce({_of_text(told)}, {_of_commit('{first_committed}')}, {modified})"
    changed = f"coalesce(max({updated}, {committed}), {updated}, {committed}, {modified})"
    return f"{told} IS NOT NULL, {written}, {changed}".format(**places)


def _of_text(text: str) -> str:
    return f"julianday(substr({text}, 1, 10)) - 1721424.5"


def _of_seconds(seconds: str) -> str:
    return f"({seconds} + {_1970 * _DAY_SECONDS}) / {_DAY_SECONDS}"


def _of_commit(seconds: str) -> str:
    held = f"WHEN {seconds} BETWEEN {_FIRST_SECOND} AND {_LAST_SECOND} THEN {_of_seconds(seconds)}"
    return f"CASE {held} WHEN {seconds} IS NOT NULL THEN {_1970} END"


_COLUMNS: Final = ", ".join(DateFacts._fields)
_FACTS: Final = f"SELECT path, {_COLUMNS} FROM notes"  # noqa: S608 - only our own text, here and below
_FACTS_OF: Final = f"{_FACTS} WHERE path IN (SELECT value FROM json_each(?))"  # noqa: S608
_STORE_DAYS: Final = f"""UPDATE notes
    SET (told, written, changed) = ({day_columns({name: name for name in DateFacts._fields})})"""  # noqa: S608

# A file whose last commit deleted it, of which the id is zero, is none that git knows.
_NOTE_COMMITS: Final = """UPDATE notes SET committed = found.last, first_committed = found.first
    FROM (SELECT id, known.committed, known.first_committed, commits.first_seconds AS first,
            CASE WHEN commits.blob = known.blob THEN seconds END AS last
        FROM notes AS known
        LEFT JOIN commits ON commits.path = known.path AND commits.blob <> zeroblob(20)
        WHERE known.id >= ?) AS found
    WHERE notes.id = found.id AND (found.last IS NOT found.committed OR found.first IS NOT found.first_committed)
    RETURNING id"""


def store_days(database: sqlite3.Connection, column: str, values: Iterable[object]) -> None:
    """Keep the days of notes whose facts are others now; the column `id` or `path` says of which."""
    database.executemany(f"{_STORE_DAYS} WHERE {column} = ?", ((value,) for value in values))


def note_commits(database: sqlite3.Connection, first: int = 0) -> int:
    """Note with each note, from the one of this number on, when it was committed. Returned is how many were changed."""
    changed = [number for (number,) in database.execute(_NOTE_COMMITS, (first,)).fetchall()]
    store_days(database, "id", changed)
    return len(changed)


def date_facts(database: sqlite3.Connection, paths: Collection[str] | None) -> dict[str, DateFacts]:
    """By path, of these notes, or of all."""
    if paths is None:
        return _facts(database.execute(_FACTS))
    return _facts(database.execute(_FACTS_OF, (json.dumps([*paths]),)))


def facts_of_days(database: sqlite3.Connection, wanted: NotesOfDays) -> dict[str, DateFacts]:
    """Of the notes that are wanted, and of some of the days around."""
    if wanted.by_change:
        return _facts_by(database, "changed", "true", wanted)
    return {
        **_facts_by(database, "written", "told = 1", wanted),
        **_facts_by(database, "written", "told = 0", wanted),
    }


def _facts_by(database: sqlite3.Connection, column: str, condition: str, wanted: NotesOfDays) -> dict[str, DateFacts]:
    """By the days in one of the columns, of the notes that fulfil a condition.

    Where the days that are certainly meant have as many notes as are wanted, notes are read up to the day of the last
    of these and two days on: of two notes the earlier one may be a day later than the other in the user's time zone.
    """
    first, last = possible_days(wanted.days)
    order = "ASC" if wanted.oldest_first else "DESC"
    where = f"WHERE {condition} AND {column} BETWEEN ? AND ?"
    if wanted.most is not None:
        nth = f"SELECT {column} FROM notes {where} ORDER BY {column} {order} LIMIT 1 OFFSET ?"  # noqa: S608
        row = database.execute(nth, (*certain_days(wanted.days), wanted.most - 1)).fetchone()
        if row and wanted.oldest_first:
            last = min(last, row[0] + 2)
        elif row:
            first = max(first, row[0] - 2)
    return _facts(database.execute(f"{_FACTS} {where}", (first, last)))


def _facts(rows: Iterable[tuple[Any, ...]]) -> dict[str, DateFacts]:
    return {row[0]: DateFacts._make(row[1:]) for row in rows}


def possible_days(days: DayRange) -> tuple[int, int]:
    """The first and last kept day of notes that are of these days in some time zone."""
    first, end = _ordinals(days)
    return -_MAX_DAY if first is None else first - 1, _MAX_DAY if end is None else end


def certain_days(days: DayRange) -> tuple[int, int]:
    """The first and last kept day of notes that are of these days in every time zone; the last may be before it."""
    first, end = _ordinals(days)
    return -_MAX_DAY if first is None else first + 1, _MAX_DAY if end is None else end - 2


def edge_days(days: DayRange) -> list[int | None]:
    """The four kept days of notes that are of these days in some time zones only; None where there is no such edge."""
    return [None if each is None else each - before for each in _ordinals(days) for before in (1, 0)]


def _ordinals(days: DayRange) -> tuple[int | None, int | None]:
    return days.first.toordinal() if days.first else None, days.end.toordinal() if days.end else None
