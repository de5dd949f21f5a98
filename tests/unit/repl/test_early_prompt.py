"""The prompt that is there before the chat is."""

import os
import pty
from collections.abc import Iterator

import pytest

from tests.support.waiting import eventually
from zkchat.repl.early_prompt import PROMPT, EarlyPrompt, shown_text
from zkchat.repl.terminal_modes import echo_off


class Desk:
    """A terminal with somebody in front of it, and an early prompt on it."""

    def __init__(self) -> None:
        self._hand, self._end = pty.openpty()
        self.prompt = EarlyPrompt(self._end, self._end)
        self.seen = ""

    def type(self, keys: str) -> None:
        os.write(self._hand, keys.encode())

    def sees(self, text: str) -> None:
        while text not in self.seen:
            self.seen += os.read(self._hand, 1_000).decode()

    def close(self) -> None:
        self.prompt.end()
        os.close(self._hand)
        os.close(self._end)


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    with os.fdopen(os.dup(desk._end)) as terminal, echo_off(terminal):
        yield desk
    desk.close()


def test_it_shows_what_is_typed_and_keeps_it_once(desk: Desk) -> None:
    desk.prompt.start()
    desk.sees(PROMPT)
    desk.type("Wie spät?")
    desk.sees("Wie spät?")
    desk.type("\rnext")
    eventually(lambda: desk.prompt._typed.endswith(b"next"))
    assert desk.prompt.take_typed() == "Wie spät?\rnext".encode()
    assert desk.prompt.take_typed() == b""
    assert "next" not in desk.seen, "what comes after Enter belongs to the next prompt"


def test_it_is_erased_and_reads_no_more_keys(desk: Desk) -> None:
    desk.prompt.start()
    desk.sees(PROMPT)
    desk.prompt.end()
    desk.sees("\x1b8\x1b[J")
    desk.type("for the next one")
    assert os.read(desk._end, 100) == b"for the next one"
    assert desk.prompt.take_typed() == b""
    desk.prompt.end()


def test_one_that_was_not_started_holds_nothing(desk: Desk) -> None:
    assert desk.prompt.take_typed() == b""


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("slepp\x7f\x7fep", "sleep"),
        ("\x7fa", "a"),
        ("one\rtwo", "one"),
        ("up\x1b[A", "up"),
        ("\x1b]0;title\x07", ""),
        ("0123456789abc", "0123456789"),
        ("漢漢漢漢", "漢漢漢"),
    ],
)
def test_only_text_is_shown_and_no_more_than_fits_the_row(typed: str, shown: str) -> None:
    assert shown_text(typed.encode(), columns=10) == shown


def test_half_a_character_waits_for_its_rest() -> None:
    assert shown_text("ä".encode()[:1], columns=10) == ""


def test_pasted_lines_are_told_from_typed_ones_as_long_as_it_is_there(desk: Desk) -> None:
    desk.prompt.start()
    desk.sees("\x1b[?2004h")
    desk.prompt.end()
    desk.sees("\x1b[?2004l")
