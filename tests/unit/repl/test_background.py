import asyncio
from threading import Event

from zkchat.core.errors import StorageError
from zkchat.repl.background import Background


def test_the_bar_hears_what_goes_on_and_when_it_is_over() -> None:
    activities: list[str] = []
    with (
        Background(lambda: activities.append(background.activity)) as background,
        background.progress("indexing") as step,
    ):
        step(1, 1000)
        step(1, 1000)
        step(1000, 1000)
    assert activities == ["indexing", "indexing 1 / 1,000", "indexing 1,000 / 1,000", ""]


def test_trouble_is_left_to_whoever_needs_the_work() -> None:
    def fail() -> None:
        raise StorageError("No disk.")

    done: list[str] = []
    with Background() as background:
        background.submit(fail)
        background.submit(lambda: done.append("next"))
        asyncio.run(background.wait())
    assert done == ["next"]


def test_the_end_of_the_program_ends_long_work_and_drops_what_was_not_begun() -> None:
    begun, leaving, later = Event(), Event(), []

    def index() -> None:
        with background.progress("indexing") as step:
            begun.set()
            leaving.wait(10)
            for number in range(1_000_000):
                step(number, 1_000_000)
        later.append("index")

    with Background() as background:
        background.submit(index)
        background.submit(lambda: later.append("second"))
        begun.wait(10)
        background._is_closing = True  # as leaving the block does, before it waits
        leaving.set()
    assert later == []
