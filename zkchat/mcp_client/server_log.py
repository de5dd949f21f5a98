"""The log of a server: what its process wrote beside the protocol, for its owner alone, within a bound."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from zkchat.files import make_private

_MAX_BYTES: Final = 1_000_000
_KEPT_BYTES: Final = 200_000
"""What stays of a log that is full: its end."""


class ServerLog:
    """Appends to a file that never grows over a megabyte. A disk that is full or a folder that is not there is no
    reason for a server to fail: what cannot be written is dropped."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._handle: int | None = None

    def write(self, text: bytes) -> None:
        with suppress(OSError):
            handle = self._open()
            size = os.fstat(handle).st_size
            if size + len(text) > _MAX_BYTES:
                self._shorten(handle, size)
            os.write(handle, text[-_MAX_BYTES // 2 :])

    def line(self, text: str) -> None:
        self.write(f"{text}\n".encode("utf-8", "replace"))

    def close(self) -> None:
        if self._handle is not None:
            with suppress(OSError):
                os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        if self._handle is None:
            make_private(self.file.parent)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
            self._handle = os.open(self.file, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
        return self._handle

    @staticmethod
    def _shorten(handle: int, size: int) -> None:
        os.lseek(handle, max(0, size - _KEPT_BYTES), os.SEEK_SET)
        end = os.read(handle, _KEPT_BYTES)
        os.ftruncate(handle, 0)
        os.write(handle, b"(what was before is gone)\n" + end.partition(b"\n")[2])
