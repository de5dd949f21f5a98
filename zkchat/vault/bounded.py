"""A refresh for which nobody waits longer than they want to."""

from collections.abc import Callable
from functools import cached_property, reduce
from threading import Event, Lock
from typing import TYPE_CHECKING

from zkchat.vault.indexer import Progress, Refreshed

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


class BoundedRefresh:
    """Refreshes in a thread of its own, one after the other. Every thread may use it."""

    def __init__(self, refresh: Callable[[Progress], Refreshed]) -> None:
        self._refresh = refresh
        self._asking = Lock()
        self._closing = Event()
        self._under_way: list[Future[Refreshed]] = []
        """At most two: one that runs, and one that has not begun and so will see all that is there by now."""
        self._untold = Refreshed()
        """What refreshes found after the time of those who asked for them was up."""

    def within(self, seconds: float) -> Refreshed | None:
        """Everything found since the last answer, by a look that began after this call; None if that takes longer.

        It goes on in the background then. Whatever went wrong there is raised by the next call.
        """
        from concurrent.futures import wait

        with self._asking:
            if not self._under_way or self._under_way[-1].running() or self._under_way[-1].done():
                self._under_way.append(self._thread.submit(self._look))
            wait(self._under_way, seconds)
            finished = [look for look in self._under_way if look.done()]
            self._under_way = self._under_way[len(finished) :]
            self._untold = reduce(_both, [look.result() for look in finished], self._untold)
            if self._under_way:
                return None
            found, self._untold = self._untold, Refreshed()
            return found

    def close(self) -> None:
        """Wait for what goes on in the background. It stops between two notes; the next run goes on from there."""
        self._closing.set()
        if "_thread" in vars(self):
            self._thread.shutdown(cancel_futures=True)

    def _look(self) -> Refreshed:
        try:
            return self._refresh(self._stop_when_closing)
        except _Closing:
            return Refreshed()

    def _stop_when_closing(self, _done: int, _total: int) -> None:
        if self._closing.is_set():
            raise _Closing

    @cached_property
    def _thread(self) -> "ThreadPoolExecutor":
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(1, thread_name_prefix="zkchat-refresh")


class _Closing(Exception):
    """Nobody is there any more to be told what changed."""


def _both(earlier: Refreshed, later: Refreshed) -> Refreshed:
    return Refreshed(
        notes=later.notes,
        changed=earlier.changed + later.changed,
        removed=earlier.removed + later.removed,
        links=earlier.links + later.links,
        warnings=(*earlier.warnings, *later.warnings),
    )
