import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from pathlib import Path

import pytest

from tests.support.stored_text import incompressible
from tests.unit.storage.test_migrations import old_database
from zkchat.core.choices import Role
from zkchat.core.errors import SessionNotFound, StorageDamaged, StorageFull
from zkchat.core.message import ChatMessage, Status, TextPart
from zkchat.core.session import (
    ContentEntry,
    Entry,
    EntryFilter,
    MessageEntry,
    ModelEntry,
    PinEntry,
    PriorityEntry,
    Session,
    TitleEntry,
    read_message,
)
from zkchat.core.session_history import messages_of
from zkchat.core.values import to_json, to_plain
from zkchat.sessions.store import SessionLocks, SqliteSessions, open_sessions
from zkchat.storage.database import open_database
from zkchat.storage.durable_database import RESERVE_BYTES, backups_of, keep_reserve, release_reserve

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A minute passes with every look."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        self.time += timedelta(minutes=1)
        return self.time


class Ids:
    def __init__(self, *ids: str) -> None:
        self._ids = iter(ids)
        self._more = count(1)

    def __call__(self) -> str:
        return next(self._ids, None) or f"s{next(self._more):03}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteSessions]:
    with SqliteSessions(path, now=Clock(), new_id=Ids()) as opened:
        yield opened


def message(
    id_: str, text: str = "", role: Role = "user", parent: str | None = None, status: Status = "complete"
) -> MessageEntry:
    return MessageEntry(
        message=ChatMessage(
            id=id_, parent_id=parent, role=role, parts=(TextPart(text=text),), created_at=NOON, status=status
        )
    )


def ids(entries: list[Entry]) -> list[str]:
    return [entry.body.message.id for entry in entries if isinstance(entry.body, MessageEntry)]


def test_an_entry_that_only_a_newer_zkchat_understands_is_kept_and_passed_over(
    path: Path, store: SqliteSessions
) -> None:
    session = store.create()
    store.append(session.id, [message("m1")])
    body = '{"kind": "message", "message": {"id": "m2", "role": "oracle", "created_at": "2026-03-01T12:00:00Z"}}'
    add_by_hand(path, session.id, 2, "message", body)
    entries = store.entries(session.id)
    assert ids(entries) == ["m1"]
    assert "oracle" in to_json(to_plain(entries[1]))


def add_by_hand(path: Path, session_id: str, sequence: int, kind: str, body: str | bytes, role: str = "user") -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, NULL, NULL, '2026-03-01T12:00:00+00:00', ?)",
            (session_id, sequence, kind, role, f"by hand {sequence}", body),
        )


def test_half_a_surrogate_pair_costs_a_character_and_not_the_message(store: SqliteSessions) -> None:
    session = store.create()
    written = store.append(session.id, [message("m1", "an \ud83d emoji"), TitleEntry(title="\udc00")])
    assert store.entries(session.id) == written
    assert messages_of(written)["m1"].text == "an \ufffd emoji"
    assert store.get(session.id).title == "\ufffd"


def test_the_database_itself_refuses_to_change_history(path: Path, store: SqliteSessions) -> None:
    session = store.create("Kept")
    before = store.entries(session.id)
    with closing(open_database(path, synchronous="FULL")) as connection:
        for statement in (
            "UPDATE entries SET body = '{}'",
            "DELETE FROM entries",
            "DELETE FROM sessions",
            "INSERT INTO entries SELECT * FROM entries",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(statement)
    assert store.entries(session.id) == before


def test_the_words_of_a_deleted_session_are_in_no_file_any_more(path: Path) -> None:
    with SqliteSessions(path, now=Clock(), new_id=Ids()) as store:
        doomed, other = store.create("Doomed"), store.create("Other")
        texts = ["a secret", incompressible(9000)] * 10
        store.append(doomed.id, [message(f"m{number}", text) for number, text in enumerate(texts)])
        store.append(other.id, [message("m1", "harmless")])
    with closing(sqlite3.connect(path)) as database:
        ((packed,),) = database.execute("SELECT body FROM entries WHERE typeof (body) = 'blob' LIMIT 1")
    secrets = (b"a secret", packed[1000:1050], packed[-1050:-1000])
    assert all(secret in path.read_bytes() for secret in secrets)
    (copy,) = backups_of(path)
    (copy.parent / "sessions-unreadable.db").write_text("no database")
    with SqliteSessions(path, now=Clock(), new_id=Ids()) as store:
        store.delete(doomed.id)
        files = [file.read_bytes() for file in path.parent.rglob("*") if file.is_file()]
        assert not [secret for secret in secrets for content in files if secret in content]
    with SqliteSessions(copy, now=Clock(), new_id=Ids()) as copied:
        assert [session.title for session in copied.sessions()] == ["Other"]


@pytest.fixture
def talk(store: SqliteSessions) -> str:
    """Six messages in turns, one a minute from 12:02 on, with other things between them."""
    session = store.create("Talk")
    for number in range(1, 7):
        role: Role = "user" if number % 2 else "assistant"
        store.append(session.id, [message(f"m{number}", role=role), PinEntry(message_id=f"m{number}")])
    return session.id


def at(minute: int, zone: int = 0) -> datetime:
    return (NOON + timedelta(minutes=minute)).astimezone(timezone(timedelta(hours=zone)))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (EntryFilter(last=2), ["m5", "m6"]),
        (EntryFilter(last=100), ["m1", "m2", "m3", "m4", "m5", "m6"]),
        (EntryFilter(role="user", last=2), ["m3", "m5"]),
        (EntryFilter(since=at(3), until=at(5)), ["m2", "m3", "m4"]),
        (EntryFilter(since=at(7, zone=9)), ["m6"]),
        (EntryFilter(until=at(2, zone=-7)), ["m1"]),
        (EntryFilter(after=10), ["m6"]),
    ],
)
def test_entries_are_found_by_role_time_and_place(
    store: SqliteSessions, talk: str, wanted: EntryFilter, found: list[str]
) -> None:
    entries = store.entries(talk, wanted)
    assert ids(entries) == found
    if wanted.role or wanted.last:
        assert len(entries) == len(found)  # no pins


def test_messages_that_are_found_have_the_priority_that_the_user_set(store: SqliteSessions, talk: str) -> None:
    store.append(talk, [PriorityEntry(message_id="m1", priority=9), PriorityEntry(message_id="m5", priority=2)])
    last, first = EntryFilter(last=2), EntryFilter(role="user", until=store.entries(talk)[3].at)
    assert [found.priority for found in messages_of(store.entries(talk, last)).values()] == [2, 5]
    assert [found.priority for found in messages_of(store.entries(talk, first)).values()] == [9]


@pytest.mark.parametrize("body", ["no JSON", b"\xff\xfe", b"\x00\x01"])
def test_an_entry_that_makes_no_sense_is_damage_and_marked_for_the_next_start(
    path: Path, store: SqliteSessions, body: str | bytes
) -> None:
    session = store.create()
    add_by_hand(path, session.id, 1, "message", body)
    with pytest.raises(StorageDamaged, match=r"sessions\.db is damaged"):
        store.entries(session.id)
    assert path.with_name("sessions.db.suspect").exists()


def test_a_message_that_went_into_a_file_no_longer_there_is_not_taken_for_stored(
    path: Path, store: SqliteSessions
) -> None:
    session = store.create()
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(StorageDamaged):
        store.append(session.id, [message("m1")])


def test_a_session_is_found_though_the_index_of_sessions_lost_it(path: Path, store: SqliteSessions) -> None:
    session = store.create("Still here")
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema"))
    data = bytearray(path.read_bytes())
    page = (roots["sqlite_autoindex_sessions_1"] - 1) * 4096
    data[page : page + 8] = bytes([0x0A, 0, 0, 0, 0, 0x10, 0, 0])  # a leaf without a row
    path.write_bytes(data)
    with SqliteSessions(path, now=Clock(), new_id=Ids()) as reopened:
        assert reopened.get(session.id) == session
        with pytest.raises(StorageDamaged):
            reopened.append(session.id, [message("m1")])


NAMED = {
    "k3abcdefgh12": "Sleep",
    "k3xyzdefgh34": "Plans",
    "m7abcdefgh56": "plans",
    "p9abcdefgh78": "Evergreen notes",
    "q1abcdefgh90": "m7",
}
FOUND = {
    "k3abcdefgh12": "Sleep",
    "k3x": "Plans",
    "sleep": "Sleep",
    "Plans": "Plans",
    "plans": "plans",
    " evergreen NOTES ": "Evergreen notes",
    "m7": "plans",  # the beginning of an id goes before a title
}


def test_a_session_is_found_by_id_beginning_or_title_and_where_several_fit_they_are_listed(path: Path) -> None:
    with SqliteSessions(path, now=Clock(), new_id=Ids(*NAMED)) as store:
        for title in NAMED.values():
            store.create(title)
        for name, title in FOUND.items():
            assert store.find(name).title == title
        for name in ("k3", "PLANS"):
            with pytest.raises(SessionNotFound, match=r"could be any of 2 sessions") as raised:
                store.find(name)
            assert "k3xyzdefgh34 (Plans)" in raised.value.hint


def test_a_full_disk_takes_nothing_of_an_append_and_later_ones_work(path: Path, store: SqliteSessions) -> None:
    session = store.create()
    store.append(session.id, [message("m1", "before")])
    limit(store, pages=20)
    with pytest.raises(StorageFull):
        store.append(session.id, [message("m2"), message("m3", incompressible(200_000))])
    assert ids(store.entries(session.id)) == ["m1"]
    limit(store, pages=1_000_000)
    store.append(session.id, [message("m4", "after")])
    assert [found.text for found in messages_of(store.entries(session.id)).values()] == ["before", "after"]


def limit(store: SqliteSessions, *, pages: int) -> None:
    """Make the disk as small as that, for this store."""
    store._connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_copy_that_cannot_be_made_does_not_disturb_the_close(path: Path) -> None:
    with SqliteSessions(path, now=Clock(), new_id=Ids()) as store:
        store.create("Stored")
        (path.parent / "backups").write_text("in the way")
    with SqliteSessions(path, now=Clock(), new_id=Ids()) as store:
        assert store.find("Stored").title == "Stored"


def test_one_run_with_a_wrong_clock_does_not_make_a_session_the_last_for_ever(path: Path) -> None:
    times = iter([NOON, NOON, datetime(2030, 1, 1, tzinfo=UTC), NOON + timedelta(days=1)])
    with SqliteSessions(path, now=lambda: next(times, NOON), new_id=Ids("wrong", "right")) as store:
        for session_id in (store.create().id, store.create().id):
            store.append(session_id, [TitleEntry(title=session_id)])
            assert store.sessions()[0].id == session_id


def said_on(day: int, text: str = "Hi") -> MessageEntry:
    at = datetime(2025, 1, day, tzinfo=UTC)
    return MessageEntry(message=ChatMessage(id=f"m{day}", role="user", parts=(TextPart(text=text),), created_at=at))


def test_an_import_is_listed_by_its_messages_until_it_is_gone_on_with(store: SqliteSessions) -> None:
    used = store.create().id
    store.append(used, [message("m1")])
    store.add("theirs", [said_on(2), said_on(3), ModelEntry()])
    store.add("newer", [said_on(4), ModelEntry()])
    assert [session.id for session in store.sessions()] == [used, "newer", "theirs"]
    store.append("theirs", [said_on(5)])
    assert [session.id for session in store.sessions()] == ["theirs", used, "newer"]
    store.delete("newer")
    assert not store.add("newer", [said_on(4)])  # what was deleted does not come back under its id
    assert [session.id for session in store.sessions()] == ["theirs", used]


def test_a_time_ahead_of_the_clock_is_now_so_that_later_entries_are_later(store: SqliteSessions) -> None:
    ahead = ChatMessage(id="m1", role="user", created_at=datetime(2030, 1, 1, tzinfo=UTC))
    store.add("theirs", [MessageEntry(message=ahead)])
    store.append("theirs", [said_on(2)])
    first, second = store.entries("theirs")
    assert first.at < second.at == store.get("theirs").updated_at


def test_contents_of_one_request_share_a_row_and_keep_their_places(path: Path, store: SqliteSessions) -> None:
    session = store.create()
    contents = [ContentEntry(digest=f"d{number}", text=f"text {number} " * 20) for number in range(5)]
    written = store.append(session.id, [*contents, message("m1"), *contents[:2], message("m2")])
    assert [entry.sequence for entry in written] == [*range(1, 10)]
    assert store.entries(session.id) == written
    assert store.entries(session.id, EntryFilter(after=6)) == written[6:]
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT sequence, kind FROM entries ORDER BY sequence").fetchall()
    assert rows == [(5, "content"), (6, "message"), (8, "content"), (9, "message")]
    assert store.append(session.id, [message("m3")])[0].sequence == 10


def turn(id_: str, role: str, text: str, model: str = "") -> MessageEntry:
    provider, _, name = model.partition(":")
    fields = {"id": id_, "role": role, "created_at": NOON, "parts": [TextPart(text=text)]}
    return MessageEntry(message=read_message({**fields, "provider": provider, "model": name}))


def listing(session: Session) -> tuple[bool, str, str]:
    return session.listed, session.first_words, session.model


def test_first_words_stay_and_the_last_model_counts(store: SqliteSessions) -> None:
    id_ = store.create("A title").id
    assert listing(store.get(id_)) == (True, "", "")
    store.append(id_, [turn("m1", "user", "What  is\nsleep?"), turn("m2", "assistant", "Rest.", "ollama:qwen3:8b")])
    store.append(id_, [turn("m3", "user", "Sure?"), TitleEntry(title="Renamed")])
    assert listing(store.get(id_)) == (True, "What is sleep?", "ollama:qwen3:8b")
    store.append(id_, [turn("m4", "assistant", "Yes.", "quote")])
    assert listing(store.get(id_)) == (True, "What is sleep?", "quote")


def test_a_message_that_cannot_be_read_does_not_stop_the_migration(tmp_path: Path) -> None:
    path = old_database(tmp_path, "sessions", 1)
    with closing(sqlite3.connect(path)) as connection:
        (row,) = connection.execute("SELECT * FROM entries WHERE kind = 'message'").fetchall()
        broken = [*row[:1], 3, *row[2:-1], "{"]
        connection.execute("INSERT INTO sessions VALUES ('s2', '', ?, ?, 1)", (row[7], row[7]))
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", ["s2", *broken[1:]])
        connection.commit()
    with SqliteSessions(path, now=Clock(), new_id=Ids()) as store:
        assert [listing(session) for session in store.sessions()] == [(True, "", ""), (True, "I like tea.", "")]


HOLD = """
import sys
from pathlib import Path
from zkchat.sessions.store import SessionLocks
here = SessionLocks(Path(sys.argv[1]))
print(here.acquire("s1"), flush=True)
sys.stdin.read()
"""


def held_by_another(path: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "True\n"
    return child


@pytest.mark.outside
def test_a_session_that_another_process_has_open_is_seen_until_that_ends_in_whatever_way(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    here = SessionLocks(path)
    with held_by_another(path) as child:
        assert not here.acquire("s1")
        assert here.acquire("s2")
        child.kill()
    assert here.acquire("s1")
    assert here.acquire("s1")


def test_what_is_left_leaves_no_file(tmp_path: Path) -> None:
    here = SessionLocks(tmp_path / "sessions.db")
    here.acquire("s1")
    here.acquire("../../an id that is no name")
    assert len(list(tmp_path.iterdir())) == 2
    here.release_all()
    assert list(tmp_path.iterdir()) == []


def test_two_conversations_of_one_process_are_not_two_terminals(tmp_path: Path) -> None:
    before, following = SessionLocks(tmp_path / "sessions.db"), SessionLocks(tmp_path / "sessions.db")
    assert before.acquire("s1")
    assert following.acquire("s1")
    before.release_all()
    assert following.acquire("s1")
    assert [file.read_text() for file in tmp_path.iterdir()] == [str(os.getpid())]


def reserved(path: Path) -> SqliteSessions:
    return open_sessions(path, now=Clock(), new_id=Ids()).store


def test_space_is_kept_from_the_first_session_on_and_only_once(tmp_path: Path) -> None:
    path, file = tmp_path / "sessions.db", tmp_path / "sessions.db.reserve"
    with reserved(path) as store:
        assert not file.exists()
        store.create("First")
        assert (file.stat().st_size, file.stat().st_mode & 0o777) == (RESERVE_BYTES, 0o600)
    assert release_reserve(path)
    assert not release_reserve(path)
    with reserved(path):
        assert file.exists()


def test_a_full_disk_gets_the_space_and_the_message_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with reserved(tmp_path / "sessions.db") as store:
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
