"""The chat loop: a message, a turn, a message. Ctrl-C stops an answer, Ctrl-D leaves."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import assert_never

from zkchat.model.events import Event
from zkchat.render.presenters.base import Presenter, ticking
from zkchat.repl.command_context import NOTHING, CommandContext, Edit, Leave, Nothing, Outcome, Play, Send, Switch

Read = Callable[[str], Awaitable[str]]
"""The next message; what it is given stands there already. Raises EOFError at the end, KeyboardInterrupt for Ctrl-C."""


async def _at_once() -> None:
    """Nothing has to be waited for."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """Where a conversation takes place."""

    say: Callable[[str], AsyncGenerator[Event, None]]
    """Stores a message before it returns, and gives what happens then."""
    context: Callable[[], CommandContext]
    """Laid when the first command needs it."""
    read: Read
    presenter: Callable[[], Presenter]
    """Makes a new one for each turn."""
    ready: Callable[[], Awaitable[None]] = _at_once
    """Waits for work in the background that a turn would wait for as well, but without hearing Ctrl-C."""
    turned: Callable[[], None] = lambda: None
    """Called after each turn."""
    is_saved: Callable[[], bool] = lambda: True
    """Whether all that was said is on disk."""


async def converse(room: Room) -> Leave | Switch:
    """Until the user leaves, or wants to be in another conversation."""
    beginning = ""
    while True:
        _on_interrupt(_nothing)
        try:
            text = (await room.read(beginning)).strip()
        except EOFError:
            return Leave()
        except KeyboardInterrupt:
            room.context().surface.tell("(Ctrl-D leaves.)")
            continue
        finally:
            _on_interrupt(_nothing)  # the prompt had its own
        outcome = await _outcome_of(room, text)
        if isinstance(outcome, Leave | Switch):
            return outcome
        beginning = outcome.text if isinstance(outcome, Edit) else ""


async def _outcome_of(room: Room, text: str) -> Nothing | Edit | Leave | Switch:
    """Do what the text says. A message is sent and its turn played to the end."""
    outcome = await _command(room, text) if text.startswith("/") else Send(text)
    match outcome:
        case Nothing() | Edit() | Leave() | Switch():
            return outcome
        case Send():
            if outcome.text:
                await _turn(room, room.say(outcome.text))
        case Play():
            await _turn(room, outcome.events)
        case _:
            assert_never(outcome)
    return NOTHING


async def _command(room: Room, line: str) -> Outcome:
    from zkchat.repl.commands import table

    return await table.run(room.context(), line)


async def _turn(room: Room, events: AsyncGenerator[Event, None]) -> None:
    task = asyncio.ensure_future(_play(room, events))
    _on_interrupt(task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        if (current := asyncio.current_task()) and current.cancelling():
            raise  # not this turn, but the whole chat is to end
        kept = "What came is kept." if room.is_saved() else "It is not saved yet."
        room.context().surface.aside(f"(Stopped. {kept})")
    room.turned()


async def _play(room: Room, events: AsyncGenerator[Event, None]) -> None:
    presenter = room.presenter()
    try:
        async with aclosing(events):
            await room.ready()
            async with ticking(presenter):
                async for event in events:
                    presenter.show(event)
    finally:
        presenter.close()


def _on_interrupt(act: Callable[[], object]) -> None:
    """What Ctrl-C does from now on. On Windows it ends the program, with the answer kept as far as it came."""
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, act)


def _nothing() -> None:
    """Ctrl-C between a prompt and a turn stops neither."""
