import io
import time
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from tests.support.screens import on_screen
from tests.support.waiting import eventually
from tests.support.world import World
from zkchat.cli.change_review import terminal_interface
from zkchat.cli.common import CommandIO
from zkchat.cli.note_lookup import progress
from zkchat.core.environment import Environment


class SlowWorld:
    """An environment in which the tests say what time it is."""

    def __init__(self, world: World, *, terminal: bool = True) -> None:
        self.time = datetime(2026, 3, 1, tzinfo=UTC)
        self.environment: Environment = replace(world.environment(terminal=terminal), now=lambda: self.time)

    def wait(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)

    @property
    def written(self) -> str:
        assert isinstance(self.environment.stderr, io.StringIO)
        return self.environment.stderr.getvalue()

    def screen(self, width: int = 100) -> list[str]:
        return on_screen(self.written, width=width)


def test_what_is_done_soon_is_not_announced(world: World) -> None:
    slow = SlowWorld(world)
    with progress(slow.environment, "Indexing notes") as step:
        step(1, 2)
        slow.wait(0.4)
        step(2, 2)
    assert slow.written == ""


def test_what_takes_longer_is_shown_with_a_bar_and_erased_at_the_end(world: World) -> None:
    slow = SlowWorld(world)
    with progress(slow.environment, "Indexing notes") as step:
        slow.wait(0.6)
        eventually(lambda: slow.screen() == ["Indexing notes, 1 s; Ctrl-C stops it"])
        step(500, 1000)
        eventually(lambda: slow.screen() == [f"Indexing notes {'█' * 15}{'░' * 15} 500 / 1,000, 1 s; Ctrl-C stops it"])
        slow.wait(11)
        eventually(lambda: slow.screen() == [f"Indexing notes {'█' * 15}{'░' * 15} 500 / 1,000, 12 s; Ctrl-C stops it"])
    assert slow.screen() == []


def test_nothing_of_it_is_drawn_in_plain_text(world: World) -> None:
    slow = SlowWorld(world)
    plain = terminal_interface(CommandIO(slow.environment), plain=True, reviews=False)
    with plain.indexing_progress(), plain.waiting("Asking"):
        slow.wait(5)
        time.sleep(0.3)  # three times as long as it takes to draw
    assert slow.written == ""


@pytest.mark.parametrize("width", [12, 33, 34])
def test_it_never_takes_more_than_a_line(world: World, width: int) -> None:
    world.variables["COLUMNS"] = str(width)
    slow = SlowWorld(world)
    with progress(slow.environment, "Indexing notes") as step:
        slow.wait(1)
        step(10_000, 10_000)
        eventually(lambda: slow.screen(width))
        (row,) = slow.screen(width)
        assert len(row) < width


@pytest.mark.parametrize("term", ["dumb", None])
def test_a_terminal_that_cannot_erase_is_left_alone(world: World, term: str | None) -> None:
    slow = SlowWorld(world, terminal=term is not None)
    variables = {**slow.environment.variables, "TERM": term or "xterm"}
    with progress(replace(slow.environment, variables=variables), "Reading") as step:
        slow.wait(1)
        step(1, 2)
    assert slow.written == ""
