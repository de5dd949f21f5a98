from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.in_memory_files import MemoryFiles
from zkchat.core.errors import NoteUnreadable
from zkchat.core.index import CatalogRow, IndexBatch
from zkchat.core.note import IndexedFiles, Missing, Note, NoteWarning, Resolution, Resolved, Section
from zkchat.core.vault_ports import Done, Task
from zkchat.index.indexing import reader
from zkchat.index.indexing.indexer import Indexer, Refreshed
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.notes.link_resolver import LiveCatalog
from zkchat.notes.markdown import sections_of


class Vault:
    """Files and the index of them."""

    def __init__(self, index: SqliteNoteIndex, **notes: str) -> None:
        self.files = MemoryFiles(**notes)
        self.index = index
        self._indexer = Indexer(self.files, index, LiveCatalog(index))
        self.progress: list[tuple[int, int]] = []

    def refresh(self) -> Refreshed:
        self.files.reads.clear()
        return self._indexer.refresh(lambda done, total: self.progress.append((done, total)))

    def target(self, source: str, number: int = 0) -> Resolution | None:
        return self.index.links_from([source])[number].resolution


def test_a_first_refresh_reads_every_note_and_a_second_none(index: SqliteNoteIndex) -> None:
    vault = Vault(index, a="see [[b]]", b="# B\n\ntext")
    assert vault.refresh() == Refreshed(notes=2, changed=2, links=1)
    assert sorted(vault.files.reads) == ["a.md", "b.md"]
    assert vault.progress[-1] == (2, 2)
    assert index.is_complete()
    generation = index.generation()
    assert vault.refresh() == Refreshed(notes=2)
    assert (vault.files.reads, index.generation()) == ([], generation)


def test_only_what_changed_is_read_again(index: SqliteNoteIndex) -> None:
    vault = Vault(index, a="one", b="two", c="three")
    vault.refresh()
    vault.files.write("b.md", "# Two\n\nanew")
    assert vault.refresh() == Refreshed(notes=3, changed=1)
    assert vault.files.reads == ["b.md"]
    known = index.known("b.md")
    assert known is not None
    assert known.title == "Two"
    vault.files.write("a.md", "one")
    assert vault.refresh() == Refreshed(notes=3, changed=0), "it was only touched"
    vault.refresh()
    assert vault.files.reads == []


def test_a_change_within_one_tick_of_the_clock_is_seen(index: SqliteNoteIndex) -> None:
    vault = Vault(index, a="# one")
    vault.files.settled = False
    vault.refresh()
    vault.files.write_unseen("a.md", "# two")
    assert vault.refresh().changed == 1
    known = index.known("a.md")
    assert known is not None
    assert known.title == "two"


class CountingIndex(SqliteNoteIndex):
    """Remembers which folders were loaded, and refuses to load what grows with the vault."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.folders_loaded: list[str] = []

    def files_in(self, prefix: str) -> IndexedFiles:
        self.folders_loaded.append(prefix)
        return super().files_in(prefix)

    def stamps(self) -> dict[str, tuple[int, int, bool]]:
        raise AssertionError("all stamps are loaded")

    def catalog(self) -> list[CatalogRow]:
        raise AssertionError("all names are loaded")


def test_only_the_folders_in_which_something_changed_are_loaded(tmp_path: Path) -> None:
    with (
        closing(CountingIndex(tmp_path / "index.db")) as ours,
        closing(SqliteNoteIndex(tmp_path / "index.db")) as theirs,
    ):
        vault = Vault(ours, **{"a": "[[b]]", "one/b": "x", "two/c": "x"})
        vault.refresh()
        ours.folders_loaded.clear()
        assert (vault.refresh(), ours.folders_loaded) == (Refreshed(notes=3), [])
        vault.files.write("a.md", "[[c]]")
        vault.files.remove("one/b.md")
        assert vault.refresh() == Refreshed(notes=2, changed=1, removed=1, links=1)
        assert ours.folders_loaded == ["", "one/"]
        assert [*ours.folders().by_prefix] == ["", "two/"]
        theirs.apply(IndexBatch(removed=["two/c.md"]))
        ours.folders_loaded.clear()
        assert vault.refresh().changed == 1
        assert ours.folders_loaded == ["two/"]


def test_what_another_process_read_meanwhile_is_not_taken_for_what_was_listed(tmp_path: Path) -> None:
    """A file that was changed while it was indexed, and then got back its old content and time."""
    with (
        closing(SqliteNoteIndex(tmp_path / "index.db")) as ours,
        closing(SqliteNoteIndex(tmp_path / "index.db")) as theirs,
    ):
        vault = Vault(ours, a="# old", b="x")
        vault.refresh()
        other = Vault(theirs, a="# new", b="x")
        other.files.now = 99
        other.files.write("a.md", "# new")
        other.refresh()
        assert vault.refresh().changed == 1
        assert (known := ours.known("a.md"))
        assert known.title == "old"


def test_a_note_that_cannot_be_read_is_reported_and_still_found_by_its_name(index: SqliteNoteIndex) -> None:
    vault = Vault(index, a="see [[locked]]", locked="secret")
    vault.files.fail("locked.md", NoteUnreadable("locked.md cannot be read: permission denied."))
    warning = NoteWarning(path="locked.md", text="locked.md cannot be read: permission denied.", kind="unreadable")
    assert vault.refresh().warnings == (warning,)
    assert index.warnings() == [warning]
    assert vault.target("a.md") == Resolved(path="locked.md", via="name")
    assert vault.refresh() == Refreshed(notes=2)
    vault.files.fail("locked.md", None)
    assert vault.refresh() == Refreshed(notes=2, changed=1), "though its stamp stays"
    assert index.warnings() == []


def test_a_note_that_cannot_be_cut_into_sections_is_found_by_its_name_and_stays_on_this_machine(
    index: SqliteNoteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(note: Note, text: str) -> list[Section]:
        if text == "boom":
            raise ValueError
        return sections_of(note, text)

    monkeypatch.setattr(reader, "sections_of", cut)
    refreshed = Vault(index, bad="boom", good="fine").refresh()
    assert [(warning.path, "ValueError" in warning.text) for warning in refreshed.warnings] == [("bad.md", True)]
    assert index.private() == {"bad.md": "local"}
    assert index.counts().sections == 2


def test_what_cannot_be_listed_is_reported_once(index: SqliteNoteIndex) -> None:
    vault = Vault(index, a="x")
    vault.files.unlisted = [
        NoteWarning(path="folder", text="The folder cannot be listed: permission denied.", kind="unlisted")
    ]
    assert vault.refresh().warnings == tuple(vault.files.unlisted)
    assert vault.refresh().warnings == ()
    assert Vault(index, a="x").index.warnings() == vault.files.unlisted
    assert Indexer(vault.files, index, LiveCatalog(index)).refresh(lambda _done, _total: None).warnings == ()
    vault.files.unlisted = []
    vault.refresh()
    assert index.warnings() == []


def test_what_is_wrong_with_a_note_is_reported_and_not_again_when_it_changes(index: SqliteNoteIndex) -> None:
    vault = Vault(index, a="---\nx: [\n---\n", b="fine", latin="caf\ufffd", genuine="the sign \ufffd")
    vault.files.garble("latin.md")
    assert {warning.path for warning in vault.refresh().warnings} == {"a.md", "latin.md"}
    vault.files.write("a.md", "---\ny: 1\nx: [\n---\n")
    vault.files.write("b.md", "---\nx: [\n---\n")
    refreshed = vault.refresh()
    assert refreshed.changed == 2
    assert [warning.path for warning in refreshed.warnings] == ["b.md"]
    vault.files.write("a.md", "fine")
    vault.refresh()
    vault.files.write("a.md", "---\nx: [\n---\n")
    assert [warning.path for warning in vault.refresh().warnings] == ["a.md"]


def test_the_frontmatter_of_templates_needs_no_warning(index: SqliteNoteIndex) -> None:
    files = MemoryFiles(**{"Templates/Day": "---\nx: [\n---\n", "Templates2": "---\nx: [\n---\n"})
    indexer = Indexer(files, index, LiveCatalog(index), templates=lambda: ["Templates/"])
    assert [warning.path for warning in indexer.refresh(lambda _done, _total: None).warnings] == ["Templates2.md"]


def test_a_note_that_vanishes_between_listing_and_reading_is_gone(index: SqliteNoteIndex) -> None:
    vault = Vault(index, a="[[b]]", b="x")
    vault.refresh()
    vault.files.write("b.md", "changed")
    vault.files.write("c.md", "new")
    vault.files.vanish("b.md")
    vault.files.vanish("c.md")
    assert vault.refresh().changed == 0
    assert index.known("b.md") is index.known("c.md") is None
    assert vault.target("a.md") == Missing(target="b")


class Neighbours:
    """Implements `ports.workers.Workers` without other processes."""

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
        return map(work, tasks)


def test_many_parts_are_shared_and_few_are_not(index: SqliteNoteIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PART_NOTES", 3)
    vault = Vault(index, **{f"n{number}": f"[[n{number + 1}]]" for number in range(10)})
    shared = Indexer(vault.files, index, LiveCatalog(index), Neighbours())
    heard: list[tuple[int, int]] = []
    refreshed = shared.refresh(lambda done, total: heard.append((done, total)))
    assert refreshed == Refreshed(notes=10, changed=10, links=10)
    assert heard == [(0, 10), (3, 10), (6, 10), (9, 10), (10, 10)]
    vault.files.write("n9.md", "x")
    vault.files.write("n11.md", "x")
    heard.clear()
    assert shared.refresh(lambda done, total: heard.append((done, total))).changed == 2
    assert heard == [(0, 2), (1, 2), (2, 2)]
    assert vault.target("n8.md") == Resolved(path="n9.md", via="name")


def test_resolutions_that_a_change_overtook_are_made_again(index: SqliteNoteIndex) -> None:
    vault = Vault(index, a="[[b]]")
    overtaken = _OvertakenOnce(index, vault.files)
    Indexer(vault.files, overtaken, LiveCatalog(overtaken)).refresh(lambda _done, _total: None)
    assert vault.target("a.md") == Resolved(path="b.md", via="name")


class _OvertakenOnce(SqliteNoteIndex):
    """Just before the first resolutions are stored, somebody else indexes another note."""

    def __init__(self, real: SqliteNoteIndex, files: MemoryFiles) -> None:
        assert isinstance(real, SqliteNoteIndex)
        self.__dict__ = real.__dict__
        self._files = files
        self._done = False

    def store_resolutions(self, *arguments: Any) -> bool:
        if not self._done:
            self._done = True
            self._files.write("b.md", "x")
            Indexer(self._files, self, LiveCatalog(self)).refresh(lambda _done, _total: None)
        return super().store_resolutions(*arguments)
