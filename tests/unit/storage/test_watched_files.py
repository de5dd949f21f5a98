"""What a second and third look at a vault list."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from zkchat.index.indexing.indexer import Indexer, Refreshed
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.notes.link_resolver import LiveCatalog
from zkchat.storage import vault_files as watched_files
from zkchat.storage.vault_files import FolderWatch, WatchedFiles


class Vault:
    """A vault on disk, and which folders each refresh listed; None for all."""

    def __init__(self, root: Path, index: SqliteNoteIndex) -> None:
        self.root = root / "vault"
        for path in ("A.md", "Deep/B.md", "Deep/er/C.md", "left out/D.md"):
            self.write(path, f"text of {path}")
        self.files = WatchedFiles(self.root, exclude=["left out"], max_note_bytes=1_000)
        self.listed: list[str] | None = None
        self.index = index
        self._indexer = Indexer(self.files, index, LiveCatalog(index))

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, ns=(len(text), len(text)))  # long ago, so that nothing is looked at again for being new

    def refresh(self) -> Refreshed:
        ask = self.files.changed_folders

        def changed_folders(unsettled: list[str]) -> object:
            found = ask(unsettled)
            self.listed = None if found is None else [listing.prefix for listing in found]
            return found

        self.files.changed_folders = changed_folders  # type: ignore[method-assign, assignment]
        try:
            return self._indexer.refresh(lambda _done, _total: None)
        finally:
            self.files.changed_folders = ask  # type: ignore[method-assign]


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    if FolderWatch.over(tmp_path) is None:
        pytest.skip("this system does not tell")
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        vault = Vault(tmp_path, index)
        vault.refresh()
        vault.refresh()
        with closing(vault.files):
            yield vault


def test_only_folders_in_which_something_changed_are_listed(vault: Vault) -> None:
    assert (vault.refresh(), vault.listed) == (Refreshed(notes=3), [])
    vault.write("Deep/B.md", "quite another text")
    vault.write("left out/D.md", "quite another text")
    assert (vault.refresh(), vault.listed) == (Refreshed(notes=3, changed=1), ["Deep/"])
    (vault.root / "A.md").unlink()
    assert (vault.refresh(), vault.listed) == (Refreshed(notes=2, removed=1), [""])


CHANGED_FOLDERS: dict[str, Callable[[Path], object]] = {
    "new": lambda root: shutil.copytree(root / "Deep/er", root / "New"),
    "moved": lambda root: (root / "Deep/er").rename(root / "Deep/est"),
    "linked": lambda root: (root / "Link").symlink_to("Deep"),
}


@pytest.mark.parametrize("change", CHANGED_FOLDERS.values(), ids=CHANGED_FOLDERS.keys())
def test_a_folder_that_came_or_went_is_found(vault: Vault, change: Callable[[Path], object]) -> None:
    change(vault.root)
    vault.refresh()
    paths = {
        path.relative_to(vault.root).as_posix() for path in vault.root.rglob("*.md") if "left out" not in str(path)
    }
    assert vault.index.stamps().keys() >= paths


def test_a_file_that_a_link_shows_elsewhere_is_never_missed(vault: Vault) -> None:
    (vault.root / "Link.md").symlink_to("Deep/B.md")
    vault.refresh()
    vault.refresh()
    vault.write("Deep/B.md", "quite another text")
    assert vault.refresh().changed == 2


def test_all_is_listed_once_a_minute_and_where_the_index_was_begun_anew(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.index.reset()
    assert vault.refresh() == Refreshed(notes=3, changed=3)
    monkeypatch.setattr(watched_files, "MAX_UNLISTED_SECONDS", 0.0)
    vault.refresh()
    assert vault.listed is None


def test_a_look_that_failed_is_made_up_for(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.write("A.md", "quite another text")
    with monkeypatch.context() as patched:
        patched.setattr(vault.index, "apply", lambda _: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            vault.refresh()
    assert vault.refresh().changed == 1
