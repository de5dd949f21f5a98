"""How far a change set is, on disk: what a process that is killed leaves for the next one."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from zkchat.errors import StorageError
from zkchat.files import read_bounded, write_atomically
from zkchat.storage.database_errors import sibling

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
                hint="It tells how far a change came that was interrupted. Remove it to leave that change as it is.",
            ) from error

    def clear(self) -> None:
        with suppress(OSError):  # a file that is left says that there is something to look for
            self._file.unlink(missing_ok=True)
