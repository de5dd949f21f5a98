"""Background work: one task after the other on one thread, while the user types."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import TracebackType

from zkchat.core import ZkchatError


class _Stopped(Exception):
    """Raised inside the work when the program ends."""


class Background:
    """A worker thread. `activity` describes what it is doing, for the status bar."""

    def __init__(self, activity_changed: Callable[[], object] = lambda: None) -> None:
        """`activity_changed` is called from the background thread."""
        self._activity_changed = activity_changed
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="zkchat-background")
        self._work: list[Future[None]] = []
        self._is_closing = False
        self.activity = ""

    def __enter__(self) -> "Background":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_closing = True
        self._thread.shutdown(cancel_futures=True)

    def submit(self, work: Callable[[], object]) -> None:
        """Run it after the work submitted before. Errors are reported by the turn that needs the result."""
        self._work = [future for future in self._work if not future.done()]
        self._work.append(self._thread.submit(self._quietly, work))

    def _quietly(self, work: Callable[[], object]) -> None:
        with suppress(ZkchatError, _Stopped):
            if not self._is_closing:
                work()

    async def wait(self) -> None:
        """Wait until all submitted work is done. Cancelling the wait does not cancel the work."""
        await asyncio.shield(asyncio.gather(*map(asyncio.wrap_future, self._work)))

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[int, int], None]]:
        """A progress callback for `Library.refresh`, which raises to end the refresh when the program ends."""

        def step(done: int, total: int) -> None:
            if self._is_closing:
                raise _Stopped
            self._set_activity(f"{label} {done:,} / {total:,}")

        self._set_activity(label)
        try:
            yield step
        finally:
            self._set_activity("")

    def _set_activity(self, activity: str) -> None:
        if activity != self.activity:
            self.activity = activity
            self._activity_changed()
