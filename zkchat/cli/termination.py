"""SIGTERM and SIGHUP end the program gracefully: the terminal is restored, a partial answer is stored."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

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
