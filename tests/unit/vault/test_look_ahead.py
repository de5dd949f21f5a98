"""Looks at the files while the user types, so that a turn need not look."""

from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.memory_files import MemoryFiles
from zkchat.errors import VaultError
from zkchat.model.note import FileStamp, NoteWarning
from zkchat.storage.note_index import SqliteNoteIndex
from zkchat.vault.indexing.background import FRESH, BoundedRefresh
from zkchat.vault.indexing.indexer import Progress, Refreshed
from zkchat.vault.library import Library

NO_TIME = 0.0
PLENTY = 30.0


@dataclass
class Desk:
    """Somebody who types beside a vault, by a clock that moves when it is told to."""

    takes: float = 0.0
    """Seconds of a look."""
    now: float = 100.0
    saved: dict[str, float] = field(default_factory=dict)
    """Notes, and when they were saved."""
    seen: set[str] = field(default_factory=set)
    looks: list[float] = field(default_factory=list)
    """When they began."""
    may_end: Event = field(default_factory=Event)
    trouble: VaultError | None = None

    def __post_init__(self) -> None:
        self.bounded = BoundedRefresh(self._look, lambda: self.now)
        self.may_end.set()

    def _look(self, _progress: Progress) -> Refreshed:
        self.looks.append(self.now)
        there = set(self.saved)
        self.now += self.takes
        assert self.may_end.wait(PLENTY)
        if self.trouble:
            raise self.trouble
        news = there - self.seen
        self.seen |= there
        return Refreshed(warnings=tuple(NoteWarning(path=path, text="odd") for path in sorted(news)))

    def type(self) -> None:
        self.bounded.ahead()
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
def desk() -> Iterator[Desk]:
    desk = Desk()
    with closing(desk.bounded):
        yield desk
        desk.may_end.set()


def test_a_turn_does_not_look_again_within_a_second_of_the_last_look(desk: Desk) -> None:
    desk.type()
    desk.now += 0.9
    assert desk.send(NO_TIME) is not None
    assert desk.send(NO_TIME) is not None
    assert len(desk.looks) == 1


def test_a_turn_looks_itself_when_the_last_look_is_older(desk: Desk) -> None:
    desk.type()
    desk.now += 1.0
    assert desk.send() is not None
    assert len(desk.looks) == 2


def test_a_turn_without_typing_looks_each_time(desk: Desk) -> None:
    desk.send()
    desk.send()
    assert len(desk.looks) == 2


def test_who_types_on_has_the_files_looked_at_about_once_a_second(desk: Desk) -> None:
    desk.type_for(10.0)
    assert 10 <= len(desk.looks) <= 15
    assert desk.send(NO_TIME) is not None
    assert len(desk.looks) <= 15


def test_long_looks_take_no_more_than_a_tenth_of_the_time(desk: Desk) -> None:
    desk.takes = 0.5
    desk.type_for(30.0)
    assert len(desk.looks) > 3
    assert all(later - earlier >= 5.0 for earlier, later in pairwise(desk.looks))


def test_a_turn_waits_for_a_look_that_goes_on_rather_than_beginning_another(desk: Desk) -> None:
    desk.may_end.clear()
    desk.type()
    desk.type()
    assert desk.send(NO_TIME) is None
    desk.may_end.set()
    assert desk.send() is not None
    assert len(desk.looks) == 1


def test_who_types_while_the_look_of_a_turn_goes_on_does_not_begin_another(desk: Desk) -> None:
    desk.may_end.clear()
    assert desk.send(NO_TIME) is None
    (look,) = desk.bounded._under_way
    desk.type()
    assert not look.done()  # nor was it waited for
    assert desk.bounded._under_way == [look]
    desk.may_end.set()
    assert desk.send() is not None
    assert len(desk.looks) == 2  # the second after the message was sent


def test_what_a_look_found_while_the_user_typed_is_told_by_the_turn(desk: Desk) -> None:
    desk.saved = {"first": desk.now}
    desk.type()
    desk.now += 2.0
    desk.saved["second"] = desk.now
    desk.type()
    told = desk.send()
    assert told is not None
    assert [warning.path for warning in told.warnings] == ["first", "second"]
    assert desk.send() == Refreshed()


def test_a_look_that_fails_is_made_again_by_the_turn_which_tells_of_it(desk: Desk) -> None:
    desk.trouble = VaultError("The disk is gone.")
    desk.type()
    with pytest.raises(VaultError, match="The disk is gone"):
        desk.send()
    desk.type()
    desk.trouble = None
    assert desk.send() is not None


def test_what_went_wrong_before_the_next_look_is_forgotten(desk: Desk) -> None:
    desk.trouble = VaultError("The disk is gone.")
    desk.may_end.clear()
    assert desk.send(NO_TIME) is None
    desk.may_end.set()
    wait(desk.bounded._under_way)
    desk.trouble = None
    desk.type()
    assert desk.send() is not None


def test_without_a_clock_nobody_looks_ahead() -> None:
    looks: list[str] = []

    def look(_progress: Progress) -> Refreshed:
        looks.append("look")
        return Refreshed()

    with closing(BoundedRefresh(look)) as bounded:
        bounded.ahead()
        bounded.within(PLENTY)
    assert looks == ["look"]


@given(
    takes=st.sampled_from([0.0, 0.05, 0.5]),
    steps=st.lists(
        st.sampled_from(["type", "save", "send"]) | st.floats(min_value=0.01, max_value=1.5), min_size=5, max_size=40
    ),
)
@settings(max_examples=150, deadline=None)
def test_a_note_saved_a_second_before_a_message_is_sent_is_known_to_its_turn(
    takes: float, steps: list[str | float]
) -> None:
    desk = Desk(takes=takes)
    with closing(desk.bounded):
        for step in [*steps, "send"]:
            match step:
                case "type":
                    desk.type()
                case "save":
                    desk.saved[f"note {len(desk.saved)}"] = desk.now
                case "send":
                    due = {note for note, at in desk.saved.items() if desk.now - at >= FRESH}
                    assert desk.send() is not None
                    assert due <= desk.seen
                case float():
                    desk.now += step


class CountedFiles(MemoryFiles):
    looks = 0

    def scan(self) -> Iterator[FileStamp | NoteWarning]:
        self.looks += 1
        yield from super().scan()


def test_a_note_saved_while_the_user_types_is_found_without_another_look(tmp_path: Path) -> None:
    files = CountedFiles(old="An oak.")
    clock = Desk()
    with (
        closing(SqliteNoteIndex(tmp_path / "index.db")) as index,
        closing(Library(files, index, clock=lambda: clock.now)) as library,
    ):
        library.refresh()
        files.write("new.md", "A birch.")
        library.look_ahead()
        assert library.refresh_within(PLENTY) is not None
        assert [passage.path for passage in library.search("birch")] == ["new.md"]
        assert files.looks == 2


def test_while_the_notes_are_read_for_the_first_time_nobody_looks_ahead(tmp_path: Path) -> None:
    files = CountedFiles(old="An oak.")
    with (
        closing(SqliteNoteIndex(tmp_path / "index.db")) as index,
        closing(Library(files, index, clock=lambda: 0.0)) as library,
    ):
        library.refresh(lambda _done, _total: library.look_ahead())
        library.close()
        assert files.looks == 1
