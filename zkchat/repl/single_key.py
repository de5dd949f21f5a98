"""Single keys of the terminal, read as they are typed: no Enter is needed, and Ctrl-C is a key like any other."""

import os
from codecs import decode
from typing import Final, TextIO

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
