"""One thread in which all work on the vault is done, one piece after the other."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Final, TypeVar

Done = TypeVar("Done")

CLOSE_SECONDS: Final = 1.0
"""How long the end of the program waits for work that is under way."""


class Worker:
    """A thread that does not keep the process alive. What is cancelled before its turn is not done."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="zkchat-vault", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[], Done]) -> Done:
        """Do it in the thread. Who is cancelled meanwhile does not wait for what has begun."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Callable[[], Done]) -> Future[Done]:
        future: Future[Done] = Future()

        def act() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
                future.set_exception(error)

        self._waiting.put(act)
        return future

    def close(self, last: Callable[[], None]) -> None:
        """Do a last thing and end the thread; what takes too long is left to the end of the process."""
        self.submit(last)
        self.stop()
        self._thread.join(CLOSE_SECONDS)

    def stop(self) -> None:
        """End the thread after what is waiting, without waiting for it: it may be blocked for ever."""
        self._waiting.put(None)

    def _run(self) -> None:
        while act := self._waiting.get():
            act()
