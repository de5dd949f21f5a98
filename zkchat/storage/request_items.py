"""The items of request records: each is stored once in a session, and records name them by their numbers.

A request holds nearly all that the one before it held, so that records that list everything would grow with the
conversation, and their sum with its square.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import filterfalse
from typing import Final

from msgspec import Struct, field

from zkchat.model.message import RequestItem
from zkchat.model.values import from_json, from_plain, to_json, without_defaults
from zkchat.storage.database import execute_all

_MAX_ITEMS: Final = 1_000_000
"""Of one record: numbers that name more are damaged."""


def create_items_table(connection: sqlite3.Connection) -> None:
    """A migration. Records that list their items themselves stay as they are."""
    execute_all(
        connection,
        """CREATE TABLE request_items (
            session_id TEXT NOT NULL, number INTEGER NOT NULL, item TEXT NOT NULL, UNIQUE (session_id, number))""",
        """CREATE TRIGGER request_items_stay_as_written BEFORE UPDATE ON request_items
            BEGIN SELECT RAISE (ABORT, 'items are append-only'); END""",
    )


def insert_items(connection: sqlite3.Connection, rows: Iterable[tuple[str, int, str]]) -> None:
    connection.executemany("INSERT INTO request_items VALUES (?, ?, ?)", rows)


def erase_items(connection: sqlite3.Connection, session_id: str) -> None:
    connection.execute("DELETE FROM request_items WHERE session_id = ?", (session_id,))


class ItemWriter(Struct):
    """Numbers the items of one session. New ones have to be inserted in the transaction that writes the record."""

    session_id: str
    numbers: dict[str, int] = field(default_factory=dict)
    """By what is stored of an item."""
    following: int = 0
    """The number of the next new item."""
    new: list[tuple[str, int, str]] = field(default_factory=list)

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """Learn what is stored by now, by this process or others; forget what was not."""
        self.new.clear()
        (following,) = connection.execute(
            "SELECT COALESCE (MAX (number), -1) + 1 FROM request_items WHERE session_id = ?", (self.session_id,)
        ).fetchone()
        if following < self.following:
            self.numbers, self.following = {}, 0
        if following > self.following:
            rows = connection.execute(
                "SELECT item, number FROM request_items WHERE session_id = ? AND number >= ?",
                (self.session_id, self.following),
            )
            self.numbers |= dict(rows.fetchall())
        self.following = following

    def write(self, items: Sequence[RequestItem]) -> str:
        """The numbers of the items: `0-12,15`."""
        return _as_ranges(self._number(_text_of(item)) for item in items)

    def _number(self, text: str) -> int:
        if text not in self.numbers:
            self.numbers[text] = self.following
            self.new.append((self.session_id, self.following, text))
            self.following += 1
        return self.numbers[text]


class ItemReader(Struct):
    """Reads the items that records of one session name."""

    connection: sqlite3.Connection
    session_id: str
    _known: dict[int, RequestItem | None] = field(default_factory=dict)

    def read(self, numbers: str) -> tuple[RequestItem, ...]:
        """Without those that are damaged or gone."""
        found = (map(self._known.get, self._loaded(first, last)) for first, last in _ranges(numbers))
        return tuple(item for items in found for item in items if item)

    def _loaded(self, first: int, last: int) -> range:
        wanted = range(first, last + 1)
        missing = [*filterfalse(self._known.__contains__, wanted)]
        if missing:
            self._known |= dict.fromkeys(missing)
            rows = self.connection.execute(
                "SELECT number, item FROM request_items WHERE session_id = ? AND number BETWEEN ? AND ?",
                (self.session_id, missing[0], missing[-1]),
            )
            for number, item in rows:
                with suppress(ValueError):
                    self._known[number] = _item_of(item)
        return wanted


@lru_cache(maxsize=2048)
def _text_of(item: RequestItem) -> str:
    """What is stored of an item; the next request has nearly the same ones."""
    return to_json(without_defaults(item))


def _item_of(text: str) -> RequestItem:
    return from_plain(RequestItem, from_json(text))


def is_item(text: str) -> bool:
    """Whether this was stored of an item."""
    try:
        _item_of(text)
    except ValueError:
        return False
    return True


def highest_number(numbers: str) -> int:
    """The highest that a record names; -1 if none."""
    return max((last for _, last in _ranges(numbers)), default=-1)


def _as_ranges(numbers: Iterable[int]) -> str:
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)


def _ranges(numbers: str) -> Iterator[tuple[int, int]]:
    """The ranges of numbers, first and last; of damaged ones, those before the damage."""
    left = _MAX_ITEMS
    for each in numbers.split(",") if numbers else ():
        first, _, last = each.partition("-")
        if not (first.isdecimal() and (not last or last.isdecimal())):
            return
        found = int(first), int(last or first)
        left -= found[1] - found[0] + 1
        if left < 0 or found[1] < found[0]:
            return
        yield found
