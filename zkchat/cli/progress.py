"""A progress bar on one line of the terminal, erased when the work is done."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from zkchat.environment import Environment

_SHOW_AFTER = timedelta(seconds=0.5)
"""Work that takes less shows no bar."""
_REDRAW_INTERVAL = timedelta(seconds=0.1)
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
    try:
        yield line.show
    finally:
        line.erase()


class _ProgressLine:
    def __init__(self, environment: Environment, label: str) -> None:
        self._environment = environment
        self._label = label
        self._due = environment.now() + _SHOW_AFTER
        self._is_there = False

    def show(self, done: int, total: int) -> None:
        now = self._environment.now()
        if now < self._due and not (self._is_there and done == total):
            return
        self._due = now + _REDRAW_INTERVAL
        if not self._is_there:
            from zkchat.render.sanitize import never_fail_to_encode

            never_fail_to_encode(self._environment.stderr)
            self._is_there = True
        self._write(_ERASE + _format_line(self._label, done, total, _width(self._environment)))

    def erase(self) -> None:
        if self._is_there:
            self._write(_ERASE)

    def _write(self, text: str) -> None:
        self._environment.stderr.write(text)
        self._environment.stderr.flush()


def _format_line(label: str, done: int, total: int, width: int) -> str:
    """The label, a bar where there is room for one, and the numbers; never more than a line."""
    numbers = f"{done:,} / {total:,}"
    cells = min(_MAX_BAR_CELLS, width - len(label) - len(numbers) - 3)
    if cells < _MIN_BAR_CELLS:
        return f"{label} {numbers}"[: max(0, width - 1)]
    full = cells * done // total
    return f"{label} {'█' * full}{'░' * (cells - full)} {numbers}"


def _width(environment: Environment) -> int:
    named = environment.variables.get("COLUMNS", "")
    if named.isdecimal() and len(named) < 10 and int(named):
        return int(named)
    try:
        return os.get_terminal_size(environment.stderr.fileno()).columns
    except (OSError, ValueError):  # no terminal behind it that knows its size
        return 80
