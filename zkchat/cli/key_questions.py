"""Questions at the terminal: one key, or one line."""

import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.text import Text

from zkchat.cli.common import CommandIO
from zkchat.cli.output import consoles
from zkchat.cli.terminal import CTRL_C, CTRL_D, ESCAPE, echo_on, read_key, single_keys, without_paste_marks
from zkchat.core import NO_COLOR, USUAL_COLORS, ColorChoice, Environment
from zkchat.render import can_edit_text, columns, never_fail_to_encode, sanitize_text, wrap

_NO: Final = frozenset({"n", "", "\r", "\n", CTRL_C, CTRL_D, ESCAPE})


def read_line(io: CommandIO, prompt: str) -> str:
    """Read a line without editing; a terminal shows the prompt. Raises EOFError at the end."""
    environment = io.environment
    if environment.stdin_is_tty:
        environment.stderr.write(sanitize_text(prompt))
        environment.stderr.flush()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the loop's own would not be heard here
    try:
        line = environment.stdin.readline()
    except KeyboardInterrupt:
        if environment.stdin_is_tty:
            raise
        raise EOFError from None
    if not line:
        if environment.stdin_is_tty:
            io.note("")  # Ctrl-D does not end the line of the prompt
        raise EOFError
    return line


def can_draw_prompt(environment: Environment) -> bool:
    """Whether the terminal can be drawn on while the user types."""
    return environment.stdin_is_tty and environment.stdout_is_tty and can_edit_text(environment.variables)


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
        """A line that answers a question; Ctrl-D at the end of the input, Ctrl-C where that was pressed."""
        environment = self._io.environment
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the loop's own would not be heard here,
        wakeup = signal.set_wakeup_fd(-1)  # and is not to hear of it afterwards
        line, ended_by = "", CTRL_D
        try:
            with echo_on(environment.stdin):
                environment.stderr.write(sanitize_text(prompt))
                environment.stderr.flush()
                line = without_paste_marks(environment.stdin.readline())
        except KeyboardInterrupt:
            ended_by = CTRL_C
        finally:
            signal.set_wakeup_fd(wakeup)
            signal.signal(signal.SIGINT, before)
            if not line:
                self._io.note("")  # Ctrl-C and Ctrl-D do not end the line of the question
        return line.strip() if line else ended_by

    def _write(self, text: str) -> None:
        stream = self._io.environment.stderr
        never_fail_to_encode(stream)
        stream.write(sanitize_text(text))
        stream.flush()


class KeyQuestions(KeyReader):
    """Asks one question after the other. Where no single keys can be read, lines answer them.

    `cancelled` tells afterwards whether Ctrl-C ended them.
    """

    def __init__(self, io: CommandIO, *, color: ColorChoice = USUAL_COLORS, plain: bool = False) -> None:
        """`plain`: lines are read instead of keys, and nothing is drawn in colour."""
        super().__init__(io, plain=plain)
        self._console = consoles(io.environment, NO_COLOR if plain else color)[1]
        self.cancelled = False

    @property
    def width(self) -> int:
        return self._console.width

    def show(self, *lines: Text) -> None:
        for line in lines:
            self._console.print(line, soft_wrap=True)

    def ask(self, question: str, keys: Sequence[tuple[str, str]], *, others: Iterable[str] = (), end: str = "q") -> str:
        """Ask until one of the keys is pressed, each of which comes with what it does, or one of the `others`.

        Ctrl-C, Ctrl-D and Esc are `end`.
        """
        names = {*others, *(key for key, _ in keys)}
        while True:
            typed = self.read(self._prompt(question, keys))
            if typed in {CTRL_C, CTRL_D, ESCAPE}:
                self.cancelled = typed == CTRL_C
                return end
            if (key := typed.casefold()) in names:
                return key
            for name, meaning in keys:
                self._io.note(f"  {name}  {meaning}")

    def confirm(self, question: str) -> bool:
        """Whether the answer is y, a key alone; n, Enter, Ctrl-C, Ctrl-D and Esc are a no, and other keys nothing."""
        shown, width = f"{sanitize_text(question)} [y/N]", columns({}, self._io.environment.stderr)
        prompt = f"{wrap(shown, width, prose=width) if width else shown} "
        with self.listening():
            while (typed := self.read(prompt).casefold()) not in _NO:
                if typed == "y":
                    return True
        self.cancelled = typed == CTRL_C
        return False

    def _prompt(self, question: str, keys: Sequence[tuple[str, str]]) -> str:
        explained = f"{question} {' · '.join(f'{key} {meaning}' for key, meaning in keys)} "
        return explained if len(explained) <= self.width else f"{question} [{' '.join(k for k, _ in keys)} ?] "
