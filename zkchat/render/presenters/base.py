"""The interface of all presenters, and the stream that they write to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, Protocol, TextIO

from zkchat.model.events import Event
from zkchat.render.sanitize import never_fail_to_encode

_TICK_SECONDS: Final = 0.5


class Presenter(Protocol):
    """Shows the events of a turn."""

    def show(self, event: Event) -> None: ...

    def tick(self, activity: str = "") -> None:
        """Called twice per second, to update what shows how long the user waits, and for what in the background."""
        ...

    def close(self) -> None:
        """End the output, also of a turn that was cancelled."""
        ...


class OutputStream:
    """A stream whose reader may close it, and which knows whether it is inside a line."""

    def __init__(self, stream: TextIO) -> None:
        never_fail_to_encode(stream)
        self._stream = stream
        self._is_open = True
        self._is_in_line = False

    def write(self, text: str) -> None:
        if not self._is_open or not text:
            return
        self._is_in_line = not text.endswith("\n")
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            self._is_open = False

    def line(self, text: str) -> None:
        self.write(f"{text}\n")

    def end_line(self) -> None:
        if self._is_in_line:
            self.write("\n")


@asynccontextmanager
async def ticking(presenter: Presenter, activity: Callable[[], str] = str) -> AsyncIterator[None]:
    """Call `tick` of the presenter twice per second while the body runs."""
    task = asyncio.create_task(_tick(presenter, activity))
    try:
        yield
    finally:
        task.cancel()


async def _tick(presenter: Presenter, activity: Callable[[], str]) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        presenter.tick(activity())
