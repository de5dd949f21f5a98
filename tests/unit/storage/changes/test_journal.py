"""The journal: bounded in size, and restored from what can be read of a damaged file."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.change_disk import NOON, Disk, Killed, move, write
from zkchat.core.errors import StorageDamaged, StorageError, UsageError, VaultError
from zkchat.writing.changes import journal


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path)
    yield disk
    disk.store.close()


def noise(length: int) -> bytes:
    return os.urandom(length)


def test_what_files_held_is_kept_for_the_user_alone_and_packed(disk: Disk) -> None:
    disk.apply(write("A.md", None, b"the same line again\n" * 10_000))
    assert stat.S_IMODE(disk.journal.stat().st_mode) == 0o600
    disk.store.close()
    assert disk.journal.stat().st_size < 60_000


def test_the_contents_of_the_oldest_changes_go_first(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_CONTENT_BYTES", 10_000)
    texts = [noise(2000) for _ in range(6)]
    numbers = [disk.apply(write(f"{number}.md", None, text)) for number, text in enumerate(texts)]
    records = {record.id: record for record in disk.store.records()}
    assert [records[number].has_contents for number in numbers] == [False, False, False, True, True, True]
    assert [write.after for write in records[numbers[0]].changes.writes] == [b""]
    assert [write.after for write in records[numbers[5]].changes.writes] == [texts[5]]
    with pytest.raises(VaultError, match="so old that zkchat no longer has"):
        disk.store.undo(numbers[0])
    assert disk.contents["0.md"] == texts[0]
    disk.store.undo(numbers[5])
    assert "5.md" not in disk.contents


def test_a_set_that_is_larger_than_the_journal_can_be_undone_all_the_same(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MAX_CONTENT_BYTES", 1000)
    disk.store.undo(disk.apply(write("A.md", None, noise(5000)), write("B.md", None, noise(5000))))
    assert disk.contents == {}


def test_a_content_that_a_later_change_needs_stays(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_CONTENT_BYTES", 9000)
    first, second = noise(2000), noise(2000)
    disk.apply(write("A.md", None, first))
    disk.apply(write("B.md", None, noise(2000)))
    number = disk.apply(write("A.md", first, second))
    disk.apply(write("C.md", None, noise(1500)))
    disk.store.undo(number)
    assert disk.contents["A.md"] == first


def test_moves_are_undone_whatever_contents_were_dropped(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_CONTENT_BYTES", 10)
    disk.note("A.md", b"a")
    number = disk.apply(move("A.md", "B.md"))
    disk.apply(write("C.md", None, noise(500)))
    disk.store.undo(number)
    assert disk.contents["A.md"] == b"a"


def fill(disk: Disk) -> list[int]:
    disk.note("A.md", b"first")
    numbers = [
        disk.apply(write("A.md", b"first", "zweites ä".encode() * 3000)),
        disk.apply(write("B.md", None, noise(9000))),
        disk.apply(move("B.md", "C/B.md")),
        disk.apply(write("D.md", None, b"undone")),
    ]
    disk.store.undo(numbers[3])
    disk.files.stop(1, OSError(28, "full"), is_done_first=True)
    with pytest.raises(Exception, match="full"):
        disk.apply(write("E.md", None, b"never there"))
    disk.restart()
    return numbers


@pytest.mark.parametrize("way", ["header", "half of the pages", "missing, with a backup", "suspect"])
def test_what_can_be_read_of_a_damaged_journal_comes_back_and_can_be_undone(disk: Disk, way: str) -> None:
    numbers = fill(disk)
    before = disk.store.records()
    disk.store.close()
    data = disk.journal.read_bytes()
    match way:
        case "header":
            disk.journal.write_bytes(bytes(100) + data[100:])
        case "half of the pages":
            shutil.rmtree(disk.journal.parent / "backups")
            disk.journal.write_bytes(data[: len(data) // 2])
        case "missing, with a backup":
            disk.journal.unlink()
        case _:
            (disk.journal.parent / "changes.db.suspect").touch()
    disk.start()
    if way == "half of the pages":
        assert {record.id for record in disk.store.records()} <= {*numbers}
        return
    assert disk.store.records() == before
    for number in reversed(numbers[:3]):
        disk.store.undo(number)
    assert disk.contents == {"A.md": b"first"}
    with pytest.raises(UsageError, match="no change 5"):  # what failed is not brought back
        disk.store.undo(5)


def test_a_row_of_an_older_state_in_a_backup_does_not_bring_that_state_back(disk: Disk) -> None:
    number = disk.apply(write("A.md", None, b"a"))
    disk.store.close()  # leaves a backup in which the change is in force
    disk.start()
    disk.store.undo(number)
    disk.store.close()
    disk.journal.write_bytes(bytes(100) + disk.journal.read_bytes()[100:])
    disk.start()
    assert disk.states == ["undone"]


def test_an_unfinished_row_without_a_trace_of_work_is_taken_for_finished_and_no_file_is_touched(disk: Disk) -> None:
    disk.note("A.md", b"a")
    number = disk.apply(write("A.md", b"a", b"b"))
    disk.store.close()
    with closing(sqlite3.connect(disk.journal)) as connection, connection:
        connection.execute("UPDATE changes SET state = 'applying'")
    disk.restart()
    assert (disk.contents, disk.states, disk.notices) == ({"A.md": b"b"}, ["applied"], [])
    disk.store.undo(number)


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff"])
def test_a_progress_file_that_cannot_be_read_is_told_and_nothing_is_changed(disk: Disk, damage: bytes) -> None:
    disk.note("A.md", b"a")
    disk.files.stop(2, Killed(), is_done_first=True)
    with pytest.raises(Killed):
        disk.apply(write("A.md", b"a", b"b"))
    disk.store.close()
    progress = disk.journal.parent / "changes.db.progress"
    progress.write_bytes(damage)
    with pytest.raises(StorageError, match="cannot be read"):
        disk.restart()
    assert disk.contents["A.md"] == b"b"
    progress.unlink()
    disk.apply(write("B.md", None, b"b"))
    assert disk.contents == {"A.md": b"b", "B.md": b"b"}


def test_an_unknown_state_is_damage(disk: Disk) -> None:
    disk.apply(write("A.md", None, b"a"))
    disk.store.close()
    with closing(sqlite3.connect(disk.journal)) as connection, connection:
        connection.execute("UPDATE changes SET state = 'odd'")
    with (
        journal.SqliteChangeJournal(disk.journal, now=lambda: NOON, new_id=lambda: "i") as opened,
        pytest.raises(StorageDamaged),
    ):
        opened.verify()
