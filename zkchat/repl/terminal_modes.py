"""Echo of the terminal: what is typed while an answer streams is kept for the next prompt and not shown."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, TextIO

_MAX_TYPED: Final = 65_536
"""Bytes; a terminal holds fewer."""


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


def take_typed(terminal: TextIO) -> str:
    """The keys that wait to be read, with the Enter that the terminal has made a line feed as the Enter it was."""
    import select

    keyboard = _descriptor(terminal)
    if keyboard is None or sys.platform == "win32" or not select.select([keyboard], [], [], 0)[0]:
        return ""
    return os.read(keyboard, _MAX_TYPED).decode("utf-8", "replace").replace("\n", "\r")


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
    # Where keys wait for the prompt, Enter must not become Ctrl-J, which begins a new line there.
    received = before[0] | termios.ICRNL if enabled else before[0] & ~termios.ICRNL
    when = termios.TCSAFLUSH if enabled else termios.TCSANOW
    termios.tcsetattr(keyboard, when, [received, *before[1:3], local, *before[4:]])
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
