"""The terminal: single keys, its modes, and an end by SIGTERM or SIGHUP that restores it and keeps a partial answer."""

import os
import signal
import sys
from codecs import decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, Final, NoReturn, TextIO

from zkchat.cli.command_table import HELP_OPTIONS
from zkchat.render import can_edit_text

CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"
ESCAPE: Final = "\x1b"
_MAX_READ: Final = 1_024
_ERASE_LINE = b"\r\x1b[K"
"""For what the terminal showed of keys before it was told not to; it comes again in the prompt."""


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
    return line.replace("\x1b[200~", "").replace("\x1b[201~", "")  # between which a terminal sends what is pasted


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


@contextmanager
def keep_early_keys(arguments: Sequence[str], variables: Mapping[str, str]) -> Iterator[None]:
    """Keep keys for the prompt, where these arguments start a chat that has one. To be called before slow imports."""
    if not (sys.stdin and os.isatty(0) and os.isatty(1) and starts_prompt(arguments, variables)):
        yield
        return
    with echo_off(sys.stdin):
        with suppress(OSError):
            os.write(1, _ERASE_LINE)
        yield


def starts_prompt(arguments: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Whether these arguments start a chat whose prompt can be drawn, on a terminal."""
    is_chat = not arguments or (arguments[0] == "chat" and not {"--plain", *HELP_OPTIONS} & set(arguments))
    return is_chat and can_edit_text(variables)


class Terminated(SystemExit):
    """Raised in the main thread instead of ending at once. The code is what shells make of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.signal = signal.Signals(number)


@contextmanager
def graceful_termination() -> Iterator[None]:
    """Handle the signals, unless whoever started zkchat wants them to be ignored, as `nohup` does."""
    if sys.platform == "win32":
        yield
        return
    handled = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, _end)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number in handled:  # what is left to do needs no order
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    """Let an event loop cancel its tasks, so that each stores what it has; without one, unwind from here."""
    signal.signal(number, signal.SIG_DFL)  # the second one ends at once
    asyncio = sys.modules.get("asyncio")  # not worth its import where nothing has needed it
    loop = asyncio and asyncio._get_running_loop()
    if loop is None:
        raise Terminated(number)

    def unwind(*_: object) -> NoReturn:
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise Terminated(number)

    loop.call_soon_threadsafe(unwind)
    signal.signal(signal.SIGALRM, unwind)
    signal.setitimer(signal.ITIMER_REAL, 0.5)  # else it is taken to be blocked
