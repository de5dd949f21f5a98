"""The index under faults: no file stops it, no kill leaves it inconsistent, and a refresh repairs every damage."""

import os
import random
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.reports import report_of
from tests.support.in_memory_files import MemoryFiles
from zkchat.core.errors import StorageError, StorageFull
from zkchat.core.note import Link, Resolved
from zkchat.index.indexing import reader
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles

KILLS = 40


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteNoteIndex]:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as opened:
        yield opened


def garden(notes: int) -> MemoryFiles:
    return MemoryFiles(
        **{f"n{number}": f"# Garden {number}\n\n[[n{number + 1}]]\n\n## Beds\n\nplants" for number in range(notes)}
    )


def seen(library: Library, index: SqliteNoteIndex) -> object:
    links = [stored for path in sorted(index.stamps()) for stored in index.links_from([path])]
    return [(stored.source, stored.resolution) for stored in links], library.search("garden plants", limit=99)


def fresh(files: MemoryFiles, path: Path) -> object:
    with closing(SqliteNoteIndex(path)) as index:
        library = Library.over(files, index)
        library.refresh()
        return seen(library, index)


class Stopped(BaseException):
    """As Ctrl-C does."""


def test_a_refresh_that_is_stopped_anywhere_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PART_NOTES", 3)
    files = garden(10)
    wanted = fresh(files, tmp_path / "fresh.db")
    for last in (1, 3, 4, 10):

        def stop(done: int, _total: int, last: int = last) -> None:
            if done == last:
                raise Stopped

        with closing(SqliteNoteIndex(tmp_path / f"{last}.db")) as index:
            with pytest.raises(Stopped):
                Library.over(files, index).refresh(stop)
            assert index.counts().notes == (last - 1) // 3 * 3
            assert not index.is_complete()
            library = Library.over(files, index)
            library.refresh()
            assert seen(library, index) == wanted


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_processes_killed_at_any_statement_or_working_together_leave_an_index_to_go_on_with(
    tmp_path: Path, scaled: Callable[[int], int]
) -> None:
    kills = scaled(KILLS)
    report = report_of("kill_indexing", tmp_path, kills)
    assert report["kills"] == kills
    assert report["halfway"] > kills / 4  # else the kills came too early or too late to prove anything
    assert (report["unsound"], report["different"], report["failed together"]) == (0, 0, 0)


def test_a_full_disk_is_said_and_what_was_there_stays(tmp_path: Path) -> None:
    files = garden(20)
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        Library.over(files, index).refresh()
        before = seen(Library.over(files, index), index)
    for number in range(60):
        files.write(f"more {number}.md", f"more plants {number} " * 50)
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        with index._file.writing() as database:
            pages = database.execute("PRAGMA page_count").fetchone()[0]
        with index._file._connection() as database:
            database.execute(f"PRAGMA max_page_count = {pages + 5}")
        library = Library.over(files, index)
        with pytest.raises(StorageFull, match=r"index\.db"):
            library.refresh()
        assert seen(library, index) == before
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        library = Library.over(files, index)
        library.refresh()
        assert seen(library, index) == fresh(files, tmp_path / "fresh.db")


def test_damage_anywhere_is_gone_after_a_refresh(tmp_path: Path, scaled: Callable[[int], int]) -> None:
    files = garden(25)
    path = tmp_path / "index.db"
    wanted = fresh(files, path)
    content = path.read_bytes()
    for seed in range(scaled(45)):
        rng = random.Random(seed)
        damaged = bytearray(content)
        page = 4096 * rng.randrange(len(content) // 4096)
        if seed % 3 == 0:
            damaged = damaged[: rng.randrange(len(content))]
        elif seed % 3 == 1:
            damaged[page : page + 4096] = rng.randbytes(4096)
        else:
            damaged[page : page + 4096] = bytes(4096)
        path.write_bytes(damaged)
        with closing(SqliteNoteIndex(path)) as index:
            library = Library.over(files, index)
            library.refresh()
            library.search('"plants"')
            library.links_to("n3.md")
            library.resolve(Link(text="[[n5]]", target="n5"))
            library.rebuild()
            assert seen(library, index) == wanted


HOSTILE_TEXTS: dict[str, bytes] = {
    "empty": b"",
    "only a mark": b"\xef\xbb\xbf",
    "utf-16": "# Breit\n\ngarden".encode("utf-16"),
    "old line ends": b"# One\rgarden\r\rtwo\r",
    "control characters": b"\x1b]0;title\x07\x1b[31m garden \x08\x7f",
    "deep quotes": b">" * 2_000 + b" garden",
    "link openings": b"[[a" * 2_000,
    "unclosed fence": b"```\n[[not a link]]\ngarden",
    "unclosed comment": b"%% [[never closed]]\ngarden",
    "unclosed frontmatter": b"---\ntitle: x\ngarden",
    "html": b"<script>alert(1)</script><!-- [[x]] garden",
    "one endless word": b"g" * 400_000,
    "many headings": b"# garden\n" * 500,
    "a picture inside": b"![x](data:image/png;base64," + b"iVBORw0KGgo" * 20_000 + b")",
    "foreign tags": b"---\na: !!python/object/apply:os.system ['true']\n---\ngarden",
}
REPORTED_TEXTS: dict[str, bytes] = {
    "latin": "# Gärten".encode("latin-1"),
    "half a character": "garden 東".encode()[:-1],
    "surrogates": b"garden \xed\xa0\x80",
    "binary": bytes(range(256)) * 40,
    "zeros": bytes(5000),
    "huge": b"x" * 600_000,
    "bad yaml": b"---\ntitle: [unclosed\n---\ngarden",
    "no date": b"---\ndate: 0000-99-99\nx: .inf\n---\ngarden",
    "tabbed yaml": b"---\na:\n\t- b\n---\ngarden",
    "yaml bomb": b"---\na: &a [x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (letter, letter, b",".join([b"*%c" % (letter - 1)] * 9)) for letter in b"bcdefghij")
    + b"---\ngarden",
}


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(path))


HOSTILE_FILES: dict[str, Callable[[Path], None]] = {
    "pipe": make_fifo,
    "socket": make_socket,
    "loop": lambda path: path.symlink_to(path.name),
    "way out": lambda path: path.symlink_to("/etc/hosts"),
    "to nothing": lambda path: path.symlink_to("nothing at all"),
}
QUIET_NAMES = (
    "line\nbreak",
    "\x1b[31mred",
    "right\u202eleft",
    "[[brackets]] #and ^more|",
    "x" * 250,
    "'; DROP TABLE notes; --",
    "%s %d {0}",
    "CON",
    " leading and trailing ",
)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such files here")
def test_hostile_files_of_every_kind_are_reported_and_stop_nothing(tmp_path: Path, index: SqliteNoteIndex) -> None:
    vault = tmp_path / "vault"
    (vault / "folder.md").mkdir(parents=True)
    for number in range(50):
        (vault / f"n{number}.md").write_text(f"# Garden {number}\n\n[[n{number + 1}]] plants\n")
    for name, content in (HOSTILE_TEXTS | REPORTED_TEXTS).items():
        (vault / f"{name}.md").write_bytes(content)
    for name in QUIET_NAMES:
        (vault / f"{name}.md").write_text("garden")
    for name, make in HOSTILE_FILES.items():
        make(vault / f"{name}.md")
    deep = vault.joinpath(*["deep"] * 60)
    deep.mkdir(parents=True)
    (deep / "down.md").write_text("garden")

    library = Library.over(VaultFiles(vault, exclude=(), max_note_bytes=500_000), index)
    refreshed = library.refresh()

    assert {warning.path for warning in refreshed.warnings} == {
        f"{name}.md" for name in (*REPORTED_TEXTS, *HOSTILE_FILES)
    }
    assert library.note_count() == 50 + len(HOSTILE_TEXTS) + len(REPORTED_TEXTS) + len(QUIET_NAMES) + 1
    assert {found.path for found in library.search("garden plants", limit=500)} >= {
        f"n{number}.md" for number in range(50)
    }
    assert library.search("garden path:deep")[0].path.endswith("deep/down.md")
    for name in ("binary", "huge", "latin", "half a character"):
        assert library.resolve(Link(text="", target=name)) == Resolved(path=f"{name}.md", via="name")
        assert library.documents(name, limit=1)[0].path == f"{name}.md"
    assert library.refresh().changed == 0


def test_a_note_over_a_limit_that_was_lowered_is_reported_and_comes_back_with_the_limit(
    tmp_path: Path, index: SqliteNoteIndex
) -> None:
    note = tmp_path / "vault" / "long.md"
    note.parent.mkdir()
    note.write_text("garden " * 100)
    os.utime(note, (1e9, 1e9))

    def refreshed(limit: int) -> tuple[int, int, int]:
        library = Library.over(VaultFiles(note.parent, exclude=(), max_note_bytes=limit), index)
        return library.refresh().changed, len(library.warnings()), len(library.search("garden"))

    assert refreshed(1_000) == (1, 0, 1)
    assert refreshed(500) == (1, 1, 0)
    assert refreshed(500) == (0, 1, 0)
    assert refreshed(1_000) == (1, 0, 1)
    assert refreshed(1_000) == (0, 0, 1)


def test_an_index_that_another_program_holds_can_be_read_and_says_why_it_cannot_be_written(
    tmp_path: Path, index: SqliteNoteIndex
) -> None:
    library = Library.over(garden(2), index)
    library.refresh()
    with index._file._connection() as database:
        database.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(tmp_path / "index.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert len(library.search("garden")) > 0
        with pytest.raises(StorageError, match="in use") as error:
            index.finish()
    assert error.value.hint
