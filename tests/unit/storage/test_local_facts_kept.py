"""The mark on facts that stay on this machine, on disk."""

from pathlib import Path

from tests.support.sessions import NOON
from zkchat.storage.memories import SqliteMemories


def opened(path: Path) -> SqliteMemories:
    return SqliteMemories(path, now=lambda: NOON, new_id=lambda: "f1")


def test_a_fact_is_local_after_it_was_stored(tmp_path: Path) -> None:
    with opened(tmp_path / "memories.db") as store:
        assert store.add("The key is under the mat.", "user", local=True).local
    with opened(tmp_path / "memories.db") as store:
        assert [fact.local for fact in store.facts()] == [True]
