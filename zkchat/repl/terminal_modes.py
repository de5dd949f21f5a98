"""Modes of the terminal: what is typed while nobody reads it is not shown, and kept for the next prompt."""

import os
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from select import select
from typing import Final, TextIO

_MAX_TYPED: Final = 65_536
"""Bytes; a terminal holds fewer."""
_REST_OF_CHARACTER_SECONDS: Final = 0.05
PASTE_BEGINS, PASTE_ENDS = "\x1b[200~", "\x1b[201~"
"""How a terminal marks what is pasted."""
MARK_PASTES, SEND_PASTES_AS_TYPED = "\x1b[?2004h", "\x1b[?2004l"
"""Pasted lines are told from typed ones, as in the prompt of the chat: an Enter in them sends nothing."""


@contextmanager
def echo_off(terminal: TextIO) -> Iterator[None]:
    """Buffer keys for the next reader without showing them, Enter as Enter. Ctrl-C still works."""
    with _line_mode(terminal, enabled=False):
        yield


@contextmanager
def echo_on(terminal: TextIO) -> Iterator[None]:
    """Let the user type a line, and discard what was typed before: it was not meant for this."""
    with _line_mode(terminal, enabled=True):
        yield


@contextmanager
def pastes_marked(screen: TextIO) -> Iterator[None]:
    """Have the terminal tell pasted lines from typed ones."""
    _write(screen, MARK_PASTES)
    try:
        yield
    finally:
        _write(screen, SEND_PASTES_AS_TYPED)


def without_paste_marks(line: str) -> str:
    """What was typed or pasted for a question that is read as a line."""
    return line.replace(PASTE_BEGINS, "").replace(PASTE_ENDS, "")


def _write(screen: TextIO, sequence: str) -> None:
    with suppress(OSError, ValueError):  # the terminal was closed
        screen.write(sequence)
        screen.flush()


def take_typed(terminal: TextIO, before: bytes = b"") -> str:
    """The keys that wait to be read, after those that were read `before`.

    The Enter that the terminal has made a line feed is the Enter it was.
    """
    keyboard = None if sys.platform == "win32" else descriptor(terminal)
    if keyboard is None:
        return ""

    decoder = getincrementaldecoder("utf-8")("replace")
    text, left = decoder.decode(before), _MAX_TYPED
    while left and select([keyboard], [], [], _REST_OF_CHARACTER_SECONDS if decoder.getstate()[0] else 0)[0]:
        if not (piece := os.read(keyboard, left)):
            break
        left -= len(piece)
        text += decoder.decode(piece)
    return (text + decoder.decode(b"", final=True)).replace("\n", "\r")


def has_typed(terminal: TextIO) -> bool:
    """Whether keys wait to be read."""
    keyboard = None if sys.platform == "win32" else descriptor(terminal)
    if keyboard is None:
        return False

    return bool(select([keyboard], [], [], 0)[0])


@contextmanager
def _line_mode(terminal: TextIO, *, enabled: bool) -> Iterator[None]:
    """Switch echo and line mode on or off. Windows never echoes keys that nobody reads."""
    keyboard = None if sys.platform == "win32" else descriptor(terminal)
    if keyboard is None:
        yield
        return
    import termios

    try:
        before = termios.tcgetattr(keyboard)
    except termios.error:  # no terminal
        yield
        return
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


def descriptor(terminal: TextIO) -> int | None:
    """The file descriptor; None for a stream in memory or a closed one."""
    try:
        return terminal.fileno()
    except (OSError, ValueError):  # a closed one
        return None
