"""A refresh for which nobody waits longer than they want to."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as all_threads
from time import sleep

import pytest

from tests.support.in_memory_files import MemoryFiles
from zkchat.core.errors import VaultError
from zkchat.core.note import FolderListing, NoteWarning
from zkchat.index.indexing.background import BackgroundRefresh
from zkchat.index.indexing.indexer import Progress, Refreshed
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex

NO_TIME = 0.0
PLENTY = 30.0
"""Seconds; far more than two notes take on any machine."""


class SlowFiles(MemoryFiles):
    """The disk answers when it is told to."""

    def __init__(self, **notes: str) -> None:
        super().__init__(**notes)
        self.answers = Event()
        self.answers.set()
        self.asked = Event()
        self.looks = self.at_once = self.most_at_once = 0
        self.trouble: VaultError | None = None

    def folders(self) -> Iterator[FolderListing]:
        self.looks += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        found = [*super().folders()]
        self._wait()
        self.at_once -= 1
        if self.trouble:
            raise self.trouble
        yield from found

    def read_whole(self, path: str) -> tuple[str, bool]:
        self._wait()
        return super().read_whole(path)

    def _wait(self) -> None:
        self.asked.set()
        assert self.answers.wait(PLENTY)


@pytest.fixture
def files() -> SlowFiles:
    return SlowFiles(old="An oak.")


@pytest.fixture
def library(tmp_path: Path, files: SlowFiles) -> Iterator[Library]:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index, closing(Library.over(files, index)) as opened:
        yield opened
        files.answers.set()


def found(library: Library, words: str) -> list[str]:
    return [passage.path for passage in library.search(words)]


def test_where_there_is_no_time_the_vault_answers_as_it_was_and_the_next_call_tells_the_news(
    library: Library, files: SlowFiles
) -> None:
    library.refresh()
    files.looks = 0
    files.write("new.md", "A birch.")
    files.unlisted = [NoteWarning(path="pipe", text="no file", kind="unlisted")]
    files.answers.clear()
    files.asked.clear()
    assert library.refresh_within(NO_TIME) is None
    assert files.asked.wait(PLENTY)
    assert [library.refresh_within(NO_TIME) for _ in range(5)] == [None] * 5
    assert (found(library, "birch"), found(library, "oak")) == ([], ["old.md"])
    files.answers.set()
    refreshed = library.refresh_within(PLENTY)
    assert refreshed is not None
    assert (refreshed.notes, refreshed.changed) == (2, 1)
    assert [warning.path for warning in refreshed.warnings] == ["pipe"]
    again = library.refresh_within(PLENTY)
    assert again is not None
    assert (again.changed, again.warnings) == (0, ())
    assert (files.looks, files.most_at_once) == (3, 1), "calls without time do not pile up"


def test_what_goes_wrong_in_the_background_is_raised_once(library: Library, files: SlowFiles) -> None:
    files.answers.clear()
    files.trouble = VaultError("The disk is gone.")
    files.asked.clear()
    assert library.refresh_within(NO_TIME) is None
    assert files.asked.wait(PLENTY)
    files.answers.set()
    with pytest.raises(VaultError, match="The disk is gone"):
        library.refresh_within(PLENTY)
    files.trouble = None
    assert library.refresh_within(PLENTY) is not None


def test_what_is_started_in_the_background_is_waited_for_by_the_next_call(library: Library, files: SlowFiles) -> None:
    files.answers.clear()
    files.write("new.md", "A beech.")
    library.refresh_in_background()
    assert files.asked.wait(PLENTY)
    files.write("newer.md", "A birch.")
    library.refresh_in_background()
    library.refresh_in_background()
    assert library.refresh_within(NO_TIME) is None
    files.answers.set()
    assert library.refresh_within(PLENTY)
    assert [found(library, word) for word in ("beech", "birch")] == [["new.md"], ["newer.md"]]
    assert files.looks <= 3


def test_closing_waits_for_what_goes_on_in_the_background(library: Library, files: SlowFiles) -> None:
    files.answers.clear()
    assert library.refresh_within(NO_TIME) is None
    closer = Thread(target=library.close)
    closer.start()
    closer.join(0.05)
    assert closer.is_alive()
    files.answers.set()
    closer.join(PLENTY)
    assert not [thread for thread in all_threads() if thread.name.startswith("zkchat-refresh")]


def test_closing_stops_what_goes_on_between_two_notes() -> None:
    finished = Event()

    def refresh(progress: Progress) -> Refreshed:
        for note in range(5_000):
            progress(note, 5_000)
            sleep(0.001)  # as reading a note takes a while
        finished.set()
        return Refreshed()

    bounded = BackgroundRefresh(refresh)
    assert bounded.within(NO_TIME) is None
    bounded.close()
    assert not finished.is_set()
