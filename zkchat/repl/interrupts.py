"""What Ctrl-C does while no prompt is shown: nothing, or stopping what the user waits for."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def on_interrupt(act: Callable[[], object]) -> None:
    """Set what Ctrl-C does from now on. On Windows it ends the program; the part of the answer that came is kept.

    On a thread other than the main one, Ctrl-C is not heard, and nothing is set.
    """
    with suppress(NotImplementedError, RuntimeError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, act)


def do_nothing() -> None:
    """For Ctrl-C between a prompt and a turn, which stops neither."""


async def until_interrupted(work: Coroutine[Any, Any, T]) -> T | None:
    """Wait for the work; None where the user stopped it by Ctrl-C."""
    task = asyncio.ensure_future(work)
    on_interrupt(task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        if (current := asyncio.current_task()) and current.cancelling():
            raise  # not this work, but the whole chat is to end
        return None
    finally:
        on_interrupt(do_nothing)
