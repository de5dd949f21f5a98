"""The items of request records: each is stored once in a session, and records name them by their numbers.

Those that are new with a request share a row, which has the number of the last of them.

A request holds nearly all that the one before it held, so that records that list everything would grow with the
conversation, and their sum with its square.
"""

import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import replace

from zkchat.model.patterns import lazy_pattern
from zkchat.model.request_context import RequestItem
from zkchat.model.values import from_json, from_plain, to_json, without_defaults
from zkchat.storage.database import execute_all
from zkchat.storage.packed_text import Packed, pack, unpack

_RANGE: Final = lazy_pattern(
    r"(?P<first>[0-9]{1,18})(?:-(?P<last>[0-9]{1,18})|=(?P<score>-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?))?"
)
ItemsRow = tuple[str, int, Packed]
"""The session, the number of the last item, and the items."""
_MAX_IN_ROW: Final = 100
MAX_ITEMS: Final = 1_000_000
"""Of one record: numbers that name more are damaged. No session has as many."""


# Up to the row that holds the last of them, whose number may be higher.
_ROWS: Final = """
    SELECT number, item FROM request_items WHERE session_id = ? AND number >= ?
        AND number <= (SELECT MIN (number) FROM request_items WHERE session_id = ? AND number >= ?)"""


def create_items_table(connection: sqlite3.Connection) -> None:
    """A migration. Records that list their items themselves stay as they are."""
    execute_all(
        connection,
        """CREATE TABLE request_items (
            session_id TEXT NOT NULL, number INTEGER NOT NULL, item TEXT NOT NULL, UNIQUE (session_id, number))""",
        """CREATE TRIGGER request_items_stay_as_written BEFORE UPDATE ON request_items
            BEGIN SELECT RAISE (ABORT, 'items are append-only'); END""",
    )


def pack_rows(connection: sqlite3.Connection) -> None:
    """A migration: from here on rows may be packed, and hold several items or contents. Those that are there stay."""
    execute_all(
        connection,
        """CREATE TRIGGER request_items_stay BEFORE DELETE ON request_items
            WHEN NOT EXISTS (SELECT 1 FROM doomed WHERE session_id = OLD.session_id)
            BEGIN SELECT RAISE (ABORT, 'items are append-only'); END""",
    )


def insert_items(connection: sqlite3.Connection, rows: Iterable[ItemsRow]) -> None:
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
    new: list[str] = field(default_factory=list)
    """Items that are not stored yet, up to the number before the following."""

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
                "SELECT number, item FROM request_items WHERE session_id = ? AND number >= ?",
                (self.session_id, self.following),
            )
            for last, stored in rows:
                self.numbers |= {text: number for number, text in _numbered(last, _texts_in(stored))}
        self.following = following

    def write(self, items: Sequence[RequestItem]) -> str:
        """The numbers of the items, and the scores that they had: `0-12,15=0.46`."""
        return _as_ranges((self._number(_text_of(item)), item.score) for item in items)

    def _number(self, text: str) -> int:
        if text not in self.numbers:
            self.numbers[text] = self.following
            self.new.append(text)
            self.following += 1
        return self.numbers[text]

    def new_rows(self) -> Iterator[ItemsRow]:
        """What has to be inserted of the new items."""
        first = self.following - len(self.new)
        for start in range(0, len(self.new), _MAX_IN_ROW):
            texts = self.new[start : start + _MAX_IN_ROW]
            text = f"[{','.join(texts)}]" if len(texts) > 1 else texts[0]
            yield self.session_id, first + start + len(texts) - 1, pack(text)


class ItemReader(Struct):
    """Reads the items that records of one session name."""

    connection: sqlite3.Connection
    session_id: str
    _items: dict[int, RequestItem | None] = field(default_factory=dict)
    """Those in the rows that were read; None for what is damaged or gone."""

    def read(self, numbers: str) -> tuple[RequestItem, ...]:
        """Without those that are damaged or gone."""
        found = ((self._loaded(first, last), score) for first, last, score in _ranges(numbers))
        return tuple(_with_score(item, score) for items, score in found for item in items if item)

    def _loaded(self, first: int, last: int) -> list[RequestItem | None]:
        wanted = range(first, last + 1)
        missing = [number for number in wanted if number not in self._items]
        if missing:
            self._items |= dict.fromkeys(missing)
            rows = self.connection.execute(_ROWS, (self.session_id, missing[0], self.session_id, missing[-1]))
            for number, stored in rows:
                self._items |= {at: _item_of(text) for at, text in _numbered(number, _texts_in(stored))}
        return [self._items[number] for number in wanted]


def _text_of(item: RequestItem) -> str:
    """What is stored of an item: all but its score, which differs from request to request."""
    return to_json(without_defaults(replace(item, score=None)))


def _with_score(item: RequestItem, score: float | None) -> RequestItem:
    """Items of earlier versions hold their scores themselves."""
    return item if score is None else replace(item, score=score)


def _texts_in(stored: Packed) -> list[str]:
    """What each item of a row was stored as; of a damaged row nothing."""
    try:
        text = unpack(stored)
        return (
            [bytes(each).decode() for each in msgspec.json.decode(text, type=list[Raw])] if text[:1] == "[" else [text]
        )
    except ValueError:
        return []


def _numbered(last: int, texts: Sequence[str]) -> Iterable[tuple[int, str]]:
    return enumerate(texts, start=last - len(texts) + 1)


def _item_of(text: str) -> RequestItem | None:
    try:
        return from_plain(RequestItem, from_json(text))
    except ValueError:
        return None


def holds_items(stored: Packed) -> bool:
    """Whether this was stored of items, and all of them can be read."""
    texts = _texts_in(stored)
    return bool(texts) and all(map(_item_of, texts))


def _as_ranges(numbers: Iterable[tuple[int, float | None]]) -> str:
    ranges: list[tuple[int, int, float | None]] = []
    for number, score in numbers:
        if ranges and score is None and ranges[-1][1:] == (number - 1, None):
            ranges[-1] = (ranges[-1][0], number, None)
        else:
            ranges.append((number, number, score))
    return ",".join(_as_text(*each) for each in ranges)


def _as_text(first: int, last: int, score: float | None) -> str:
    if score is not None and math.isfinite(score):
        return f"{first}={score}"
    return f"{first}-{last}" if last > first else str(first)


def _ranges(numbers: str) -> Iterator[tuple[int, int, float | None]]:
    """First and last of each range, and the score of a single one; of damaged numbers, those before the damage."""
    left = MAX_ITEMS
    for each in numbers.split(",") if numbers else ():
        found = _RANGE.fullmatch(each)
        if not found:
            return
        first, last = int(found["first"]), int(found["last"] or found["first"])
        left -= last - first + 1
        if left < 0 or last < first:
            return
        yield first, last, float(found["score"]) if found["score"] else None
