"""The keyboard between two prompts: what is typed while an answer comes is kept for the next prompt, and not seen."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


@contextmanager
def keys_unseen(terminal: TextIO) -> Iterator[None]:
    """Keys wait, unseen, for whoever reads next. Ctrl-C still stops what goes on."""
    with _typing(terminal, in_lines=False):
        yield


@contextmanager
def keys_seen(terminal: TextIO) -> Iterator[None]:
    """A line can be typed. What was typed before the user could know what it is for is forgotten."""
    with _typing(terminal, in_lines=True):
        yield


@contextmanager
def _typing(terminal: TextIO, *, in_lines: bool) -> Iterator[None]:
    """Whether keys are shown and gathered into lines. Windows shows none that nobody reads."""
    keyboard = None if sys.platform == "win32" else _descriptor(terminal)
    if keyboard is None:
        yield
        return
    import termios

    before = termios.tcgetattr(keyboard)
    shown = termios.ECHO | termios.ICANON
    local = before[3] | shown if in_lines else before[3] & ~shown
    when = termios.TCSAFLUSH if in_lines else termios.TCSANOW
    termios.tcsetattr(keyboard, when, [*before[:3], local, *before[4:]])
    try:
        yield
    finally:
        with suppress(termios.error):  # a terminal that was closed meanwhile
            termios.tcsetattr(keyboard, termios.TCSANOW, before)


def _descriptor(terminal: TextIO) -> int | None:
    """None for one that is in memory only."""
    try:
        return terminal.fileno()
    except OSError:
        return None
