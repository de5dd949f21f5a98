"""What every command shares: its input and output, and the options that many have."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from msgspec import Struct

from zkchat.core import Environment

if TYPE_CHECKING:
    from zkchat.core import ZkchatError


def _confirm_vault(context: typer.Context, vault: Path | None) -> Path | None:
    """Ask, before the command runs, about a folder that may be no vault."""
    from zkchat.cli.vault_consent import confirmed_vault

    return vault if context.resilient_parsing else confirmed_vault(current_io(), vault)


_WHICH_VAULT: Final = (
    "The folder of your notes. Else $ZKCHAT_VAULT, the nearest parent with .zkchat/ or .obsidian/ or that you "
    "confirmed, your default vault, or the current folder once you confirm it."
)
VaultOption = Annotated[
    Path | None,
    typer.Option(
        "--vault",
        metavar="FOLDER",
        help=_WHICH_VAULT,
        show_default=False,
        callback=_confirm_vault,
        readable=False,  # which whoever looks for the vault checks, with a sentence of ours
    ),
]
"""For commands that need a vault."""
SettingsVaultOption = Annotated[
    Path | None,
    typer.Option("--vault", metavar="FOLDER", help=_WHICH_VAULT, show_default=False, readable=False),
]
"""For commands that work without a vault, with the user's own settings."""
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The model to ask, e.g. quote; else the session's, else that of your settings.",
        show_default=False,
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask: the answer is yes.")]
_MIN_WIDTH: Final = 20
"""Columns below which lines are wrapped by the terminal itself."""


class CommandIO(Struct, frozen=True):
    """The input and output of one command, over the environment that `run` was given."""

    environment: Environment

    def out(self, text: str) -> None:
        """Print a line of the result to standard output."""
        self._write_line(self.environment.stdout, text)

    def out_exactly(self, text: str) -> None:
        """Write a text to standard output as it is, for a file or another program; never where that is a terminal."""
        stream = self.environment.stdout
        stream.flush()
        if (buffer := getattr(stream, "buffer", None)) is None:
            stream.write(text)
        else:
            buffer.write(text.encode(errors="surrogateescape"))

    def flush_out(self) -> None:
        """Send what was printed, so that what follows on standard error stands below it where both are one file."""
        with suppress(OSError):  # it fails again at the end, where that is told
            self.environment.stdout.flush()

    def note(self, text: str) -> None:
        """Print a line beside the result, to standard error."""
        self._write_line(self.environment.stderr, text)

    def note_wrapped(self, text: str, *, indent: int = 0) -> None:
        """The same, wrapped between words on a terminal; lines after the first are indented."""
        self.note(self.wrap(text, indent=indent))

    def wrap(self, text: str, *, indent: int = 0) -> str:
        """Wrap each line between words, where standard error is a terminal."""
        import os
        from textwrap import fill

        try:
            width = os.get_terminal_size(self.environment.stderr.fileno()).columns
        except (OSError, ValueError):  # no terminal
            return text
        return "\n".join(
            fill(
                line,
                max(width, _MIN_WIDTH),
                subsequent_indent=" " * indent,
                break_on_hyphens=False,
                break_long_words=False,
            )
            for line in text.split("\n")
        )

    def json(self, value: object) -> None:
        """Print the result for scripts. In ASCII, so that no text of a note acts on a terminal."""
        self.environment.stdout.write(json.dumps(value, default=_plain, indent=2) + "\n")

    def json_line(self, value: object) -> None:
        """Print one of many results on a line of its own, at once."""
        self.environment.stdout.write(json.dumps(value, default=_plain) + "\n")
        self.environment.stdout.flush()

    def confirm(self, question: str, *, default: bool = False) -> bool:
        """Ask a yes-or-no question; without a terminal the answer is no. What was typed before it is no answer.

        `default` is what Enter alone means.
        """
        from zkchat.render import never_fail_to_encode, sanitize_text
        from zkchat.repl import echo_on, without_paste_marks

        if not self.environment.stdin_is_tty:
            return False
        answer = ""
        never_fail_to_encode(self.environment.stderr)
        with echo_on(self.environment.stdin):
            self.environment.stderr.write(sanitize_text(f"{question} [{'Y/n' if default else 'y/N'}] "))
            self.environment.stderr.flush()
            try:
                answer = without_paste_marks(self.environment.stdin.readline())
            finally:
                if not answer:
                    self.note("")  # Ctrl-C and Ctrl-D do not end the line of the question
        if default and answer and not answer.strip():
            return True
        return answer.strip().casefold() in {"y", "yes"}

    def fail(self, error: "ZkchatError") -> None:
        indent = len("zkchat: ")
        self.note("\n".join(self.wrap(line, indent=indent) for line in f"zkchat: {error.message}".split("\n")))
        for line in error.hint.split("\n") if error.hint else ():
            self.note(self.wrap(f"{' ' * indent}{line}".rstrip(), indent=indent))

    @staticmethod
    def _write_line(stream: Any, text: str) -> None:
        from zkchat.render import never_fail_to_encode, sanitize_text

        never_fail_to_encode(stream)
        stream.write(sanitize_text(text) + "\n")


def known_keys(environment: Environment, *others: str) -> tuple[str, ...]:
    """The values of variables named like keys, and of the `others`; no export and no history may hold them."""
    endings = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
    variables = environment.variables.items()
    return tuple(value for name, value in variables if value and (name.upper().endswith(endings) or name in others))


def _plain(value: object) -> object:
    from zkchat.core import Value, to_plain

    return to_plain(value) if isinstance(value, Value) else str(value)


# Typer offers commands no public way to reach what `run` was given, so it is put here for the length of one call.
_current: ContextVar[CommandIO] = ContextVar("zkchat_command_io")


def current_io() -> CommandIO:
    return _current.get()


@contextmanager
def command_io(environment: Environment) -> Iterator[CommandIO]:
    token = _current.set(CommandIO(environment))
    try:
        yield _current.get()
    finally:
        _current.reset(token)
