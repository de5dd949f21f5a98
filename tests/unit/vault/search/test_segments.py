from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.in_memory_files import MemoryFiles
from zkchat.core.index import SegmentHead, TermPostings
from zkchat.index.indexing.reader import read_part
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search import postings


def found_in(library: Library, query: str) -> list[tuple[str, float]]:
    return [(passage.path, passage.score) for passage in library.search(query, limit=100)]


def test_many_small_changes_leave_few_segments(index: SqliteNoteIndex) -> None:
    files = MemoryFiles()
    library = Library.over(files, index)
    for number in range(36):
        files.write(f"n{number % 20}.md", f"# Garden {number}\n\nplants and other things {number}")
        library.refresh()
    assert len(index.segment_sizes()) < 2 * 8
    assert len(found_in(library, "garden plants")) == 20


def test_merging_changes_nothing_that_is_found(tmp_path: Path, index: SqliteNoteIndex) -> None:
    files = MemoryFiles()
    library = Library.over(files, index)
    for number in range(23):
        files.write(f"n{number % 15}.md", f"---\naliases: [Bed {number}]\n---\n# Garden {number}\n\n## Soil\n\nplants")
        if number % 4 == 3:
            files.remove(f"n{number % 15}.md")
        library.refresh()
    with closing(SqliteNoteIndex(tmp_path / "fresh.db")) as other:
        fresh = Library.over(files, other)
        fresh.refresh()
        for query in ("garden", "plants soil", "bed 20", "garden 7 -soil", '"garden 22"'):
            assert found_in(library, query) == found_in(fresh, query)
            assert library.documents(query, limit=100) == fresh.documents(query, limit=100)


def test_what_is_mostly_dead_is_cleaned_away(index: SqliteNoteIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "_MIN_DEAD", 10)
    files = MemoryFiles(**{f"n{number}": f"garden {number}" for number in range(40)})
    library = Library.over(files, index)
    library.refresh()
    for number in range(30):
        files.remove(f"n{number}.md")
    library.refresh()
    assert index.dead_sections() == []
    assert sum(index.segment_sizes().values()) == 10
    assert len(found_in(library, "garden")) == 10


def test_segments_that_another_process_merged_meanwhile_are_left_to_it(tmp_path: Path, index: SqliteNoteIndex) -> None:
    class Overtaken(SqliteNoteIndex):
        """Another process merges the same segments just before this one loads them."""

        def load_segments(
            self, wanted: Sequence[int]
        ) -> tuple[list[tuple[SegmentHead, list[TermPostings]]], list[int]]:
            postings.merge_segments(index)
            return super().load_segments(wanted)

    files = MemoryFiles(**{f"n{number}": f"garden {number}" for number in range(8)})
    for stamp in next(files.folders()).stamps():
        read_part(files, index, None, [(stamp, False)])
    with closing(Overtaken(tmp_path / "index.db")) as other:
        postings.merge_segments(other)
    assert len(index.segment_sizes()) == 1
