"""A vault on disk with its journal, and disks that fail or stop at a step of a change set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Lock

from zkchat.core.changes import ChangeOrigin, ChangeSet, FileMove, FileWrite
from zkchat.writing.changes.files import VaultTree
from zkchat.writing.changes.journal import ContentChange, SqliteChangeJournal, is_there, open_journal
from zkchat.writing.changes.store import GitCommits, VaultChanges

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HERE = ChangeOrigin(command="test")
Tree = dict[str, tuple[bytes | None, int]]
"""By path, what a file holds, None for a folder, and its permissions."""


def write(path: str, before: bytes | None, after: bytes) -> FileWrite:
    return FileWrite(path=path, before=before, after=after)


def change(*steps: FileWrite | FileMove, title: str = "Change") -> ChangeSet:
    return ChangeSet(
        title=title,
        moves=tuple(step for step in steps if isinstance(step, FileMove)),
        writes=tuple(step for step in steps if isinstance(step, FileWrite)),
    )


def move(source: str, target: str) -> FileMove:
    return FileMove(source=source, target=target)


def tree_of(folder: Path) -> Tree:
    return {
        file.relative_to(folder).as_posix(): (
            file.read_bytes() if file.is_file() else None,
            file.lstat().st_mode & 0o7777,
        )
        for file in folder.rglob("*")
    }


class Killed(BaseException):
    """In the place of the signal that nothing can catch."""


class StoppingTree(VaultTree):
    """Raises an error before or after one of its steps. After `Killed` it raises that at each."""

    error: BaseException | None = None
    stop_at = 0
    is_done_first = False
    steps = 0

    def stop(self, at: int, error: BaseException, *, is_done_first: bool) -> None:
        self.steps, self.stop_at, self.error, self.is_done_first = 0, at, error, is_done_first
        self._counting = Lock()

    def make_folder(self, path: str) -> None:
        self._step(lambda: super(StoppingTree, self).make_folder(path))

    def remove_folder(self, path: str) -> None:
        if isinstance(self.error, Killed):  # otherwise it does not fail: a folder may stay
            self._step(lambda: super(StoppingTree, self).remove_folder(path))
        else:
            super().remove_folder(path)

    def prepare(self, change: ContentChange, temporary: str) -> None:
        self._step(lambda: super(StoppingTree, self).prepare(change, temporary))

    def put(self, change: ContentChange, temporary: str) -> None:
        self._step(lambda: super(StoppingTree, self).put(change, temporary))

    def move(self, move: FileMove, temporary: str) -> None:
        self._step(lambda: super(StoppingTree, self).move(move, temporary))

    def move_back(self, move: FileMove, temporary: str) -> str:
        self._raise_if_killed()
        return super().move_back(move, temporary)

    def sweep(self, path: str, *temporary: str) -> None:
        self._raise_if_killed()
        super().sweep(path, *temporary)

    def _raise_if_killed(self) -> None:
        if isinstance(self.error, Killed) and self.steps >= self.stop_at:
            raise self.error

    def _step(self, act: Callable[[], None]) -> None:
        if self.error is None:
            act()
            return
        with self._counting:
            self.steps += 1
            is_the_one = self.steps == self.stop_at or (isinstance(self.error, Killed) and self.steps > self.stop_at)
        if is_the_one and not (self.is_done_first and self.steps == self.stop_at):
            raise self.error
        act()
        if is_the_one:
            raise self.error


@dataclass
class Disk:
    """A vault in a folder, with its journal in another. Implements `storage.changes.store.JournalFile`."""

    folder: Path
    commit: GitCommits | None = None
    notices: list[str] = field(default_factory=list)
    exclude: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.vault = self.folder / "vault"
        self.vault.mkdir(exist_ok=True)
        self.journal = self.folder / "data" / "changes.db"
        self.start()

    def start(self) -> None:
        """As a new process does."""
        self.files = StoppingTree(self.vault, exclude=["Private/**", *self.exclude], max_note_bytes=1_000_000)
        self.store = VaultChanges(self.files, self, commit=self.commit, notify=self.notices.append)

    def restart(self) -> None:
        self.store.close()
        self.start()
        self.store.recover()

    @property
    def exists(self) -> bool:
        return is_there(self.journal)

    def open(self) -> SqliteChangeJournal:
        ids = count()
        return open_journal(self.journal, now=lambda: NOON, new_id=lambda: f"i{next(ids)}").store

    def note(self, path: str, content: bytes, *, mode: int = 0o644) -> Path:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
        return file

    def apply(self, *steps: FileWrite | FileMove, title: str = "Change") -> int:
        return self.store.apply(change(*steps, title=title), HERE).id

    @property
    def tree(self) -> Tree:
        return tree_of(self.vault)

    @property
    def contents(self) -> dict[str, bytes]:
        return {path: content for path, (content, _) in self.tree.items() if content is not None}

    @property
    def states(self) -> list[str]:
        return [record.state for record in self.store.records()]
