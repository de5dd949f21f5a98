"""Single keys of a terminal."""

import os
import pty
import termios
import tty
from select import select

import pytest

from zkchat.repl.keys import read_key, single_keys


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
