"""A refresh for which nobody waits longer than they want to, because it was begun early or goes on afterwards."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from math import inf
from threading import Event, Lock
from typing import TYPE_CHECKING, Final

from zkchat.errors import ZkchatError
from zkchat.vault.indexing.indexer import Progress, Refreshed

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

FRESH: Final = 1.0
"""Seconds for which a look ahead counts: whatever was saved earlier than that, it has seen."""
_BETWEEN: Final = 0.7
"""Seconds from one look ahead to the next: who types on finds one that counts at any moment."""
_SHARE: Final = 0.1
"""Of the time that looks ahead may take up."""


@dataclass(slots=True, kw_only=True)
class _LookAhead:
    began: float = inf
    """By the clock; in the future, until it does."""
    took: float = 0.0
    """Seconds."""
    failed: bool = False

    def counts_at(self, now: float) -> bool:
        """Whether it has seen, or will see, all that was saved a while ago."""
        return not self.failed and now - self.began < FRESH

    def is_long_ago_at(self, now: float) -> bool:
        return now - self.began >= max(_BETWEEN, self.took / _SHARE)


class BoundedRefresh:
    """Refreshes in a thread of its own, one after the other. Every thread may use it."""

    def __init__(self, refresh: Callable[[Progress], Refreshed], clock: Callable[[], float] | None = None) -> None:
        """Without a clock nobody knows how old a look is, so there are none ahead."""
        self._refresh = refresh
        self._clock = clock
        self._ahead: _LookAhead | None = None
        """The last one."""
        self._asking = Lock()
        self._closing = Event()
        self._under_way: list[Future[Refreshed]] = []
        """Those that run, and at most one that has not begun and so will see all that is there by now."""
        self._untold = Refreshed()
        """What refreshes found after the time of those who asked for them was up, or before anybody asked."""

    def ahead(self) -> None:
        """Begin to look, because somebody may soon want to know; not while another look goes on, and not too often."""
        with self._asking:
            if self._clock is None or not all(look.done() for look in self._under_way):
                return
            if self._ahead and not self._ahead.is_long_ago_at(self._clock()):
                return
            # What went wrong before goes wrong again, or is mended by now.
            found = [look.result() for look in self._under_way if not look.exception()]
            self._untold = reduce(_both, found, self._untold)
            self._ahead = _LookAhead()
            self._under_way = [self._thread.submit(self._look_ahead, self._ahead, self._clock)]

    def within(self, seconds: float) -> Refreshed | None:
        """Everything found since the last answer; None if that takes longer, and it goes on in the background then.

        By a look that begins after this call, or by one ahead that counts still. Whatever went wrong in the background
        is raised by the next call.
        """
        from concurrent.futures import wait

        with self._asking:
            if not self._is_seen_to():
                self._under_way.append(self._thread.submit(self._look))
            wait(self._under_way, seconds)
            finished = [look for look in self._under_way if look.done()]
            self._under_way = self._under_way[len(finished) :]
            self._untold = reduce(_both, [look.result() for look in finished], self._untold)
            if self._under_way:
                return None
            found, self._untold = self._untold, Refreshed()
            return found

    def _is_seen_to(self) -> bool:
        if self._clock and self._ahead and self._ahead.counts_at(self._clock()):
            return True
        return bool(self._under_way) and not (self._under_way[-1].running() or self._under_way[-1].done())

    def _look_ahead(self, look: _LookAhead, clock: Callable[[], float]) -> Refreshed:
        look.began = clock()
        try:
            return self._look()
        except ZkchatError:
            look.failed = True  # who wants to know looks again, and is told
            return Refreshed()
        finally:
            look.took = clock() - look.began

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
