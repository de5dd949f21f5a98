"""Waiting for a condition, with a deadline. Tests wait for what they need, and never for a fixed time."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")

DEADLINE = 90.0
"""Seconds after which a condition has failed. Generous, since it is waited for only where a test fails."""
_INTERVAL = 0.005


def eventually(condition: Callable[[], object], *, seconds: float = DEADLINE) -> None:
    """Wait until the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"It did not come true within {seconds} seconds."
        time.sleep(_INTERVAL)


async def eventually_async(condition: Callable[[], object], *, seconds: float = DEADLINE) -> None:
    """Wait until the condition holds, and let other tasks run."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(_INTERVAL)


def until(events: AsyncGenerator[T, None], is_last: Callable[[T], bool]) -> list[T]:
    """The events up to one, at which whoever listens goes away, as with Ctrl-C."""

    async def collect() -> list[T]:
        seen: list[T] = []
        async with aclosing(events):
            async for event in events:
                seen.append(event)
                if is_last(event):
                    break
        return seen

    return asyncio.run(collect())


def is_alive(process: int) -> bool:
    """Whether a process is there or, by its negative number, anybody of its group."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
