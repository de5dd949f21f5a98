"""New notes in a vault: whole, never in the place of another, never outside."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.support.libraries import library_of
from tests.support.world import World
from zkchat.errors import OutsideVault, StorageError, StorageFull, VaultError
from zkchat.model.note import Link, Missing, Resolved
from zkchat.storage.note_writer import NoteWriter


@pytest.fixture
def notes(world: World) -> NoteWriter:
    return NoteWriter(world.vault, exclude=["Private/**"], max_note_bytes=1000)


def files(world: World) -> list[str]:
    return sorted(str(file.relative_to(world.vault)) for file in world.vault.rglob("*") if file.is_file())


def test_a_new_note_is_there_with_its_text_and_its_folders(world: World, notes: NoteWriter) -> None:
    assert notes.is_free("Ideas/New/Sleep.md")
    notes.create("Ideas/New/Sleep.md", "Schlaf 睡眠\n")
    assert (world.vault / "Ideas/New/Sleep.md").read_text(encoding="utf-8") == "Schlaf 睡眠\n"
    assert not notes.is_free("Ideas/New/Sleep.md")
    assert files(world) == ["Ideas/New/Sleep.md"]


def test_a_new_note_is_known_at_once(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Sleep.md": "See [[Rest]].\n"}) as library:
        assert isinstance(library.resolve(Link(text="[[Rest]]", target="Rest")), Missing)
        NoteWriter(tmp_path / "vault", max_note_bytes=1000, created=library.refresh).create("Rest.md", "Lie down.\n")
        found = library.resolve(Link(text="[[Rest]]", target="Rest"))
        assert isinstance(found, Resolved)
        assert found.path == "Rest.md"


def test_a_new_note_is_there_even_if_nobody_can_be_told(world: World) -> None:
    def fail() -> None:
        raise StorageError("The index is gone.")

    NoteWriter(world.vault, max_note_bytes=1000, created=fail).create("Rest.md", "Lie down.\n")
    assert files(world) == ["Rest.md"]


def test_a_new_note_may_be_read_by_whom_the_user_allows(world: World, notes: NoteWriter) -> None:
    before = os.umask(0o027)
    try:
        notes.create("Sleep.md", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((world.vault / "Sleep.md").stat().st_mode) == 0o640


def test_a_note_that_is_there_stays_as_it_is(world: World, notes: NoteWriter) -> None:
    world.note("Sleep.md", "mine")
    with pytest.raises(VaultError, match=r"Sleep\.md is there already, and was left as it is"):
        notes.create("Sleep.md", "other")
    assert (world.vault / "Sleep.md").read_text() == "mine"
    assert files(world) == ["Sleep.md"]


def test_a_link_to_nothing_takes_a_name_too(world: World, notes: NoteWriter, tmp_path: Path) -> None:
    (world.vault / "Sleep.md").symlink_to(tmp_path / "elsewhere.md")
    assert not notes.is_free("Sleep.md")
    with pytest.raises(VaultError):
        notes.create("Sleep.md", "x")
    assert not (tmp_path / "elsewhere.md").exists()


@pytest.mark.parametrize(
    "path",
    [
        "../out.md",
        "/etc/out.md",
        "a/../../out.md",
        "~/out.md",
        "C:\\out.md",
        "\\\\server\\out.md",
        "a\0b.md",
        "..\\out.md",
    ],
)
def test_a_path_that_leads_out_is_refused(world: World, notes: NoteWriter, path: str) -> None:
    for act in (notes.is_free, lambda path: notes.create(path, "x")):
        with pytest.raises(OutsideVault):
            act(path)
    assert not files(world)


@pytest.mark.parametrize(
    "path",
    [".obsidian/app.md", ".git/x.md", ".trash/x.md", ".zkchat/x.md", "a/.hidden.md", "Private/x.md", "a//b.md", ""],
)
def test_places_that_hold_no_notes_are_refused(world: World, notes: NoteWriter, path: str) -> None:
    for act in (notes.is_free, lambda path: notes.create(path, "x")):
        with pytest.raises(VaultError, match="is no name for a note"):
            act(path)
    assert not files(world)


@pytest.mark.parametrize("inside", [True, False])
def test_nothing_is_written_through_a_linked_folder(
    world: World, notes: NoteWriter, tmp_path: Path, inside: bool
) -> None:
    target = world.vault / "real" if inside else tmp_path / "outside"
    target.mkdir()
    (world.vault / "linked").symlink_to(target)
    with pytest.raises(VaultError, match="linked is a link or a file, not a folder"):
        notes.create("linked/Sleep.md", "x")
    assert not any(target.iterdir())


def test_a_file_in_the_place_of_a_folder_is_told(world: World, notes: NoteWriter) -> None:
    world.note("a", "x")
    with pytest.raises(VaultError, match="a is a link or a file, not a folder"):
        notes.create("a/b.md", "x")


def test_no_swapped_folder_leads_out(world: World, notes: NoteWriter, tmp_path: Path) -> None:
    outside, folder, aside = tmp_path / "outside", world.vault / "a", world.vault / "b"
    outside.mkdir()
    folder.mkdir()
    stop = Event()

    def swap() -> None:
        steps = (
            lambda: folder.rename(aside),
            lambda: folder.symlink_to(outside),
            folder.unlink,
            lambda: aside.rename(folder),
        )
        while not stop.is_set():
            for step in steps:
                with suppress(OSError):  # the folder that was missed is made anew in between
                    step()

    swapping = Thread(target=swap)
    swapping.start()
    try:
        for number in range(300):
            try:
                notes.create(f"a/{number}.md", "x")
            except (VaultError, StorageError):
                continue
    finally:
        stop.set()
        swapping.join()
    assert not any(outside.iterdir())


@pytest.mark.parametrize(("number", "kind"), [(errno.ENOSPC, StorageFull), (errno.EROFS, StorageError)])
def test_a_disk_that_refuses_leaves_nothing_behind(
    world: World, notes: NoteWriter, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[StorageError]
) -> None:
    def refuse(_file: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(kind, match=r"Sleep.md could not be written: .*\."):
        notes.create("Sleep.md", "x")
    assert not files(world)


def test_a_file_system_without_hard_links_gets_the_note_too(
    world: World, notes: NoteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    notes.create("Sleep.md", "x")
    with pytest.raises(VaultError):
        notes.create("Sleep.md", "y")
    assert (world.vault / "Sleep.md").read_text() == "x"
    assert files(world) == ["Sleep.md"]


def test_where_folders_cannot_be_held_open_the_path_is_checked(
    world: World, notes: NoteWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    notes.create("a/Sleep.md", "x")
    (tmp_path / "outside").mkdir()
    (world.vault / "linked").symlink_to(tmp_path / "outside")
    with pytest.raises(OutsideVault):
        notes.create("linked/Sleep.md", "x")
    assert files(world) == ["a/Sleep.md"]


def test_what_a_killed_writer_left_is_removed_and_nothing_else(world: World, notes: NoteWriter) -> None:
    left, at_work, other = ".zkchat-0123456789ab.tmp", ".zkchat-ba9876543210.tmp", ".zkchat-mine.tmp"
    for name in (left, at_work, other):
        world.note(f"Ideas/{name}", "half a no")
    for name in (left, other):
        os.utime(world.vault / "Ideas" / name, (0, 0))
    notes.create("Ideas/Sleep.md", "Seven hours.\n")
    assert files(world) == [f"Ideas/{at_work}", f"Ideas/{other}", "Ideas/Sleep.md"]
