"""The session store under faults: killed processes, concurrent processes, full disks and damaged files."""

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from zkchat.core.session import MessageEntry
from zkchat.sessions.store import SqliteSessions, open_sessions
from zkchat.storage.durable_database import Recovered

COMMON = """
import json, os, random, signal, sys, time
from pathlib import Path
from zkchat.core.environment import random_id, utc_now
from zkchat.core.errors import StorageFull
from zkchat.core.message import ChatMessage, TextPart
from zkchat.core.session import MessageEntry
from zkchat.sessions.store import open_sessions
from tests.support.stored_text import incompressible

path = Path(sys.argv[1])

def open_store():
    return open_sessions(path, now=utc_now, new_id=random_id).store

def message(text):
    parts = (TextPart(text=text),)
    return MessageEntry(message=ChatMessage(id=random_id(), role="user", parts=parts, created_at=utc_now()))
"""

WRITE_TO_TWO_SESSIONS = """
with open_store() as store:
    own = store.create("own")
    for number in range(20):
        for session_id in (own.id, sys.argv[2]):
            store.append(session_id, [message(f"{number} of {os.getpid()}")])
"""

KILL_WRITERS = """
rng = random.Random(20260301)
for kill in range(int(sys.argv[2])):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with open_store() as store:
            session = (store.sessions() or [store.create("Under fire")])[0]
            while True:
                entries = store.append(session.id, [message("x" * rng.randrange(9000)) for _ in range(3)])
                os.write(write, "".join(f"{entry.body.message.id}\\n" for entry in entries).encode())
    os.close(write)
    first = os.read(read, 1) if kill % 2 else b""  # every second one is writing by then
    time.sleep(rng.uniform(0.0, 0.08))  # the kill comes at any moment: that is the test
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as acknowledged:
        print(json.dumps((first + acknowledged.read()).decode().split()))
"""

FILL_THE_DISK = """
import resource
with open_store() as store:
    session = store.create("Filling")
    limit = path.with_name("sessions.db-wal").stat().st_size + 400_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    stored, error_name = 0, ""
    try:
        while True:
            store.append(session.id, [message(incompressible(9000))])
            stored += 1
    except Exception as error:
        error_name = type(error).__name__
    kept = len(store.entries(session.id))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.append(session.id, [message("room again")])
    print(json.dumps([error_name, stored, kept, store.get(session.id).message_count]))
"""


def start(code: str, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", COMMON + code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output_of(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


NUMBERS = count(1)


def open_here(path: Path) -> Recovered[SqliteSessions]:
    return open_sessions(path, now=lambda: datetime.now(UTC), new_id=lambda: f"s{next(NUMBERS):06}")


def integrity_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


def test_processes_that_write_to_two_sessions_at_once_are_not_refused_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with open_here(path).store as store:
        shared = store.create("Shared").id
    for process in [start(WRITE_TO_TWO_SESSIONS, str(path), shared) for _ in range(8)]:
        output_of(process)
    with open_here(path).store as store:
        assert [entry.sequence for entry in store.entries(shared)[1:]] == list(range(2, 162))
        assert Counter(session.message_count for session in store.sessions()) == {160: 1, 20: 8}


def test_eight_processes_that_meet_on_a_new_vault_all_get_in(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sessions.db"
    for process in [start('open_store().create("mine")', str(path)) for _ in range(8)]:
        output_of(process)
    with open_here(path).store as store:
        assert len(store.sessions()) == 8


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_what_a_killed_writer_had_acknowledged_is_there(tmp_path: Path, scaled: Callable[[int], int]) -> None:
    path, kills = tmp_path / "sessions.db", scaled(40)
    acknowledged = [json.loads(line) for line in output_of(start(KILL_WRITERS, str(path), str(kills))).splitlines()]
    assert len(acknowledged) == kills
    assert sum(map(len, acknowledged)) >= 3 * (kills // 2)  # three messages of every second writer at least
    assert integrity_of(path) == "ok"
    with open_here(path).store as store:
        (session,) = store.sessions()
        entries = [entry for entry in store.entries(session.id) if isinstance(entry.body, MessageEntry)]
    stored = {entry.body.message.id for entry in entries if isinstance(entry.body, MessageEntry)}
    assert {id_ for ids in acknowledged for id_ in ids} <= stored
    assert len(stored) % 3 == 0  # an append is there whole or not at all
    assert [entry.sequence for entry in entries] == list(range(2, len(entries) + 2))


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on file sizes")
def test_a_full_disk_is_told_keeps_what_was_there_and_later_messages_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    error_name, stored, kept, after = json.loads(output_of(start(FILL_THE_DISK, str(path))))
    assert error_name == "StorageFull"
    assert stored > 3
    assert (kept, after) == (1 + stored, stored + 1)  # the title and the messages; the messages and the last one
    assert integrity_of(path) == "ok"
