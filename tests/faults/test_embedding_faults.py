"""Processes that embed and are killed at random moments, or write to the same files at once."""

import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.faults.reports import report_of
from tests.support.embedders import RecordingEmbedder, StaticEmbedder
from tests.support.in_memory_files import MemoryFiles
from zkchat.core.errors import StorageError, StorageFull
from zkchat.core.index import NOTHING_KNOWN
from zkchat.index import vector_files
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.vectors import VectorSearch
from zkchat.index.vector_files import VectorFiles

KILLS = 50
PROCESSES = 3
PASSAGES = 30

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")


@unix_only
def test_after_a_kill_at_any_moment_the_work_goes_on_where_it_stopped(
    tmp_path: Path, scaled: Callable[[int], int]
) -> None:
    kills = scaled(KILLS)
    report = report_of("kill_embedding", tmp_path, kills)
    assert report["kills"] == kills
    assert (report["wrong"], report["twice"], report["stored twice"], report["incomplete"]) == (0, 0, 0, 0)


def _digest(number: int) -> bytes:
    return number.to_bytes(16, "big")


@unix_only
def test_processes_that_add_vectors_at_once_lose_none_and_keep_none_twice(tmp_path: Path) -> None:
    children = []
    for process in range(PROCESSES):
        child = os.fork()
        if child == 0:
            files = VectorFiles(tmp_path / "index.db")
            position, known = NOTHING_KNOWN, frozenset[bytes]()
            for number in [*range(process, PASSAGES), *range(process)]:
                if _digest(number) not in known:
                    position, others = files.add("m", [_digest(number)], bytes(8), bytes([number]) * 16, position)
                    known |= others
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * PROCESSES
    stored = VectorFiles(tmp_path / "index.db").read("m")
    assert stored
    assert sorted(block.digests for block in stored.blocks) == [_digest(number) for number in range(PASSAGES)]
    assert VectorFiles(tmp_path / "index.db").retain("m", [*map(_digest, range(PASSAGES))]) == PASSAGES


def test_a_full_disk_leaves_the_vectors_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(file: BinaryIO, content: bytes) -> None:
        file.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    files = MemoryFiles(a="# A\n\napples")
    server = RecordingEmbedder(batch_size=1)
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        library = Library.over(files, index, VectorSearch(index.vectors, server, base=StaticEmbedder()))
        library.refresh()
        library.embed()
        library.embed_by_server()
        sizes = {file: file.stat().st_size for file in tmp_path.glob("*.vectors")}
        files.write("b.md", "# B\n\nbread")
        library.refresh()
        with monkeypatch.context() as patched:
            patched.setattr(vector_files, "_write_whole", half)
            with pytest.raises(StorageFull):
                library.embed()
            with pytest.raises(StorageFull):
                library.embed_by_server()
        assert {file: file.stat().st_size for file in tmp_path.glob("*.vectors")} == sizes
        assert [passage.path for passage in library.search("bread")][:1] == ["b.md"]
        library.embed()
        library.embed_by_server()
        progress = library.embedding_progress()
        assert progress
        assert (progress.done, progress.total) == (2, 2)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    with pytest.raises(StorageError):
        VectorFiles(tmp_path / "folder" / "index.db").add("m", [_digest(1)], bytes(8), bytes(16))
