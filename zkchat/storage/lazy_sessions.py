"""Session stores that are opened late: with the first session, or when the disk has space again."""

from collections.abc import Callable, Sequence

from zkchat.errors import SessionNotFound, StorageError, StorageFull
from zkchat.model.entries import Entry, EntryBody, EntryFilter
from zkchat.model.session import Session
from zkchat.ports.sessions import SessionStore
from zkchat.storage.durable_database import LazyStore
from zkchat.storage.sessions import no_session


class LazySessions(LazyStore[SessionStore]):
    """Implements `ports.sessions.SessionStore` for a vault without sessions; the file is made with the first one."""

    def create(self, title: str = "") -> Session:
        return self._writable().create(title)

    def add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
        return self._writable().add(session_id, bodies)

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        return self._holding(session_id).append(session_id, bodies)

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]:
        return self._holding(session_id).entries(session_id, wanted)

    def sessions(self) -> list[Session]:
        store = self._existing()
        return store.sessions() if store else []

    def get(self, session_id: str) -> Session:
        return self._holding(session_id).get(session_id)

    def find(self, name: str) -> Session:
        return self._holding(name).find(name)

    def delete(self, session_id: str) -> None:
        self._holding(session_id).delete(session_id)

    def enter(self, session_id: str) -> bool:
        return self._store.enter(session_id) if self._store else True

    def _not_found(self, name: str) -> SessionNotFound:
        return no_session(name)


class UnavailableSessions(LazySessions):
    """Implements `ports.sessions.SessionStore` where the disk is full or the folder cannot be written.

    Every request raises the reason, so that the conversation warns and goes on in memory. A full disk may have space
    again: then the store is opened, and what waits in memory is written.
    """

    exists = True

    def __init__(self, reason: StorageError, reopen: Callable[[], SessionStore]) -> None:
        super().__init__(self)
        self._reason = reason
        self._reopen = reopen

    def open(self) -> SessionStore:
        if not isinstance(self._reason, StorageFull):
            raise self._reason
        return self._reopen()
