"""What becomes of keys that are pressed while nobody reads them."""

import io
import os
import pty
import termios
import tty
from collections.abc import Iterator
from select import select
from typing import TextIO

import pytest

from zkchat.cli.terminal import echo_off, echo_on, read_key, single_keys


class Keyboard:
    """A terminal with somebody in front of it."""

    def __init__(self) -> None:
        self._hand, self.end = pty.openpty()
        self.stream: TextIO = os.fdopen(os.dup(self.end), encoding="utf-8")

    def type(self, text: str) -> None:
        os.write(self._hand, text.encode())

    def has_arrived(self, seconds: float = 10) -> bool:
        """Whether what was typed is there to be read, which takes the terminal a moment."""
        return bool(select([self.end], [], [], seconds)[0])

    def shows(self, seconds: float = 10) -> str:
        """What the terminal has shown since it was looked at last."""
        return os.read(self._hand, 1_000).decode() if select([self._hand], [], [], seconds)[0] else ""

    def is_unseen(self) -> bool:
        """Whether nothing of what was typed is shown, though it has arrived."""
        return self.has_arrived() and self.shows(0) == ""

    @property
    def waiting(self) -> str:
        return os.read(self.end, 1_000).decode() if self.has_arrived() else ""

    def close(self) -> None:
        self.stream.close()
        os.close(self._hand)
        os.close(self.end)


@pytest.fixture
def keyboard() -> Iterator[Keyboard]:
    keyboard = Keyboard()
    yield keyboard
    keyboard.close()


def test_keys_are_kept_unseen_and_ctrl_d_is_one_of_them(keyboard: Keyboard) -> None:
    with echo_off(io.StringIO("typed\n")) as is_possible:
        assert not is_possible
    with echo_off(keyboard.stream):
        keyboard.type("half a question\x04")
        assert keyboard.is_unseen()
        assert keyboard.waiting == "half a question\x04"


def test_a_question_shows_what_is_typed_and_forgets_what_was_typed_before_it(keyboard: Keyboard) -> None:
    with echo_off(keyboard.stream):
        keyboard.type("y\n")
        assert keyboard.has_arrived()
        with echo_on(keyboard.stream):
            keyboard.type("no\n")
            assert keyboard.shows() == "no\r\n"
            assert keyboard.waiting == "no\n"
        keyboard.type("more")
        assert keyboard.is_unseen()


def test_the_terminal_is_left_as_it_was(keyboard: Keyboard) -> None:
    with pytest.raises(KeyError), echo_off(keyboard.stream):
        raise KeyError
    keyboard.type("hello\n")
    assert keyboard.shows() == "hello\r\n"


def test_enter_stays_what_it_is_for_the_prompt_and_ends_the_line_of_a_question(keyboard: Keyboard) -> None:
    with echo_off(keyboard.stream):
        keyboard.type("one\rtwo\n")
        assert keyboard.waiting == "one\rtwo\n"
        with echo_on(keyboard.stream):
            keyboard.type("yes\r")
            assert keyboard.waiting == "yes\n"


@pytest.mark.outside
def test_keys_that_no_question_read_are_gone_afterwards(keyboard: Keyboard) -> None:
    with single_keys(keyboard.stream) as is_possible:
        assert is_possible
        keyboard.type("y")
        assert read_key(keyboard.stream) == "y"
        keyboard.type("y")
        assert keyboard.has_arrived()
    tty.setcbreak(keyboard.end, termios.TCSANOW)
    assert not keyboard.has_arrived(0)


@pytest.mark.outside
@pytest.mark.parametrize(("typed", "read"), [("y\r", "y"), ("\r", "\r"), ("yes\r", ""), ("\x1b[A", ""), ("yy", "")])
def test_a_key_may_come_together_with_enter(keyboard: Keyboard, typed: str, read: str) -> None:
    with single_keys(keyboard.stream):
        tty.setraw(keyboard.end, termios.TCSANOW)  # Enter stays what it is
        keyboard.type(typed)
        assert read_key(keyboard.stream) == read
