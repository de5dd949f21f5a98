"""No change leads out of the vault or into a hidden folder, whatever path it names and whoever swaps folders."""

import errno
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.support.change_disk import HERE, Disk, Tree, change, move, tree_of, write
from zkchat.core.changes import ChangeSet
from zkchat.core.errors import StorageError, VaultError

OUTSIDE = [
    "../secret.md", "../new.md", "../../new.md", "a/../../secret.md", "a/../../new.md", "./../new.md", "a/./../../x.md",
    "../vault/../new.md", "../vault 2/new.md", "..", "../", "a/..", "a/../..", "/new.md", "/etc/new.md", "//new.md",
    "///etc/new.md", "/", "~", "~/new.md", "~root/new.md", "C:/new.md", "C:\\new.md", "c:new.md/../../new.md", "C:",
    "\\new.md", "\\\\server\\share\\new.md", "\\\\?\\C:\\new.md", "..\\new.md", "a\\..\\..\\new.md", "a/..\\../x.md",
    "../secret.md\0", "new.md\0", "a\0/../../new.md", "\0", "out/secret.md", "out/new.md", "out/deep/new.md",
    "a/out/new.md", "a/out", "out", "linked.md",
]  # fmt: skip
HIDDEN = [
    ".git/config", ".git/hooks/post-commit", ".obsidian/app.json", ".obsidian/plugins/x/main.js", ".zkchat/config.toml",
    ".zkchat/new.md", ".hidden.md", "a/.hidden.md", ".", "./new.md", "a/./new.md", ".trash/t.md/x", ".trash/a/new.md",
    ".trash/../new.md", ".trash/.git", ".trash", ".Trash/new.md", ".git", ".GIT/config", ".g\u200cit/config",
    "\u200c.git/config", "\u200d.obsidian/app.json", "\ufeff.git/config", "node_modules/x/new.md", "Private/p.md",
    "Private/deep/new.md", "", "a//new.md", "a/", "/a/", "a/new.md/", "\udcff.md", "a/\ud800.md", "..new.md",
    "..../x.md", "..%2fnew.md",
]  # fmt: skip
INSIDE = [
    "%2e%2e/new.md", "%2e%2e%2fnew.md", "new..md", "a../new.md", "a~/new.md", "x~.md", "CON.md", "file:new.md",
    "a:b.md", "-rf.md", "--.md", "*.md", "$(id).md", "`id`.md", "new\n.md", "\u202enew.md", "\uff0e\uff0e\uff0fnew.md",
    "\u2025\uff0fnew.md", " .hidden.md",
]  # fmt: skip
SWAPPED = 100
LINKS = {"out", "a/out", "linked.md"}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"secret")
    (tmp_path / "secret.md").write_bytes(b"secret")
    disk = Disk(tmp_path)
    for path in (
        ".git/config",
        ".git/hooks/x",
        ".obsidian/app.json",
        ".zkchat/config.toml",
        ".trash/t.md",
        ".hidden.md",
    ):
        disk.note(path, b"secret")
    for path in ("mine.md", "a/mine.md", "Private/p.md", "node_modules/x/y.md"):
        disk.note(path, b"mine")
    for link in ("out", "a/out"):
        (disk.vault / link).symlink_to(outside)
    (disk.vault / "linked.md").symlink_to(outside / "secret.md")
    yield disk
    disk.store.close()


def attempts(path: str) -> list[ChangeSet]:
    """What can be asked of a path."""
    return [
        change(write(path, None, b"evil")),
        change(write(path, b"secret", b"evil")),
        change(write(path, b"mine", b"evil")),
        change(move("mine.md", path)),
        change(move("a", path)),
        change(move(path, "stolen.md")),
        change(move("mine.md", "b/mine.md"), write(path, None, b"evil")),
    ]


def everything(disk: Disk) -> Tree:
    return {path: found for path, found in tree_of(disk.folder).items() if not path.startswith("data")}


def test_a_path_outside_or_hidden_is_refused_by_every_change(disk: Disk) -> None:
    before = everything(disk)
    for path in OUTSIDE + HIDDEN:
        for attempt in attempts(path):
            if path in LINKS and attempt.moves and attempt.moves[0].source == path:
                continue  # a link itself may be renamed
            with pytest.raises(VaultError):
                disk.store.apply(attempt, HERE)
        assert everything(disk) == before, path
    assert disk.states == []


def test_a_path_outside_or_hidden_is_not_read(disk: Disk) -> None:
    for path in OUTSIDE + HIDDEN:
        with suppress(VaultError):
            assert disk.store.read_bytes(path) is None, path


def test_a_name_that_only_looks_like_a_way_out_means_a_file_of_the_vault(disk: Disk) -> None:
    before = everything(disk)
    for path in INSIDE:
        number = disk.apply(write(path, None, b"text"))
        assert everything(disk).keys() - before.keys() >= {f"vault/{path}"}
        disk.store.undo(number)
        assert everything(disk) == before, path


def swap_until(stop: Event, folder: Path, outside: Path) -> None:
    aside = folder.with_name("aside")
    steps: list[Callable[[], object]] = [
        lambda: folder.rename(aside),
        lambda: folder.symlink_to(outside),
        folder.unlink,
        lambda: aside.rename(folder),
    ]
    while not stop.is_set():
        for step in steps:
            with suppress(OSError):  # the folder that was missed is made anew in between
                step()


def test_a_link_that_is_none_any_more_when_it_is_followed_is_refused(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def realpath(path: Path) -> str:
        raise OSError(errno.EINVAL, "Invalid argument", str(path))

    (disk.vault / "linked").symlink_to(disk.vault / "a")
    monkeypatch.setattr("os.path.realpath", realpath)
    with pytest.raises(VaultError, match="symbolic link that just changed"):
        disk.store.apply(change(write("linked/new.md", None, b"text")), HERE)


def test_no_folder_that_is_swapped_for_a_link_leads_out(disk: Disk, scaled: Callable[[int], int]) -> None:
    outside, stop = disk.folder / "outside", Event()
    for number in range(20):
        disk.note(f"swapped/{number}.md", b"mine")
    swapping = Thread(target=swap_until, args=(stop, disk.vault / "swapped", outside))
    swapping.start()
    made = 0
    try:
        for number in count():  # Ends, for a change gets through where no swap comes between.
            if made and number >= scaled(SWAPPED):
                break
            for attempt in (
                change(write(f"swapped/n{number}.md", None, b"evil")),
                change(write(f"swapped/{number % 20}.md", b"mine", b"mine")),
                change(write(f"swapped/{number % 20}.md", b"mine", b"evil")),
                change(move("a/mine.md", "swapped/secret.md")),
                change(move("swapped/secret.md", "stolen.md")),
            ):
                with suppress(VaultError, StorageError):
                    disk.store.apply(attempt, HERE)
                    made += 1
    finally:
        stop.set()
        swapping.join()
    assert made
    assert tree_of(outside) == {"secret.md": (b"secret", 0o644)}
