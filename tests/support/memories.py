"""A memory store in memory, for tests of what stands above it."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from tests.support.sessions import NOON
from zkchat.core.profile import Fact, FactSource


class MemoriesInMemory:
    """Implements `ports.memory.MemoryStore`."""

    def __init__(self, *texts: str) -> None:
        self.now = NOON
        self.kept: tuple[Fact, ...] = ()
        for text in texts:
            self.add(text, "user")

    def facts(self) -> tuple[Fact, ...]:
        return self.kept

    def add(
        self,
        text: str,
        source: FactSource,
        session_id: str = "",
        replaces: Sequence[str] = (),
        *,
        local: bool = False,
        agent: str = "",
    ) -> Fact:
        fact = Fact(id=f"f{len(self.kept) + 1}", text=text, source=source, at=self.now, local=local, agent=agent)
        fact = replace(fact, session_id=session_id)
        self.kept = (*(old for old in self.kept if old.id not in replaces), fact)
        return fact

    def confirm(self, fact_id: str) -> Fact:
        return self._change(fact_id, at=self.now)

    def used(self, fact_ids: Sequence[str]) -> None:
        for fact_id in fact_ids:
            uses = next(fact.uses for fact in self.kept if fact.id == fact_id)
            self._change(fact_id, uses=uses + 1, used_at=self.now)

    def forget(self, fact_id: str) -> None:
        self.kept = tuple(fact for fact in self.kept if fact.id != fact_id)

    def _change(self, fact_id: str, **changes: datetime | int) -> Fact:
        self.kept = tuple(replace(f, **changes) if f.id == fact_id else f for f in self.kept)
        return next(fact for fact in self.kept if fact.id == fact_id)
