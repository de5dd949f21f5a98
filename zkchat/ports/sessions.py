"""Sessions, and the index of what was said in them."""

from collections.abc import Collection, Sequence
from typing import Protocol

from zkchat.model.entries import Entry, EntryBody, EntryFilter
from zkchat.model.session import IndexedMessage, IndexedUpTo, MessageRow, Session


class SessionStore(Protocol):
    """Sessions on disk. What `append` returned from is there after a crash."""

    def create(self, title: str = "") -> Session: ...

    def add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
        """Add a session that was held elsewhere, under this id and with the times of its messages, all or nothing.

        False if there is one of that id, or was one that the user deleted.
        """

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        """Add entries in order, all or none. Raises `SessionNotFound`, `StorageFull`, `StorageDamaged`."""

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]: ...

    def sessions(self) -> list[Session]:
        """All of them, the last used first."""

    def get(self, session_id: str) -> Session: ...

    def find(self, name: str) -> Session:
        """By id, the beginning of an id, or title. Raises `SessionNotFound` with the closest ones as a hint."""

    def delete(self, session_id: str) -> None: ...

    def enter(self, session_id: str) -> bool:
        """Say that a session is open here, until the store is closed. False if another process has it open."""


class MessageIndex(Protocol):
    """What was said in sessions: a cache, so any of its methods may raise `StorageDamaged`, and `reset` helps."""

    def known(self) -> dict[str, IndexedUpTo]:
        """The sessions it holds, and how much of each."""

    def add(self, session: str, messages: Sequence[IndexedMessage], up_to: IndexedUpTo) -> None:
        """All or nothing. A message that is already there keeps its place."""

    def rows(self, session: str, after: int) -> list[MessageRow]:
        """The messages that changed after that entry, by place."""

    def messages(self, session: str, ids: Collection[str]) -> list[IndexedMessage]:
        """Those that are there, in no particular order."""

    def forget(self, session: str) -> None: ...

    def reset(self) -> None:
        """Throw everything away."""
