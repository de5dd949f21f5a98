"""New notes in a vault: written whole or not at all, never over another file, never outside."""

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from zkchat.errors import NoteNotFound, OutsideVault, StorageError, StorageFull, VaultError, ZkchatError
from zkchat.storage.vault_files import FOLDER_FLAGS, LINK_ERRORS, VaultFiles

_NEW_FILE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_HARD_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


_TEMPORARY: Final = re.compile(r"\.zkchat-[0-9a-f]{12}\.tmp")
_ABANDONED_SECONDS: Final = 600


class NoteWriter(VaultFiles):
    """Adds files by the same rules of paths by which those of the vault are read."""

    def __init__(
        self,
        root: Path,
        *,
        exclude: Sequence[str] = (),
        max_note_bytes: int,
        created: Callable[[], object] = lambda: None,
    ) -> None:
        """`created` is called after each new file, for those who want to know it at once."""
        super().__init__(root, exclude=exclude, max_note_bytes=max_note_bytes)
        self._created = created

    def is_free(self, path: str) -> bool:
        """Whether nothing is there yet. Raises `VaultError` for a path that no note of the vault can have."""
        return not os.path.lexists(self._root.joinpath(*self._checked_parts(path)))

    def create(self, path: str, text: str) -> None:
        """Write a new file, and the folders above it. Raises `VaultError` if there is one by that name."""
        *folders, name = self._checked_parts(path)
        try:
            with self._folder(folders, path) as (folder, descriptor):
                _add(folder, descriptor, name, text.encode("utf-8", "replace"))
                _sweep(folder, descriptor)
        except FileExistsError as error:
            raise VaultError(f"{path} is there already, and was left as it is.", hint="Choose another name.") from error
        except OSError as error:
            kind = StorageFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageError
            reason = (error.strerror or str(error)).lower()
            raise kind(f"{path} could not be written: {reason}.", hint="Nothing was changed.") from error
        with suppress(ZkchatError):  # the file is written, whatever the listener raises
            self._created()

    def _checked_parts(self, path: str) -> list[str]:
        try:
            return self._parts(path)
        except NoteNotFound as error:
            raise VaultError(f"{path!r} is no name for a note.", hint=error.hint) from error

    @contextmanager
    def _folder(self, folders: list[str], path: str) -> Iterator[tuple[Path, int | None]]:
        """The folder to write in, held open on the way down, so that no link can replace it meanwhile."""
        whole = self._root.joinpath(*folders)
        if os.mkdir not in os.supports_dir_fd:  # Windows: whoever may make links there is an administrator
            if not whole.resolve().is_relative_to(self._root):
                raise OutsideVault(f"{path} leads out of the vault.", hint="Choose another folder.")
            whole.mkdir(parents=True, exist_ok=True)
            yield whole, None
            return
        descriptor = os.open(self._root, FOLDER_FLAGS)
        try:
            for folder in folders:
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=descriptor)
                inner = _open_subfolder(folder, descriptor, path)
                os.close(descriptor)
                descriptor = inner
            yield Path(), descriptor
        finally:
            os.close(descriptor)


def _open_subfolder(folder: str, descriptor: int, path: str) -> int:
    try:
        return os.open(folder, FOLDER_FLAGS, dir_fd=descriptor)
    except OSError as error:
        if error.errno not in LINK_ERRORS:
            raise
        raise VaultError(
            f"{path} cannot be written: {folder} is a link or a file, not a folder.", hint="Choose another folder."
        ) from error


def _add(folder: Path, descriptor: int | None, name: str, content: bytes) -> None:
    """The content appears under its name all at once; where something has that name, FileExistsError."""
    temporary, final = folder / f".zkchat-{secrets.token_hex(6)}.tmp", folder / name
    try:
        with os.fdopen(os.open(temporary, _NEW_FILE_FLAGS, 0o666, dir_fd=descriptor), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        _link_or_rename(temporary, final, descriptor)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=descriptor)
    if descriptor is not None:
        with suppress(OSError):  # the note is there; not every system can sync a folder
            os.fsync(descriptor)


def _sweep(folder: Path, descriptor: int | None) -> None:
    """Remove what writers that were killed left in a folder; those at work are younger."""
    with suppress(OSError):
        names = os.listdir(folder if descriptor is None else descriptor)  # noqa: PTH208 (of a folder that is held open)
        for file in map(folder.joinpath, filter(_TEMPORARY.fullmatch, names)):
            status = os.stat(file, dir_fd=descriptor, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > _ABANDONED_SECONDS:
                os.unlink(file, dir_fd=descriptor)


def _link_or_rename(temporary: Path, final: Path, descriptor: int | None) -> None:
    try:
        is_windows = descriptor is None  # which cannot be asked not to follow links
        os.link(temporary, final, src_dir_fd=descriptor, dst_dir_fd=descriptor, follow_symlinks=is_windows)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # File systems of cameras and phones: the name is taken first, by an empty file, and then given its content.
        os.close(os.open(final, _NEW_FILE_FLAGS, 0o666, dir_fd=descriptor))
        os.replace(temporary, final, src_dir_fd=descriptor, dst_dir_fd=descriptor)
