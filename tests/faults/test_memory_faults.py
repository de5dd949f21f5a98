"""Processes that are killed while they keep facts, and several that keep facts at once."""

import subprocess
import sys
from pathlib import Path

from tests.support.sessions import NOON
from zkchat.sessions.memories import open_memories

ENDLESS = 1_000_000
KILLS = 3


def writer(path: Path, most: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.faults.kill_memory_writes", str(path), str(most)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def kept(path: Path) -> set[str]:
    store, notices = open_memories(path, now=lambda: NOON, new_id=lambda: "")
    with store:
        assert notices == ()
        return {fact.id for fact in store.facts()}


def test_a_fact_that_was_said_to_be_kept_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    acknowledged: set[str] = set()
    for number in range(KILLS):
        with writer(path, ENDLESS) as process:
            assert process.stdout is not None
            acknowledged |= {process.stdout.readline().strip() for _ in range(1 + number)}
            process.kill()
            acknowledged |= {line.strip() for line in process.stdout if line.endswith("\n")}
    assert len(acknowledged) > KILLS
    assert acknowledged <= kept(path)


def test_processes_that_keep_facts_at_once_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    processes = [writer(path, 10) for _ in range(3)]
    acknowledged = {line for process in processes for line in process.communicate()[0].split()}
    assert [process.returncode for process in processes] == [0] * 3
    assert len(acknowledged) == 30
    assert kept(path) == acknowledged
