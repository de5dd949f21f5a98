import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from zkchat.storage import vault_files as folder_watch
from zkchat.storage.vault_files import FolderWatch


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[FolderWatch]:
    for path in ("A.md", "Deep/er/B.md", ".hidden/C.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    watch = FolderWatch.over(tmp_path)
    if watch is None:
        pytest.skip("this system does not tell")
    watch.begin()
    yield watch
    watch.close()


CHANGES: dict[str, Callable[[Path], object]] = {
    "new": lambda root: (root / "New.md").write_text("x"),
    "edited": lambda root: (root / "Deep/er/B.md").write_text("y"),
    "deleted": lambda root: (root / "A.md").unlink(),
    "replaced": lambda root: ((root / ".tmp").write_text("z"), (root / ".tmp").replace(root / "A.md")),
    "touched": lambda root: os.utime(root / "A.md", ns=(0, 0)),
    "moved with its folder": lambda root: (root / "Deep").rename(root / "Deeper"),
    "linked": lambda root: (root / "L.md").symlink_to("A.md"),
    "a new folder": lambda root: (root / "Deep/New").mkdir(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_is_noticed(tmp_path: Path, watch: FolderWatch, change: Callable[[Path], object]) -> None:
    assert watch.is_quiet()
    change(tmp_path)
    assert not watch.is_quiet()
    watch.begin()
    assert watch.is_quiet()


def test_reading_and_what_is_never_indexed_are_no_changes(tmp_path: Path, watch: FolderWatch) -> None:
    (tmp_path / "A.md").read_text()
    (tmp_path / ".hidden/C.md").write_text("other")
    assert watch.is_quiet()


def test_nothing_is_certain_where_not_all_is_watched(
    tmp_path: Path, watch: FolderWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "MAX_FOLDERS", 2)
    watch.begin()
    assert not watch.is_quiet()
    monkeypatch.setattr(folder_watch, "_FILE_SYSTEMS", frozenset({"nfs"}))
    assert FolderWatch.over(tmp_path) is None


@pytest.mark.parametrize(
    ("limit", "most"), [("1000000\n", 50_000), ("40000\n", 10_000), ("8192\n", 5_000), ("?", 5_000)]
)
def test_other_programs_are_left_most_of_what_a_user_may_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(folder_watch, "_LIMIT", tmp_path / "limit")
    assert folder_watch._max_folders() == 5_000
    (tmp_path / "limit").write_text(limit)
    assert folder_watch._max_folders() == most
