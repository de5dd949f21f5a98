"""The session store where there is none: the disk is full or the folder cannot be written. Nothing is kept."""

from collections.abc import Sequence
from typing import NoReturn

from zkchat.errors import StorageError
from zkchat.model.session import Entry, EntryBody, Session
from zkchat.ports import EntryFilter


class UnsavedSessions:
    """Says to every request why it cannot be met, so that the conversation can tell the user and go on."""

    def __init__(self, reason: StorageError) -> None:
        self._reason = reason

    def create(self, title: str = "") -> Session:
        self._refuse(title)

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        self._refuse(session_id, bodies)

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]:
        self._refuse(session_id, wanted)

    def sessions(self) -> list[Session]:
        self._refuse()

    def get(self, session_id: str) -> Session:
        self._refuse(session_id)

    def find(self, name: str) -> Session:
        self._refuse(name)

    def delete(self, session_id: str) -> None:
        self._refuse(session_id)

    def _refuse(self, *_: object) -> NoReturn:
        raise self._reason
