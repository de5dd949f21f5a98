"""A presenter is ticked again and again while a turn runs."""

import asyncio

import pytest

from zkchat.core.events import Event
from zkchat.render.presenters import text as base


class CountingPresenter:
    """Sets `enough` at its third tick."""

    def __init__(self) -> None:
        self.ticks = 0
        self.enough = asyncio.Event()

    def show(self, event: Event) -> None: ...

    def tick(self, activity: str = "") -> None:
        self.ticks += 1
        if self.ticks == 3:
            self.enough.set()

    def close(self) -> None: ...


def test_a_presenter_is_ticked_while_the_turn_runs_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_TICK_SECONDS", 0.001)

    async def turn() -> None:
        presenter = CountingPresenter()
        async with base.ticking(presenter):
            await presenter.enough.wait()
        (ticker,) = asyncio.all_tasks() - {asyncio.current_task()}
        with pytest.raises(asyncio.CancelledError):
            await ticker
        assert presenter.ticks == 3

    asyncio.run(turn())
