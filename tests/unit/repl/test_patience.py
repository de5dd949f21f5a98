"""The clock beside a turn."""

import asyncio

import pytest

from zkchat.repl import patience


def test_it_ticks_as_long_as_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_SECOND", 0.001)
    ticks: list[int] = []

    async def turn() -> int:
        enough = asyncio.Event()

        def tick() -> None:
            ticks.append(1)
            if len(ticks) == 3:
                enough.set()

        async with patience.ticking(tick):
            await enough.wait()
        counted = len(ticks)
        await asyncio.sleep(0.02)
        return counted

    assert asyncio.run(turn()) == len(ticks)
