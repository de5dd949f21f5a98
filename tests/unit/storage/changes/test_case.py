"""Names that differ only in case, on disks where they mean one file and on those where they do not."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.change_disk import Disk, Killed, move, write
from zkchat.core.errors import VaultError
from zkchat.storage import vault_files
from zkchat.writing.changes import files


class CaselessOs:
    """The functions of `os` on a disk that ignores case and keeps it, as those of macOS and Windows do."""

    def __init__(self, *, renames_case: bool) -> None:
        """Without `renames_case`, giving a file its name in another case does nothing, as POSIX says of one file."""
        self._renames_case = renames_case

    def __getattr__(self, name: str) -> Any:
        function = getattr(os, name)
        if name not in {"open", "stat", "unlink", "rmdir", "mkdir", "readlink"}:
            return function
        return lambda path, *arguments, dir_fd=None, **options: function(
            self._found(path, dir_fd), *arguments, dir_fd=dir_fd, **options
        )

    def _found(self, path: Path | str, folder: int | None) -> Path | str:
        if folder is None:
            return path
        names = os.listdir(folder)  # noqa: PTH208 - pathlib takes no handle
        return next((name for name in names if name == str(path)), None) or next(
            (name for name in names if name.casefold() == str(path).casefold()), path
        )

    def link(self, source: Path, target: Path, *, src_dir_fd: int, dst_dir_fd: int, follow_symlinks: bool) -> None:
        os.link(
            self._found(source, src_dir_fd),
            self._found(target, dst_dir_fd),
            src_dir_fd=src_dir_fd,
            dst_dir_fd=dst_dir_fd,
            follow_symlinks=follow_symlinks,
        )

    def rename(self, source: Path, target: Path, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        old, present = self._found(source, src_dir_fd), self._found(target, dst_dir_fd)
        is_one = os.path.samestat(os.fstat(src_dir_fd), os.fstat(dst_dir_fd)) and str(old) == str(present)
        if is_one and not self._renames_case:
            return
        os.rename(old, target if is_one else present, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    replace = rename


@pytest.fixture(params=[True, False], ids=["renames case", "ignores a change of case"])
def caseless(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    disk = Disk(tmp_path)
    fake = CaselessOs(renames_case=request.param)
    for module in (files, vault_files):
        monkeypatch.setattr(module, "os", fake)
    monkeypatch.setattr(files, "_HAS_FOLDER_HANDLES", True)
    yield disk
    disk.store.close()


def test_the_case_of_a_note_and_of_a_folder_changes_where_names_ignore_it(caseless: Disk) -> None:
    caseless.note("note.md", b"[[note]]")
    caseless.note("notes/In.md", b"[[note]]")
    number = caseless.apply(
        move("note.md", "Note.md"),
        move("notes", "Notes"),
        write("Note.md", b"[[note]]", b"[[Note]]"),
        write("Notes/In.md", b"[[note]]", b"[[Note]]"),
    )
    assert caseless.contents == {"Note.md": b"[[Note]]", "Notes/In.md": b"[[Note]]"}
    caseless.store.undo(number)
    assert caseless.contents == {"note.md": b"[[note]]", "notes/In.md": b"[[note]]"}


@pytest.mark.parametrize("is_done_first", [False, True])
def test_a_change_of_case_that_is_killed_is_taken_back(caseless: Disk, is_done_first: bool) -> None:
    caseless.note("note.md", b"a")
    kills = 0
    for step in range(1, 20):
        running = caseless.files
        running.stop(step, Killed(), is_done_first=is_done_first)
        try:
            caseless.apply(move("note.md", "NOTE.md"), write("NOTE.md", b"a", b"b"))
        except Killed:
            kills += 1
            caseless.restart()
            assert caseless.contents == {"note.md": b"a"}
        if running.steps < step:
            break
    assert kills > 2
    assert caseless.contents == {"NOTE.md": b"b"}


def test_a_rename_by_way_of_another_name_that_is_killed_in_between_is_taken_back(
    caseless: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    caseless.note("note.md", b"a")
    rename = files.Place.rename_to

    def die_after(place: files.Place, target: files.Place) -> None:
        rename(place, target)
        if target.name.startswith(".zkchat-"):
            caseless.files.stop(0, Killed(), is_done_first=False)
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(files.Place, "rename_to", die_after)
        try:
            caseless.apply(move("note.md", "Note.md"))
        except Killed:
            assert [name for name in caseless.tree if name.startswith(".zkchat-")]
            caseless.restart()
            assert caseless.contents == {"note.md": b"a"}
            return
    assert caseless.contents == {"Note.md": b"a"}  # this disk renames at once


def test_a_name_that_differs_only_in_case_is_taken_where_names_ignore_it(caseless: Disk) -> None:
    caseless.note("note.md", b"a")
    caseless.note("b.md", b"b")
    for step in (write("NOTE.md", None, b"b"), move("b.md", "NOTE.md")):
        with pytest.raises(VaultError, match="already exists"):
            caseless.apply(step)
    assert caseless.contents == {"note.md": b"a", "b.md": b"b"}


def test_where_case_counts_two_files_may_differ_in_it_alone_and_neither_is_lost(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.note("note.md", b"a")
    disk.note("Note.md", b"b")
    if len(disk.contents) == 1:
        pytest.skip("names ignore case here")
    with pytest.raises(VaultError, match=r"Note\.md already exists"):
        disk.apply(move("note.md", "Note.md"))
    assert disk.contents == {"note.md": b"a", "Note.md": b"b"}
    disk.store.close()
