"""Stores of a vault in which nothing is stored yet: read as empty, and opened when the first thing is written."""

from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Generic, Self, TypeVar

from zkchat.model.memory import Fact, FactSource
from zkchat.model.session import Entry, EntryBody, EntryFilter, Session
from zkchat.storage.memories import SqliteMemories, no_fact
from zkchat.storage.sessions import SqliteSessions, no_session

Store = TypeVar("Store", SqliteSessions, SqliteMemories)


class _OnFirstUse(Generic[Store]):
    def __init__(self, is_there: Callable[[], bool], open_store: Callable[[], Store]) -> None:
        """`is_there` tells whether something is stored by now, by another process; `open_store` makes the store."""
        self._is_there = is_there
        self._open: Callable[[], Store] = open_store
        self._store: Store | None = None
        self._lock = RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()

    def _existing(self) -> Store | None:
        return self._to_write() if self._store is not None or self._is_there() else None

    def _to_write(self) -> Store:
        with self._lock:
            if self._store is None:
                self._store = self._open()
            return self._store


class SessionsOnFirstUse(_OnFirstUse[SqliteSessions]):
    """Implements `ports.SessionStore`."""

    def create(self, title: str = "") -> Session:
        return self._to_write().create(title)

    def append(self, session_id: str, bodies: Sequence[EntryBody]) -> list[Entry]:
        return self._of(session_id).append(session_id, bodies)

    def entries(self, session_id: str, wanted: EntryFilter | None = None) -> list[Entry]:
        return self._of(session_id).entries(session_id, wanted)

    def sessions(self) -> list[Session]:
        store = self._existing()
        return store.sessions() if store else []

    def get(self, session_id: str) -> Session:
        return self._of(session_id).get(session_id)

    def find(self, name: str) -> Session:
        return self._of(name).find(name)

    def delete(self, session_id: str) -> None:
        self._of(session_id).delete(session_id)

    def enter(self, session_id: str) -> bool:
        store = self._existing()
        return store.enter(session_id) if store else True

    def _of(self, session: str) -> SqliteSessions:
        store = self._existing()
        if store is None:
            raise no_session(session)
        return store


class MemoriesOnFirstUse(_OnFirstUse[SqliteMemories]):
    """Implements `ports.MemoryStore` and `ports.VectorCache`."""

    def facts(self) -> tuple[Fact, ...]:
        store = self._existing()
        return store.facts() if store else ()

    def add(
        self, text: str, source: FactSource, session_id: str = "", replaces: Sequence[str] = (), *, local: bool = False
    ) -> Fact:
        return self._to_write().add(text, source, session_id, replaces, local=local)

    def confirm(self, fact_id: str) -> Fact:
        return self._of(fact_id).confirm(fact_id)

    def used(self, fact_ids: Sequence[str]) -> None:
        if fact_ids:
            self._to_write().used(fact_ids)

    def forget(self, fact_id: str) -> None:
        self._of(fact_id).forget(fact_id)

    def find(self, name: str) -> Fact:
        return self._of(name).find(name)

    def vectors(self, method: str, digests: Sequence[str]) -> dict[str, bytes]:
        store = self._existing()
        return store.vectors(method, digests) if store else {}

    def keep_vectors(self, method: str, vectors: Mapping[str, bytes]) -> None:
        """There is nothing yet that they could be vectors of, unless something is stored."""
        store = self._existing()
        if store:
            store.keep_vectors(method, vectors)

    def _of(self, fact: str) -> SqliteMemories:
        store = self._existing()
        if store is None:
            raise no_fact(fact)
        return store
