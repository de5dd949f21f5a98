"""Keys that are typed while a turn runs."""

import asyncio
import io
import os
import pty
from collections.abc import Callable, Iterator

import pytest

from tests.support.waiting import eventually_async
from zkchat.repl.key_listener import KeyListener
from zkchat.repl.terminal_modes import echo_off


class Listened:
    """Turns during which somebody types, and what came of the keys."""

    def __init__(self) -> None:
        hand, end = pty.openpty()
        self.hand = os.fdopen(hand, "wb", buffering=0)
        self.terminal = os.fdopen(end, encoding="utf-8")
        self.screen = io.StringIO()
        self.toggles = 0
        self.kept: list[str] = []

    def toggle(self) -> None:
        self.toggles += 1

    def run(self, keys: bytes, is_over: Callable[[], bool], *, stopped: bool = False) -> None:
        async def turn() -> None:
            with KeyListener(
                self.terminal, self.screen, toggle_thinking=self.toggle, keep=self.kept.append
            ).listening():
                for place in range(len(keys)):
                    self.hand.write(keys[place : place + 1])
                await eventually_async(is_over)
                if stopped:
                    raise asyncio.CancelledError

        with echo_off(self.terminal):
            asyncio.run(turn())


@pytest.fixture
def listened() -> Iterator[Listened]:
    listened = Listened()
    yield listened
    listened.terminal.close()
    listened.hand.close()


def test_ctrl_t_acts_at_once_and_the_rest_waits_for_the_prompt(listened: Listened) -> None:
    listened.run("Täglich\x14?\r\x14".encode(), lambda: listened.toggles == 2)
    assert listened.kept == ["Täglich?\r"]
    listened.run(b"more\x14", lambda: listened.toggles == 3)
    assert listened.kept[1:] == ["more"]


def test_what_was_typed_before_a_turn_was_stopped_is_not_sent(listened: Listened) -> None:
    with pytest.raises(asyncio.CancelledError):
        listened.run(b"one\rtwo\r\x14", lambda: listened.toggles == 1, stopped=True)
    assert listened.kept == ["one\ntwo"]


def test_a_terminal_that_is_closed_and_a_stream_in_memory_have_no_keys(listened: Listened) -> None:
    listened.hand.close()

    async def turn() -> None:
        for terminal in (listened.terminal, io.StringIO("typed")):
            with KeyListener(
                terminal, listened.screen, toggle_thinking=listened.toggle, keep=listened.kept.append
            ).listening():
                await asyncio.sleep(0.01)

    asyncio.run(turn())
    assert "".join(listened.kept) == ""


def test_the_terminal_marks_pastes_during_a_turn_and_no_longer(listened: Listened) -> None:
    listened.run(b"\x1b[200~one\r/quit\r\x1b[201~\x14", lambda: listened.toggles == 1)
    assert listened.kept == ["\x1b[200~one\r/quit\r\x1b[201~"]
    assert listened.screen.getvalue() == "\x1b[?2004h\x1b[?2004l"
