"""Other processes that take a share of long work."""

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

_IN_THE_HELPER = "import sys; sys.path[:] = sys.argv[1:]; from zkchat.storage.process_pool import serve; serve()"


class ProcessPool:
    """Implements `ports.Workers` with so many processes, of which this is one.

    The others are started for one piece of work, and gone after it. Where none can be started, or one of them is
    killed, the rest of the work is done here.
    """

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[Done]:
        shared = _Shared(work, tasks)
        with ExitStack() as helpers:
            for _ in range(min(self._processes, len(tasks)) - 1):
                with suppress(OSError):  # no process can be started
                    helpers.callback(_Helper(shared).stop)
            yield from shared.done_here()


class _Shared(Generic[Task, Done]):
    """Tasks, each of which is taken by whoever is free first, so that all are done with the last at about one time."""

    def __init__(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> None:
        self.work = work
        self._waiting = deque(tasks)
        self._lent = 0
        self._returned: SimpleQueue[tuple[Task, tuple[Done] | None]] = SimpleQueue()
        self._taking = threading.Lock()

    def lend(self) -> tuple[Task] | None:
        """The next task, for a helper, who has to return it."""
        with self._taking:
            if not self._waiting:
                return None
            self._lent += 1
            return (self._waiting.popleft(),)

    def give_back(self, task: Task, done: tuple[Done] | None) -> None:
        """What came of a task; None where the helper could not do it."""
        self._returned.put((task, done))

    def done_here(self) -> Iterator[Done]:
        """Do task after task, and tell between them what came of those that others did."""
        while task := self._taken():
            yield self.work(*task)
            while not self._returned.empty():
                yield self._told()
        while self._lent:
            yield self._told()

    def _taken(self) -> tuple[Task] | None:
        with self._taking:
            return (self._waiting.popleft(),) if self._waiting else None

    def _told(self) -> Done:
        task, done = self._returned.get()
        with self._taking:
            self._lent -= 1
        return done[0] if done else self.work(task)


class _Helper(Generic[Task, Done]):
    """Another process, and the thread that hands it one task after the other."""

    def __init__(self, shared: _Shared[Task, Done]) -> None:
        own_modules = [folder for folder in sys.path if Path(folder).is_absolute()]
        self._process = start_python("-c", _IN_THE_HELPER, *own_modules, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        self._thread = threading.Thread(target=self._run, args=(shared,), name="zkchat-helper", daemon=True)
        self._thread.start()

    def _run(self, shared: _Shared[Task, Done]) -> None:
        is_sent = self._send(shared.work)
        while is_sent and (task := shared.lend()):
            done: tuple[Done] | None = self._received() if self._send(task) else None
            shared.give_back(*task, done)
            is_sent = done is not None

    def _send(self, message: object) -> bool:
        """Whether it could be sent."""
        assert self._process.stdin
        try:
            self._process.stdin.write(pickle.dumps(message))
            self._process.stdin.flush()
        except (
            OSError,
            pickle.PickleError,
            AttributeError,
            TypeError,
        ):  # the process is gone, or no pickle can be made
            return False
        return True

    def _received(self) -> Any:
        """The answer, as a tuple of one; None where the process is gone, or went because the work went wrong."""
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
    """In the helper: do what comes in on standard input, and go when the process that sends it is gone."""
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
        # Work that went wrong is done again by who sent it, and goes wrong there. Nothing here is to be put away.
        os._exit(1)


def _receive(stream: IO[bytes], received: "SimpleQueue[Any]") -> None:
    try:
        while True:
            received.put(pickle.load(stream))  # noqa: S301 - the process that started us wrote it
    finally:
        os._exit(0)
