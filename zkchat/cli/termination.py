"""SIGTERM and SIGHUP end the program gracefully: the terminal is restored, a partial answer is stored."""

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn

from zkchat.cli.command_table import HELP_OPTIONS
from zkchat.render import can_edit_text
from zkchat.repl import echo_off

_ERASE_LINE = b"\r\x1b[K"
"""For what the terminal showed of keys before it was told not to; it comes again in the prompt."""


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


_UNWIND_AFTER: Final = 0.5
"""Seconds after which an event loop that has not ended is taken to be blocked."""


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
    signal.setitimer(signal.ITIMER_REAL, _UNWIND_AFTER)
