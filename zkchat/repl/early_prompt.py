"""A prompt that is there before the chat is: it shows what is typed while everything else is loaded. POSIX only."""

import os
from contextlib import suppress
from select import select
from threading import Thread
from typing import Final

from zkchat.repl.terminal_modes import MARK_PASTES, SEND_PASTES_AS_TYPED

PROMPT: Final = "you › "

_SAVE_CURSOR: Final = "\x1b7"
_ERASE_TO_END: Final = "\x1b8\x1b[J"
"""From where the cursor was saved."""
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_BACKSPACES: Final = "\x7f\b"
_MAX_BYTES: Final = 65_536
_COLUMNS: Final = 80
"""Of a terminal that does not say."""


class EarlyPrompt:
    """Draws one row and reads the keys in a thread of its own, until somebody else writes to the terminal.

    To be used where the terminal neither echoes keys nor waits for the end of a line.
    """

    def __init__(self, keyboard: int, screen: int) -> None:
        """The file descriptors of the terminal."""
        self._keyboard = keyboard
        self._screen = screen
        self._typed = b""
        self._waker: int | None = None
        self._thread: Thread | None = None

    def start(self) -> None:
        self._write(f"{MARK_PASTES}{_SAVE_CURSOR}{_BOLD}{PROMPT}{_PLAIN}")
        woken, self._waker = os.pipe()
        self._thread = Thread(target=self._read, args=(woken,), name="zkchat-early-prompt", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Remove it from the screen; from now on others may read keys. What was typed is kept."""
        if self._thread is None or self._waker is None:
            return
        thread, self._thread = self._thread, None
        os.close(self._waker)
        thread.join()
        self._write(f"{_ERASE_TO_END}{SEND_PASTES_AS_TYPED}")

    def take_typed(self) -> bytes:
        """End it; what was typed, once."""
        self.end()
        typed, self._typed = self._typed, b""
        return typed

    def _read(self, woken: int) -> None:
        try:
            while len(self._typed) < _MAX_BYTES:
                ready, _, _ = select([self._keyboard, woken], [], [])
                if woken in ready or not (keys := os.read(self._keyboard, _MAX_BYTES)):
                    return
                self._typed += keys
                self._write(f"{_ERASE_TO_END}{_BOLD}{PROMPT}{_PLAIN}{shown_text(self._typed, self._columns)}")
        except OSError:  # the terminal is gone
            return
        finally:
            os.close(woken)

    @property
    def _columns(self) -> int:
        return (os.get_terminal_size(self._screen).columns or _COLUMNS) - len(PROMPT) - 1

    def _write(self, text: str) -> None:
        with suppress(OSError):  # who writes next will say so
            os.write(self._screen, text.encode())


def shown_text(typed: bytes, columns: int) -> str:
    """The beginning of what was typed that can be shown on a row: up to the first key that does more than write."""
    text = ""
    for key in typed.decode("utf-8", "ignore"):
        if key in _BACKSPACES:
            text = text[:-1]
        elif not key.isprintable() or len((text + key).encode()) > columns:  # no character is wider than its bytes
            break
        else:
            text += key
    return text
