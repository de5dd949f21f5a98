"""Questions to the user at the terminal that one key answers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zkchat.cli.common import CommandIO
from zkchat.render.terminal import can_edit_text
from zkchat.repl.single_key import CTRL_C, CTRL_D, ESCAPE, SingleKeys

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


class KeyQuestions:
    """Asks one question after the other. Where no single keys can be read, lines answer them.

    `cancelled` tells afterwards whether Ctrl-C ended them.
    """

    def __init__(self, io: CommandIO, *, color: str = "auto", plain: bool = False) -> None:
        """`plain`: lines are read instead of keys, and nothing is drawn in colour."""
        self._io = io
        self._color = "never" if plain else color
        self._keys = SingleKeys(io.environment.stdin)
        self._reads_lines = plain or not can_edit_text(io.environment.variables)
        self._made: Console | None = None
        self.cancelled = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        if self._reads_lines:
            yield
            return
        with self._keys.listening() as is_possible:
            self._reads_lines = not is_possible
            yield

    @property
    def width(self) -> int:
        return self._console.width

    def show(self, *lines: "Text") -> None:
        for line in lines:
            self._console.print(line, soft_wrap=True)

    def ask(self, question: str, keys: Sequence[tuple[str, str]], *, others: str = "", end: str = "q") -> str:
        """Ask until one of the keys is pressed, each of which comes with what it does, or one of the `others`.

        Ctrl-C, Ctrl-D and Esc are `end`.
        """
        names = {*others, *(key for key, _ in keys)}
        while True:
            typed = self._read(self._prompt(question, keys))
            if typed in {CTRL_C, CTRL_D, ESCAPE}:
                self.cancelled = typed == CTRL_C
                return end
            if (key := typed.casefold()) in names:
                return key
            for name, meaning in keys:
                self._io.note(f"  {name}  {meaning}")

    @property
    def _console(self) -> "Console":
        if self._made is None:
            from zkchat.cli.output import consoles

            self._made = consoles(self._io.environment, self._color)[1]
        return self._made

    def _prompt(self, question: str, keys: Sequence[tuple[str, str]]) -> str:
        explained = f"{question} {' · '.join(f'{key} {meaning}' for key, meaning in keys)} "
        return explained if len(explained) <= self.width else f"{question} [{' '.join(k for k, _ in keys)} ?] "

    def _read(self, prompt: str) -> str:
        from zkchat.cli.line_input import read_answer

        if self._reads_lines:
            return read_answer(self._io, prompt)[:1]
        from zkchat.render.sanitize import never_fail_to_encode, sanitize_text

        stream = self._io.environment.stderr
        never_fail_to_encode(stream)
        stream.write(sanitize_text(prompt))
        stream.flush()
        key = ""
        while not key:
            key = self._keys.read()
        self._io.note(key if key.isprintable() else "")
        return key
