"""A session store in memory, for tests of what stands above the store."""

from collections.abc import Sequence
from datetime import UTC, datetime

from zkchat.core.errors import SessionNotFound, StorageFull
from zkchat.core.session import Entry, EntryBody, EntryFilter, Session

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class SessionsInMemory:
    def __init__(self) -> None:
        self.rows: dict[str, list[Entry]] = {}
        self.full = False
        """When set, every write is refused as a full disk would."""
        self.open_elsewhere: set[str] = set()
        """The ids of sessions that another terminal has open."""

    def create(self, title: str = "") -> Session:
        self._check_room()
        id_ = f"s{len(self.rows) + 1}"
        self.rows[id_] = []
        return self.get(id_)

    def add(self, session_id: str, bodies: Sequence[EntryBody]) -> bool:
        self._check_room()
        if session_id in self.rows:
            return False
        self.rows[session_id] = []
        self.append(session_id, bodies)
        return True

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        self._check_room()
        rows = self.rows[self.find(session_id).id]
        added = [
            Entry(session_id=session_id, sequence=len(rows) + number, at=NOON, body=body)
            for number, body in enumerate(bodies, start=1)
        ]
        rows.extend(added)
        return added

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]:
        after = wanted.after if wanted else None
        assert wanted in (None, EntryFilter(after=after)), "the fake knows no other filter"
        return [entry for entry in self.rows[self.find(session_id).id] if entry.sequence > (after or 0)]

    def sessions(self) -> list[Session]:
        return [self.get(id_) for id_ in self.rows]

    def get(self, session_id: str) -> Session:
        return Session(id=session_id, created_at=NOON, updated_at=NOON)

    def find(self, name: str) -> Session:
        if name not in self.rows:
            raise SessionNotFound(f"No session '{name}'.")
        return self.get(name)

    def delete(self, session_id: str) -> None:
        del self.rows[session_id]

    def enter(self, session_id: str) -> bool:
        return session_id not in self.open_elsewhere

    def _check_room(self) -> None:
        if self.full:
            raise StorageFull("The disk is full.")
