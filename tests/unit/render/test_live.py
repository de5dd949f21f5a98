"""Rows that are final, and a tail that may change."""

import pytest

from tests.support.screens import Clock, Screen, on_screen, terminal, written
from zkchat.render.console import LiveRegion, Row, Throttle


def rows(*texts: str) -> list[Row]:
    return [Row(text, len(text)) for text in texts]


def test_only_the_rows_that_changed_are_written_again() -> None:
    console = terminal()
    tail = LiveRegion(console)
    tail.show([], rows("a long first row", "second"))
    tail.show([], rows("a long first row", "second and more"))
    assert written(console).count("a long first row") == 1
    before = written(console)
    tail.show([], rows("a long first row", "second and more"))
    assert written(console) == before


def test_a_tail_higher_than_the_screen_shows_its_end() -> None:
    console = terminal(height=6)
    tail = LiveRegion(console)
    for count in range(1, 30):
        tail.show([], rows(*(f"row {number}" for number in range(count))))
    assert on_screen(written(console), height=6) == ["row 25", "row 26", "row 27", "row 28"]
    tail.show(rows(*(f"row {number}" for number in range(30))))
    assert on_screen(written(console), height=6) == [f"row {number}" for number in range(30)]


def test_a_row_that_is_wider_on_this_terminal_than_was_thought_leaves_no_trace() -> None:
    console = terminal(width=20)
    tail = LiveRegion(console)
    tail.show([], [Row("x" * 33, 20), *rows("below")])
    tail.show([], rows("short"))
    assert on_screen(written(console), width=20) == ["short"]


@pytest.mark.parametrize("width", [15, 40])
@pytest.mark.parametrize("kept", [[], ["x" * 20]])
def test_after_a_resize_the_rows_that_the_terminal_folded_are_erased(width: int, kept: list[str]) -> None:
    console = terminal(width=20)
    tail = LiveRegion(console)
    tail.show(rows("final"))
    tail.show([], rows("x" * 20, "y" * 4))
    console.size = (width, 24)
    folded = Screen(width, 24)
    # This screen does not fold rows by itself; a new one, on which they are written at once, looks as if it had.
    folded.write(written(console).replace("\x1b[?7l", ""))
    before = len(written(console))
    tail.show([], rows(*kept, "new"))
    folded.write(written(console)[before:])
    assert folded.rows == ["final", *(text[:width] for text in kept), "new"]


@pytest.mark.parametrize(("took", "times"), [(0.0625, [0.0, 0.625, 1.25, 1.875]), (0.5, [0.0, 1.0])])
def test_drawing_rests_ten_times_as_long_as_it_took_but_a_second_at_most(took: float, times: list[float]) -> None:
    clock = Clock()
    pace = Throttle(clock)
    drawn: list[float] = []

    def frame() -> None:
        drawn.append(clock.now)
        clock.now += took

    for tick in range(32):
        clock.now = max(clock.now, tick / 16)
        pace.draw(frame)
    assert drawn == times


def test_drawing_is_done_twenty_times_in_a_second_at_most() -> None:
    clock = Clock()
    pace = Throttle(clock)
    drawn: list[float] = []
    for tick in range(1000):
        clock.now = tick / 1000
        pace.draw(lambda: drawn.append(clock.now))
    assert len(drawn) == 20
