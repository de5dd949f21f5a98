"""Which notes and sections pass a filter, as SQL over the note index, and in which order they are listed."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from operator import itemgetter
from typing import Any, Final

from zkchat.model.dates import DayRange
from zkchat.model.index import NoteFilter
from zkchat.storage.note_days import certain_days, edge_days

_MAX_INT64: Final = (1 << 63) - 1
_SECOND: Final = 1_000_000_000
_MAX_SECONDS: Final = _MAX_INT64 // _SECOND
_LATEST_TEXT: Final = "9999-99"

_TAGGED: Final = "id IN (SELECT note FROM tags WHERE tag = ? OR substr(tag, 1, ?) = ?)"
_STATED: Final = "coalesce(named, created, updated)"
_INSTANT: Final = f"coalesce(first_committed * {_SECOND}, modified_ns)"
"""When a note was written of which neither its name nor its properties tell it."""
_CHANGED: Final = f"coalesce(committed * {_SECOND}, CASE WHEN updated IS NULL THEN modified_ns END)"
_WRITTEN_IN: Final = f"""CASE
    WHEN {_STATED} IS NULL THEN {_INSTANT} >= ? AND {_INSTANT} < ?
    WHEN {_STATED} GLOB '*Z' THEN {_STATED} >= ? AND {_STATED} < ?
    ELSE {_STATED} >= ? AND {_STATED} < ? END"""
"""What a name or the frontmatter says is compared as a text, because ISO dates are in the order of time."""
_KEPT_BETWEEN: Final = "told IN (0, 1) AND written BETWEEN ? AND ?"
_KEPT_ON: Final = "told IN (0, 1) AND written IN (?, ?, ?, ?)"
"""By the days that are kept of notes. Both values of `told` are named for the index to be of use."""
_DAY_IN: Final = "day >= ? AND day < ?"
_OF_OTHER_DAYS: Final = """SELECT first, length, note
    FROM json_each(?) AS listed CROSS JOIN dated_sections ON note = listed.value"""
_WITHIN: Final = "path IN (SELECT value FROM json_each(?))"


def section_ranges(database: sqlite3.Connection, wanted: NoteFilter, *, newest_first: bool) -> list[tuple[int, int]]:
    """First section and count for each stretch of sections that the filter lets through: a note as a whole unless its
    headings tell days of their own. Raises `TypeError` or `ValueError` for rows that were not written so."""
    times = f"{_STATED}, {_INSTANT}" if wanted.period else f"updated, {_CHANGED}"
    columns = f"id, path, {times}" if wanted.paths or newest_first else "id"
    if wanted.period:
        rows = _of_period(database, wanted, wanted.period, columns)
    else:
        rows = _of_notes(database, wanted, columns)
    if wanted.paths:
        pieces = [piece.casefold() for piece in wanted.paths]
        rows = [row for row in rows if all(piece in row[3].casefold() for piece in pieces)]
    if newest_first:
        order = _nanoseconds if wanted.period else _last_nanoseconds
        rows.sort(key=lambda row: (-order(row[4], row[5], wanted.zone), row[3]))
    return [row[:2] for row in rows]


def _of_notes(
    database: sqlite3.Connection,
    wanted: NoteFilter,
    columns: str,
    condition: str = "true",
    values: Sequence[object] = (),
) -> list[tuple[Any, ...]]:
    """The notes that fulfil a condition beside what the filter asks, whatever its period."""
    conditions, others = _conditions(wanted)
    query = f"SELECT first_section, sections, {columns} FROM notes"  # noqa: S608 - only our own text
    return _rows(database, query, [condition, *conditions], [*values, *others])


def _of_period(
    database: sqlite3.Connection, wanted: NoteFilter, period: DayRange, columns: str
) -> list[tuple[Any, ...]]:
    """Notes, and parts of notes, that were written in a period. Only of those at its edges the time has to be known."""
    bounds = _bounds(period, wanted.zone)
    rows = [
        *_of_notes(database, wanted, columns, _KEPT_BETWEEN, certain_days(period)),
        *_of_notes(database, wanted, columns, f"{_KEPT_ON} AND {_WRITTEN_IN}", [*edge_days(period), *bounds]),
    ]
    return _without_other_days(database, period, rows) + _of_dated_sections(database, wanted, period, columns)


def _rows(
    database: sqlite3.Connection, query: str, conditions: list[str], values: list[object]
) -> list[tuple[Any, ...]]:
    """What a query finds whose first two columns are numbers."""
    rows = database.execute(f"{query} WHERE {' AND '.join(conditions)}", values).fetchall()
    if not {*map(type, map(itemgetter(0), rows)), *map(type, map(itemgetter(1), rows))} <= {int}:
        raise TypeError("a column holds a value of another kind")
    return rows


def _without_other_days(
    database: sqlite3.Connection, period: DayRange, rows: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """The notes of the period without their sections whose headings tell a day outside of it."""
    others: dict[int, list[tuple[int, int]]] = {}
    listed = json.dumps([row[2] for row in rows])
    for first, length, note in _rows(database, _OF_OTHER_DAYS, [f"NOT ({_DAY_IN})"], [listed, *_days(period)]):
        others.setdefault(note, []).append((first, length))
    parts = [part for row in rows if row[2] in others for part in _without(others[row[2]], row)]
    return [row for row in rows if row[2] not in others] + parts


def _without(others: list[tuple[int, int]], row: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """What is left of a stretch of sections without others."""
    position, end = row[0], row[0] + row[1]
    for first, length in (*sorted(others), (end, 0)):
        if position < first:
            yield position, first - position, *row[2:]
        position = first + length


def _of_dated_sections(
    database: sqlite3.Connection, wanted: NoteFilter, period: DayRange, columns: str
) -> list[tuple[Any, ...]]:
    """The sections whose headings tell a day of the period, of notes that are not of it."""
    conditions, values = _conditions(wanted)
    own = columns.replace(_STATED, "day")
    return _rows(
        database,
        f"SELECT first, length, {own} FROM dated_sections CROSS JOIN notes ON id = note",  # noqa: S608 - our own
        [_DAY_IN, *conditions, f"NOT ({_WRITTEN_IN})"],
        [*_days(period), *values, *_bounds(period, wanted.zone)],
    )


def _days(period: DayRange) -> list[object]:
    first, end = period.first, period.end
    return [first.isoformat() if first else "", end.isoformat() if end else _LATEST_TEXT]


def _conditions(wanted: NoteFilter) -> tuple[list[str], list[object]]:
    """What a filter asks of a note beside its time."""
    conditions: list[str] = []
    values: list[object] = []
    for tag in map(str.casefold, wanted.tags):
        conditions.append(_TAGGED)
        values += [tag, len(tag) + 1, f"{tag}/"]
    if wanted.within is not None:
        conditions.append(_WITHIN)
        values.append(json.dumps([*wanted.within]))
    return conditions, values


def _bounds(period: DayRange, zone: tzinfo | None) -> list[object]:
    """For `_WRITTEN_IN`: beginning and end as files count, in UTC, and as days."""
    begins = _seconds(period.first, zone) if period.first else None
    ends = _seconds(period.end, zone) if period.end else None
    return [
        -_MAX_INT64 if begins is None else begins * _SECOND,
        _MAX_INT64 if ends is None else ends * _SECOND,
        "" if begins is None else _utc_text(begins),
        _LATEST_TEXT if ends is None else _utc_text(ends),
        *_days(period),
    ]


def _seconds(day: date, zone: tzinfo | None) -> int:
    """Since 1970, of the beginning of a day; a time that the system cannot count is the earliest or latest it can."""
    try:
        seconds = int(datetime.combine(day, time.min, tzinfo=zone).timestamp())
    except (OverflowError, ValueError, OSError):
        return _MAX_SECONDS if day.year > 1970 else -_MAX_SECONDS
    return max(-_MAX_SECONDS, min(_MAX_SECONDS, seconds))


def _utc_text(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, ValueError, OSError):
        return _LATEST_TEXT if seconds > 0 else ""


def _last_nanoseconds(updated: str | None, instant: int | None, zone: tzinfo | None) -> int:
    """The later of the two."""
    stated = [] if updated is None else [_nanoseconds(updated, 0, zone)]
    return max([*stated, *([] if instant is None else [instant])])


def _nanoseconds(stated: str | None, instant: int, zone: tzinfo | None) -> int:
    if stated is None:
        return instant
    at = datetime.fromisoformat(stated)
    return int((at if at.tzinfo else at.replace(tzinfo=zone)).timestamp()) * _SECOND
