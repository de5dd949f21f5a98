"""Carrying out a plan step by step, or taking it back, with its progress on disk."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    FileConflict,
    FileMove,
    FilesChanged,
    NoteNotFound,
    StorageError,
    StorageFull,
    VaultError,
    is_in_trash,
    read_bounded,
    write_atomically,
)
from zkchat.storage import sibling
from zkchat.writing.changes.files import VaultTree, is_only_case
from zkchat.writing.changes.journal import (
    ContentChange,
    Outlook,
    Plan,
    Stage,
    conflict_of,
    files_changed,
    folders_above,
)

_MAX_BYTES: Final = 100_000


class Progress(Struct, frozen=True):
    run: str
    """In the names of its temporary files."""
    stage: int
    """The one that is at work; those before it are done."""
    restored: tuple[int, ...] = ()
    """Of an undo: the stages of the change whose file comes from the journal instead of the trash."""

    def temporary_name(self, number: int = 0) -> str:
        return f".zkchat-{self.run}-{number:x}.tmp"


class ProgressFile:
    """Is there while a change set is carried out, or was when its process died."""

    def __init__(self, journal: Path) -> None:
        self._file = sibling(journal, ".progress")

    @property
    def exists(self) -> bool:
        return self._file.exists()

    def begin(self, restored: tuple[int, ...] = ()) -> Progress:
        progress = Progress(os.urandom(6).hex(), 0, restored)
        self.write(progress)
        return progress

    def write(self, progress: Progress) -> None:
        write_atomically(self._file, msgspec.json.encode(progress).decode(), mode=0o600)

    def read(self) -> Progress | None:
        """None where nothing is at work."""
        try:
            return msgspec.json.decode(read_bounded(self._file, max_bytes=_MAX_BYTES), type=Progress)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StorageError(
                f"{self._file} cannot be read: {error}.",
                hint="It is needed to finish an interrupted change. Delete it only if that change may stay half done.",
            ) from error

    def clear(self) -> None:
        with suppress(OSError):  # a file that is left says that there is something to look for
            self._file.unlink(missing_ok=True)


_NOTHING_CHANGED: Final = "Nothing was changed."
_UNKNOWN: Final = b"\0 cannot be read"
"""In the place of a content that is not for zkchat to read."""
_FILES_AT_ONCE: Final = 16
"""Threads that wait for the disk: it writes many small files, and frees those they replace, in the time of a few."""


def check(plan: Plan, files: VaultTree, *, is_undo: bool) -> None:
    """Raises `FilesChanged` with every file that is not what the plan expects, and `VaultError` for paths that no
    change may touch."""
    outlook = Outlook(files.is_taken)
    conflicts: list[FileConflict] = []
    for stage in plan:
        for folder in stage.make:
            outlook.change(folder, b"")
        if stage.move:
            _check_move(stage.move, files, outlook, is_undo=is_undo)
            outlook.move(stage.move)
        for change in stage.contents:
            conflicts += _conflicts(change, files, outlook)
            outlook.change(change.path, change.after)
        for folder in stage.remove:  # if something is left in one, that shows when it is in the way
            outlook.change(folder, None)
    if conflicts:
        raise files_changed(conflicts)


def rests_on(later: Plan, earlier: Plan) -> bool:
    """Whether a plan touches a file that the earlier one touched, or a folder above or below one."""
    first, second = _touched(earlier), _touched(later)
    above_first = {folder for path in first for folder in folders_above(path)}
    return any(path in first or path in above_first or not first.isdisjoint(folders_above(path)) for path in second)


def _touched(plan: Plan) -> set[str]:
    moves = [stage.move for stage in plan if stage.move]
    contents = {change.path for stage in plan for change in stage.contents}
    return contents | {path for move in moves for path in (move.source, move.target)}


def _conflicts(change: ContentChange, files: VaultTree, outlook: Outlook) -> Iterator[FileConflict]:
    on_disk = outlook.path_on_disk(change.path)
    if on_disk != change.path:
        files.require_changeable(change.path)
    if change.before is not None:
        found = None if on_disk is None else files.read_bytes(on_disk)
        if found != change.before:
            yield conflict_of(change, found)
        elif on_disk is not None:
            files.require_writable(on_disk)
        return
    _require_folders(change.path, files, outlook)
    if outlook.is_taken(change.path):
        found = None
        with suppress(VaultError):  # a folder, or a link
            found = None if on_disk is None else files.read_bytes(on_disk)
        yield conflict_of(change, found)


def _require_folders(path: str, files: VaultTree, outlook: Outlook) -> None:
    for folder in folders_above(path):
        on_disk = outlook.path_on_disk(folder)
        if on_disk is not None and files.is_file(on_disk):
            raise VaultError(
                f"{path} cannot be written: {folder} is a file, not a folder.", hint="Give another folder."
            )


def _check_move(move: FileMove, files: VaultTree, outlook: Outlook, *, is_undo: bool) -> None:
    files.require_changeable(move.source, or_trash=is_undo)
    files.require_changeable(move.target, or_trash=not is_undo)
    _require_folders(move.target, files, outlook)
    if move.target.startswith(f"{move.source}/"):
        raise VaultError(f"{move.source} cannot be moved into itself.")
    if not outlook.is_taken(move.source):
        if is_undo:
            in_trash = is_in_trash(move.source)
            without = ", and zkchat has no copy of it" if in_trash else ""
            raise FilesChanged(
                f"{move.source} is no longer there{without}, so it cannot be moved back to {move.target}.",
                hint="Nothing was changed.",
            )
        raise NoteNotFound(f"There is no file {move.source} in the vault.")
    source, target = outlook.path_on_disk(move.source), outlook.path_on_disk(move.target)
    is_same = is_only_case(move) and source and target and files.is_one_file(source, target)
    if outlook.is_taken(move.target) and not is_same:
        kind = FilesChanged if is_undo else VaultError
        raise kind(f"{move.target} already exists, and was not changed.", hint="Nothing was changed.")
    if source is not None:
        files.require_movable(FileMove(source=source, target=move.target))


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

    def blocked_moves(self) -> list[str]:
        """The moves that were made and cannot be taken back, because something else has the old place; each as a
        sentence."""
        outlook = Outlook(self._files.is_taken)
        blocked: list[str] = []
        for number in range(self._progress.stage, -1, -1):
            stage = self._plan[number]
            for change in stage.contents:
                if change.after is None or (change.before is None and self._found(change) == change.after):
                    outlook.change(change.path, change.before)
            for folder in stage.make:
                outlook.change(folder, None)
            if stage.move:
                if number < self._progress.stage and self._is_blocked(stage.move, outlook):
                    blocked.append(_not_moved_back(stage.move))
                outlook.move(stage.move.reversed())
        return blocked

    def complete(self) -> list[str]:
        """Do what was not done yet, except to files that somebody else has changed: they are returned, each as a
        sentence."""
        left: list[str] = []
        for number in range(self._progress.stage, len(self._plan)):
            stage = self._plan[number]
            self._sweep(stage)
            self._progress = replace(self._progress, stage=number)
            self._file.write(self._progress)
            if stage.move and (problems := self._move_back(stage.move)):  # it may have been made, or made in part
                left += problems
                continue
            found = {change.path: self._found(change) for change in stage.contents}
            left += [
                _left(change) for change in stage.contents if found[change.path] not in (change.before, change.after)
            ]
            rest = tuple(change for change in stage.contents if found[change.path] == change.before)
            self._carry_out(replace(stage, contents=rest))
        return left

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

    def _found(self, change: ContentChange) -> bytes | None:
        try:
            return self._files.read_bytes(change.path)
        except VaultError as error:
            if isinstance(error.__cause__, OSError):  # what the disk refuses now it may allow later
                raise StorageError(error.message, hint=error.hint) from error
            return _UNKNOWN

    def _is_blocked(self, move: FileMove, outlook: Outlook) -> bool:
        """Whether another file or folder has the old place of one that was moved, and is where it was moved to."""
        try:
            with _disk_errors(move.source):
                if is_only_case(move) or not (outlook.is_taken(move.source) and outlook.is_taken(move.target)):
                    return False
                source, target = outlook.path_on_disk(move.source), outlook.path_on_disk(move.target)
                return not (source and target and self._files.is_one_file(source, target))
        except VaultError:  # taking it back tells why
            return False

    def _carry_out(self, stage: Stage) -> None:
        for folder in stage.make:
            with _disk_errors(folder):
                self._files.make_folder(folder)
        if stage.move:
            self._move(stage.move)
        numbered = [*enumerate(stage.contents)]
        _run_at_once(self._step(self._files.prepare), [each for each in numbered if each[1].after is not None])
        _run_at_once(self._step(self._files.put), numbered)
        in_folders = {change.path.rpartition("/")[0]: change.path for change in stage.contents}
        _run_at_once(self._files.sync_folder_of, [*in_folders.values()])
        for folder in stage.remove:
            self._files.remove_folder(folder)

    def _move(self, move: FileMove) -> None:
        with _disk_errors(move.target):
            for folder in folders_above(move.target):  # one from which all was moved may be gone when it is undone
                self._files.make_folder(folder)
            self._files.move(move, self._progress.temporary_name())

    def _step(self, act: Callable[[ContentChange, str], None]) -> Callable[[tuple[int, ContentChange]], None]:
        def step(numbered: tuple[int, ContentChange]) -> None:
            number, change = numbered
            with _disk_errors(change.path):
                act(change, self._progress.temporary_name(number))

        return step

    def _sweep(self, stage: Stage) -> None:
        for number, change in enumerate(stage.contents):
            self._files.sweep(change.path, self._progress.temporary_name(), self._progress.temporary_name(number))

    def _restore(self, change: ContentChange) -> list[str]:
        """Replace what this run has written by what was there."""
        found = self._found(change)
        if found == change.before:
            return []
        if found != change.after:
            return [_left(change)]
        back = change.reversed()
        try:
            with _disk_errors(change.path):
                if back.after is not None:
                    self._files.prepare(back, self._progress.temporary_name())
                self._files.put(back, self._progress.temporary_name())
                self._files.sync_folder_of(change.path)
        except VaultError as error:
            if isinstance(error.__cause__, OSError):  # what the disk refuses now it may allow later
                raise StorageError(error.message, hint=error.hint) from error
            return [_left(change)]
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
            left = _not_moved_back(move)
        except OSError as error:
            raise _failure(error, move.source) from error
        return [left] if left else []


def _left(change: ContentChange) -> str:
    return f"{change.path} was changed by another program, so it was left alone."


def _not_moved_back(move: FileMove) -> str:
    return f"{move.target} could not be moved back: {move.source} exists again."


def _run_at_once(act: Callable[[Item], None], items: Sequence[Item]) -> None:
    """For each of the items. Of several failures one is raised, when all have ended."""
    with ThreadPoolExecutor(_FILES_AT_ONCE) as threads:
        for done in [threads.submit(act, item) for item in items]:
            done.result()


@contextmanager
def _disk_errors(path: str) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise VaultError(f"{path} already exists, and was not changed.", hint=_NOTHING_CHANGED) from error
    except OSError as error:
        raise _failure(error, path) from error


def _failure(error: OSError, path: str) -> StorageError:
    kind = StorageFull if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else StorageError
    reason = (error.strerror or str(error)).lower()
    return kind(f"{path} could not be written: {reason}.", hint=_NOTHING_CHANGED)
