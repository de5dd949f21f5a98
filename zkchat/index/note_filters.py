"""Which notes and sections pass a filter, in which order, and the days of notes, as SQL over the note index."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from datetime import date, datetime, tzinfo
from typing import Any, Final, NamedTuple

from zkchat.core import DateFacts, DayRange, NoteFilter, NotesOfDays

_MAX_DAY: Final = 1 << 62
_DAY_SECONDS: Final = 86_400
_SECOND: Final = 1_000_000_000
_1970: Final = date(1970, 1, 1)
_FIRST_SECOND, _LAST_SECOND = (_DAY_SECONDS * (date(year, 1, 1).toordinal() - _1970.toordinal()) for year in (2, 9999))
"""Of commits whose days are kept. What no calendar holds is of the first day of 1970."""


def _of_text(text: str) -> str:
    return f"julianday(substr({text}, 1, 10)) - 1721424.5"


def _of_seconds(seconds: str) -> str:
    return f"({seconds} + {_1970.toordinal() * _DAY_SECONDS}) / {_DAY_SECONDS}"


def _of_commit(seconds: str) -> str:
    held = f"WHEN {seconds} BETWEEN {_FIRST_SECOND} AND {_LAST_SECOND} THEN {_of_seconds(seconds)}"
    return f"CASE {held} WHEN {seconds} IS NOT NULL THEN {_1970.toordinal()} END"


_STATED: Final = "coalesce(named, created, updated)"
_MODIFIED: Final = _of_seconds(f"modified_ns / {_SECOND}")
DAY_COLUMNS: Final = f"""told INT AS ({_STATED} IS NOT NULL),
    written INT AS (coalesce({_of_text(_STATED)}, {_of_commit("first_committed")}, {_MODIFIED})),
    updated_day INT AS ({_of_text("updated")}), committed_day INT AS ({_of_commit("committed")}),
    changed INT AS (coalesce(max(updated_day, committed_day), updated_day, committed_day, {_MODIFIED}))"""
"""Of the table of notes: whether its name or properties tell when a note was written, the day of that, the day of its
last change."""

_COLUMNS: Final = ", ".join(DateFacts._fields)
_FACTS: Final = f"SELECT path, {_COLUMNS} FROM notes"  # noqa: S608 - only our own text, here and below
# A file whose last commit deleted it, of which the id is zero, is none that git knows.
_NOTE_COMMITS: Final = """UPDATE notes SET committed = found.last, first_committed = found.first
    FROM (SELECT id, known.committed, known.first_committed, commits.first_seconds AS first,
            CASE WHEN commits.blob = known.blob THEN seconds END AS last
        FROM notes AS known
        LEFT JOIN commits ON commits.path = known.path AND commits.blob <> zeroblob(20)
        WHERE known.id >= ?) AS found
    WHERE notes.id = found.id AND (found.last IS NOT found.committed OR found.first IS NOT found.first_committed)"""


def note_commits(database: sqlite3.Connection, first: int = 0) -> int:
    """Note with each note, from the one of this number on, when it was committed. Returned is how many were changed."""
    return database.execute(_NOTE_COMMITS, (first,)).rowcount


def date_facts(database: sqlite3.Connection, paths: Collection[str] | None) -> dict[str, DateFacts]:
    if paths is None:
        return _facts(database.execute(_FACTS))
    return _facts(database.execute(f"{_FACTS} WHERE {_WITHIN}", (json.dumps([*paths]),)))


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

    Where the days that are meant in every time zone have as many notes as are wanted, notes are read up to the day of
    the last of these and two days on: of two notes the earlier one may be a day later than the other in the user's.
    """
    first, last = _possible_days(wanted.days)
    order = "ASC" if wanted.oldest_first else "DESC"
    where = f"WHERE {condition} AND {column} BETWEEN ? AND ?"
    if wanted.most is not None:
        nth = f"SELECT {column} FROM notes {where} ORDER BY {column} {order} LIMIT 1 OFFSET ?"  # noqa: S608
        row = database.execute(nth, (first + 2, last - 2, wanted.most - 1)).fetchone()
        if row and wanted.oldest_first:
            last = min(last, row[0] + 2)
        elif row:
            first = max(first, row[0] - 2)
    return _facts(database.execute(f"{_FACTS} {where}", (first, last)))


def _facts(rows: Iterable[tuple[Any, ...]]) -> dict[str, DateFacts]:
    return {row[0]: DateFacts._make(row[1:]) for row in rows}


def _possible_days(days: DayRange) -> tuple[int, int]:
    """The first and last kept day of notes that are of these days in some time zone."""
    return days.first.toordinal() - 1 if days.first else -_MAX_DAY, days.end.toordinal() if days.end else _MAX_DAY


_TAGGED: Final = "id IN (SELECT note FROM tags WHERE tag = ? OR substr(tag, 1, ?) = ?)"
_WITHIN: Final = "path IN (SELECT value FROM json_each(?))"
# Both values are named for the index to be of use.
_WRITTEN: Final = "told IN (0, 1) AND written BETWEEN ? AND ?"
_WHEN_WRITTEN: Final = f"""{_STATED},
    CASE WHEN {_STATED} IS NULL THEN coalesce(first_committed * {_SECOND}, modified_ns) END"""
_WHEN_CHANGED: Final = f"updated, coalesce(committed * {_SECOND}, CASE WHEN updated IS NULL THEN modified_ns END)"

_DATED_SECTIONS: Final = """SELECT first, length, id, path, day, NULL FROM dated_sections CROSS JOIN notes ON id = note
    WHERE day >= ? AND day < ?"""
_OF_OTHER_DAYS: Final = """SELECT note, first, length
    FROM json_each(?) AS listed CROSS JOIN dated_sections ON note = listed.value WHERE NOT (day >= ? AND day < ?)"""
_AFTER_ALL: Final = "9999-99"


class _Stretch(NamedTuple):
    """Sections one after the other: those of a note, or of a part of one."""

    first: int
    length: int
    note: int
    path: str
    stated: str | None
    """When it was written or changed, as the note tells it."""
    instant: int | None
    """The same in nanoseconds since 1970, as git or the file tells it."""
    kept_day: int = 0


def section_ranges(database: sqlite3.Connection, wanted: NoteFilter, *, newest_first: bool) -> list[tuple[int, int]]:
    """First section and count for each stretch of sections that the filter lets through: a note as a whole unless its
    headings tell days of their own. Raises `TypeError` or `ValueError` for rows that were not written so."""
    if wanted.period:
        found = _of_period(database, wanted, wanted.period)
    else:
        notes = f"SELECT first_section, sections, id, path, {_WHEN_CHANGED} FROM notes WHERE true"  # noqa: S608
        found = _stretches(database, notes, wanted)
    if wanted.paths:
        pieces = [piece.casefold() for piece in wanted.paths]
        found = [each for each in found if all(piece in each.path.casefold() for piece in pieces)]
    if newest_first:
        found.sort(key=lambda each: (-_nanoseconds(each, wanted.zone), each.path))
    return [each[:2] for each in found]


def _of_period(database: sqlite3.Connection, wanted: NoteFilter, period: DayRange) -> list[_Stretch]:
    """Notes, without their sections whose headings tell other days; and such sections of other notes."""
    notes = f"SELECT first_section, sections, id, path, {_WHEN_WRITTEN}, written FROM notes WHERE {_WRITTEN}"  # noqa: S608
    first_day, last_day = _possible_days(period)
    written = {
        note.note: note
        for note in _stretches(database, notes, wanted, (first_day, last_day))
        if first_day + 2 <= note.kept_day <= last_day - 2 or _day(note, wanted.zone) in period
    }
    days = [period.first.isoformat() if period.first else "", period.end.isoformat() if period.end else _AFTER_ALL]
    dated = _stretches(database, _DATED_SECTIONS, wanted, days)
    others: dict[int, list[tuple[int, int]]] = {}
    for note, first, length in database.execute(_OF_OTHER_DAYS, (json.dumps([*written]), *days)):
        others.setdefault(note, []).append((first, length))
    whole = [note for note in written.values() if note.note not in others]
    parts = [part for note, cut in others.items() for part in _without(cut, written[note])]
    return [*whole, *parts, *(section for section in dated if section.note not in written)]


def _stretches(
    database: sqlite3.Connection, query: str, wanted: NoteFilter, values: Iterable[object] = ()
) -> list[_Stretch]:
    """What a query finds that ends in a condition, of the notes that the filter lets through whatever its period."""
    conditions = [query]
    parameters = [*values]
    for tag in map(str.casefold, wanted.tags):
        conditions.append(_TAGGED)
        parameters += [tag, len(tag) + 1, f"{tag}/"]
    if wanted.within is not None:
        conditions.append(_WITHIN)
        parameters.append(json.dumps([*wanted.within]))
    rows = [_Stretch(*row) for row in database.execute(" AND ".join(conditions), parameters)]
    if not all(type(row.first) is type(row.length) is int and type(row.path) is str for row in rows):
        raise TypeError("a column holds a value of another kind")
    return rows


def _without(others: list[tuple[int, int]], whole: _Stretch) -> Iterator[_Stretch]:
    """What is left of a stretch of sections without others."""
    position, end = whole.first, whole.first + whole.length
    for first, length in (*sorted(others), (end, 0)):
        if position < first:
            yield whole._replace(first=position, length=first - position)
        position = first + length


def _day(note: _Stretch, zone: tzinfo | None) -> date:
    if note.stated is not None and not note.stated.endswith("Z"):
        return date.fromisoformat(note.stated[:10])
    try:
        return datetime.fromtimestamp(_nanoseconds(note, zone) // _SECOND, zone).date()
    except (OverflowError, ValueError, OSError):
        return _1970


def _nanoseconds(found: _Stretch, zone: tzinfo | None) -> int:
    """Since 1970; the later one, where two times are known."""
    times = [] if found.instant is None else [found.instant]
    if found.stated is not None:
        at = datetime.fromisoformat(found.stated)
        times.append(int((at if at.tzinfo else at.replace(tzinfo=zone)).timestamp()) * _SECOND)
    return max(times)
