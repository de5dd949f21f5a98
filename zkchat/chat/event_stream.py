"""Events that a coroutine emits, as an async iterator.

The stages of a turn are coroutines that return values and `await emit(event)` for what the user should see on the way.
`event_stream` runs such a coroutine in the task of whoever iterates, and suspends it at each `emit` until the next
event is asked for: there is neither a queue nor a second task. So the coroutine is never ahead of its consumer; closing
the iterator raises `GeneratorExit` where it is suspended, and returns once it has ended; a cancelled consumer cancels
it; and what it raises is raised in the consumer.
"""

import types
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any

from zkchat.model.events import Event

Emit = Callable[[Event], Awaitable[None]]
"""Hands an event over, and returns when the next one is asked for. To be awaited in the task of the stage itself."""


@dataclass(frozen=True, slots=True)
class _Emitted:
    """What a coroutine yields to `_resume`, where others yield the futures that they wait for."""

    event: Event


@types.coroutine
def _emit(event: Event) -> Generator[_Emitted, None, None]:
    yield _Emitted(event)


async def event_stream(run: Callable[[Emit], Coroutine[Any, Any, object]]) -> AsyncGenerator[Event, None]:
    """The events that `run` emits, as it runs."""
    running = run(_emit)
    raised: BaseException | None = None
    while emitted := await _resume(running, raised):
        raised = None
        try:
            yield emitted.event
        except BaseException as error:  # noqa: BLE001 - closed, or thrown into
            raised = error


@types.coroutine
def _resume(running: Coroutine[Any, Any, object], raised: BaseException | None) -> Generator[Any, Any, _Emitted | None]:
    """Run on until the next event; None at the end. What is waited for meanwhile is left to the event loop."""
    try:
        waiting = running.send(None) if raised is None else running.throw(raised)
        while not isinstance(waiting, _Emitted):
            try:
                result = yield waiting
            except BaseException as error:  # noqa: BLE001 - cancelled while it waits
                waiting = running.throw(error)
            else:
                waiting = running.send(result)
    except StopIteration:
        return None
    return waiting
