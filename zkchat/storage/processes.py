"""Other processes that take a share of long work."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Task = TypeVar("Task")
Done = TypeVar("Done")


class ProcessWorkers:
    """Implements `ports.Workers`. The processes are started for one piece of work, and gone after it.

    Where none can be started, or one of them is killed, the rest of the work is done here.
    """

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
        from concurrent.futures import BrokenExecutor

        done = 0
        try:
            for result in self._shared(work, tasks):
                done += 1
                yield result
        except BrokenExecutor:
            yield from map(work, tasks[done:])

    def _shared(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
        from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
        from multiprocessing import get_context

        try:
            # Not forked: a copy of a process with threads may wait for ever for a lock that nobody holds.
            pool = ProcessPoolExecutor(self._processes, mp_context=get_context("spawn"), initializer=_serve)
        except (OSError, ImportError) as error:  # no semaphores here
            raise BrokenExecutor from error
        with pool:
            yield from pool.map(work, tasks)


def _serve() -> None:
    """In the new process: leave Ctrl-C to the one that started us, and go when it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
