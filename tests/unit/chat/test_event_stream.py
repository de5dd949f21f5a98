"""A coroutine that emits events, iterated over as if it were an async generator."""

import asyncio

import pytest

from zkchat.chat.event_stream import Emit, event_stream
from zkchat.core.events import Warned

ONE, TWO = Warned(text="one"), Warned(text="two")


class Stage:
    """Emits two events, and notes what happens to it."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def run(self, emit: Emit) -> str:
        try:
            for event in (ONE, TWO):
                await emit(event)
                self.log.append(f"after {event.text}")
                await asyncio.sleep(0)
        except BaseException as error:
            self.log.append(type(error).__name__)
            await asyncio.sleep(0.001)  # such as closing a connection
            self.log.append("cleaned up")
            raise
        return "a value"


def test_each_event_comes_when_it_is_asked_for_and_nothing_happens_before() -> None:
    stage = Stage()

    async def consume() -> None:
        events = event_stream(stage.run)
        assert stage.log == []
        assert await anext(events) == ONE
        await asyncio.sleep(0.001)
        assert stage.log == []
        assert await anext(events) == TWO
        assert stage.log == ["after one"]
        assert [event async for event in events] == []
        assert stage.log == ["after one", "after two"]

    asyncio.run(consume())


def test_closing_ends_the_stage_where_it_is_before_it_returns() -> None:
    stage = Stage()

    async def consume() -> None:
        events = event_stream(stage.run)
        await anext(events)
        await events.aclose()
        assert stage.log == ["GeneratorExit", "cleaned up"]
        with pytest.raises(StopAsyncIteration):
            await anext(events)

    asyncio.run(consume())


def test_a_cancelled_consumer_cancels_the_stage_while_it_waits() -> None:
    log: list[str] = []

    async def hang(emit: Emit) -> None:
        await emit(ONE)
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    async def consume() -> None:
        async with asyncio.timeout(0.01):
            async for _ in event_stream(hang):
                pass

    with pytest.raises(TimeoutError):
        asyncio.run(consume())
    assert log == ["cancelled"]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), SystemExit(3)])
def test_what_the_stage_raises_is_raised_in_the_consumer(error: BaseException) -> None:
    async def fail(emit: Emit) -> None:
        await emit(ONE)
        await asyncio.sleep(0)
        raise error

    async def consume() -> None:
        events = event_stream(fail)
        assert await anext(events) == ONE
        with pytest.raises(type(error)) as raised:
            await anext(events)
        assert raised.value is error

    asyncio.run(consume())
