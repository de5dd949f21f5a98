"""Keys that are typed while a turn runs: Ctrl-T acts at once, all others wait for the next prompt."""

import asyncio
import os
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from zkchat.repl.terminal_modes import descriptor, pastes_marked

_CTRL_T: Final = "\x14"
_MAX_READ: Final = 65_536


class KeyListener:
    """Reads the terminal of a chat during its turns. `keep` gets what was typed for the next prompt, with the marks of
    what was pasted."""

    def __init__(
        self, terminal: TextIO, screen: TextIO, *, toggle_thinking: Callable[[], None], keep: Callable[[str], None]
    ) -> None:
        self._screen = screen
        self._keyboard = None if sys.platform == "win32" else descriptor(terminal)
        self._toggle_thinking = toggle_thinking
        self._keep = keep
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._typed = ""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen while the body runs, in an event loop.

        A line that was ended with Enter is sent by the next prompt, unless the turn was stopped: then it stands there.
        """
        if self._keyboard is None:
            yield
            return
        loop = asyncio.get_running_loop()
        loop.add_reader(self._keyboard, self._read, self._keyboard)
        try:
            with pastes_marked(self._screen):
                yield
        except asyncio.CancelledError:
            self._typed = self._typed.replace("\r", "\n").rstrip("\n")
            raise
        finally:
            loop.remove_reader(self._keyboard)
            typed, self._typed = self._typed, ""
            self._keep(typed)

    def _read(self, keyboard: int) -> None:
        try:
            keys = os.read(keyboard, _MAX_READ)
        except OSError:  # the terminal was closed
            keys = b""
        if not keys:
            asyncio.get_running_loop().remove_reader(keyboard)
            return
        text = self._decoder.decode(keys)
        for _ in range(text.count(_CTRL_T)):
            self._toggle_thinking()
        self._typed += text.replace(_CTRL_T, "")
