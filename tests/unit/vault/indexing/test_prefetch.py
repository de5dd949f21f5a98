"""Looks at the files while the user types, so that a turn finds little to read."""

from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Event

import pytest

from tests.support.in_memory_files import MemoryFiles
from tests.support.waiting import eventually
from zkchat.core.errors import VaultError
from zkchat.core.note import FolderListing, NoteWarning
from zkchat.index.indexing.background import BackgroundRefresh
from zkchat.index.indexing.indexer import Progress, Refreshed
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex

NO_TIME = 0.0
PLENTY = 30.0


@dataclass
class Typist:
    """Somebody who types beside a vault, by a clock that moves when it is told to."""

    takes: float = 0.0
    """Seconds of a refresh."""
    now: float = 100.0
    saved: dict[str, float] = field(default_factory=dict)
    """Notes, and when they were saved."""
    seen: set[str] = field(default_factory=set)
    refreshes: list[float] = field(default_factory=list)
    """When they began."""
    may_end: Event = field(default_factory=Event)
    trouble: VaultError | None = None

    def __post_init__(self) -> None:
        self.bounded = BackgroundRefresh(self._refresh, lambda: self.now)
        self.may_end.set()

    def _refresh(self, _progress: Progress) -> Refreshed:
        self.refreshes.append(self.now)
        there = set(self.saved)
        self.now += self.takes
        assert self.may_end.wait(PLENTY)
        if self.trouble:
            raise self.trouble
        news = there - self.seen
        self.seen |= there
        return Refreshed(warnings=tuple(NoteWarning(path=path, text="odd", kind="excess") for path in sorted(news)))

    def type(self) -> None:
        self.bounded.prefetch()
        if self.may_end.is_set():
            wait(self.bounded._under_way)

    def type_for(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.type()
            self.now += 0.1

    def send(self, seconds: float = PLENTY) -> Refreshed | None:
        return self.bounded.within(seconds)


@pytest.fixture
def typist() -> Iterator[Typist]:
    typist = Typist()
    with closing(typist.bounded):
        yield typist
        typist.may_end.set()


def test_who_types_on_has_the_files_looked_at_about_once_a_second(typist: Typist) -> None:
    typist.type_for(10.0)
    assert 10 <= len(typist.refreshes) <= 15


def test_long_looks_take_no_more_than_a_tenth_of_the_time(typist: Typist) -> None:
    typist.takes = 0.5
    typist.type_for(30.0)
    assert len(typist.refreshes) > 3
    assert all(later - earlier >= 5.0 for earlier, later in pairwise(typist.refreshes))


def test_who_types_while_the_look_of_a_turn_goes_on_does_not_begin_another(typist: Typist) -> None:
    typist.may_end.clear()
    assert typist.send(NO_TIME) is None
    (refresh,) = typist.bounded._under_way
    typist.type()
    assert not refresh.done()  # nor was it waited for
    assert typist.bounded._under_way == [refresh]
    typist.may_end.set()
    assert typist.send() is not None
    assert len(typist.refreshes) == 2  # the second after the message was sent


def test_what_a_look_found_while_the_user_typed_or_that_it_failed_is_told_by_the_turn(typist: Typist) -> None:
    typist.saved = {"first": typist.now}
    typist.type()
    typist.now += 2.0
    typist.saved["second"] = typist.now
    typist.type()
    told = typist.send()
    assert told is not None
    assert [warning.path for warning in told.warnings] == ["first", "second"]
    assert typist.send() == Refreshed()
    typist.trouble = VaultError("The disk is gone.")
    typist.now += 2.0
    typist.type()
    with pytest.raises(VaultError, match="The disk is gone"):
        typist.send()


class CountedFiles(MemoryFiles):
    refreshes = 0

    def folders(self) -> Iterator[FolderListing]:
        self.refreshes += 1
        yield from super().folders()


def test_a_note_saved_while_the_user_types_is_read_before_the_turn_asks(tmp_path: Path) -> None:
    files = CountedFiles(old="An oak.")
    clock = Typist()
    with (
        closing(SqliteNoteIndex(tmp_path / "index.db")) as index,
        closing(Library.over(files, index, clock=lambda: clock.now)) as library,
    ):
        library.refresh()
        files.write("new.md", "A birch.")
        library.prefetch()
        eventually(lambda: [passage.path for passage in library.search("birch")] == ["new.md"])
        found = library.refresh_within(PLENTY)
        assert found is not None
        assert found.changed == 1  # told, though it was read before
        assert files.refreshes == 3


def test_while_the_notes_are_read_for_the_first_time_nobody_looks_ahead(tmp_path: Path) -> None:
    files = CountedFiles(old="An oak.")
    with (
        closing(SqliteNoteIndex(tmp_path / "index.db")) as index,
        closing(Library.over(files, index, clock=lambda: 0.0)) as library,
    ):
        library.refresh(lambda _done, _total: library.prefetch())
        library.close()
        assert files.refreshes == 1
