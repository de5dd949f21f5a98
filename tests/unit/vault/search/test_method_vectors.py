"""Which section has which vector: the same for whoever opened the library before a change, and after it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.embedders import StaticEmbedder
from tests.support.in_memory_files import MemoryFiles
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.vectors import VectorSearch

NOTES = {name: f"# {name}\n\n{name} apples\n\n## More\n\n{name} pears" for name in ("one", "two", "three", "four")}
STATIC = StaticEmbedder()


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


def remove(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    files.remove("one.md")
    opened(files, index).embed()


def forget_vectors(files: MemoryFiles, index: SqliteNoteIndex) -> None:
    stored = index.vectors.read(STATIC.name)
    assert stored
    index.vectors.retain(STATIC.name, [stored.blocks[0].digests[:16]])


def counted(library: Library) -> tuple[int, int]:
    progress = library.embedding_progress()
    assert progress
    return progress.done, progress.total


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (edit, (7, 7)),
        (add_without_vectors, (8, 9)),
        (remove, (6, 6)),
        (forget_vectors, (1, 8)),
    ],
)
def test_after_a_change_a_library_that_was_open_answers_and_counts_as_a_new_one(
    change: Callable[[MemoryFiles, SqliteNoteIndex], None],
    expected: tuple[int, int],
    files: MemoryFiles,
    index: SqliteNoteIndex,
) -> None:
    long_open = opened(files, index)
    answers(long_open)
    assert counted(long_open) == (8, 8)
    change(files, index)
    long_open.refresh()
    assert answers(long_open) == answers(opened(files, index))
    assert counted(long_open) == counted(opened(files, index)) == expected


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
