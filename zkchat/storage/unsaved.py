"""The session store where there is none, because the disk is full or the folder cannot be written."""

from collections.abc import Callable, Sequence

from zkchat.errors import StorageError, StorageFull
from zkchat.model.session import Entry, EntryBody, EntryFilter, Session
from zkchat.ports import SessionStore


class UnsavedSessions:
    """Says to every request why it cannot be met, so that the conversation can tell the user and go on.

    A full disk may have room again: then the store is opened, and what waits in memory is written.
    """

    def __init__(self, reason: StorageError, reopen: Callable[[], SessionStore]) -> None:
        self._reason = reason
        self._reopen = reopen
        self._opened: SessionStore | None = None

    def create(self, title: str = "") -> Session:
        return self._store().create(title)

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        return self._store().append(session_id, bodies)

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]:
        return self._store().entries(session_id, wanted)

    def sessions(self) -> list[Session]:
        return self._store().sessions()

    def get(self, session_id: str) -> Session:
        return self._store().get(session_id)

    def find(self, name: str) -> Session:
        return self._store().find(name)

    def delete(self, session_id: str) -> None:
        self._store().delete(session_id)

    def enter(self, session_id: str) -> bool:
        return self._opened.enter(session_id) if self._opened else True

    def _store(self) -> SessionStore:
        if self._opened is None:
            if not isinstance(self._reason, StorageFull):
                raise self._reason
            self._opened = self._reopen()
        return self._opened
