"""Echo of the terminal: what is typed while an answer streams is kept for the next prompt and not shown."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


@contextmanager
def echo_off(terminal: TextIO) -> Iterator[None]:
    """Buffer keys for the next reader without showing them. Ctrl-C still works."""
    with _line_mode(terminal, enabled=False):
        yield


@contextmanager
def echo_on(terminal: TextIO) -> Iterator[None]:
    """Let the user type a line, and discard what was typed before."""
    with _line_mode(terminal, enabled=True):
        yield


@contextmanager
def _line_mode(terminal: TextIO, *, enabled: bool) -> Iterator[None]:
    """Switch echo and line mode on or off. Windows never echoes keys that nobody reads."""
    keyboard = None if sys.platform == "win32" else _descriptor(terminal)
    if keyboard is None:
        yield
        return
    import termios

    before = termios.tcgetattr(keyboard)
    shown = termios.ECHO | termios.ICANON
    local = before[3] | shown if enabled else before[3] & ~shown
    when = termios.TCSAFLUSH if enabled else termios.TCSANOW
    termios.tcsetattr(keyboard, when, [*before[:3], local, *before[4:]])
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal may have been closed meanwhile
            termios.tcsetattr(keyboard, termios.TCSANOW, before)


def _descriptor(terminal: TextIO) -> int | None:
    """The file descriptor; None for a stream in memory."""
    try:
        return terminal.fileno()
    except OSError:
        return None
