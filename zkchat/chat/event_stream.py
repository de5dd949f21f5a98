"""Events that a coroutine emits, as an async iterator.

The stages of a turn are coroutines that return values and `await emit(event)` for what the user should see on the way.
`event_stream` runs such a coroutine in the task of whoever iterates, and suspends it at each `emit` until the next
event is asked for: there is neither a queue nor a second task. So the coroutine is never ahead of its consumer; closing
the iterator raises `GeneratorExit` where it is suspended, and returns once it has ended; a cancelled consumer cancels
it; and what it raises is raised in the consumer.
"""

import types
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from typing import Any

from zkchat.core import Event, debug_event

Emit = Callable[[Event], Awaitable[None]]
"""Hands an event over, and returns when the next one is asked for. To be awaited in the task of the stage itself."""


async def event_stream(run: Callable[[Emit], Coroutine[Any, Any, object]]) -> AsyncGenerator[Event, None]:
    """The events that `run` emits, as it runs."""
    slot = _Slot()
    running = run(slot.emit)
    raised: BaseException | None = None
    while await slot.fill(running, raised):
        raised = None
        debug_event(slot.event)
        try:
            yield slot.event
        except BaseException as error:  # noqa: BLE001 - closed, or thrown into
            raised = error


class _Slot:
    """Where a coroutine leaves its event when it is suspended by `emit`."""

    __slots__ = ("event",)
    event: Event

    @types.coroutine
    def emit(self, event: Event) -> "Generator[_Slot, None, None]":
        self.event = event
        yield self  # where others yield the future that they wait for

    @types.coroutine
    def fill(self, running: Coroutine[Any, Any, object], raised: BaseException | None) -> Generator[Any, Any, bool]:
        """Run on until the next event, and leave to the event loop what is waited for meanwhile; False at the end."""
        try:
            waiting = running.send(None) if raised is None else running.throw(raised)
            while waiting is not self:
                try:
                    result = yield waiting
                except BaseException as error:  # noqa: BLE001 - cancelled while it waits
                    waiting = running.throw(error)
                else:
                    waiting = running.send(result)
        except StopIteration:
            return False
        return True
