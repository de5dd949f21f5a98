"""Single keys read from a terminal, and its modes."""

import os
import sys
from codecs import decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TextIO

CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"
ESCAPE: Final = "\x1b"
_MAX_READ: Final = 1_024


def read_key(terminal: TextIO) -> str:
    """Wait for a key, and return its character; empty for what is no single one, such as an arrow or a paste.

    To be called while `terminal_modes.single_keys` is in force. A key with which Enter arrived at once, as over a slow
    line, is that key. The end of the terminal is Ctrl-D.
    """
    try:
        typed = os.read(terminal.fileno(), _MAX_READ)
    except OSError:  # the terminal was closed
        return CTRL_D
    text = decode(typed, "utf-8", "replace") if typed else CTRL_D
    key, enter = text[:1], text[1:]
    return key if enter in {"", "\r", "\n"} else ""


PASTE_MARKS: Final = ("\x1b[200~", "\x1b[201~")
"""Between which a terminal sends what is pasted."""


@contextmanager
def echo_off(terminal: TextIO) -> Iterator[None]:
    """Buffer keys for the next reader without showing them, Enter as Enter. Ctrl-C still works."""
    with _mode(terminal, shown=False):
        yield


@contextmanager
def echo_on(terminal: TextIO) -> Iterator[None]:
    """Let the user type a line, and discard what was typed before: it was not meant for this."""
    with _mode(terminal, shown=True):
        yield


@contextmanager
def single_keys(terminal: TextIO) -> Iterator[bool]:
    """Have each key handed over as it is typed, Ctrl-C too, and not shown; False where that is impossible.

    What was typed before is discarded: it was not meant for this. So is what nobody has read at the end: it was meant
    for a question that did not come.
    """
    with _mode(terminal, shown=False, one_by_one=True) as is_possible:
        yield is_possible


def without_paste_marks(line: str) -> str:
    """What was typed or pasted for a question that is read as a line."""
    begins, ends = PASTE_MARKS
    return line.replace(begins, "").replace(ends, "")


@contextmanager
def _mode(terminal: TextIO, *, shown: bool, one_by_one: bool = False) -> Iterator[bool]:
    """Switch echo and line mode on or off; False where that is impossible. Windows echoes no key that nobody reads."""
    keyboard = None if sys.platform == "win32" else descriptor(terminal)
    if keyboard is None:
        yield False
        return
    import termios

    try:
        before: list[Any] = termios.tcgetattr(keyboard)
    except termios.error:  # no terminal
        yield False
        return
    received, sent, control, local, *speeds, signs = before
    lines = termios.ECHO | termios.ICANON
    if one_by_one:
        local &= ~(lines | termios.ISIG)
        signs = [*signs]
        signs[termios.VMIN], signs[termios.VTIME] = 1, 0
    else:
        local = local | lines if shown else local & ~lines
        # Where keys wait for the prompt, Enter must not become Ctrl-J, which begins a new line there.
        received = received | termios.ICRNL if shown else received & ~termios.ICRNL
    discards = shown or one_by_one
    termios.tcsetattr(
        keyboard, termios.TCSAFLUSH if discards else termios.TCSANOW, [received, sent, control, local, *speeds, signs]
    )
    try:
        yield True
    finally:
        with suppress(termios.error):  # the terminal may have been closed meanwhile
            termios.tcsetattr(keyboard, termios.TCSAFLUSH if one_by_one else termios.TCSANOW, before)


def descriptor(terminal: TextIO) -> int | None:
    """The file descriptor; None for a stream in memory or a closed one."""
    try:
        return terminal.fileno()
    except (OSError, ValueError):  # a closed one
        return None
