"""A progress bar and the time on one line of the terminal, drawn by a thread, erased when the work is done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Event, Thread

from zkchat.environment import Environment
from zkchat.render.sanitize import never_fail_to_encode
from zkchat.render.terminal import columns

_SHOW_AFTER = timedelta(seconds=0.5)
"""Work that takes less shows no bar."""
_REDRAW_SECONDS = 0.1
_MAX_BAR_CELLS = 30
_MIN_BAR_CELLS = 8
_ERASE = "\r\x1b[K"


@contextmanager
def progress(environment: Environment, label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield the callback that `Library.refresh` reports to. Nothing is shown where there is no terminal."""
    if not environment.stderr_is_tty or environment.variables.get("TERM", "dumb") == "dumb":
        yield lambda _done, _total: None
        return
    line = _ProgressLine(environment, label)
    thread = Thread(target=line.draw_until_ended, name="zkchat-progress", daemon=True)
    thread.start()
    try:
        yield line.show
    finally:
        line.ended.set()
        thread.join()


class _ProgressLine:
    """Draws in a thread of its own, so that the time goes on also while the work is silent."""

    def __init__(self, environment: Environment, label: str) -> None:
        self._environment = environment
        self._label = label
        self._began = environment.now()
        self._numbers = (0, 0)
        self._drawn = ""
        self.ended = Event()

    def show(self, done: int, total: int) -> None:
        self._numbers = done, total

    def draw_until_ended(self) -> None:
        while not self.ended.wait(_REDRAW_SECONDS):
            elapsed = self._environment.now() - self._began
            if elapsed >= _SHOW_AFTER:
                self._draw(_format_line(self._label, *self._numbers, elapsed, self._width))
        if self._drawn:
            self._write(_ERASE)

    @property
    def _width(self) -> int:
        return columns(self._environment.variables, self._environment.stderr) or 80

    def _draw(self, line: str) -> None:
        if not self._drawn:
            never_fail_to_encode(self._environment.stderr)
        if line != self._drawn:
            self._drawn = line
            self._write(_ERASE + line)

    def _write(self, text: str) -> None:
        with suppress(OSError):  # the terminal is gone
            self._environment.stderr.write(text)
            self._environment.stderr.flush()


def _format_line(label: str, done: int, total: int, elapsed: timedelta, width: int) -> str:
    """The label, a bar where there is room for one, the numbers and the time; never more than a line."""
    seconds = f"{elapsed.total_seconds():,.0f} s"
    if not total:
        return f"{label}, {seconds}"[: max(0, width - 1)]
    numbers = f"{done:,} / {total:,}, {seconds}"
    cells = min(_MAX_BAR_CELLS, width - len(label) - len(numbers) - 3)
    if cells < _MIN_BAR_CELLS:
        return f"{label} {numbers}"[: max(0, width - 1)]
    full = cells * done // total
    return f"{label} {'█' * full}{'░' * (cells - full)} {numbers}"
