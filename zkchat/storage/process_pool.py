"""A pool of processes for long work."""

import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import SimpleQueue
from subprocess import DEVNULL, PIPE
from typing import IO, Any, Generic, TypeVar

from zkchat.subprocesses import start_python

Task = TypeVar("Task")
Done = TypeVar("Done")

_WORKER_CODE = "import sys; sys.path[:] = sys.argv[1:]; from zkchat.storage.process_pool import serve; serve()"


class ProcessPool:
    """Implements `ports.workers.Workers` with so many processes, of which this is one.

    The others are started for one `map` and stopped after it. Where none can be started, or one of them is killed, its
    tasks are done here.
    """

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
        queue = _TaskQueue(work, tasks)
        with ExitStack() as workers:
            for _ in range(min(self._processes, len(tasks)) - 1):
                with suppress(OSError):  # no process can be started
                    workers.callback(_Worker(queue).stop)
            yield from queue.run()


class _TaskQueue(Generic[Task, Done]):
    """Tasks, each taken by whoever is free first, so that all processes finish at about the same time."""

    def __init__(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> None:
        self.work = work
        self._waiting = deque(tasks)
        self._outstanding = 0
        self.results: SimpleQueue[tuple[Task, tuple[Done] | None]] = SimpleQueue()
        self._lock = threading.Lock()

    def take(self, *, is_worker: bool = True) -> tuple[Task] | None:
        """The next task; a worker has to put its result, or None where it could not do it."""
        with self._lock:
            if not self._waiting:
                return None
            self._outstanding += is_worker
            return (self._waiting.popleft(),)

    def run(self) -> Iterator[Done]:
        """Do task after task here, and yield the results of workers in between."""
        while task := self.take(is_worker=False):
            yield self.work(*task)
            while not self.results.empty():
                yield self._result()
        while self._outstanding:
            yield self._result()

    def _result(self) -> Done:
        task, done = self.results.get()
        with self._lock:
            self._outstanding -= 1
        return done[0] if done else self.work(task)


class _Worker(Generic[Task, Done]):
    """Another process, and the thread that sends it one task after the other."""

    def __init__(self, queue: _TaskQueue[Task, Done]) -> None:
        own_modules = [folder for folder in sys.path if Path(folder).is_absolute()]
        self._process = start_python("-c", _WORKER_CODE, *own_modules, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        self._thread = threading.Thread(target=self._run, args=(queue,), name="zkchat-worker", daemon=True)
        self._thread.start()

    def _run(self, queue: _TaskQueue[Task, Done]) -> None:
        is_sent = self._send(queue.work)
        while is_sent and (task := queue.take()):
            done: tuple[Done] | None = self._received() if self._send(task) else None
            queue.results.put((*task, done))
            is_sent = done is not None

    def _send(self, message: object) -> bool:
        assert self._process.stdin
        try:
            self._process.stdin.write(pickle.dumps(message))
            self._process.stdin.flush()
        except (OSError, pickle.PickleError, AttributeError, TypeError):  # it is gone, or no pickle can be made
            return False
        return True

    def _received(self) -> Any:
        """The answer, as a tuple of one; None where the process is gone, or exited because the work failed."""
        assert self._process.stdout
        try:
            return (pickle.load(self._process.stdout),)  # noqa: S301 - our own process wrote it
        except (EOFError, pickle.PickleError):
            return None

    def stop(self) -> None:
        self._process.kill()
        self._thread.join()
        with self._process, suppress(BrokenPipeError):
            assert self._process.stdin
            self._process.stdin.close()


def serve() -> None:
    """In the worker: do what comes in on standard input, and exit when the process that sends it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    received: SimpleQueue[Any] = SimpleQueue()
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    threading.Thread(target=_receive, args=(sys.stdin.buffer, received), daemon=True).start()
    try:
        work = received.get()
        while True:
            pickle.dump(work(*received.get()), back)
            back.flush()
    finally:
        # Work that failed is done again by the process that sent it, and fails there. There is nothing to clean up.
        os._exit(1)


def _receive(stream: IO[bytes], received: "SimpleQueue[Any]") -> None:
    try:
        while True:
            received.put(pickle.load(stream))  # noqa: S301 - the process that started us wrote it
    finally:
        os._exit(0)
