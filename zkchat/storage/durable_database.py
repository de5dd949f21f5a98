"""A database that must not be lost, and its recovery: what is committed is on disk, damage is noticed and repaired."""

import os
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, count
from pathlib import Path
from threading import RLock
from typing import ClassVar, Final, Generic, NamedTuple, Self, TypeVar

from msgspec import Struct

from zkchat.core import StorageDamaged, StorageError, StorageFull, ZkchatError, locked
from zkchat.storage.database import (
    DATABASE_SUFFIXES,
    Migration,
    back_up,
    damaged,
    has_schema,
    is_sound,
    migrate,
    open_database,
    remove_file,
    require_regular_files,
    sibling,
    storage_errors,
    transaction,
)

RESERVE_BYTES: Final = 1 << 20
_MIN_FREE_FOR_RESERVE: Final = 32 * RESERVE_BYTES

Result = TypeVar("Result")


class UnreadableRow(ValueError):
    """A row that SQLite returned and that does not validate."""


class DurableDatabase(ABC):
    """Base of the stores of sessions and of facts. Threads may share one; each process opens its own."""

    migrations: ClassVar[Sequence[Migration]]
    """To add a column or table, append a function; never change one that was released."""

    def __init__(self, path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        self._path = path
        self._now = now
        self._new_id = new_id
        self._lock = RLock()
        self._written = False
        self._connection = open_database(path, synchronous="FULL")
        try:
            with storage_errors(path):
                backup = path.parent / "backups" / f"{path.stem}.before-version-{len(self.migrations)}.db"
                migrate(self._connection, self.migrations, backup=backup)
                if not has_schema(self._connection, self.migrations):
                    raise damaged(path)
                self._connection.execute("PRAGMA secure_delete = ON")  # overwrite what is deleted
                self._identity = _identity_of(path)
        except BaseException:
            self._connection.close()
            raise

    @abstractmethod
    def verify(self) -> None:
        """Read what a start needs. Raises `StorageDamaged` for what does not validate."""

    def verify_every_row(self) -> None:
        self.verify()

    @abstractmethod
    def describe_content(self) -> str:
        """What is stored, in words: `2 sessions with 7 messages`. Empty if nothing is."""

    @staticmethod
    @abstractmethod
    def restore(connection: sqlite3.Connection, sources: Iterable[Path]) -> None:
        """Insert the rows that can be read from damaged files and backups into a new database of the same schema."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and, once a day, leave a copy of it in `backups/`."""
        with self._lock:
            if self._written:
                self._written = False
                with suppress(StorageError), self._reading():  # all is stored; the next close tries again
                    back_up_daily(self._path, at=self._now())
            self._connection.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for one thread at a time. A file found damaged is marked for the next start."""
        try:
            with self._lock, storage_errors(self._path):
                yield self._connection
        except (UnreadableRow, StorageDamaged) as error:
            with suppress(OSError):
                suspect_marker(self._path).touch(mode=0o600)
            raise damaged(self._path) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction; on disk when this returns."""
        with self._reading() as connection:
            with transaction(connection):
                yield connection
            self._written = True
            if _identity_of(self._path) != self._identity:
                raise damaged(self._path)  # what was just written is in a file that was moved away, or deleted

    def _retry_without_reserve(self, write: Callable[[], Result]) -> Result:
        """Where the disk is full, release the reserve and write again."""
        try:
            return write()
        except StorageFull:
            if not release_reserve(self._path):
                raise
            return write()

    def _erase_permanently(self, erase: Callable[[sqlite3.Connection], None]) -> None:
        """Run a deletion here and in every backup. Incomplete and damaged files cannot be changed: they are deleted."""
        with self._writing() as connection:
            erase(connection)
        with self._reading() as connection:
            connection.execute("PRAGMA wal_checkpoint (TRUNCATE)")
        unchangeable: list[Path] = []
        for copy in copies_of(self._path):
            try:
                with storage_errors(copy), closing(sqlite3.connect(copy)) as connection, connection:
                    connection.execute("PRAGMA secure_delete = ON")
                    erase(connection)
            except StorageError:
                unchangeable.append(copy)
        incomplete = (self._path.parent / "backups").glob(f"{self._path.stem}*.part-*")
        moved_away = self._path.parent.glob(f"{self._path.name}.damaged-*")
        for file in (*unchangeable, *incomplete, *moved_away):
            with storage_errors(file):
                remove_file(file)


Store = TypeVar("Store", bound=DurableDatabase)
Opened = TypeVar("Opened")


class LazyStore(ABC, Generic[Opened]):
    """A store of a vault for which nothing is stored yet: read as empty, opened with the first write."""

    not_found: ClassVar[Callable[[str], ZkchatError]]
    """The error for a name that is looked up while nothing is stored."""

    def __init__(self, exists: Callable[[], bool], open_store: Callable[[], Opened]) -> None:
        """`exists` tells whether something is stored by now, perhaps by another process."""
        self._exists = exists
        self._open_store = open_store
        self._store: Opened | None = None
        self._lock = RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if isinstance(self._store, DurableDatabase):
                self._store.close()

    def _existing(self) -> Opened | None:
        return self._writable() if self._store is not None or self._exists() else None

    def _writable(self) -> Opened:
        with self._lock:
            if self._store is None:
                self._store = self._open_store()
            return self._store

    def _holding(self, name: str, /) -> Opened:
        store = self._existing()
        if store is None:
            raise type(self).not_found(name)
        return store


def timestamp(at: datetime) -> str:
    """A time as it is stored: in UTC and always as long, so that times sort as text."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def suspect_marker(path: Path) -> Path:
    """The file that exists while a database was seen damaged: then the next start verifies every row."""
    return sibling(path, ".suspect")


def back_up_daily(path: Path, *, at: datetime) -> None:
    """Copy a database unless that was done within a day; keep the newest copies.

    Copies from a future that a wrong clock made do not count, and go first. A copy that is not sound is not kept, for
    it would push out a good one; then the database is damaged.
    """
    day = timedelta(days=1)
    if any(_backup(path, at - day) < copy < _backup(path, at + day) for copy in backups_of(path)):
        return
    copy = _backup(path, at)
    back_up(path, copy)
    if not is_sound(copy):
        copy.unlink()
        raise damaged(path)
    incomplete = [part for part in copy.parent.glob(f"{path.stem}-*.part-*") if part < _backup(path, at - day)]
    newest_first = sorted(backups_of(path), key=lambda each: each > copy)
    for outdated in (*newest_first[3:], *incomplete):
        outdated.unlink(missing_ok=True)


def _backup(path: Path, at: datetime) -> Path:
    return path.parent / "backups" / f"{path.stem}-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}.db"


def backups_of(path: Path) -> list[Path]:
    """The daily copies of a database, the newest first."""
    return sorted((path.parent / "backups").glob(f"{path.stem}-*Z.db"), reverse=True)


def copies_of(path: Path) -> list[Path]:
    """All copies of a database, those made before migrations too, the newest first."""
    copies = (copy for copy in (path.parent / "backups").glob(f"{path.stem}*.db") if copy.is_file())
    return sorted(copies, key=lambda copy: copy.stat().st_mtime, reverse=True)


def keep_reserve(path: Path) -> None:
    """Allocate a file beside a database, to be released when the disk is full, unless little space is left."""
    file = sibling(path, ".reserve")
    with suppress(OSError):
        if file.exists() or shutil.disk_usage(path.parent).free < _MIN_FREE_FOR_RESERVE:
            return
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, os.urandom(RESERVE_BYTES))  # zeros may take no space
        finally:
            os.close(descriptor)


def release_reserve(path: Path) -> bool:
    try:
        sibling(path, ".reserve").unlink()
    except OSError:
        return False
    return True


def _identity_of(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


_LOCK_SECONDS = 60.0
"""How long to wait for another process that recovers the same file."""


class Recovered(NamedTuple, Generic[Store]):
    store: Store
    notices: tuple[str, ...] = ()
    """What the user should know of the file: that it was damaged or missing, and what came back."""


def open_recovered(
    kind: type[Store], path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]
) -> Recovered[Store]:
    """Open a database, after a recovery if it is damaged or missing.

    A log that was left behind means an unclean end, or another zkchat at work: the file is checked. A store that has
    raised `StorageDamaged` is to be closed and opened again: then every row is verified.
    """
    return _Recovery(kind, path, now, new_id).open()


class _Recovery(Struct, Generic[Store]):
    _kind: type[Store]
    _path: Path
    _now: Callable[[], datetime]
    _new_id: Callable[[], str]

    def open(self) -> Recovered[Store]:
        path = self._path
        with locked(sibling(path, ".lock"), seconds=_LOCK_SECONDS), storage_errors(path):
            is_restored = self._restore_missing()
            store, kept = self._open_undamaged(), None
            if store is None:
                kept = self._recover()
                store = self._open_store()
            suspect_marker(path).unlink(missing_ok=True)
            content = store.describe_content() if kept or is_restored else ""
        if kept:
            saved = f"{content} could be recovered" if content else "Nothing could be recovered"
            return Recovered(store, (f"{path} was damaged. {saved}; the damaged file is kept as {kept}.",))
        if content:
            notice = (
                f"{path} was missing and was restored from {path.parent / 'backups'}: {content}. What came after the "
                "last backup is lost."
            )
            return Recovered(store, (notice,))
        return Recovered(store)

    def _open_store(self) -> Store:
        return self._kind(self._path, now=self._now, new_id=self._new_id)

    def _restore_missing(self) -> bool:
        """Rebuild a missing database from its copies, if there are any. What the user deleted is not in them."""
        names = (sibling(self._path, suffix) for suffix in (*DATABASE_SUFFIXES, ".rescuing"))
        copies = copies_of(self._path)
        if not copies or any(map(os.path.lexists, names)):
            return False
        self._rebuild(copies)
        return True

    def _open_undamaged(self) -> Store | None:
        """The store, unless something is wrong with its file."""
        is_suspect = suspect_marker(self._path).exists()
        if not _looks_sound(self._path, self._kind.migrations, is_suspect=is_suspect):
            return None
        with ExitStack() as on_failure:
            try:
                store = self._open_store()
                on_failure.callback(store.close)
                (store.verify_every_row if is_suspect else store.verify)()
            except StorageDamaged:
                return None
            on_failure.pop_all()
            return store

    def _recover(self) -> Path:
        """Replace a damaged database by one with what can be read of it, and return where the damaged one is kept.

        The names say how far a recovery has come, so that one that was killed is finished by the next.
        """
        path, rescuing = self._path, sibling(self._path, ".rescuing")
        if not os.path.lexists(rescuing):
            if not os.path.lexists(path):  # of a deleted database there may be the log
                path.touch(mode=0o600)
            path.rename(rescuing)
        if not os.path.lexists(path):
            _move(path, rescuing, DATABASE_SUFFIXES)
            self._rebuild([rescuing, *copies_of(path)])
        name = f".damaged-{self._now().astimezone(UTC):%Y%m%dT%H%M%SZ}"
        endings = chain([name], (f"{name}-{number}" for number in count(2)))
        kept = next(file for ending in endings if not os.path.lexists(file := sibling(path, ending)))
        _move(rescuing, kept, DATABASE_SUFFIXES[::-1])  # the file last: while it has the old name, work is left
        return kept

    def _rebuild(self, sources: Iterable[Path]) -> None:
        rescued = sibling(self._path, ".rescued")
        for suffix in DATABASE_SUFFIXES:
            sibling(rescued, suffix).unlink(missing_ok=True)
        with closing(open_database(rescued, synchronous="FULL")) as connection:
            migrate(connection, self._kind.migrations, backup=None)
            with transaction(connection):
                self._kind.restore(connection, sources)
        rescued.replace(self._path)


def _looks_sound(path: Path, migrations: Sequence[Migration], *, is_suspect: bool) -> bool:
    if os.path.lexists(sibling(path, ".rescuing")):  # an earlier recovery was interrupted
        return False
    try:
        require_regular_files(path)
    except StorageDamaged:
        return False
    log = sibling(path, "-wal")
    left_behind = log.exists() and log.stat().st_size > 0
    if not path.exists() or path.stat().st_size == 0:
        # SQLite would begin a new database here, and discard the log of the old one.
        return not path.exists() and not left_behind
    return is_sound(path, migrations) if left_behind or is_suspect else True


def _move(database: Path, target: Path, suffixes: Sequence[str]) -> None:
    """Rename a database and its logs, or those of them that an interrupted move has left."""
    for suffix in suffixes:
        source = sibling(database, suffix)
        if os.path.lexists(source):
            source.rename(sibling(target, suffix))
