"""Rows of sections that one process keeps for the next: never another answer than without them."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.embedders import StaticEmbedder
from tests.support.in_memory_files import MemoryFiles
from zkchat.model.embeddings import PassageDigests
from zkchat.storage.note_index import SqliteNoteIndex
from zkchat.vault.library import Library
from zkchat.vault.search import section_rows
from zkchat.vault.search.vectors import VectorSearch

NOTES = {name: f"# {name}\n\n{name} apples\n\n## More\n\n{name} pears" for name in ("one", "two", "three", "four")}
STATIC = StaticEmbedder()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteNoteIndex]:
    monkeypatch.setattr(section_rows, "_MIN_KEPT", 1)
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as opened:
        yield opened


@pytest.fixture
def files(index: SqliteNoteIndex) -> MemoryFiles:
    notes = MemoryFiles(**NOTES)
    opened(notes, index).embed()
    return notes


def opened(files: MemoryFiles, index: SqliteNoteIndex) -> Library:
    """As by another process."""
    library = Library.over(files, index, VectorSearch(index.vectors, STATIC))
    library.refresh()
    return library


def answers(library: Library) -> list[tuple[str, int, float]]:
    return [
        (hit.path, hit.first_line, round(hit.score, 5))
        for query in ("pears of two", "what is new", "zebra")
        for hit in library.search(query, limit=20)
    ]


def edit(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    files.write("two.md", "# two\n\nnew apples")
    opened(files, index).embed()


def add_without_vectors(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    files.write("five.md", "# five\n\nfive pears")
    opened(files, index)


def copy_a_text(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    files.write("again/two.md", NOTES["two"])
    opened(files, index).embed()


def remove(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    files.remove("one.md")
    opened(files, index).embed()


def rebuild(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    files.rename("one.md", "zero.md")
    opened(files, index).rebuild()


def forget_vectors(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    stored = index.vectors.read(STATIC.name)
    assert stored
    index.vectors.retain(STATIC.name, [stored.blocks[0].digests[:16]])


@pytest.mark.parametrize("change", [edit, add_without_vectors, copy_a_text, remove, rebuild, forget_vectors])
def test_answers_are_the_same_as_without_rows_whatever_changed_since(
    change: Callable[[MemoryFiles, SqliteNoteIndex], None], files: MemoryFiles, index: SqliteNoteIndex
) -> None:
    kept = index.vectors.section_rows(STATIC.name)
    assert kept
    long_open = opened(files, index)
    answers(long_open)
    change(files, index)
    index.vectors.keep_section_rows(STATIC.name, kept)
    found = answers(opened(files, index))
    long_open.refresh()
    assert answers(long_open) == found
    index.vectors.keep_section_rows(STATIC.name, None)
    assert answers(opened(files, index)) == found


def record_passages(index: SqliteNoteIndex, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """After which section digests are asked for."""
    asked: list[int] = []
    passages = index.vectors.passages

    def record(after: int = 0) -> PassageDigests:
        asked.append(after)
        return passages(after)

    monkeypatch.setattr(index.vectors, "passages", record)
    return asked


def test_a_process_that_finds_all_vectors_there_reads_no_digests(
    files: MemoryFiles, index: SqliteNoteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = record_passages(index, monkeypatch)
    library = opened(files, index)
    assert library.embed() == 0
    library.search("pears")
    assert asked == [8, 8]


def test_a_changed_note_gets_its_vectors_and_only_it(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    files.write("two.md", NOTES["two"] + "\n\n## New\n\nplums")
    STATIC.texts.clear()
    assert opened(files, index).embed() == 1
    assert STATIC.texts == ["two\n## New\n\nplums"]


def test_how_far_the_embedding_is_is_told_without_digests_and_the_same_as_with_them(
    files: MemoryFiles, index: SqliteNoteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_a_text(files, index)
    progress = opened(files, index).embedding_progress()
    assert progress
    assert (progress.done, progress.total) == (8, 8)
    with monkeypatch.context() as patch:
        patch.setattr(section_rows, "find_digests", lambda *_: pytest.fail("digests are compared"))
        assert opened(files, index).embedding_progress() == progress
    index.vectors.keep_section_rows(STATIC.name, None)
    assert opened(files, index).embedding_progress() == progress
    opened(files, index).embed()
    files.remove("one.md")
    gone = opened(files, index).embedding_progress()
    assert gone
    assert (gone.done, gone.total) == (6, 6)


def test_vectors_that_are_damaged_are_made_again(files: MemoryFiles, index: SqliteNoteIndex, tmp_path: Path) -> None:
    expected = answers(opened(files, index))
    stored = index.vectors.read(STATIC.name)
    assert stored
    (file,) = tmp_path.glob("index.*.vectors")
    content = bytearray(file.read_bytes())
    content[stored.blocks[0].start - 1] ^= 1  # of a sketch
    file.write_bytes(content)
    answers(opened(files, index))
    library = opened(files, index)
    assert library.embed() == 8
    assert answers(opened(files, index)) == expected


def test_rows_of_which_a_byte_has_changed_are_not_used(
    files: MemoryFiles, index: SqliteNoteIndex, tmp_path: Path
) -> None:
    expected = answers(opened(files, index))
    (file,) = tmp_path.glob("index.*.rows")
    whole = file.read_bytes()
    for broken in (b"", whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), b"\0" * 40):
        file.write_bytes(broken)
        assert index.vectors.section_rows(STATIC.name) is None
    assert answers(opened(files, index)) == expected


def test_of_few_sections_nothing_is_kept(tmp_path: Path) -> None:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        opened(MemoryFiles(**NOTES), index).embed()
        assert index.vectors.section_rows(STATIC.name) is None


@pytest.mark.parametrize("change", [edit, add_without_vectors, copy_a_text, remove, rebuild, forget_vectors])
def test_progress_is_the_same_as_without_rows_whatever_changed_since(
    change: Callable[[MemoryFiles, SqliteNoteIndex], None], files: MemoryFiles, index: SqliteNoteIndex
) -> None:
    change(files, index)
    found = opened(files, index).embedding_progress()
    index.vectors.keep_section_rows(STATIC.name, None)
    assert opened(files, index).embedding_progress() == found


def counted(files: MemoryFiles, index: SqliteNoteIndex) -> tuple[int, int]:
    progress = opened(files, index).embedding_progress()
    assert progress
    return progress.done, progress.total


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (edit, (7, 7)),
        (add_without_vectors, (8, 9)),
        (copy_a_text, (8, 8)),
        (remove, (6, 6)),
        (rebuild, (8, 8)),
        (forget_vectors, (1, 8)),
    ],
)
def test_as_many_passages_are_counted_as_without_rows_whatever_changed_since(
    change: Callable[[MemoryFiles, SqliteNoteIndex], None],
    expected: tuple[int, int],
    files: MemoryFiles,
    index: SqliteNoteIndex,
) -> None:
    kept = index.vectors.section_rows(STATIC.name)
    change(files, index)
    index.vectors.keep_section_rows(STATIC.name, kept)
    assert counted(files, index) == expected
    index.vectors.keep_section_rows(STATIC.name, None)
    assert counted(files, index) == expected


def test_after_an_edit_the_digests_of_other_notes_are_not_read_to_count_passages(
    files: MemoryFiles, index: SqliteNoteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = index.vectors.section_rows(STATIC.name)
    assert kept
    edit(files, index)
    index.vectors.keep_section_rows(STATIC.name, kept)
    asked = record_passages(index, monkeypatch)
    assert counted(files, index) == (7, 7)
    assert {*asked} == {kept.last}
