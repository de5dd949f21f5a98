"""The numbers that a note index keeps of itself: generations, counters, and whether it is complete."""

import sqlite3

from zkchat.errors import StorageDamaged


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
