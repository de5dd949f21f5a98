import math
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.child_processes import die_in_a_child, pid_and_a_print
from tests.support.waiting import eventually, is_alive
from zkchat.core.errors import NoteNotFound
from zkchat.index.indexing import reader
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles
from zkchat.subprocesses import ProcessPool

pytestmark = pytest.mark.outside


def test_the_work_is_shared_by_this_process_and_others() -> None:
    assert {os.getpid()} < {*ProcessPool(2).map(pid_and_a_print, [0.3] * 6)}  # and what it prints is no result


def test_work_that_goes_wrong_goes_wrong_here_too(tmp_path: Path) -> None:
    files = VaultFiles(tmp_path, exclude=["x"], max_note_bytes=10)
    with pytest.raises(NoteNotFound, match=r"\.md") as error:
        list(ProcessPool(2).map(files.read, ["a.md", "b.md"]))
    assert error.value.message.startswith("There is no file ")


def test_work_that_kills_a_process_is_done_here() -> None:
    tasks = [(os.getpid(), number) for number in (3, 1, 2)]
    assert sorted(ProcessPool(2).map(die_in_a_child, tasks)) == [2, 4, 6]


def test_where_no_process_can_be_started_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert [*ProcessPool(2).map(math.factorial, [3, 4])] == [6, 24]


def test_a_vault_is_indexed_together_as_it_is_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PART_NOTES", 5)
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(23):
        (vault / f"n{number}.md").write_text(f"# Garden {number}\n\n[[n{number + 1}]] plants\n\n## Beds\n\nsoil\n")
    (vault / "bad.md").write_bytes(b"caf\xe9")
    files = VaultFiles(vault, exclude=["*.tmp"], max_note_bytes=1000)
    with (
        closing(SqliteNoteIndex(tmp_path / "alone.db")) as alone,
        closing(SqliteNoteIndex(tmp_path / "together.db")) as together,
    ):
        one, many = Library.over(files, alone), Library.over(files, together, workers=ProcessPool(2))
        heard: list[tuple[int, int]] = []
        assert many.refresh(lambda done, total: heard.append((done, total))) == one.refresh()
        assert sorted(heard) == heard
        assert (heard[0], len(heard), heard[-1]) == ((0, 24), 6, (24, 24))
        assert many.search("garden soil", limit=99) == one.search("garden soil", limit=99)
        for path in alone.stamps():
            links = [(stored.link, stored.resolution) for stored in one.links_from(path)]
            assert [(stored.link, stored.resolution) for stored in many.links_from(path)] == links


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
def test_no_process_outlives_the_one_that_started_it() -> None:
    script = (
        "import os; from zkchat.subprocesses import ProcessPool\n"
        "from tests.support.child_processes import sleep_in_a_child\n"
        "for _ in ProcessPool(2).map(sleep_in_a_child, [os.getpid()] * 1000): print('begun', flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"begun\n"
        parent.send_signal(signal.SIGKILL)
    eventually(lambda: not is_alive(-parent.pid))
