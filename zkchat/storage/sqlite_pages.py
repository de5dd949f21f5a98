"""The rows in the pages of a database file and of its log, read without SQLite, which refuses damaged ones."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from zkchat.storage.database import PAGE_SIZE
from zkchat.storage.database_errors import sibling

Page = memoryview
Value = str | bytes | int | None
Row = tuple[Value, ...]


def read_rows(database: Path) -> Iterator[Row]:
    """Every whole row in the leaves of a database file and of its log, the newest first, some of them twice.

    Only text, bytes and whole numbers are understood: no table of ours that matters holds anything else.
    """
    pages = _pages(database)
    generations = _generations(sibling(database, "-wal"))
    for frames in generations[:1]:
        yield from _rows_in(frames, pages)
    for page in pages.values():
        yield from _rows_of(page, pages)
    for frames in generations[1:]:  # all of them were copied into the file long ago
        yield from _rows_in(frames, pages)


def _rows_in(frames: Sequence[tuple[int, Page]], pages: Mapping[int, Page]) -> Iterator[Row]:
    then = {**pages, **dict(frames)}
    for _, page in reversed(frames):
        yield from _rows_of(page, then)


def _pages(database: Path) -> dict[int, Page]:
    data = memoryview(_bytes_of(database))
    starts = range(0, len(data) - PAGE_SIZE + 1, PAGE_SIZE)
    return {number: data[start : start + PAGE_SIZE] for number, start in enumerate(starts, start=1)}


def _bytes_of(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""  # what else has that name may never end


def _generations(log: Path) -> list[list[tuple[int, Page]]]:
    """The numbered pages in a write-ahead log, by the salt of each checkpoint generation.

    The newest comes first: each begins to write at the beginning, over what is there.
    """
    data = memoryview(_bytes_of(log))
    generations: dict[bytes, list[tuple[int, Page]]] = {}
    for start in range(32, len(data) - PAGE_SIZE - 24 + 1, PAGE_SIZE + 24):
        frame = _number(data, start, 4), data[start + 24 : start + 24 + PAGE_SIZE]
        generations.setdefault(bytes(data[start + 8 : start + 16]), []).append(frame)
    return [*generations.values()]


def _rows_of(page: Page, pages: Mapping[int, Page]) -> Iterator[Row]:
    if page[0] != 0x0D:  # not a leaf of a table
        return
    for cell in range(_number(page, 3, 2)):
        try:
            start = _number(page, 8 + 2 * cell, 2)
            yield _record(_payload(page, start, pages))
        except (IndexError, KeyError, ValueError):  # torn or overwritten
            continue


def _payload(page: Page, start: int, pages: Mapping[int, Page]) -> bytes:
    length, start = _varint(page, start)
    _, start = _varint(page, start)  # the row's number
    if length > len(pages) * PAGE_SIZE:
        raise ValueError(length)
    here = _local_length(length)
    payload = bytearray(page[start : start + here])
    following = _number(page, start + here, 4) if here < length else 0
    while following and len(payload) < length:
        overflow = pages[following]
        payload += overflow[4 : 4 + length - len(payload)]
        following = _number(overflow, 0, 4)
    return bytes(payload)


def _local_length(length: int) -> int:
    """How much of a row of this length lies in the leaf itself; the rest overflows into pages of its own."""
    most, least = PAGE_SIZE - 35, (PAGE_SIZE - 12) * 32 // 255 - 23
    if length <= most:
        return length
    fitting = least + (length - least) % (PAGE_SIZE - 4)
    return fitting if fitting <= most else least


def _record(payload: bytes) -> Row:
    view = memoryview(payload)
    end_of_head, at = _varint(view, 0)
    start = end_of_head
    values: list[Value] = []
    while at < end_of_head:
        kind, at = _varint(view, at)
        length = (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[kind]
        values.append(_value(kind, payload[start : start + length], length))
        start += length
    return tuple(values)


def _value(kind: int, data: bytes, length: int) -> Value:
    if len(data) != length:
        raise ValueError(kind)
    match kind:
        case 0:
            return None
        case 8 | 9:
            return kind - 8
        case 1 | 2 | 3 | 4 | 5 | 6:
            return int.from_bytes(data, signed=True)
        case _ if kind >= 12:
            return data.decode() if kind % 2 else data
        case _:
            raise ValueError(kind)


def _varint(data: Page, at: int) -> tuple[int, int]:
    """SQLite's numbers of variable length, and where the next thing begins."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9


def _number(data: Page, at: int, length: int) -> int:
    return int.from_bytes(data[at : at + length])
