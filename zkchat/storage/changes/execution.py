"""Carrying out a plan step by step, and taking it back from wherever it stopped."""

import errno
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final, TypeVar

from zkchat.errors import StorageError, StorageFull, VaultError
from zkchat.model.change import FileMove
from zkchat.storage.changes.files import VaultTree
from zkchat.storage.changes.plan import ContentChange, Plan, Stage, folders_above
from zkchat.storage.changes.progress import Progress, ProgressFile

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOTHING_CHANGED: Final = "Nothing was changed."
_FILES_AT_ONCE: Final = 16
"""Threads that wait for the disk: it writes many small files, and frees those they replace, in the time of a few."""

Item = TypeVar("Item")


class Execution:
    """One attempt at a plan. Raises `VaultError` and `StorageError`."""

    def __init__(self, plan: Plan, files: VaultTree, file: ProgressFile, progress: Progress) -> None:
        self._plan = plan
        self._files = files
        self._file = file
        self._progress = progress

    def run(self) -> None:
        for number, stage in enumerate(self._plan):
            if number:
                self._progress = replace(self._progress, stage=number)
                self._file.write(self._progress)
            self._carry_out(stage)

    def take_back(self) -> list[str]:
        """Lead every file back to what it was, except those that somebody else has changed: they are returned, each
        as a sentence."""
        left: list[str] = []
        for stage in reversed(self._plan[: self._progress.stage + 1]):
            self._sweep(stage)
            for folder in reversed(stage.remove):
                with suppress(OSError, VaultError):
                    self._files.make_folder(folder)
            for change in reversed(stage.contents):
                left += self._restore(change)
            if stage.move:
                left += self._move_back(stage.move)
            for folder in reversed(stage.make):
                self._files.remove_folder(folder)
        return left

    def _carry_out(self, stage: Stage) -> None:
        for folder in stage.make:
            with _disk_errors(folder):
                self._files.make_folder(folder)
        if stage.move:
            self._move(stage.move)
        numbered = [*enumerate(stage.contents)]
        _run_at_once(self._prepare, [each for each in numbered if each[1].after is not None])
        _run_at_once(self._put, numbered)
        _run_at_once(self._files.sync_folder_of, _one_of_each_folder(stage))
        for folder in stage.remove:
            self._files.remove_folder(folder)

    def _move(self, move: FileMove) -> None:
        with _disk_errors(move.target):
            for folder in folders_above(move.target):  # one from which all was moved may be gone when it is undone
                self._files.make_folder(folder)
            self._files.move(move, self._progress.temporary_name())

    def _prepare(self, numbered: tuple[int, ContentChange]) -> None:
        number, change = numbered
        with _disk_errors(change.path):
            self._files.prepare(change, self._progress.temporary_name(number))

    def _put(self, numbered: tuple[int, ContentChange]) -> None:
        number, change = numbered
        with _disk_errors(change.path):
            self._files.put(change, self._progress.temporary_name(number))

    def _sweep(self, stage: Stage) -> None:
        for number, change in enumerate(stage.contents):
            self._files.sweep(change.path, self._progress.temporary_name(), self._progress.temporary_name(number))

    def _restore(self, change: ContentChange) -> list[str]:
        """Replace what this run has written by what was there."""
        try:
            found = self._files.read_bytes(change.path)
            if found == change.before:
                return []
            if found != change.after:
                return [f"{change.path} was changed by somebody else, and was left as it is."]
            back = change.reversed()
            with _disk_errors(change.path):
                if back.after is not None:
                    self._files.prepare(back, self._progress.temporary_name())
                self._files.put(back, self._progress.temporary_name())
                self._files.sync_folder_of(change.path)
        except VaultError as error:
            if isinstance(error.__cause__, OSError):  # what the disk refuses now it may allow later
                raise StorageError(error.message, hint=error.hint) from error
            return [f"{change.path} was changed by somebody else, and was left as it is."]
        return []

    def _move_back(self, move: FileMove) -> list[str]:
        try:
            left = self._files.move_back(move, self._progress.temporary_name())
        except (FileNotFoundError, NotADirectoryError):
            left = ""  # the folder that it was to be moved to was not made yet
            if self._files.is_taken(move.target):
                self._move(move.reversed())
        except VaultError as error:
            left = f"{move.target} was not moved back to {move.source}: {error.message}"
        except FileExistsError:
            left = f"{move.target} could not be moved back: {move.source} is there."
        except OSError as error:
            raise _failure(error, move.source) from error
        return [left] if left else []


def _one_of_each_folder(stage: Stage) -> list[str]:
    return [*{change.path.rpartition("/")[0]: change.path for change in stage.contents}.values()]


def _run_at_once(act: Callable[[Item], None], items: Iterable[Item]) -> None:
    """For each of the items. Of several failures one is raised, when all have ended."""
    rest = [*items]
    if len(rest) <= 1:
        for item in rest:
            act(item)
        return

    def act_on(share: Iterable[Item]) -> None:
        for item in share:
            act(item)

    number = min(_FILES_AT_ONCE, len(rest))
    with ThreadPoolExecutor(number) as threads:
        for done in [threads.submit(act_on, rest[at::number]) for at in range(number)]:
            done.result()


@contextmanager
def _disk_errors(path: str) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise VaultError(f"{path} is there already, and was left as it is.", hint=_NOTHING_CHANGED) from error
    except OSError as error:
        raise _failure(error, path) from error


def _failure(error: OSError, path: str) -> StorageError:
    kind = StorageFull if error.errno in _FULL else StorageError
    reason = (error.strerror or str(error)).lower()
    return kind(f"{path} could not be written: {reason}.", hint=_NOTHING_CHANGED)
