"""The loop of a chat: prompts, interrupts, and work in the background."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, aclosing, suppress
from typing import Any, Protocol, TypeVar, assert_never

from zkchat.core import Event, Warned
from zkchat.render import Presenter, ticking
from zkchat.repl.command_context import CommandContext, Edit, Leave, Play, Send, Switch

T = TypeVar("T")


def on_interrupt(act: Callable[[], object] = lambda: None) -> None:
    """Set what Ctrl-C does from now on: nothing, between a prompt and a turn. On Windows it ends the program; the part
    of the answer that came is kept.

    On a thread other than the main one, Ctrl-C is not heard, and nothing is set.
    """
    with suppress(NotImplementedError, RuntimeError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, act)


async def until_interrupted(work: Coroutine[Any, Any, T]) -> T | None:
    """Wait for the work; None where the user stopped it."""
    task = asyncio.ensure_future(work)
    on_interrupt(task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        if (current := asyncio.current_task()) and current.cancelling():
            raise  # not this work, but the whole chat is to end
        return None
    finally:
        on_interrupt()


class Chat(Protocol):
    """What the loop drives: one open conversation, and the terminal that it takes place on."""

    @property
    def is_saved(self) -> bool:
        """Whether every message is on disk."""

    @property
    def activity(self) -> str:
        """What is done in the background, if anything."""

    def command_context(self) -> CommandContext: ...

    async def read(self, edit: Edit | None) -> str:
        """Prompt for the next message, with a text to edit or none.

        Raises EOFError at the end, KeyboardInterrupt for Ctrl-C.
        """

    def say(self, text: str, *, replaces: str | None) -> AsyncGenerator[Event, None]:
        """Store a message before returning, in place of the one with the id `replaces` or at the end; answer it."""

    def new_presenter(self) -> Presenter:
        """A presenter for one turn."""

    def listening(self, stop: Callable[[], object]) -> AbstractContextManager[None]:
        """Hear the keys that are typed while the body runs; Esc stops it."""

    def hold_typed(self) -> None:
        """Let messages that were typed ahead stand in the prompt instead of being sent."""

    async def wait_until_ready(self) -> Sequence[Warned]:
        """Wait for background work that a turn would otherwise wait for without hearing Ctrl-C; what it has to say."""

    def after_turn(self) -> None: ...


async def converse(chat: Chat) -> Leave | Switch:
    """Run the chat until the user leaves or switches to another conversation."""
    edit: Edit | None = None
    while True:
        on_interrupt()
        try:
            text = (await chat.read(edit)).strip()
        except EOFError:
            return Leave()
        except KeyboardInterrupt:
            chat.command_context().surface.print("(Ctrl-D leaves.)")
            edit = None
            continue
        finally:
            on_interrupt()  # the prompt had its own
        outcome = await _outcome_of(chat, text, edit)
        if isinstance(outcome, Leave | Switch):
            return outcome
        edit = outcome if isinstance(outcome, Edit) else None


async def _outcome_of(chat: Chat, text: str, edit: Edit | None) -> Edit | Leave | Switch | None:
    """Run a command, or send a message, edited or new, and show its turn to the end."""
    from zkchat.repl.commands import table

    is_command = text.startswith("/")
    outcome = await table.run(chat.command_context(), text) if is_command else Send(text)
    match outcome:
        case None | Edit() | Leave() | Switch():
            return outcome
        case Send():
            if outcome.text:
                replaces = edit.replaces if edit and not is_command else None
                await _turn(chat, chat.say(outcome.text, replaces=replaces))
        case Play():
            await _turn(chat, outcome.events)
        case _:
            assert_never(outcome)
    return None


async def _turn(chat: Chat, events: AsyncGenerator[Event, None]) -> None:
    if not await until_interrupted(_play(chat, events)):
        chat.hold_typed()
        kept = "What arrived is kept." if chat.is_saved else "What arrived is not saved yet."
        chat.command_context().surface.print_dimmed(f"(Stopped. {kept})")
    chat.after_turn()


async def _play(chat: Chat, events: AsyncGenerator[Event, None]) -> bool:
    presenter = chat.new_presenter()
    try:
        task = asyncio.current_task()
        assert task
        with chat.listening(task.cancel):
            async with aclosing(events), ticking(presenter, lambda: chat.activity):
                for warning in await chat.wait_until_ready():
                    presenter.show(warning)
                async for event in events:
                    presenter.show(event)
    finally:
        presenter.close()
    return True
