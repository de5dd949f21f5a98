"""How far a change set is, on disk: what a process that is killed leaves for the next one."""

import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zkchat.errors import StorageError
from zkchat.files import read_bounded, write_atomically
from zkchat.storage.database import sibling

_MAX_BYTES: Final = 1000


@dataclass(frozen=True, slots=True)
class Progress:
    run: str
    """In the names of its temporary files."""
    stage: int
    """The one that is at work; those before it are done."""

    def temporary_name(self, number: int = 0) -> str:
        return f".zkchat-{self.run}-{number:x}.tmp"


class ProgressFile:
    """Is there while a change set is carried out, or was when its process died."""

    def __init__(self, journal: Path) -> None:
        self._file = sibling(journal, ".progress")

    @property
    def exists(self) -> bool:
        return self._file.exists()

    def begin(self) -> Progress:
        progress = Progress(secrets.token_hex(6), 0)
        self.write(progress)
        return progress

    def write(self, progress: Progress) -> None:
        write_atomically(self._file, json.dumps({"run": progress.run, "stage": progress.stage}), mode=0o600)

    def read(self) -> Progress | None:
        """None where nothing is at work."""
        try:
            found = json.loads(read_bounded(self._file, max_bytes=_MAX_BYTES))
            return Progress(str(found["run"]), int(found["stage"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StorageError(
                f"{self._file} cannot be read: {error}.",
                hint="It tells how far a change came that was interrupted. Remove it to leave that change as it is.",
            ) from error

    def clear(self) -> None:
        with suppress(OSError):  # a file that is left says that there is something to look for
            self._file.unlink(missing_ok=True)
