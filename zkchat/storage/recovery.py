"""Recovery of durable databases: damage is noticed, the damaged file is kept, what can be read is restored.

Every whole row is valid, wherever it lies: in the damaged file or in a backup. A recovery takes the union of them.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Generic, NamedTuple

from msgspec import Struct

from zkchat.errors import StorageDamaged
from zkchat.files import locked
from zkchat.storage.database import Migration, is_sound, migrate, open_database, transaction
from zkchat.storage.database_errors import DATABASE_SUFFIXES, require_regular_files, sibling, storage_errors
from zkchat.storage.durable_database import Store, copies_of, suspect_marker

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
            saved = f"{content} could be saved" if content else "Nothing could be read"
            return Recovered(store, (f"{path} was damaged. {saved}; the damaged file is kept as {kept}.",))
        if content:
            notice = (
                f"{path} was missing. {content} came back from the copies in {path.parent / 'backups'}; what was said "
                "after the last of them did not. To begin anew, remove both."
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
        kept = next(name for name in _names_for_damaged(path, self._now()) if not os.path.lexists(name))
        _move(rescuing, kept, DATABASE_SUFFIXES[::-1])  # the file last: while it has the old name, work is left
        return kept

    def _rebuild(self, sources: Iterable[Path]) -> None:
        """Make a new database from the rows in others."""
        rescued = sibling(self._path, ".rescued")
        for suffix in DATABASE_SUFFIXES:
            sibling(rescued, suffix).unlink(missing_ok=True)
        with closing(open_database(rescued, synchronous="FULL")) as connection:
            migrate(connection, self._kind.migrations, backup=None)
            with transaction(connection):
                self._kind.restore(connection, sources)
        rescued.replace(self._path)


def _looks_sound(path: Path, migrations: Sequence[Migration], *, is_suspect: bool) -> bool:
    """What can be said of a file without writing to it."""
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


def _names_for_damaged(path: Path, at: datetime) -> Iterator[Path]:
    name = f".damaged-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return chain([sibling(path, name)], (sibling(path, f"{name}-{number}") for number in count(2)))
