"""The loop of a chat: prompts, interrupts, and work in the background."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, aclosing, contextmanager, suppress
from types import TracebackType
from typing import Any, Protocol, TypeVar, assert_never

from zkchat.core import Event, Warned, ZkchatError
from zkchat.render import Presenter, ticking
from zkchat.repl.command_context import NOTHING, CommandContext, Edit, Leave, Nothing, Outcome, Play, Send, Switch

T = TypeVar("T")


def on_interrupt(act: Callable[[], object] = lambda: None) -> None:
    """Set what Ctrl-C does from now on: nothing, between a prompt and a turn. On Windows it ends the program; the part
    of the answer that came is kept.

    On a thread other than the main one, Ctrl-C is not heard, and nothing is set.
    """
    with suppress(NotImplementedError, RuntimeError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, act)


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

    def listening(self) -> AbstractContextManager[None]:
        """Hear the keys that are typed while the body runs."""

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


async def _outcome_of(chat: Chat, text: str, edit: Edit | None) -> Nothing | Edit | Leave | Switch:
    """Run a command, or send a message, edited or new, and show its turn to the end."""
    is_command = text.startswith("/")
    outcome = await _command(chat, text) if is_command else Send(text)
    match outcome:
        case Nothing() | Edit() | Leave() | Switch():
            return outcome
        case Send():
            if outcome.text:
                replaces = edit.replaces if edit and not is_command else None
                await _turn(chat, chat.say(outcome.text, replaces=replaces))
        case Play():
            await _turn(chat, outcome.events)
        case _:
            assert_never(outcome)
    return NOTHING


async def _command(chat: Chat, line: str) -> Outcome:
    from zkchat.repl.commands import table

    return await table.run(chat.command_context(), line)


async def _turn(chat: Chat, events: AsyncGenerator[Event, None]) -> None:
    if not await until_interrupted(_play(chat, events)):
        chat.hold_typed()
        kept = "What came is kept." if chat.is_saved else "It is not saved yet."
        chat.command_context().surface.print_dimmed(f"(Stopped. {kept})")
    chat.after_turn()


async def _play(chat: Chat, events: AsyncGenerator[Event, None]) -> bool:
    """Show the events to the end."""
    presenter = chat.new_presenter()
    try:
        with chat.listening():
            async with aclosing(events), ticking(presenter, lambda: chat.activity):
                for warning in await chat.wait_until_ready():
                    presenter.show(warning)
                async for event in events:
                    presenter.show(event)
    finally:
        presenter.close()
    return True


class _Stopped(Exception):
    """Raised inside the work when the program ends."""


class Background:
    """A worker thread. `activity` describes what it is doing, for the status bar."""

    def __init__(self, activity_changed: Callable[[], object] = lambda: None) -> None:
        """`activity_changed` is called from the background thread."""
        self._activity_changed = activity_changed
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="zkchat-background")
        self._work: list[Future[None]] = []
        self._is_closing = False
        self.activity = ""

    def __enter__(self) -> "Background":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_closing = True
        self._thread.shutdown(cancel_futures=True)

    def submit(self, work: Callable[[], object]) -> None:
        """Run it after the work submitted before. Errors are reported by the turn that needs the result."""
        self._work = [future for future in self._work if not future.done()]
        self._work.append(self._thread.submit(self._quietly, work))

    def _quietly(self, work: Callable[[], object]) -> None:
        with suppress(ZkchatError, _Stopped):
            if not self._is_closing:
                work()

    async def wait(self) -> None:
        """Wait until all submitted work is done. Cancelling the wait does not cancel the work."""
        await asyncio.shield(asyncio.gather(*map(asyncio.wrap_future, self._work)))

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[int, int], None]]:
        """A progress callback for `Library.refresh`, which raises to end the refresh when the program ends."""

        def step(done: int, total: int) -> None:
            if self._is_closing:
                raise _Stopped
            self._set_activity(f"{label} {done:,} / {total:,}")

        self._set_activity(label)
        try:
            yield step
        finally:
            self._set_activity("")

    def _set_activity(self, activity: str) -> None:
        if activity != self.activity:
            self.activity = activity
            self._activity_changed()
