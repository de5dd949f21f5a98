"""The time that passes while a model is silent."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

_SECOND = 1.0


@asynccontextmanager
async def ticking(tick: Callable[[], None]) -> AsyncIterator[None]:
    """Calls `tick` each second, as long as it goes on."""
    clock = asyncio.create_task(_each_second(tick))
    try:
        yield
    finally:
        clock.cancel()


async def _each_second(tick: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(_SECOND)
        tick()
