import shutil
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from zkchat.core.errors import StorageFull
from zkchat.core.session import TitleEntry
from zkchat.sessions.store import SqliteSessions, open_sessions
from zkchat.storage.durable_database import RESERVE_BYTES, keep_reserve, release_reserve

NUMBERS = count(1)


def opened(path: Path) -> SqliteSessions:
    return open_sessions(path, now=lambda: datetime.now(UTC), new_id=lambda: f"s{next(NUMBERS):06}").store


def test_space_is_kept_from_the_first_session_on_and_only_once(tmp_path: Path) -> None:
    path, file = tmp_path / "sessions.db", tmp_path / "sessions.db.reserve"
    with opened(path) as store:
        assert not file.exists()
        store.create("First")
        assert (file.stat().st_size, file.stat().st_mode & 0o777) == (RESERVE_BYTES, 0o600)
    assert release_reserve(path)
    assert not release_reserve(path)
    with opened(path):
        assert file.exists()


def test_a_full_disk_gets_the_space_and_the_message_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sessions.db"
    with opened(path) as store:
        session = store.create("First")
        write = store._append

        def while_there_is_room(session_id: str, bodies: list[TitleEntry]) -> object:
            if (tmp_path / "sessions.db.reserve").exists():
                raise StorageFull("The disk is full.")
            return write(session_id, bodies)

        monkeypatch.setattr(store, "_append", while_there_is_room)
        store.append(session.id, [TitleEntry(title="Second")])
        assert store.get(session.id).title == "Second"


def test_a_disk_with_little_room_is_left_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    keep_reserve(tmp_path / "sessions.db")
    assert list(tmp_path.iterdir()) == []
