"""Space on disk that is kept free for messages: when the disk is full, it is given up so that they can be stored."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from zkchat.storage.faults import beside

RESERVE_BYTES: Final = 1 << 20
_LEFT_FOR_OTHERS: Final = 32 * RESERVE_BYTES
"""A disk with less room than this has none for a reserve."""
_FOR_A_MESSAGE: Final = 64 * 1024


def keep_reserve(path: Path) -> None:
    """Take up the space beside a database, unless it is taken or there is little left."""
    file = beside(path, ".reserve")
    with suppress(OSError):
        if file.exists() or shutil.disk_usage(path.parent).free < _LEFT_FOR_OTHERS:
            return
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, os.urandom(RESERVE_BYTES))  # zeros may take no space
        finally:
            os.close(descriptor)


def is_full(path: Path) -> bool:
    """Whether there is too little room for a message beside a database: asking takes less time than trying in vain."""
    try:
        return shutil.disk_usage(path.parent).free < _FOR_A_MESSAGE
    except OSError:
        return False


def give_up_reserve(path: Path) -> bool:
    """Free the space; False if there is none to free."""
    try:
        beside(path, ".reserve").unlink()
    except OSError:
        return False
    return True
