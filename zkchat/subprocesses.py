"""Child processes, a pool of them for long work, and threads that nobody waits for.

No program is started from a folder only because zkchat was started in it.

Every other program is started here; `tests/architecture/test_programs.py` holds that.
"""

import os
import pickle
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import SimpleQueue
from subprocess import DEVNULL, PIPE, Popen
from threading import Thread
from time import monotonic
from typing import IO, Any, Generic, TypeVar

Stream = int | IO[bytes]
T = TypeVar("T")

_SECONDS_TO_END = 5.0
"""That a program has to end by itself once it is asked to."""
_NEUTRAL_FOLDER = Path(sys.prefix)
"""Where relative names lead to nothing but what was installed with this Python."""
Task = TypeVar("Task")
Done = TypeVar("Done")
_WORKER_CODE = "import sys; sys.path[:] = sys.argv[1:]; from zkchat.subprocesses import serve; serve()"


def absolute_entries(path: str) -> str:
    """The entries of a `PATH` that mean the same wherever the program is started."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))  # noqa: PTH117


def find_program(name: str, variables: Mapping[str, str]) -> str | None:
    """The absolute path of a program; None where it is not installed, or would be found in the working folder."""
    if os.path.dirname(name) and not os.path.isabs(name):  # noqa: PTH117, PTH120
        return None
    return shutil.which(name, path=absolute_entries(variables.get("PATH", os.defpath)))


def run_program(command: Sequence[str], *, quietly: bool = False) -> int:
    """Wait for a program that `find_program` found; returns its exit code. `quietly`: away from vault and terminal."""
    stream, folder = (DEVNULL, _NEUTRAL_FOLDER) if quietly else (None, None)
    return subprocess.run(command, check=False, stdin=stream, stdout=stream, stderr=stream, cwd=folder).returncode


def start_python(
    *arguments: str,
    stdin: Stream,
    stdout: Stream,
    stderr: Stream,
    variables: Mapping[str, str] | None = None,
) -> Popen[bytes]:
    """This Python once more, in a folder of its own and with none but installed modules on its path."""
    command = [sys.executable, "-P", *arguments]
    return subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env=variables, cwd=_NEUTRAL_FOLDER)


def run_captured(
    command: Sequence[str], *, variables: Mapping[str, str], text: bytes = b"", seconds: float
) -> tuple[int, bytes, str]:
    """Exit code, output and errors of a program that `find_program` found, away from vault and terminal.

    One that takes longer is asked to end, so that it can remove its locks, and counts as failed.
    """
    with start_server(command, variables=variables, folder=_NEUTRAL_FOLDER) as program:
        try:
            output, errors = program.communicate(text, timeout=seconds)
        except subprocess.TimeoutExpired:
            program.terminate()
            try:
                output, _ = program.communicate(timeout=_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                program.kill()
                output, _ = program.communicate()
            return program.returncode or 1, output, f"it took longer than {seconds:g} seconds"
        except BaseException:
            program.terminate()
            raise
    return program.returncode, output, errors.decode("utf-8", "replace")


def read_output(
    command: Sequence[str], *, variables: Mapping[str, str], seconds: float, most: int
) -> tuple[bytes, str]:
    """What a program that `find_program` found prints, away from vault and terminal, and why that is not all of it.

    One that takes longer or prints more than `most` bytes is killed; what it printed so far is kept.
    """
    deadline = monotonic() + seconds
    output, trouble = bytearray(), ""
    with subprocess.Popen(
        command,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=DEVNULL,
        env=variables,
        cwd=_NEUTRAL_FOLDER,
        start_new_session=True,
        bufsize=0,
    ) as program:
        assert program.stdout
        try:
            while not trouble:
                if not select.select([program.stdout], [], [], max(0, deadline - monotonic()))[0]:
                    trouble = f"it took longer than {seconds:g} seconds"
                elif chunk := program.stdout.read(1 << 18):
                    output += chunk
                    trouble = "it printed too much" if len(output) > most else ""
                else:
                    program.wait(max(0.1, deadline - monotonic()))
                    break
        except subprocess.TimeoutExpired:
            trouble = f"it took longer than {seconds:g} seconds"
        finally:
            if program.returncode is None:
                signal_group(program, signal.SIGKILL)
    return bytes(output[:most]), trouble or (f"it failed: exit code {program.returncode}" if program.returncode else "")


def start_server(command: Sequence[str], *, variables: Mapping[str, str], folder: Path | str) -> Popen[bytes]:
    """A program that `find_program` found and that is spoken to over pipes, in a process group and session of its own.

    It has no terminal, and gets no key that is pressed in ours. Raises `OSError` or `ValueError`.
    """
    return subprocess.Popen(
        command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=variables, cwd=folder, start_new_session=True, bufsize=0
    )


def signal_group(program: Popen[bytes], number: int) -> bool:
    """Send a signal to a program of `start_server` and its children; returns whether any was there to get it.

    Zero sends nothing.
    """
    try:
        os.killpg(program.pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS says so of a group that has only processes that ended
        return program.poll() is None
    return True


class DaemonThreads(ThreadPoolExecutor):
    """Runs each call on a thread that nobody waits for: looking up a host's name can take longer than we have."""

    def submit(self, function: Callable[..., T], /, *args: Any, **options: Any) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*args, **options))
                except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
                    future.set_exception(error)

        Thread(target=run, daemon=True).start()
        return future


class ProcessPool:
    """Implements `Workers` with so many processes, of which this is one.

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
        assert self._process.stdout
        is_sent = self._send(queue.work)
        while is_sent and (task := queue.take()):
            done: tuple[Done] | None = None
            if self._send(task):
                with suppress(EOFError, pickle.PickleError):  # it is gone, or exited because the work failed
                    done = (pickle.load(self._process.stdout),)  # noqa: S301 - our own process wrote it
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

    def stop(self) -> None:
        self._process.kill()
        self._thread.join()
        with self._process, suppress(BrokenPipeError):
            assert self._process.stdin
            self._process.stdin.close()


def serve() -> None:
    """In the worker: the work comes in first, and then its tasks.

    Work that failed is done again by the process that sent it, and fails there.
    """
    work: list[Callable[..., object]] = []

    def read(stream: IO[bytes]) -> Any:
        if not work:
            work.append(pickle.load(stream))  # noqa: S301 - the process that started us wrote it
        return pickle.load(stream)  # noqa: S301 - as above

    answer_requests(read, lambda task: pickle.dumps(work[0](*task)))


def answer_requests(read: Callable[[IO[bytes]], T], answer: Callable[[T], bytes]) -> None:
    """In a process that another one started: answer what comes in on standard input, and exit when the other is gone.

    It is read on while an answer is made: the end of the input is the end of this process, whatever it does.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    requests: SimpleQueue[T] = SimpleQueue()
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer

    def receive() -> None:
        try:
            while True:
                requests.put(read(sys.stdin.buffer))
        finally:
            os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    try:
        while True:
            back.write(answer(requests.get()))
            back.flush()
    finally:
        os._exit(1)  # there is nothing to clean up
