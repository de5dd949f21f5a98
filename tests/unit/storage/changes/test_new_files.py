"""New files of a change set, on file systems of all kinds."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.change_disk import HERE, Disk, change, write
from zkchat.errors import OutsideVault, VaultError
from zkchat.storage.changes.files import Place


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path)
    yield disk
    disk.store.close()


def create(disk: Disk, path: str, text: str) -> None:
    disk.store.apply(change(write(path, None, text.encode())), HERE)


def files(disk: Disk) -> list[str]:
    return sorted(str(file.relative_to(disk.vault)) for file in disk.vault.rglob("*") if file.is_file())


def test_a_new_note_is_there_with_its_text_and_its_folders(disk: Disk) -> None:
    assert not disk.store.is_taken("Ideas/New/Sleep.md")
    create(disk, "Ideas/New/Sleep.md", "Schlaf 睡眠\n")
    assert (disk.vault / "Ideas/New/Sleep.md").read_text(encoding="utf-8") == "Schlaf 睡眠\n"
    assert disk.store.is_taken("Ideas/New/Sleep.md")
    assert files(disk) == ["Ideas/New/Sleep.md"]


def test_a_new_note_may_be_read_by_whom_the_user_allows(disk: Disk) -> None:
    before = os.umask(0o027)
    try:
        create(disk, "Sleep.md", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((disk.vault / "Sleep.md").stat().st_mode) == 0o640


def test_a_link_to_nothing_takes_a_name_too(disk: Disk, tmp_path: Path) -> None:
    (disk.vault / "Sleep.md").symlink_to(tmp_path / "elsewhere.md")
    assert disk.store.is_taken("Sleep.md")
    with pytest.raises(VaultError):
        create(disk, "Sleep.md", "x")
    assert not (tmp_path / "elsewhere.md").exists()


def test_a_file_system_without_hard_links_gets_the_note_too(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(Place, "_rename_by", lambda *_: False)
    create(disk, "Sleep.md", "x")
    with pytest.raises(VaultError):
        create(disk, "Sleep.md", "y")
    assert (disk.vault / "Sleep.md").read_text() == "x"
    assert files(disk) == ["Sleep.md"]


def test_where_folders_cannot_be_held_open_the_path_is_checked(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    create(disk, "a/Sleep.md", "x")
    (tmp_path / "outside").mkdir()
    (disk.vault / "linked").symlink_to(tmp_path / "outside")
    with pytest.raises(OutsideVault):
        create(disk, "linked/Sleep.md", "x")
    assert files(disk) == ["a/Sleep.md"]
