"""Single keys read from a terminal, and its modes."""

import os
import sys
from codecs import decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TextIO

CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"
ESCAPE: Final = "\x1b"
_MAX_READ: Final = 1_024
_PASTE_MARKS: Final = ("\x1b[200~", "\x1b[201~")
"""Between which a terminal sends what is pasted."""


def read_key(terminal: TextIO) -> str:
    """Wait for a key, and return its character; empty for what is no single one, such as an arrow or a paste.

    To be called while `single_keys` is in force. A key with which Enter arrived at once, as over a slow line, is that
    key. The end of the terminal is Ctrl-D.
    """
    try:
        typed = os.read(terminal.fileno(), _MAX_READ)
    except OSError:  # the terminal was closed
        return CTRL_D
    text = decode(typed, "utf-8", "replace") if typed else CTRL_D
    key, enter = text[:1], text[1:]
    return key if enter in {"", "\r", "\n"} else ""


def without_paste_marks(line: str) -> str:
    """What was typed or pasted for a question that is read as a line."""
    begins, ends = _PASTE_MARKS
    return line.replace(begins, "").replace(ends, "")


@contextmanager
def _mode(terminal: TextIO, *, shown: bool, one_by_one: bool = False) -> Iterator[bool]:
    """Switch echo and line mode on or off; False where that is impossible. Windows echoes no key that nobody reads."""
    if sys.platform == "win32":
        yield False
        return
    import termios

    try:
        keyboard = terminal.fileno()
        before: list[Any] = termios.tcgetattr(keyboard)
    except (OSError, ValueError, termios.error):  # a stream in memory, a closed one, or no terminal
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


echo_off: Final = partial(_mode, shown=False)
"""Buffer keys for the next reader without showing them, Enter as Enter. Ctrl-C still works."""
echo_on: Final = partial(_mode, shown=True)
"""Let the user type a line, and discard what was typed before: it was not meant for this."""
single_keys: Final = partial(_mode, shown=False, one_by_one=True)
"""Have each key handed over as it is typed, Ctrl-C too, and not shown; False where that is impossible.

What was typed before is discarded: it was not meant for this. So is what nobody has read at the end: it was meant for
a question that did not come.
"""
