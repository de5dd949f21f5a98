import os
import subprocess
import sys
from pathlib import Path

import pytest

from zkchat.sessions.store import SessionLocks

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
