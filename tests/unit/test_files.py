"""Our own small files: nothing but a small regular file is read, a lock is a lock whatever lies in its place."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from zkchat.core.errors import StorageError
from zkchat.core.files import LockBusy, RefusedFile, locked, read_bounded, write_atomically


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".zkchat" / "vault-id"


def write(file: Path, text: str = "abc") -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def test_a_small_file_is_read_whole(file: Path) -> None:
    write(file)
    assert read_bounded(file, max_bytes=3) == b"abc"
    assert read_bounded(file, max_bytes=3, beneath=file.parents[1]) == b"abc"


def test_a_larger_file_is_refused(file: Path) -> None:
    write(file, "abcd")
    with pytest.raises(RefusedFile, match="larger than 3 bytes"):
        read_bounded(file, max_bytes=3)


@pytest.mark.parametrize("beneath", [False, True])
def test_what_is_not_there_is_not_found(file: Path, beneath: bool) -> None:
    with pytest.raises(FileNotFoundError):
        read_bounded(file, max_bytes=3, beneath=file.parents[1] if beneath else None)


def test_an_endless_device_is_refused_also_behind_a_link(file: Path) -> None:
    file.parent.mkdir()
    file.symlink_to("/dev/zero")
    with pytest.raises(RefusedFile, match="not a regular file"):
        read_bounded(file, max_bytes=3)
    with pytest.raises(RefusedFile, match="symbolic link"):
        read_bounded(file, max_bytes=3, beneath=file.parents[1])


@pytest.mark.outside
def test_a_pipe_that_nobody_writes_to_is_refused_at_once(file: Path) -> None:
    file.parent.mkdir()
    os.mkfifo(file)
    code = "import sys, pathlib, zkchat.core.files as files; files.read_bounded(pathlib.Path(sys.argv[1]), max_bytes=9)"
    command = [sys.executable, "-c", code, str(file)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert "RefusedFile" in run.stderr


def test_no_link_below_a_folder_of_others_is_followed(tmp_path: Path, file: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / file.name).write_text("abc")
    file.parent.symlink_to(elsewhere)
    with pytest.raises(RefusedFile, match=r"\.zkchat is a symbolic link"):
        read_bounded(file, max_bytes=3, beneath=tmp_path)
    with pytest.raises(StorageError, match=r"\.zkchat is a symbolic link"):
        write_atomically(file, "new", mode=0o600, beneath=tmp_path)
    assert (elsewhere / file.name).read_text() == "abc"


def test_writing_replaces_a_link_and_not_what_it_leads_to(tmp_path: Path, file: Path) -> None:
    other = tmp_path / "other"
    other.write_text("theirs")
    file.parent.mkdir()
    file.symlink_to(other)
    write_atomically(file, "ours", mode=0o600, beneath=tmp_path)
    assert (file.read_text(), file.is_symlink(), other.read_text()) == ("ours", False, "theirs")


def test_folders_of_a_private_file_are_private(tmp_path: Path) -> None:
    write_atomically(tmp_path / "share" / "zkchat" / "trust.json", "{}", mode=0o600)
    for folder in ("share", "share/zkchat"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700


def test_a_file_keeps_its_permissions(file: Path) -> None:
    write(file)
    file.chmod(0o640)
    write_atomically(file, "new", mode=0o600)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_one_at_a_time_has_the_lock(tmp_path: Path) -> None:
    lock, counter = tmp_path / "data" / "some.lock", tmp_path / "counter"
    counter.write_text("0")

    def count() -> None:
        for _ in range(5):
            with locked(lock, seconds=60):
                counter.write_text(str(int(counter.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text() == "40"


def test_who_waits_too_long_for_a_lock_is_told(tmp_path: Path) -> None:
    lock = tmp_path / "some.lock"
    with locked(lock, seconds=1), pytest.raises(LockBusy, match="another zkchat"), locked(lock, seconds=0):
        pass


def test_a_lock_is_for_its_owner_alone(tmp_path: Path) -> None:
    lock = tmp_path / "data" / "some.lock"
    with locked(lock, seconds=1):
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
        assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700


def _link(lock: Path) -> None:
    lock.symlink_to(lock.with_name("elsewhere"))


def _not_ours_to_open(lock: Path) -> None:
    lock.touch(mode=0)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "garbage": lambda lock: lock.write_bytes(os.urandom(5_000)),
    "a link to nothing": _link,
    "a pipe": os.mkfifo,
    "an empty folder": Path.mkdir,
    "no permissions": _not_ours_to_open,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_lock_is_made_anew(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    lock = tmp_path / "some.lock"
    damage(lock)
    with locked(lock, seconds=5), pytest.raises(LockBusy), locked(lock, seconds=0):
        pass
    assert lock.is_file()
    assert not lock.with_name("elsewhere").exists()


def test_a_folder_with_something_in_the_place_of_a_lock_is_left_and_told_of(tmp_path: Path) -> None:
    lock = tmp_path / "some.lock"
    lock.mkdir()
    (lock / "note.md").write_text("mine")
    with pytest.raises(StorageError, match=r"some\.lock could not be written"), locked(lock, seconds=0):
        pass
    assert (lock / "note.md").read_text() == "mine"
