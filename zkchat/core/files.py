"""Small files: bounded reads, atomic writes, locks between processes.

Where a folder may hold what others wrote, it is named as `beneath`: below it no symbolic link is followed.
"""

import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from zkchat.core.errors import StorageError, StorageFull

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_COMMON: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe must not wait for its other end."""
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _COMMON
_HAS_FOLDER_HANDLES: Final = os.open in os.supports_dir_fd
_POLL_SECONDS: Final = 0.02


class RefusedFile(OSError):
    """What lies there is a link, no regular file, or too large: `strerror` says which."""


class LockBusy(StorageError):
    """Another process has held a lock for longer than we wait."""


class LocksUnsupported(StorageError):
    """The file system of a lock offers none."""


def read_bounded(file: Path, *, max_bytes: int, beneath: Path | None = None) -> bytes:
    """The content of a regular file of at most `max_bytes` bytes, without ever waiting for a pipe or a device.

    Raises `OSError`: `FileNotFoundError` where nothing is, `RefusedFile` for what is no such file.
    """
    with _open_folder(file.parent, beneath) as (folder, handle):
        descriptor = _open_handle(folder / file.name, handle, follow=beneath is None)
        try:
            content = b""
            while len(content) <= max_bytes and (more := os.read(descriptor, max_bytes + 1 - len(content))):
                content += more
        finally:
            os.close(descriptor)
    if len(content) > max_bytes:
        raise RefusedFile(errno.EFBIG, f"it is larger than {max_bytes:,} bytes")
    return content


def open_regular(file: Path) -> BinaryIO:
    """A regular file to be read piece by piece, opened without ever waiting for a pipe or a device.

    Raises `OSError`: `FileNotFoundError` where nothing is, `RefusedFile` for what is no such file.
    """
    return os.fdopen(_open_handle(file, None, follow=True), "rb")


def resolve_link(file: Path) -> Path:
    """The target of a user's link, so that the link stays when the file is written; for a circle of links, itself."""
    return Path(os.path.realpath(file))  # `Path.resolve` raises `RuntimeError` for a circle before Python 3.13


def list_names(folder: Path, *, beneath: Path | None = None) -> list[str]:
    """The names in a folder, sorted; none where it is not there. Raises `OSError`, `RefusedFile` for a link."""
    try:
        with _open_folder(folder, beneath) as (path, handle):
            return sorted(os.listdir(path if handle is None else handle))  # noqa: PTH208 - pathlib takes no handle
    except (FileNotFoundError, NotADirectoryError):
        return []


def write_atomically(file: Path, content: str | bytes, *, mode: int, beneath: Path | None = None) -> None:
    """Replace the file's content: after a crash it is the old or the new one, never a torn one.

    A file that was there keeps its permissions; a new one gets `mode`. Missing folders are made, for the owner alone
    if the file is. Raises `StorageError`.
    """
    try:
        with _open_folder(file.parent, beneath, make=0o700 if not mode & 0o077 else 0o777) as (folder, handle):
            _replace(folder / file.name, handle, content.encode() if isinstance(content, str) else content, mode)
    except OSError as error:
        raise _write_error(file, error) from error


def is_writable(folder: Path) -> bool:
    """Whether a folder can be written, or made where it is not there yet. Nothing is tried."""
    nearest = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def make_private(folder: Path) -> None:
    """Create a folder, and those above it that are missing, for its owner alone."""
    _make_folders(folder, 0o700)


@contextmanager
def locked(file: Path, *, seconds: float) -> Iterator[None]:
    """Hold an exclusive lock between processes; that of a process that died is free.

    Only the file's being there counts, not its content: a link, a pipe or a device of that name is replaced. Raises
    `LockBusy` after so many seconds, `LocksUnsupported`, or another `StorageError`.
    """
    try:
        make_private(file.parent)
        handle = _acquire(file, time.monotonic() + seconds)
    except OSError as error:
        raise _write_error(file, error) from error
    try:
        yield
    finally:
        os.close(handle)


def _open_handle(name: Path, folder: int | None, *, follow: bool) -> int:
    # A look before opening, because opening alone can set a device in motion; and one after, because names change.
    _require_regular(os.stat(name, dir_fd=folder, follow_symlinks=follow).st_mode)
    flags = os.O_RDONLY | _COMMON | _NO_WAIT | (0 if follow else _NO_FOLLOW)
    handle = os.open(name, flags, dir_fd=folder)
    try:
        _require_regular(os.fstat(handle).st_mode)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _require_regular(mode: int) -> None:
    if stat.S_ISLNK(mode):
        raise RefusedFile(errno.ELOOP, "it is a symbolic link")
    if not stat.S_ISREG(mode):
        raise RefusedFile(errno.EINVAL, "it is not a regular file")


@contextmanager
def _open_folder(folder: Path, beneath: Path | None, *, make: int | None = None) -> Iterator[tuple[Path, int | None]]:
    """A folder's path and handle, reached without following a link below `beneath`.

    With `make`, missing folders are made with that mode.
    """
    if beneath is None or not _HAS_FOLDER_HANDLES:
        if beneath is not None and folder.resolve() != beneath.resolve() / folder.relative_to(beneath):
            raise RefusedFile(errno.ELOOP, f"{folder} is a symbolic link")
        if make is not None:
            _make_folders(folder, make)
        yield folder, None
        return
    handle = os.open(beneath, _FOLDER)
    try:
        for name in folder.relative_to(beneath).parts:
            if make is not None:
                with suppress(FileExistsError):
                    os.mkdir(name, make, dir_fd=handle)
            if stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
                raise RefusedFile(errno.ELOOP, f"{name} is a symbolic link")
            inner = os.open(name, _FOLDER | _NO_FOLLOW, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield Path(), handle
    finally:
        os.close(handle)


def _make_folders(folder: Path, mode: int) -> None:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=mode, exist_ok=True)


def _replace(name: Path, folder: int | None, content: bytes, mode: int) -> None:
    with suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=folder is None).st_mode
        mode = stat.S_IMODE(found) & 0o777 if stat.S_ISREG(found) else mode
    temporary = name.with_name(f".{name.name}.{os.urandom(4).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _COMMON
    try:
        with os.fdopen(os.open(temporary, flags, mode, dir_fd=folder), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
    with suppress(OSError):  # the new name is safe only when the folder is on disk too; not every system can do that
        opened = os.open(name.parent, _FOLDER, dir_fd=folder)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _write_error(file: Path, error: OSError) -> StorageError:
    kind = StorageFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageError
    return kind(
        f"{file} could not be written: {error.strerror or error}.",
        hint="Check the folder's permissions and free space.",
    )


def _acquire(file: Path, deadline: float) -> int:
    """The handle of the file, locked. It is opened anew for each attempt: another process may have replaced it."""
    while True:
        handle = _lock_file(file)
        try:
            with suppress(FileNotFoundError):
                if _try_lock(handle, file) and os.path.samestat(os.fstat(handle), file.lstat()):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if time.monotonic() >= deadline:
            raise LockBusy(
                f"{file} is locked: another zkchat has been using it for too long.",
                hint="Close that zkchat, or try again.",
            )
        time.sleep(_POLL_SECONDS)


def _lock_file(file: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | _COMMON | _NO_WAIT | _NO_FOLLOW
    if os.path.lexists(file) and not stat.S_ISREG(file.lstat().st_mode):
        _remove(file)
    try:
        return os.open(file, flags, 0o600)
    except PermissionError:
        _remove(file)  # a file that its owner may not open
        return os.open(file, flags, 0o600)


def _remove(file: Path) -> None:
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(file.lstat().st_mode):
            file.rmdir()
        else:
            file.unlink()


def _try_lock(handle: int, file: Path) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        raise LocksUnsupported(
            f"{file} cannot be locked: {error.strerror}.",
            hint="Some network file systems do not support locks. Set XDG_DATA_HOME to a folder on a local disk.",
        ) from error
    return True
