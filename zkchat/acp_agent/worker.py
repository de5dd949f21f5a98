"""A thread with an event loop of its own: one conversation lives on it, and nothing that it does delays the others."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")
CLOSE_SECONDS: Final = 10.0
"""How long the end of a conversation may take: its answer is stopped, and what came of it is stored."""


class Worker:
    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run on the thread of the worker, from another event loop; a caller that is cancelled cancels the work."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self, last: Coroutine[Any, Any, object]) -> None:
        """Run what is left to do, and end the thread. Whoever waits for work that is under way gets its end."""
        for work in (last, _end_all()):
            with suppress(FutureTimeout):
                self.submit(work).result(CLOSE_SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(CLOSE_SECONDS)


async def _end_all() -> None:
    """Cancel everything else on this loop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
