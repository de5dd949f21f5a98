"""Work that nobody waits for: it goes on, one thing after the other, while the user types."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Final

from zkchat.errors import ZkchatError

SWITCH_INTERVAL: Final = 0.0005
"""Seconds for which the work may keep the interpreter while the prompt waits for it to store a message."""


class _Stopped(Exception):
    """Raised inside the work when the program ends."""


class Background:
    """A thread of its own. `doing` says what it is at, for the bar below the prompt."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="zkchat-background")
        self._work: list[Future[None]] = []
        self._is_closing = False
        self._earlier_interval = sys.getswitchinterval()
        self.doing = ""
        self.changed: Callable[[], None] = lambda: None
        """Called, from the other thread, when `doing` says something else."""

    def __enter__(self) -> "Background":
        sys.setswitchinterval(SWITCH_INTERVAL)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_closing = True
        self._thread.shutdown(cancel_futures=True)
        sys.setswitchinterval(self._earlier_interval)

    def soon(self, work: Callable[[], object]) -> None:
        """Do it when what was asked for before is done. What goes wrong is told by the turn that needs it."""
        self._work = [future for future in self._work if not future.done()]
        self._work.append(self._thread.submit(self._quietly, work))

    def _quietly(self, work: Callable[[], object]) -> None:
        with suppress(ZkchatError, _Stopped):
            if not self._is_closing:
                work()

    async def done(self) -> None:
        """Wait until nothing is left to do. Whoever waits may be cancelled; the work goes on."""
        await asyncio.shield(asyncio.gather(*map(asyncio.wrap_future, self._work)))

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[int, int], None]]:
        """What `Library.refresh` reports to; it ends the refresh when the program ends."""

        def step(done: int, total: int) -> None:
            if self._is_closing:
                raise _Stopped
            self._now(f"{label} {done:,} / {total:,}")

        try:
            yield step
        finally:
            self._now("")

    def _now(self, doing: str) -> None:
        if doing != self.doing:
            self.doing = doing
            self.changed()
