"""Sessions survive damage: it is noticed, the damaged file is kept, what can be read is saved, the chat starts.

Entries never change once they are written. So every whole row is a true one, wherever it lies: in the damaged file, in
its log or in a backup. A rescue takes the union of them, page by page, without asking SQLite for its damaged trees.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from zkchat.errors import StorageDamaged
from zkchat.files import locked
from zkchat.storage.database import (
    PAGE_SIZE,
    guarded,
    is_sound,
    migrate,
    open_database,
    transaction,
)
from zkchat.storage.sessions import (
    STEPS,
    EntryRow,
    SqliteSessions,
    entry_of,
    insert_doomed,
    insert_entries,
    insert_session,
    session_of,
    suspicion_of,
)

_PATIENCE_SECONDS = 60.0
"""How long to wait for another process that is rescuing the same sessions."""

_COMPANIONS = ("", "-wal", "-shm")
"""What a database consists of: the file, its log, and the log's index."""

Page = memoryview
Row = tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    store: SqliteSessions
    notices: tuple[str, ...] = ()
    """What the user should be told."""


def open_sessions(path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> Opened:
    """Open the sessions, after a rescue if they are damaged.

    A log that was left behind means an unclean end, or another zkchat at work: the file is checked. A store that has
    raised `StorageDamaged` is to be closed and opened again: then every row is checked.
    """

    def store() -> SqliteSessions:
        return SqliteSessions(path, now=now, new_id=new_id)

    with locked(_beside(path, ".lock"), seconds=_PATIENCE_SECONDS), guarded(path):
        notices: tuple[str, ...] = ()
        opened = _undamaged(path, store)
        if opened is None:
            notices = (_rescue(path, at=now()),)
            opened = store()
        suspicion_of(path).unlink(missing_ok=True)
        return Opened(store=opened, notices=notices)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _undamaged(path: Path, store: Callable[[], SqliteSessions]) -> SqliteSessions | None:
    """The store, unless something is wrong with its file."""
    suspect = suspicion_of(path).exists()
    if not _looks_right(path, suspect=suspect):
        return None
    with ExitStack() as on_damage:
        try:
            opened = on_damage.enter_context(store())
            for session in opened.sessions():
                if suspect:
                    opened.entries(session.id)
        except StorageDamaged:
            return None
        on_damage.pop_all()
        return opened


def _looks_right(path: Path, *, suspect: bool) -> bool:
    """What can be said of a file while it is only read."""
    if _beside(path, ".rescuing").exists():  # an earlier rescue did not come to its end
        return False
    log = _beside(path, "-wal")
    left_behind = log.exists() and log.stat().st_size > 0
    if not path.exists() or path.stat().st_size == 0:
        # SQLite would begin a new database here, and throw away the log of the old one.
        return not path.exists() and not left_behind
    return is_sound(path) if left_behind or suspect else True


def _rescue(path: Path, *, at: datetime) -> str:
    """Put what can be read in the place of a damaged database, and say what became of it.

    The names tell how far a rescue has come, so that one that was killed is finished by the next.
    """
    rescuing = _beside(path, ".rescuing")
    if not rescuing.exists():
        path.touch(mode=0o600)  # of a deleted database there may be the log
        path.rename(rescuing)
    if not path.exists():
        _move(path, rescuing, _COMPANIONS)
        found = _Found()
        for file in (rescuing, *(path.parent / "backups").glob("*.db")):
            found.take_from(file)
        _build(found, _beside(path, ".rescued")).replace(path)
    kept = next(name for name in _names_for_damaged(path, at) if not name.exists())
    _move(rescuing, kept, _COMPANIONS[::-1])  # the file last: while it has the old name, there is something to do
    with closing(open_database(path, synchronous="FULL")) as connection:
        sessions, messages = connection.execute(
            "SELECT COUNT (*), COALESCE (SUM (message_count), 0) FROM sessions"
        ).fetchone()
    return (
        f"{path} was damaged. {_counted(sessions, 'session')} with {_counted(messages, 'message')} could be saved; "
        f"the damaged file is kept as {kept}."
    )


def _move(database: Path, target: Path, suffixes: Sequence[str]) -> None:
    """Rename a database and its companions, or those of them that an interrupted move has left."""
    for suffix in suffixes:
        source = _beside(database, suffix)
        if source.exists():
            source.rename(_beside(target, suffix))


def _names_for_damaged(path: Path, at: datetime) -> Iterator[Path]:
    name = f".damaged-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return chain([_beside(path, name)], (_beside(path, f"{name}-{number}") for number in count(2)))


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


@dataclass(slots=True)
class _Found:
    """The rows of all tables that came to light."""

    sessions: dict[str, tuple[str, str, str, str]] = field(default_factory=dict)
    entries: dict[tuple[str, int], EntryRow] = field(default_factory=dict)
    doomed: dict[str, str] = field(default_factory=dict)

    def take_from(self, database: Path) -> None:
        for row in stored_rows(database):
            try:
                self._take(row)
            except ValueError:
                continue

    def _take(self, row: Row) -> None:
        """Keep a row that makes sense; the number of its columns tells which table it is from."""
        match row:
            case (
                str(id_),
                int(place),
                str(kind),
                str() | None as role,
                str() | None as own,
                str() | None as parent,
                str() | None as title,
                str(at),
                str(body),
            ):
                entry = EntryRow(id_, place, kind, role, own, parent, title, at, body)
                entry_of(entry)
                self.entries.setdefault((entry.session_id, entry.sequence), entry)
            case (str(id_), str(title), str(created), str(updated), int()):
                session_of(row)
                self.sessions.setdefault(id_, (id_, title, created, updated))
            case (str(id_), str(at)):
                datetime.fromisoformat(at)
                self.doomed.setdefault(id_, at)


def _build(found: _Found, path: Path) -> Path:
    """A new database with the rows that were found, but for the sessions that the user had deleted."""
    for suffix in _COMPANIONS:
        _beside(path, suffix).unlink(missing_ok=True)
    kept = [entry for _, entry in sorted(found.entries.items()) if entry.session_id not in found.doomed]
    sessions = {id_: session for id_, session in found.sessions.items() if id_ not in found.doomed}
    for entry in kept:
        sessions.setdefault(entry.session_id, (entry.session_id, "", entry.at, entry.at))
    with closing(open_database(path, synchronous="FULL")) as connection:
        migrate(connection, STEPS, backup=None)
        with transaction(connection):
            for session in sessions.values():
                insert_session(connection, session)
            insert_entries(connection, kept)
            insert_doomed(connection, found.doomed)
    return path


def stored_rows(database: Path) -> Iterator[Row]:
    """Every whole row in the leaves of a database file and of its log, in no order, some of them twice.

    Only text and whole numbers are understood: no table of ours holds anything else.
    """
    pages = _pages(database)
    for page in pages.values():
        yield from _rows_of(page, pages)
    for frames in _rounds(_beside(database, "-wal")):
        then = pages | dict(frames)
        for _, page in frames:
            yield from _rows_of(page, then)


def _pages(database: Path) -> dict[int, Page]:
    data = memoryview(database.read_bytes())
    starts = range(0, len(data) - PAGE_SIZE + 1, PAGE_SIZE)
    return {number: data[start : start + PAGE_SIZE] for number, start in enumerate(starts, start=1)}


def _rounds(log: Path) -> Iterable[list[tuple[int, Page]]]:
    """The numbered pages in a write-ahead log, by the salt that tells one round of writing through it from the next."""
    data = memoryview(log.read_bytes() if log.exists() else b"")
    rounds: dict[bytes, list[tuple[int, Page]]] = {}
    for start in range(32, len(data) - PAGE_SIZE - 24 + 1, PAGE_SIZE + 24):
        frame = _number(data, start, 4), data[start + 24 : start + 24 + PAGE_SIZE]
        rounds.setdefault(bytes(data[start + 8 : start + 16]), []).append(frame)
    return rounds.values()


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
    values: list[str | int | None] = []
    while at < end_of_head:
        kind, at = _varint(view, at)
        length = (kind - 13) // 2 if kind >= 13 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0, 0)[kind]
        values.append(_value(kind, payload[start : start + length], length))
        start += length
    return tuple(values)


def _value(kind: int, data: bytes, length: int) -> str | int | None:
    if len(data) != length:
        raise ValueError(kind)
    match kind:
        case 0:
            return None
        case 8 | 9:
            return kind - 8
        case 1 | 2 | 3 | 4 | 5 | 6:
            return int.from_bytes(data, signed=True)
        case _ if kind >= 13 and kind % 2:
            return data.decode()
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
