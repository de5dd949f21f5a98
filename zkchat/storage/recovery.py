"""A precious database survives damage: it is noticed, the damaged file is kept, what can be read is saved.

Every whole row is a true one, wherever it lies: in the damaged file, in its log or in a backup. A rescue takes the
union of them, page by page, without asking SQLite for its damaged trees.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Generic, TypeVar

from zkchat.errors import StorageDamaged
from zkchat.files import locked
from zkchat.storage.database import COMPANIONS, Step, beside, copies_of, guarded, is_sound, require_regular_files
from zkchat.storage.durable_database import DurableDatabase, suspicion_of

_PATIENCE_SECONDS = 60.0
"""How long to wait for another process that is rescuing the same file."""

Store = TypeVar("Store", bound=DurableDatabase)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescuable(Generic[Store]):
    """What a rescue has to know of a kind of database."""

    steps: Sequence[Step]
    open: Callable[[], Store]
    read: Callable[[Store, bool], object]
    """Reads what a start needs, or every row; raises `StorageDamaged` for what makes no sense."""
    build: Callable[[Iterable[Path], Path], object]
    """Makes a new database at a path from the rows that are found in others."""
    content: Callable[[Store], str]
    """What is in it, in words; an empty text for nothing."""


def open_rescued(path: Path, kind: Rescuable[Store], at: datetime) -> tuple[Store, str]:
    """Open a database, after a rescue if it is damaged or gone, and say what the user should know.

    A log that was left behind means an unclean end, or another zkchat at work: the file is checked. A store that has
    raised `StorageDamaged` is to be closed and opened again: then every row is checked.
    """
    with locked(beside(path, ".lock"), seconds=_PATIENCE_SECONDS), guarded(path):
        is_restored = _restore_missing(path, kind)
        opened, kept = _undamaged(path, kind), None
        if opened is None:
            kept = _rescue(path, kind, at)
            opened = kind.open()
        suspicion_of(path).unlink(missing_ok=True)
        content = kind.content(opened) if kept or is_restored else ""
        if kept:
            saved = f"{content} could be saved" if content else "Nothing could be read"
            return opened, f"{path} was damaged. {saved}; the damaged file is kept as {kept}."
        if content:
            return opened, (
                f"{path} was missing. {content} came back from the copies in {path.parent / 'backups'}; what was said "
                "after the last of them did not. To begin anew, remove both."
            )
        return opened, ""


def _restore_missing(path: Path, kind: Rescuable[Store]) -> bool:
    """Make a database that is gone anew from its copies, if there are any. What the user deleted is not in them."""
    names = (beside(path, suffix) for suffix in (*COMPANIONS, ".rescuing"))
    copies = copies_of(path)
    if not copies or any(map(os.path.lexists, names)):
        return False
    _build(path, kind, copies)
    return True


def _undamaged(path: Path, kind: Rescuable[Store]) -> Store | None:
    """The store, unless something is wrong with its file."""
    suspect = suspicion_of(path).exists()
    if not _looks_right(path, kind.steps, suspect=suspect):
        return None
    with ExitStack() as on_failure:
        try:
            opened = kind.open()
            on_failure.callback(opened.close)
            kind.read(opened, suspect)
        except StorageDamaged:
            return None
        on_failure.pop_all()
        return opened


def _looks_right(path: Path, steps: Sequence[Step], *, suspect: bool) -> bool:
    """What can be said of a file while it is only read."""
    if os.path.lexists(beside(path, ".rescuing")):  # an earlier rescue did not come to its end
        return False
    try:
        require_regular_files(path)
    except StorageDamaged:
        return False
    log = beside(path, "-wal")
    left_behind = log.exists() and log.stat().st_size > 0
    if not path.exists() or path.stat().st_size == 0:
        # SQLite would begin a new database here, and throw away the log of the old one.
        return not path.exists() and not left_behind
    return is_sound(path, steps) if left_behind or suspect else True


def _rescue(path: Path, kind: Rescuable[Store], at: datetime) -> Path:
    """Put what can be read in the place of a damaged database, and return where that is kept.

    The names tell how far a rescue has come, so that one that was killed is finished by the next.
    """
    rescuing = beside(path, ".rescuing")
    if not os.path.lexists(rescuing):
        if not os.path.lexists(path):  # of a deleted database there may be the log
            path.touch(mode=0o600)
        path.rename(rescuing)
    if not os.path.lexists(path):
        _move(path, rescuing, COMPANIONS)
        _build(path, kind, [rescuing, *copies_of(path)])
    kept = next(name for name in _names_for_damaged(path, at) if not os.path.lexists(name))
    _move(rescuing, kept, COMPANIONS[::-1])  # the file last: while it has the old name, there is something to do
    return kept


def _build(path: Path, kind: Rescuable[Store], sources: Iterable[Path]) -> None:
    rescued = beside(path, ".rescued")
    for suffix in COMPANIONS:
        beside(rescued, suffix).unlink(missing_ok=True)
    kind.build(sources, rescued)
    rescued.replace(path)


def _move(database: Path, target: Path, suffixes: Sequence[str]) -> None:
    """Rename a database and its companions, or those of them that an interrupted move has left."""
    for suffix in suffixes:
        source = beside(database, suffix)
        if os.path.lexists(source):
            source.rename(beside(target, suffix))


def _names_for_damaged(path: Path, at: datetime) -> Iterator[Path]:
    name = f".damaged-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return chain([beside(path, name)], (beside(path, f"{name}-{number}") for number in count(2)))


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
