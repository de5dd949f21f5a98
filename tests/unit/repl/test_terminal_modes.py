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
        self._hand, self._end = pty.openpty()
        self.stream: TextIO = os.fdopen(os.dup(self._end), encoding="utf-8")

    def type(self, text: str) -> None:
        os.write(self._hand, text.encode())

    def has_arrived(self) -> bool:
        """Whether what was typed is there to be read, which takes the terminal a moment."""
        return bool(select([self._end], [], [], 10)[0])

    @property
    def seen(self) -> str:
        """What the terminal has shown since it was looked at last."""
        return os.read(self._hand, 1_000).decode() if select([self._hand], [], [], 0.5)[0] else ""

    @property
    def waiting(self) -> str:
        return os.read(self._end, 1_000).decode() if select([self._end], [], [], 0.5)[0] else ""

    def close(self) -> None:
        self.stream.close()
        os.close(self._hand)
        os.close(self._end)


@pytest.fixture
def keyboard() -> Iterator[Keyboard]:
    keyboard = Keyboard()
    yield keyboard
    keyboard.close()


def test_keys_are_kept_unseen_and_ctrl_d_is_one_of_them(keyboard: Keyboard) -> None:
    with echo_off(keyboard.stream):
        keyboard.type("half a question\x04")
        assert keyboard.seen == ""
        assert keyboard.waiting == "half a question\x04"


def test_a_question_shows_what_is_typed_and_forgets_what_was_typed_before_it(keyboard: Keyboard) -> None:
    with echo_off(keyboard.stream):
        keyboard.type("y\n")
        assert keyboard.has_arrived()
        with echo_on(keyboard.stream):
            keyboard.type("no\n")
            assert keyboard.seen == "no\r\n"
            assert keyboard.waiting == "no\n"
        keyboard.type("more")
        assert keyboard.seen == ""


def test_the_terminal_is_left_as_it_was(keyboard: Keyboard) -> None:
    with pytest.raises(KeyError), echo_off(keyboard.stream):
        raise KeyError
    keyboard.type("hello\n")
    assert keyboard.seen == "hello\r\n"


def test_a_stream_in_memory_has_no_keys_to_be_seen() -> None:
    with echo_off(io.StringIO("typed\n")) as is_possible:
        assert not is_possible


def test_enter_stays_what_it_is_for_the_prompt_and_ends_the_line_of_a_question(keyboard: Keyboard) -> None:
    with echo_off(keyboard.stream):
        keyboard.type("one\rtwo\n")
        assert keyboard.waiting == "one\rtwo\n"
        with echo_on(keyboard.stream):
            keyboard.type("yes\r")
            assert keyboard.waiting == "yes\n"


@pytest.mark.outside
def test_keys_that_no_question_read_are_gone_afterwards() -> None:
    master, slave = pty.openpty()
    try:
        with os.fdopen(os.dup(slave)) as terminal:
            with single_keys(terminal) as is_possible:
                assert is_possible
                os.write(master, b"y")
                assert read_key(terminal) == "y"
                os.write(master, b"y")
                assert select([slave], [], [], 10)[0], "it has arrived"
            tty.setcbreak(slave, termios.TCSANOW)
            assert not select([slave], [], [], 0)[0]
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.outside
@pytest.mark.parametrize(
    ("typed", "read"), [(b"y\r", "y"), (b"\r", "\r"), (b"yes\r", ""), (b"\x1b[A", ""), (b"yy", "")]
)
def test_a_key_may_come_together_with_enter(typed: bytes, read: str) -> None:
    master, slave = pty.openpty()
    try:
        with os.fdopen(os.dup(slave)) as terminal, single_keys(terminal):
            tty.setraw(slave, termios.TCSANOW)  # Enter stays what it is
            os.write(master, typed)
            assert read_key(terminal) == read
    finally:
        os.close(master)
        os.close(slave)
