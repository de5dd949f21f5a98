"""Other processes that take a share of long work."""

import atexit
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Task = TypeVar("Task")
Done = TypeVar("Done")


class ProcessWorkers:
    """Implements `ports.Workers` with so many processes, of which this is one.

    The others are started for one piece of work, and gone after it. Where none can be started, or one of them is
    killed, the rest of the work is done here.
    """

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        shared = _Shared(work, tasks)
        helpers = min(self._processes, len(tasks)) - 1
        try:
            # Not forked: a copy of a process with threads may wait for ever for a lock that nobody holds.
            pool = ProcessPoolExecutor(helpers, mp_context=get_context("spawn"), initializer=_serve)
        except (OSError, ImportError, ValueError):  # no semaphores here, or nobody to help
            yield from shared.done_here()
            return
        with pool:
            for _ in range(helpers):
                shared.give(pool)
            yield from shared.done_here()


class _Shared(Generic[Task, Done]):
    """Tasks, each of which is taken by whoever is free first, so that all are done with the last at about one time."""

    def __init__(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> None:
        self._work = work
        self._waiting = deque(tasks)
        self._given: deque[tuple[Task, Future[Done]]] = deque()
        self._taking = threading.Lock()

    def give(self, pool: "Executor") -> None:
        """Let the pool do one task, and when that is done the next."""
        with self._taking:
            if not self._waiting:
                return
            try:
                done = pool.submit(self._work, self._waiting[0])
            except (OSError, RuntimeError):  # no process can be started, or none is left
                return
            self._given.append((self._waiting.popleft(), done))
        done.add_done_callback(partial(self._give_next, pool))

    def _give_next(self, pool: "Executor", done: "Future[Done]") -> None:
        from concurrent.futures import BrokenExecutor

        if not isinstance(done.exception(), BrokenExecutor):  # a pool that says this may not be asked for more
            self.give(pool)

    def done_here(self) -> Iterator[Done]:
        """Do task after task, and tell between them what came of those that others did."""
        while task := self._taken():
            yield self._work(*task)
            while self._given and self._given[0][1].done():
                yield self._told()
        while self._given:
            yield self._told()

    def _taken(self) -> tuple[Task] | None:
        with self._taking:
            return (self._waiting.popleft(),) if self._waiting else None

    def _told(self) -> Done:
        from concurrent.futures import BrokenExecutor

        task, done = self._given.popleft()
        try:
            return done.result()
        except BrokenExecutor:
            return self._work(task)


def _serve() -> None:
    """In the new process: leave Ctrl-C to the one that started us, and go when it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    atexit.register(os._exit, 0)  # all that it has is read again from files: to put it away would only take time


def _leave_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
