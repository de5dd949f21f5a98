"""One key of the user as the answer to a question; a line where the terminal gives no single keys."""

from collections.abc import Iterator
from contextlib import contextmanager

from zkchat.cli.common import CommandIO
from zkchat.cli.line_input import read_answer
from zkchat.render.sanitize import never_fail_to_encode, sanitize_text
from zkchat.render.terminal import can_edit_text
from zkchat.repl.single_key import read_key
from zkchat.repl.terminal_modes import single_keys


class KeyReader:
    """Shows a prompt, and reads the key that answers it."""

    def __init__(self, io: CommandIO, *, plain: bool = False) -> None:
        """`plain`: lines are read instead of keys."""
        self._io = io
        self._terminal = io.environment.stdin
        self.reads_lines = plain or not can_edit_text(io.environment.variables)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Have keys handed over as they are typed; what was typed before and is left at the end is discarded."""
        if self.reads_lines:
            yield
            return
        with single_keys(self._terminal) as is_possible:
            self.reads_lines = not is_possible
            yield

    def read(self, prompt: str) -> str:
        """The key that was pressed; of a line its number or its first character, empty for an empty one."""
        if self.reads_lines:
            line = self.read_line(prompt)
            return line if line.isdecimal() else line[:1]
        self._write(prompt)
        key = ""
        while not key:
            key = read_key(self._terminal)
        self._io.note(key if key.isprintable() else "")
        return key

    def read_rest_of_number(self, first: str) -> str:
        """A number that begins with the key that was read, and ends with Enter."""
        if self.reads_lines:
            return first
        number = first
        self._write(first)
        while (typed := read_key(self._terminal)).isdecimal():
            number += typed
            self._write(typed)
        self._io.note("")
        return number

    def read_line(self, prompt: str) -> str:
        """A line of the user; Ctrl-D and Ctrl-C where these were pressed instead."""
        return read_answer(self._io, prompt)

    def _write(self, text: str) -> None:
        stream = self._io.environment.stderr
        never_fail_to_encode(stream)
        stream.write(sanitize_text(text))
        stream.flush()
