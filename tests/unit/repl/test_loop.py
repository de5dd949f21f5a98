import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import pytest

from tests.support.command_harness import CommandHarness
from zkchat.core.events import Event, TextDelta, Warned
from zkchat.render.presenters.text import Presenter
from zkchat.repl.command_context import Command, CommandContext, Edit, Leave, Outcome, Play, Send, Switch
from zkchat.repl.commands import table
from zkchat.repl.loop import converse, until_interrupted

Typed = str | type[BaseException]


class ScriptedChat(Presenter):
    """Implements `loop.Chat` with a user who types what was written down before; it is its own presenter."""

    def __init__(self, *typed: Typed) -> None:
        self.times_held = 0
        self._typed = iter(typed)
        self.initials: list[str] = []
        self.replaced: list[str | None] = []
        self.shown: list[str] = []
        self.harness = CommandHarness()
        self.turns = 0
        self.stored: list[str] = []
        self.is_busy = False
        self.is_saved = True

    activity = ""

    async def read(self, edit: Edit | None) -> str:
        self.initials.append(edit.text if edit else "")
        typed = next(self._typed, EOFError)
        if isinstance(typed, str):
            return typed
        raise typed

    def say(self, text: str, *, replaces: str | None) -> AsyncGenerator[Event, None]:
        self.stored.append(text)
        self.replaced.append(replaces)
        return self.answer(text)

    async def answer(self, text: str) -> AsyncGenerator[Event, None]:
        try:
            yield TextDelta(text=f"heard {text}")
            if text == "endless":
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(5)  # longer than it takes to stop it
                yield TextDelta(text="not stopped")
        finally:
            self.shown.append("closed")

    async def wait_until_ready(self) -> Sequence[Warned]:
        if self.is_busy:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(5)  # longer than it takes to stop it
        return []

    def new_presenter(self) -> Presenter:
        return self

    def show(self, event: Event) -> None:
        assert isinstance(event, TextDelta)
        self.shown.append(event.text)

    def tick(self, activity: str = "") -> None:
        self.shown.append("tick")

    def close(self) -> None:
        self.shown.append("end")

    def listening(self, _stop: Callable[[], object]) -> AbstractContextManager[None]:
        return nullcontext()

    def hold_typed(self) -> None:
        self.times_held += 1

    def after_turn(self) -> None:
        self.turns += 1

    def command_context(self) -> CommandContext:
        return self.harness.context

    def run(self) -> Leave | Switch:
        return asyncio.run(converse(self))


def test_each_message_is_a_turn_until_the_user_leaves() -> None:
    chat = ScriptedChat("one", KeyboardInterrupt, "  two\n")
    assert chat.run() == Leave()
    assert chat.harness.surface.text == "(Ctrl-D leaves.)"
    assert chat.shown == ["heard one", "closed", "end", "heard two", "closed", "end"]
    assert chat.turns == 2


def test_ctrl_c_in_mid_answer_stops_it_and_the_loop_goes_on() -> None:
    chat = ScriptedChat("endless", "and now")
    chat.run()
    assert chat.shown == ["heard endless", "closed", "end", "heard and now", "closed", "end"]
    assert chat.harness.surface.text == "(Stopped. What arrived is kept.)"
    assert chat.times_held == 1


@pytest.mark.parametrize(("is_saved", "told"), [(True, "arrived is kept."), (False, "arrived is not saved yet.")])
def test_what_ctrl_c_says_is_true_while_the_notes_are_still_read(is_saved: bool, told: str) -> None:
    chat = ScriptedChat("one")
    chat.is_busy, chat.is_saved = True, is_saved
    chat.run()
    assert chat.stored == ["one"]  # before anything was waited for
    assert chat.harness.surface.text == f"(Stopped. What {told})"


def test_a_command_is_run_and_not_said() -> None:
    chat = ScriptedChat("/help", "/nonsense", "/quit", "never read")
    assert chat.run() == Leave()
    assert "/quit" in chat.harness.surface.text
    assert "There is no command /nonsense." in chat.harness.surface.text
    assert chat.shown == []


def with_command(monkeypatch: pytest.MonkeyPatch, *outcomes: Outcome) -> None:
    """Let `/test` come to these outcomes, one after the other."""
    waiting = iter(outcomes)

    async def act(_context: CommandContext, _argument: str) -> Outcome:
        return next(waiting)

    known: Sequence[Command] = (*table.COMMANDS, Command(name="test", help="for tests", act=act))
    monkeypatch.setattr(table, "COMMANDS", known)


def test_events_of_a_command_are_shown_like_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    chat = ScriptedChat("/test", "/test", "never read")
    with_command(monkeypatch, Play(chat.answer("command")), Switch(session="s2"))
    assert chat.run() == Switch(session="s2"), "another conversation ends this one"
    assert (chat.shown, chat.turns) == (["heard command", "closed", "end"], 1)


def test_a_text_to_edit_stands_in_the_next_prompt_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with_command(monkeypatch, Edit("change me", replaces="m3"), Edit("change me", replaces="m3"), Send("again"))
    chat = ScriptedChat("/test", "changed", "more", "/test", "/test")
    chat.run()
    assert chat.initials == ["", "change me", "", "", "change me", ""]
    assert (chat.stored, chat.replaced) == (["changed", "more", "again"], ["m3", None, None])


@pytest.mark.parametrize("given_up", ["", "/help", KeyboardInterrupt])
def test_an_edit_that_is_given_up_is_forgotten(monkeypatch: pytest.MonkeyPatch, given_up: Typed) -> None:
    with_command(monkeypatch, Edit("change me", replaces="m3"))
    chat = ScriptedChat("/test", given_up, "new")
    chat.run()
    assert chat.initials == ["", "change me", "", ""]
    assert chat.replaced == [None]


async def told(text: str) -> str:
    return text


def test_ctrl_c_stops_the_work_and_nothing_else() -> None:
    async def wait() -> tuple[object, str | None]:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
        return await until_interrupted(asyncio.sleep(60, "slept")), await until_interrupted(told("done"))

    assert asyncio.run(wait()) == (None, "done")


def test_the_end_of_the_whole_chat_is_not_taken_for_ctrl_c() -> None:
    async def cancel() -> None:
        chat = asyncio.ensure_future(until_interrupted(asyncio.sleep(60)))
        await asyncio.sleep(0)
        chat.cancel()
        await chat

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())
