"""The loop between a prompt and its turns."""

import asyncio
import io
import os
import signal
from collections.abc import AsyncGenerator, Sequence
from typing import cast

import pytest

from tests.support.command_harness import AddressesInMemory
from tests.support.sessions import SessionsInMemory
from zkchat.chat.session_items import SessionItems
from zkchat.model.events import Event, TextDelta
from zkchat.repl.command_context import (
    ActiveConversation,
    Command,
    CommandContext,
    Edit,
    Leave,
    NoteCreator,
    Outcome,
    Play,
    Send,
    Switch,
)
from zkchat.repl.commands import table
from zkchat.repl.loop import Room, converse
from zkchat.repl.surface import PlainSurface


def no_kit() -> SessionItems:
    raise AssertionError("no command of these tests asks for it")


Typed = str | type[BaseException]


class Table:
    """A user who types what was written down before, and everything that is shown to them."""

    def __init__(self, *typed: Typed) -> None:
        self._typed = iter(typed)
        self.beginnings: list[str] = []
        self.shown: list[str] = []
        self.out = io.StringIO()
        self.turns = 0
        self.stored: list[str] = []
        self.is_busy = False
        self.is_saved = True

    async def read(self, beginning: str) -> str:
        self.beginnings.append(beginning)
        typed = next(self._typed, EOFError)
        if isinstance(typed, str):
            return typed
        raise typed

    async def say(self, text: str) -> AsyncGenerator[Event, None]:
        try:
            yield TextDelta(text=f"heard {text}")
            if text == "endless":
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(5)
                yield TextDelta(text="not stopped")
        finally:
            self.shown.append("closed")

    async def ready(self) -> None:
        if self.is_busy:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(5)

    def store(self, text: str) -> AsyncGenerator[Event, None]:
        self.stored.append(text)
        return self.say(text)

    def show(self, event: Event) -> None:
        assert isinstance(event, TextDelta)
        self.shown.append(event.text)

    def tick(self) -> None:
        self.shown.append("tick")

    def close(self) -> None:
        self.shown.append("end")

    def turned(self) -> None:
        self.turns += 1

    def room(self) -> Room:
        async def nobody(_question: str) -> str:
            raise EOFError

        context = CommandContext(
            conversation=cast(ActiveConversation, None),
            store=SessionsInMemory(),
            notes=cast(NoteCreator, None),
            surface=PlainSurface(self.out, ask=nobody, launch=lambda _: False),
            addresses=AddressesInMemory(),
            kit=no_kit,
            edit_page=lambda _page, _is_new: True,
        )
        return Room(
            say=self.store,
            context=lambda: context,
            read=self.read,
            presenter=lambda: self,
            ready=self.ready,
            turned=self.turned,
            is_saved=lambda: self.is_saved,
        )

    def run(self) -> Leave | Switch:
        return asyncio.run(converse(self.room()))


def test_each_message_is_a_turn_until_the_user_leaves() -> None:
    table = Table("one", "  two\n")
    assert table.run() == Leave()
    assert table.shown == ["heard one", "closed", "end", "heard two", "closed", "end"]
    assert table.turns == 2


def test_an_empty_line_is_no_turn() -> None:
    table = Table("", "   \n")
    table.run()
    assert (table.shown, table.turns) == ([], 0)


def test_ctrl_c_at_the_prompt_hints_at_the_way_out() -> None:
    table = Table(KeyboardInterrupt, "still here")
    table.run()
    assert table.out.getvalue() == "(Ctrl-D leaves.)\n"
    assert table.shown[0] == "heard still here"


def test_ctrl_c_in_mid_answer_stops_it_and_the_loop_goes_on() -> None:
    table = Table("endless", "and now")
    table.run()
    assert table.shown == ["heard endless", "closed", "end", "heard and now", "closed", "end"]
    assert table.out.getvalue() == "(Stopped. What came is kept.)\n"


@pytest.mark.parametrize(("is_saved", "told"), [(True, "What came is kept."), (False, "It is not saved yet.")])
def test_what_ctrl_c_says_is_true_while_the_notes_are_still_read(is_saved: bool, told: str) -> None:
    table = Table("one")
    table.is_busy, table.is_saved = True, is_saved
    table.run()
    assert table.stored == ["one"]  # before anything was waited for
    assert table.out.getvalue() == f"(Stopped. {told})\n"


def test_a_command_is_run_and_not_said() -> None:
    table = Table("/help", "/nonsense", "/quit", "never read")
    assert table.run() == Leave()
    assert "/quit" in table.out.getvalue()
    assert "There is no command /nonsense." in table.out.getvalue()
    assert table.shown == []


def with_command(monkeypatch: pytest.MonkeyPatch, *outcomes: Outcome) -> None:
    """Let `/test` come to these outcomes, one after the other."""
    waiting = iter(outcomes)

    async def act(_context: CommandContext, _argument: str) -> Outcome:
        return next(waiting)

    known: Sequence[Command] = (*table.COMMANDS, Command(name="test", help="for tests", act=act))
    monkeypatch.setattr(table, "COMMANDS", known)


def test_what_a_command_wants_sent_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with_command(monkeypatch, Send("again"))
    table = Table("/test")
    table.run()
    assert table.shown[0] == "heard again"


def test_events_of_a_command_are_shown_like_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("/test")
    with_command(monkeypatch, Play(table.say("command")))
    table.run()
    assert (table.shown, table.turns) == (["heard command", "closed", "end"], 1)


def test_a_text_to_edit_stands_in_the_next_prompt_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with_command(monkeypatch, Edit("change me"))
    table = Table("/test", "changed")
    table.run()
    assert table.beginnings == ["", "change me", ""]


def test_another_conversation_ends_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with_command(monkeypatch, Switch(session="s2"))
    assert Table("/test", "never read").run() == Switch(session="s2")
