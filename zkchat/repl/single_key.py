"""Single keys of the terminal, read as they are typed: no Enter is needed, and Ctrl-C is a key like any other."""

import os
import sys
from codecs import decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, TextIO

from zkchat.repl.terminal_modes import descriptor

CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"
ESCAPE: Final = "\x1b"
_MAX_READ: Final = 1_024


class SingleKeys:
    """The keyboard of a terminal while a question waits for one key."""

    def __init__(self, terminal: TextIO) -> None:
        self._keyboard = None if sys.platform == "win32" else descriptor(terminal)

    @contextmanager
    def listening(self) -> Iterator[bool]:
        """Have each key handed over as it is typed, and not shown, while the body runs; False where that is impossible.

        What was typed before is discarded: it was not meant for this. So is what nobody has read at the end: it was
        meant for a question that did not come.
        """
        if self._keyboard is None:
            yield False
            return
        import termios

        try:
            before = termios.tcgetattr(self._keyboard)
        except termios.error:  # no terminal
            yield False
            return
        local = before[3] & ~(termios.ECHO | termios.ICANON | termios.ISIG)
        signs = [*before[6]]
        signs[termios.VMIN], signs[termios.VTIME] = 1, 0
        termios.tcsetattr(self._keyboard, termios.TCSAFLUSH, [*before[:3], local, *before[4:6], signs])
        try:
            yield True
        finally:
            with suppress(termios.error):  # the terminal may have been closed meanwhile
                termios.tcsetattr(self._keyboard, termios.TCSAFLUSH, before)

    def read(self) -> str:
        """Wait for a key, and return its character; empty for what is no single one, such as an arrow or a paste.

        A key with which Enter arrived at once, as over a slow line, is that key. The end of the terminal is Ctrl-D.
        """
        assert self._keyboard is not None
        try:
            typed = os.read(self._keyboard, _MAX_READ)
        except OSError:  # the terminal was closed
            return CTRL_D
        text = decode(typed, "utf-8", "replace") if typed else CTRL_D
        key, enter = text[:1], text[1:]
        return key if enter in {"", "\r", "\n"} else ""
