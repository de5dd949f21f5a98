"""Advisory locks on open sessions, one locked file each, free when the process ends."""

import os
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path

from zkchat.errors import StorageError
from zkchat.files import LockBusy, locked, read_bounded
from zkchat.storage.database_errors import sibling


class SessionLocks:
    def __init__(self, database: Path) -> None:
        self._database = database
        self._held: dict[str, ExitStack] = {}

    def acquire(self, session_id: str) -> bool:
        """Lock a session, once. False while another process has it; where the file system has no locks, True."""
        if session_id in self._held:
            return True
        name = sha256(session_id.encode("utf-8", "replace")).hexdigest()[:16]  # an id may be no name of a file
        file = sibling(self._database, f".open-{name}")
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(file, seconds=0))
                stack.callback(file.unlink, missing_ok=True)
                file.write_text(str(os.getpid()), "ascii")
            except LockBusy:
                return _owner_of(file) == str(os.getpid())  # a conversation that is just being left for this one
            except (StorageError, OSError):
                return True
            self._held[session_id] = stack.pop_all()
        return True

    def release_all(self) -> None:
        """Unlock every session."""
        for stack in self._held.values():
            with suppress(OSError):
                stack.close()
        self._held.clear()


def _owner_of(file: Path) -> str:
    try:
        return read_bounded(file, max_bytes=20).decode("ascii", "replace")
    except OSError:
        return ""
