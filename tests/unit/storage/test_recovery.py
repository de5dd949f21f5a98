import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from tests.support.odd_files import KINDS, replace_with_kind
from tests.support.stored_text import incompressible
from zkchat.core.errors import StorageDamaged, StorageError, StorageTooNew
from zkchat.core.message import ChatMessage, TextPart
from zkchat.core.session import MessageEntry, TitleEntry
from zkchat.core.session_history import messages_of
from zkchat.sessions.store import SqliteSessions, open_sessions
from zkchat.storage.durable_database import Recovered, backups_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEPT = "sessions.db.damaged-20260301T120000Z"
NUMBERS = count(1)


def new_id() -> str:
    return f"s{next(NUMBERS):05}"


def open_at(path: Path, now: datetime = NOON) -> Recovered[SqliteSessions]:
    return open_sessions(path, now=lambda: now, new_id=new_id)


def message(number: int, size: int = 300) -> MessageEntry:
    text = f"message {number} " + "wörd " * 30 + incompressible(size - 150)
    return MessageEntry(
        message=ChatMessage(id=f"m{number}", role="user", parts=(TextPart(text=text),), created_at=NOON)
    )


def texts(store: SqliteSessions) -> dict[str, list[str]]:
    """The first words of all messages by session title."""
    return {
        session.title: [" ".join(found.text.split()[:2]) for found in messages_of(store.entries(session.id)).values()]
        for session in store.sessions()
    }


def reopened(path: Path, now: datetime = NOON) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """The texts in a store that is opened, and what the user is told of it."""
    opened = open_at(path, now)
    with opened.store as store:
        return texts(store), opened.notices


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders with two sessions, whose rows fill a page together or many pages each.

    `closed` properly; as a process leaves them that was `killed` after another message, which is in the log alone; and
    with that message and a daily `copy` of them.
    """
    folder = tmp_path_factory.mktemp("stores")
    path = folder / "closed" / "sessions.db"
    with open_at(path).store as store:
        short, long = store.create("Short"), store.create("Long")
        for number in range(6):
            store.append(short.id, [message(number)])
            store.append(long.id, [message(number, size=20_000)])
    shutil.rmtree(path.parent / "backups")
    shutil.copytree(path.parent, folder / "copied")
    with open_at(folder / "copied" / "sessions.db").store as store:
        store.append(store.find("Short").id, [message(6)])
        shutil.copytree(folder / "copied", folder / "killed")
    return folder


@pytest.fixture
def path(stores: Path, tmp_path: Path) -> Path:
    return shutil.copytree(stores / "closed", tmp_path / "closed") / "sessions.db"


@pytest.fixture
def killed(stores: Path, tmp_path: Path) -> Path:
    return shutil.copytree(stores / "killed", tmp_path / "killed") / "sessions.db"


@pytest.fixture
def copied(stores: Path, tmp_path: Path) -> Path:
    return shutil.copytree(stores / "copied", tmp_path / "copied") / "sessions.db"


ALL = {"Short": [f"message {number}" for number in range(6)], "Long": [f"message {number}" for number in range(6)]}
ALL_AND_THE_LAST = ALL | {"Short": [f"message {number}" for number in range(7)]}


def overwrite(path: Path, start: int, content: bytes) -> bytes:
    data = bytearray(path.read_bytes())
    data[start : start + len(content)] = content
    path.write_bytes(data)
    return bytes(data)


def test_a_new_store_opens_in_silence_and_so_does_one_after_a_kill(tmp_path: Path, killed: Path) -> None:
    opened = open_at(tmp_path / "new" / "sessions.db")
    with opened.store as store:
        assert (store.sessions(), opened.notices) == ([], ())
    assert {file.name: file.stat().st_mode & 0o777 for file in (tmp_path / "new").iterdir()} == {
        "sessions.db": 0o600,
        "sessions.db.lock": 0o600,
    }
    assert reopened(killed) == (ALL_AND_THE_LAST, ())


def test_garbage_in_the_header_is_noticed_the_file_kept_and_every_entry_saved_as_it_was(path: Path) -> None:
    with open_at(path).store as store:
        session = store.find("Long")
        before = store.entries(session.id)
    damaged = overwrite(path, 0, b"garbage!" * 12)
    opened = open_at(path)
    with opened.store as store:
        assert texts(store) == ALL
        assert (store.get(session.id), store.entries(session.id)) == (session, before)
        assert store.append(store.find("Short").id, [message(7)])
    kept = path.with_name(KEPT)
    assert opened.notices == (
        f"{path} was damaged. 2 sessions with 12 messages could be recovered; the damaged file is kept as {kept}.",
    )
    assert kept.read_bytes() == damaged


def test_the_damaged_log_is_kept_with_its_file(killed: Path) -> None:
    damaged = overwrite(killed, 20 * 4096, b"\xff" * 4096), killed.with_name("sessions.db-wal").read_bytes()
    assert reopened(killed)[0]["Short"] == ALL_AND_THE_LAST["Short"]
    kept = killed.with_name(KEPT), killed.with_name(f"{KEPT}-wal")
    assert tuple(file.read_bytes() for file in kept) == damaged


@pytest.mark.parametrize("lose", [lambda file: file.write_bytes(b""), Path.unlink])
def test_a_log_without_its_file_is_damage_and_kept(killed: Path, lose: Callable[[Path], object]) -> None:
    lose(killed)
    found, notices = reopened(killed)
    assert found == {}
    assert "was damaged. Nothing could be recovered" in notices[0]
    assert killed.with_name(f"{KEPT}-wal").stat().st_size


@pytest.mark.parametrize("share", [0.4, 0.8])
def test_a_damaged_page_in_the_middle_takes_no_message_behind_it_along(path: Path, share: float) -> None:
    page = int(path.stat().st_size * share) // 4096 * 4096
    assert page > max(page_of(path, name) for name in ("entries", "sessions"))
    overwrite(path, page, bytes(4096))
    path.with_name("sessions.db.suspect").touch()
    saved, _ = reopened(path)
    assert sum(map(len, saved.values())) >= 9  # a page holds three short ones
    assert "message 5" in {*saved["Short"], *saved["Long"]}


def test_a_first_page_that_is_lost_costs_what_was_said_since_the_backup(path: Path) -> None:
    with open_at(path).store as store:
        store.append(store.find("Short").id, [message(6)])
    with open_at(path).store as store:
        store.append(store.find("Short").id, [message(7)])
    overwrite(path, 0, bytes(4096))
    assert reopened(path)[0] == ALL_AND_THE_LAST


def test_a_session_that_was_deleted_stays_deleted(path: Path) -> None:
    older = path.parent / "backups" / "restored-by-hand.db"
    older.parent.mkdir()
    shutil.copy(path, older)
    with_all = older.read_bytes()
    with open_at(path).store as store:
        store.delete(store.find("Long").id)
    for copy in backups_of(path):
        copy.unlink()
    older.write_bytes(with_all)
    for now in (NOON, NOON + timedelta(hours=1)):
        overwrite(path, 0, bytes(100))
        assert reopened(path, now)[0] == {"Short": ALL["Short"]}


def page_of(path: Path, table: str) -> int:
    """Where the root page of a table or an index begins."""
    with closing(sqlite3.connect(path)) as connection:
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema"))
    return int(roots[table] - 1) * 4096


@pytest.mark.parametrize("is_whole_page", [False, True])
def test_a_session_whose_own_row_is_lost_is_made_from_its_entries(path: Path, is_whole_page: bool) -> None:
    page = page_of(path, "sessions")
    data = bytearray(path.read_bytes()[page : page + 4096])
    first, second = (int.from_bytes(data[place : place + 2]) for place in (8, 10))
    data[first : first + 3] = b"\xff\xff\xff"  # a row longer than the file
    data[second + 20 : second + 40] = b"?" * 20  # a time that is none
    overwrite(path, page, bytes(4096) if is_whole_page else bytes(data))
    found, notices = reopened(path)
    assert found == ALL
    assert len(notices) == 1


def test_two_recoveries_in_one_second_keep_two_files(path: Path) -> None:
    first = overwrite(path, 0, b"1" * 4096)
    open_at(path).store.close()
    second = overwrite(path, 0, b"2" * 4096)
    open_at(path).store.close()
    kept = path.with_name(KEPT), path.with_name(f"{KEPT}-2")
    assert tuple(file.read_bytes() for file in kept) == (first, second)


def in_a_packed_row(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        ((packed,),) = connection.execute("SELECT body FROM entries WHERE typeof (body) = 'blob' LIMIT 1")
    return bytes(packed[500:520])


@pytest.mark.parametrize("place", [lambda _: b"message 3 ", in_a_packed_row])
def test_damage_that_shows_later_is_recovered_at_the_next_opening(path: Path, place: Callable[[Path], bytes]) -> None:
    overwrite(path, path.read_bytes().index(place(path)), b'"\xff')
    opened = open_at(path)
    with opened.store as store, pytest.raises(StorageDamaged):
        texts(store)
    assert opened.notices == ()
    found, notices = reopened(path)
    assert sum(len(messages) for messages in found.values()) == 11
    assert "2 sessions with 11 messages could be recovered" in notices[0]
    assert not path.with_name("sessions.db.suspect").exists()


def test_a_wrong_suspicion_is_dropped(path: Path) -> None:
    path.with_name("sessions.db.suspect").touch()
    assert reopened(path) == (ALL, ())
    assert not path.with_name("sessions.db.suspect").exists()


def test_an_index_that_lost_its_rows_is_noticed_when_suspected(path: Path) -> None:
    leaf_without_a_row = bytes([0x0A, 0, 0, 0, 0, 0x10, 0, 0])
    overwrite(path, page_of(path, "entries_by_message"), leaf_without_a_row)
    path.with_name("sessions.db.suspect").touch()
    found, notices = reopened(path)
    assert found == ALL
    assert len(notices) == 1


def test_a_recovery_that_was_killed_before_it_began_to_build_is_finished(path: Path) -> None:
    damaged = overwrite(path, 0, bytes(100))
    path.rename(path.with_name("sessions.db.rescuing"))
    path.with_name("sessions.db.rescued").write_text("half of it")
    found, notices = reopened(path)
    assert found == ALL
    assert len(notices) == 1
    assert path.with_name(KEPT).read_bytes() == damaged


def test_a_recovery_that_was_killed_before_it_moved_the_log_is_finished(killed: Path) -> None:
    killed.rename(killed.with_name("sessions.db.rescuing"))
    assert reopened(killed)[0] == ALL_AND_THE_LAST
    assert killed.with_name(f"{KEPT}-wal").exists()


def test_a_recovery_that_was_killed_at_its_very_end_is_finished(path: Path) -> None:
    path.with_name("sessions.db.rescuing").write_text("the damaged file")
    found, notices = reopened(path)
    assert found == ALL
    assert path.with_name(KEPT).read_text() == "the damaged file"
    assert "2 sessions with 12 messages" in notices[0]


def test_a_store_of_a_newer_zkchat_is_no_damage(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE from_the_future (x)")
        connection.execute(f"PRAGMA user_version = {len(SqliteSessions.migrations) + 1}")
    before = path.read_bytes()
    with pytest.raises(StorageTooNew):
        open_at(path)
    assert path.read_bytes() == before
    assert list(path.parent.glob("*.damaged-*")) == []


def test_a_process_that_had_the_damaged_file_open_is_told_to_open_the_new_one(path: Path) -> None:
    with open_at(path).store as other:
        session = other.find("Short")
        path.with_name("sessions.db.suspect").touch()
        overwrite(path, 4096 * 3, b"\xff" * 4096)
        open_at(path).store.close()
        with pytest.raises(StorageDamaged):
            other.append(session.id, [TitleEntry(title="Into the void")])
    with open_at(path).store as store:
        assert store.get(session.id).title == "Short"


@pytest.mark.parametrize(
    ("name", "byte"),
    [(b"entries_stay_as_written", b"\xdd"), (b"sessions_follow_entries", b"\x80"), (b"doomed", b"\x00")],
)
def test_a_schema_that_is_no_text_is_damage_like_any_other(path: Path, name: bytes, byte: bytes) -> None:
    damaged = overwrite(path, path.read_bytes().find(name) + 2, byte)
    found, notices = reopened(path)
    assert found == ALL
    assert path.with_name(KEPT).read_bytes() == damaged
    assert len(notices) == 1


@pytest.mark.parametrize(
    ("kind", "suffix"), [*((kind, "") for kind in KINDS), ("pipe", "-wal"), ("folder", "-shm"), ("loop", "-journal")]
)
def test_what_is_no_file_is_moved_aside_and_nobody_waits_for_it(path: Path, kind: str, suffix: str) -> None:
    replace_with_kind(path.with_name(path.name + suffix), kind)
    with open_at(path).store as store:
        store.create("It works")
        assert texts(store).keys() == ({"It works"} if not suffix else {"It works", *ALL})
    assert os.path.lexists(path.with_name(KEPT + suffix))


def test_a_link_to_a_disk_that_is_not_there_is_named_and_left(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "unmounted" / "sessions.db")
    with pytest.raises(StorageError, match="link to a file that is not there"):
        open_at(path)
    assert path.is_symlink()


def test_sessions_that_are_gone_come_back_from_their_copies_and_the_user_is_told(copied: Path) -> None:
    copied.unlink()
    found, notices = reopened(copied)
    assert found == ALL_AND_THE_LAST
    assert notices == (
        f"{copied} was missing and was restored from {copied.parent / 'backups'}: 2 sessions with 13 messages. "
        "What came after the last backup is lost.",
    )
    assert open_at(copied).notices == ()


def test_a_file_that_was_emptied_is_damage_and_comes_back_from_its_copy(copied: Path) -> None:
    copied.write_bytes(b"")
    found, notices = reopened(copied)
    assert found == ALL_AND_THE_LAST
    assert "was damaged" in notices[0]


def test_a_message_that_is_no_text_any_more_comes_back_from_the_copy(copied: Path) -> None:
    overwrite(copied, copied.read_bytes().index(b"message 3 ") + 3, b"\xff")
    copied.with_name("sessions.db.suspect").touch()
    assert reopened(copied)[0] == ALL_AND_THE_LAST


def test_deleted_sessions_do_not_come_back_from_copies(copied: Path) -> None:
    with open_at(copied).store as store:
        for session in store.sessions():
            store.delete(session.id)
    copied.unlink()
    assert reopened(copied) == ({}, ())


def test_facts_in_the_same_folder_are_no_copies_of_sessions(copied: Path) -> None:
    for copy in backups_of(copied):
        copy.rename(copy.with_name("memories-20260301T120000Z.db"))
    copied.unlink()
    assert reopened(copied) == ({}, ())
