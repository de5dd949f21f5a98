"""Writing a small file so that a crash leaves the old one or the new one, never a torn one."""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from zkchat.errors import StorageError, StorageFull


def write_atomically(file: Path, text: str, *, mode: int) -> None:
    """Replace the file's content. A file that was there keeps its permissions; a new one gets `mode`."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, text.encode(), file.stat().st_mode & 0o777 if file.exists() else mode)
    except OSError as error:
        kind = StorageFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageError
        raise kind(
            f"{file} could not be written: {error.strerror}.", hint="Look at the folder's permissions and free space."
        ) from error


def _replace(file: Path, content: bytes, mode: int) -> None:
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    """The new name is safe only when the folder is on disk too; not every system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
