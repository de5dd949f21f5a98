"""What is remembered across sessions."""

from collections.abc import Sequence
from typing import Protocol

from zkchat.model.memory import Fact, FactSource


class MemoryStore(Protocol):
    """Facts on disk. What `add` returned from is there after a crash. Any of its methods may raise `StorageError`."""

    def facts(self) -> tuple[Fact, ...]:
        """Those that hold, the oldest first."""

    def add(
        self, text: str, source: FactSource, session_id: str = "", replaces: Sequence[str] = (), *, local: bool = False
    ) -> Fact:
        """Keep a fact; those with the ids in `replaces` do not hold any more."""

    def confirm(self, fact_id: str) -> Fact:
        """It was said again: it is as fresh as a new one."""

    def used(self, fact_ids: Sequence[str]) -> None:
        """They went into a request."""

    def forget(self, fact_id: str) -> None:
        """Remove a fact for good, with those that it took the place of."""
