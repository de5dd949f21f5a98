"""Changes of a vault as commands open them: the index knows at once, and what was interrupted is taken back."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.support.change_disk import HERE, Killed, StoppingTree, change, move, write
from tests.support.world import World
from zkchat.app.databases import DatabasePaths
from zkchat.app.library import open_note_library
from zkchat.app.workspace import Workspace, load_workspace
from zkchat.app.writing import JOURNAL, _JournalFile, open_change_store
from zkchat.writing.changes.store import VaultChanges


def workspace_of(world: World) -> Workspace:
    return load_workspace(world.environment(), None)


def interrupt(workspace: Workspace) -> None:
    """As if a process had died after its first file was written."""
    files = StoppingTree(workspace.paths.vault, exclude=(), max_note_bytes=1000)
    files.stop(4, Killed(), is_done_first=True)
    with closing(VaultChanges(files, _JournalFile(workspace, print))) as store, pytest.raises(Killed):
        store.apply(change(write("A.md", b"a", b"torn"), write("B.md", b"b", b"torn"), title="Edit two notes"), HERE)


def test_the_index_knows_of_a_change_at_once(world: World) -> None:
    world.note("A.md", "[[B]]\n")
    workspace = workspace_of(world)
    with open_note_library(workspace) as (library, _), open_change_store(workspace, library) as store:
        library.refresh()
        record = store.apply(change(write("B.md", None, b"# Bees\n")), HERE)
        assert library.note_count() == 2
        store.undo(record.id)
        assert library.note_count() == 1
        store.apply(change(move("A.md", ".trash/A.md")), HERE)
        assert library.note_count() == 0
        assert [each.state for each in store.records()] == ["applied", "undone"]


def test_a_change_of_many_files_does_not_wait_for_the_index(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zkchat.app.writing._MAX_AWAITED_FILES", 1)
    workspace = workspace_of(world)
    with open_note_library(workspace) as (library, _), open_change_store(workspace, library) as store:
        library.refresh()
        monkeypatch.setattr(library, "refresh", lambda: pytest.fail("It was waited for."))
        store.apply(change(write("A.md", None, b"a\n"), write("B.md", None, b"b\n")), HERE)
        found = library.refresh_within(60)
        assert found
        assert (found.changed, library.note_count()) == (2, 2)


@pytest.mark.parametrize("location", ["user", "vault"])
def test_every_command_that_reads_notes_takes_back_what_was_interrupted(world: World, location: str) -> None:
    world.variables["ZKCHAT_STORAGE__LOCATION"] = location
    world.note("A.md", "a")
    world.note("B.md", "b")
    workspace = workspace_of(world)
    interrupt(workspace)
    progress = DatabasePaths(workspace).durable_folder / f"{JOURNAL}.progress"
    assert progress.exists()
    assert progress.is_relative_to(world.vault) is (location == "vault")
    assert "A change was interrupted and has been undone: Edit two notes." in world.run("search", "a").err
    assert [(world.vault / name).read_text() for name in ("A.md", "B.md")] == ["a", "b"]
    assert not progress.exists()
    assert "interrupted" not in world.run("search", "a").err


def test_what_cannot_be_taken_back_is_told_and_the_notes_are_read(world: World) -> None:
    world.note("A.md", "alpha")
    world.note("B.md", "b")
    (world.vault / "A.md").write_bytes(b"a")
    workspace = workspace_of(world)
    interrupt(workspace)
    progress = DatabasePaths(workspace).durable_folder / f"{JOURNAL}.progress"
    progress.write_text("?")
    result = world.run("search", "torn")
    assert result.code == 0
    assert "could not be undone" in result.err
    assert "A.md" in result.out or "B.md" in result.out


def test_nothing_is_written_by_looking(world: World, tmp_path: Path) -> None:
    world.note("A.md", "a")
    workspace = workspace_of(world)
    with open_change_store(workspace) as store:
        assert store.records() == []
        assert store.read_bytes("A.md") == b"a"
        assert store.is_taken("A.md")
    assert [file.name for file in world.vault.iterdir()] == ["A.md"]
    assert not DatabasePaths(workspace).durable_folder.exists()


def test_with_the_setting_a_change_set_is_a_commit(world: World) -> None:
    world.variables |= {"ZKCHAT_WRITE__GIT_COMMIT": "true", "PATH": ""}
    with open_change_store(workspace_of(world)) as store:
        record = store.apply(change(write("B.md", None, b"b")), HERE)
    assert record.remarks == ("The change was not committed: git is not installed.",)
