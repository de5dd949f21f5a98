from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.in_memory_files import MemoryFiles
from zkchat.storage.note_index import SqliteNoteIndex, SqliteVectors
from zkchat.vault.library import Library


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[SqliteVectors]:
    """Of a vault with four sections, of which the first two have vectors."""
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        Library.over(MemoryFiles(a="# A\n\none", b="# B\n\ntwo", c="# C\n\nthree", d="# D\n\nfour"), index).refresh()
        index.vectors.begin("x")
        index.vectors.add((section.id, bytes([section.id])) for section in index.vectors.missing(2))
        yield index.vectors


def all_of(vectors: SqliteVectors) -> list[tuple[int, bytes]]:
    return vectors.after("x", 0, 99)


def test_sections_without_a_vector_are_known_in_their_order(vectors: SqliteVectors) -> None:
    have = [section for section, _ in all_of(vectors)]
    lack = [section.id for section in vectors.missing(9)]
    assert len(have) == len(lack) == 2
    assert max(have) < min(lack)
    assert [section.id for section in vectors.missing(1)] == lack[:1]


def test_a_section_that_was_passed_over_is_found_when_somebody_begins_again(vectors: SqliteVectors) -> None:
    passed, last = vectors.missing(2)
    vectors.add([(last.id, b"v")])
    vectors.begin("x")
    assert [section.id for section in vectors.missing(9)] == [passed.id]


def test_some_vectors_can_be_had_without_the_others(vectors: SqliteVectors) -> None:
    first, second = all_of(vectors)
    assert vectors.of("x", [second[0], 999]) == [second]
    assert vectors.after("x", 0, 1) == [first]
    assert vectors.after("x", first[0], 9) == [second]


def test_vectors_of_another_method_are_none(vectors: SqliteVectors) -> None:
    (number, _), *_ = all_of(vectors)
    assert vectors.of("y", [number]) == []
    assert vectors.after("y", 0, 9) == []
    vectors.begin("y")
    assert all_of(vectors) == []
    assert len(vectors.missing(9)) == 4


def test_a_vector_for_a_section_that_is_gone_is_not_kept(vectors: SqliteVectors) -> None:
    vectors.add([(999, b"v")])
    assert 999 not in dict(all_of(vectors))
