"""Questions to the user at the terminal that one key answers."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from zkchat.cli.common import CommandIO
from zkchat.cli.key_reader import KeyReader
from zkchat.cli.output import consoles
from zkchat.repl.single_key import CTRL_C, CTRL_D, ESCAPE

if TYPE_CHECKING:
    from rich.text import Text


class KeyQuestions:
    """Asks one question after the other. Where no single keys can be read, lines answer them.

    `cancelled` tells afterwards whether Ctrl-C ended them.
    """

    def __init__(self, io: CommandIO, *, color: str = "auto", plain: bool = False) -> None:
        """`plain`: lines are read instead of keys, and nothing is drawn in colour."""
        self._io = io
        self._reader = KeyReader(io, plain=plain)
        self._console = consoles(io.environment, "never" if plain else color)[1]
        self.cancelled = False

    def listening(self) -> AbstractContextManager[None]:
        return self._reader.listening()

    @property
    def width(self) -> int:
        return self._console.width

    def show(self, *lines: "Text") -> None:
        for line in lines:
            self._console.print(line, soft_wrap=True)

    def ask(self, question: str, keys: Sequence[tuple[str, str]], *, others: Iterable[str] = (), end: str = "q") -> str:
        """Ask until one of the keys is pressed, each of which comes with what it does, or one of the `others`.

        Ctrl-C, Ctrl-D and Esc are `end`.
        """
        names = {*others, *(key for key, _ in keys)}
        while True:
            typed = self._reader.read(self._prompt(question, keys))
            if typed in {CTRL_C, CTRL_D, ESCAPE}:
                self.cancelled = typed == CTRL_C
                return end
            if (key := typed.casefold()) in names:
                return key
            for name, meaning in keys:
                self._io.note(f"  {name}  {meaning}")

    def confirm(self, question: str, yes: str) -> bool:
        """Whether the answer is y, which does what `yes` says; n, Enter, Ctrl-C, Ctrl-D and Esc are a no."""
        with self.listening():
            return self.ask(question, [("y", yes), ("n", "no")], others=("", "\r", "\n"), end="n") == "y"

    def _prompt(self, question: str, keys: Sequence[tuple[str, str]]) -> str:
        explained = f"{question} {' · '.join(f'{key} {meaning}' for key, meaning in keys)} "
        return explained if len(explained) <= self.width else f"{question} [{' '.join(k for k, _ in keys)} ?] "
