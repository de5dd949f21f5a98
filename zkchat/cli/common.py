"""What every command shares: its input and output, and the options that many have."""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO, TypeVar

import typer
from msgspec import UNSET, Struct, field

from zkchat import render
from zkchat.core import ConfigError, Environment, ExitCode, UsageError, Value, ZkchatError, install_command, to_plain

if TYPE_CHECKING:
    from zkchat.app import Workspace
    from zkchat.core import SessionStore


def _confirm_vault(context: typer.Context, vault: Path | None) -> Path | None:
    """Ask, before the command runs, about a folder that may be no vault."""
    from zkchat.cli.vault_consent import confirmed_vault

    return vault if context.resilient_parsing else confirmed_vault(current_io(vault))


def argument(name: str, about: str, **bounds: Any) -> Any:
    """A value that is known by its place on the command line."""
    return typer.Argument(metavar=name, help=about, show_default=False, **bounds)


def option(names: str, value: str | None, about: str, *, show_default: bool = False, **bounds: Any) -> Any:
    """An option with a value, which the help calls so."""
    return typer.Option(*names.split(), metavar=value, help=about, show_default=show_default, **bounds)


def flag(names: str, about: str) -> Any:
    return typer.Option(*names.split(), help=about)


_WHICH_VAULT: Final = "The folder of your notes. Default: the folder you are in, or the one chosen in `zkchat setup`."
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
SettingsVaultOption = Annotated[Path | None, option("--vault", "FOLDER", _WHICH_VAULT, readable=False)]
"""For commands that work without a vault, with the user's own settings."""
JsonOption = Annotated[bool, flag("--json", "Print JSON for scripts.")]
ModelOption = Annotated[
    str | None,
    option("--model", "NAME", "The model that answers; `quote` for none. Default: the session's, or your settings'."),
]
ContinueOption = Annotated[bool, flag("--continue -c", "Continue the last session of this vault.")]
ResumeOption = Annotated[
    bool, flag("--resume -r", "Choose a session to continue. Type words to find it by what was said.")
]
YesOption = Annotated[bool, flag("--yes -y", "Do not ask; assume yes.")]


class CommandIO(Struct, frozen=True):
    """The input and output of one command, over the environment that `run` was given."""

    environment: Environment
    vault: Path | None = None
    """The folder that `--vault` names."""
    _prose: list[int] = field(default_factory=list)

    def workspace(self, *, needs_vault: bool = True) -> "Workspace":
        """The vault with its settings. Raises `VaultError` and `ConfigError`."""
        from zkchat.app import load_workspace

        return load_workspace(self.environment, self.vault, needs_vault=needs_vault)

    def sessions(self) -> "AbstractContextManager[SessionStore]":
        from zkchat.app import stores

        return stores.open_sessions(self.environment, self.vault, self)

    def out(self, text: str, *, indent: int | None = None, as_it_is: bool = False) -> None:
        """Print lines of the result to standard output, wrapped between words on a terminal.

        `indent` is for what goes on below a line. What is to be copied is printed as it is.
        """
        self._write_line(self.environment.stdout, text, indent, as_it_is)

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

    def note(self, text: str, *, indent: int | None = None, as_it_is: bool = False) -> None:
        """Print lines beside the result, to standard error, in the same way."""
        self._write_line(self.environment.stderr, text, indent, as_it_is)

    def wrap(self, text: str, stream: TextIO, *, indent: int | None = None) -> str:
        """The text as it is shown where the stream is a terminal."""
        width = render.columns({}, stream)
        return render.wrap(text, width, prose=self._prose_width(), indent=indent) if width else text

    def _prose_width(self) -> int:
        """By the setting `ui.width`, which is read once; as it is by default where the settings cannot be read."""
        if not self._prose:
            self._prose.append(render.PROSE_WIDTH)
            with suppress(ZkchatError):
                self._prose[0] = self.workspace(needs_vault=False).settings.ui.width
        return self._prose[0]

    def json(self, value: object) -> None:
        """Print the result for scripts. In ASCII, so that no text of a note acts on a terminal."""
        self.environment.stdout.write(json.dumps(value, default=_plain, indent=2) + "\n")

    def json_line(self, value: object) -> None:
        """Print one of many results on a line of its own, at once."""
        self.environment.stdout.write(json.dumps(value, default=_plain) + "\n")
        self.environment.stdout.flush()

    def confirm(self, question: str) -> bool:
        """Ask a yes-or-no question; without a terminal the answer is no. What was typed before it is no answer."""
        if not self.environment.stdin_is_tty:
            return False
        from zkchat.cli.key_questions import KeyQuestions

        questions = KeyQuestions(self)
        is_agreed = questions.confirm(question)
        if questions.cancelled:
            raise KeyboardInterrupt
        return is_agreed

    def fail(self, error: ZkchatError) -> None:
        indent = len("zkchat: ")
        self.note(f"zkchat: {error.message}", indent=indent)
        for line in error.hint.split("\n") if error.hint else ():
            self.note(f"{' ' * indent}{line}".rstrip(), indent=indent)

    def _write_line(self, stream: TextIO, text: str, indent: int | None, as_it_is: bool) -> None:
        render.never_fail_to_encode(stream)
        shown = render.sanitize_text(text)
        stream.write((shown if as_it_is else self.wrap(shown, stream, indent=indent)) + "\n")


def unreadable(
    file: str, error: OSError | ValueError, hint: str = "Give another file, or - for standard input."
) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else None
    return UsageError(f"{file} cannot be read: {(reason or str(error)).lower()}.", hint=hint)


def require(module: str, what: str, extra: str) -> None:
    """Raises `ConfigError` where a package is not installed that comes with an extra."""
    if find_spec(module) is None:
        raise ConfigError(f"{what}, which is not installed.", hint=f"Install it: {install_command(extra)}")


def _plain(value: object) -> object:
    return to_plain(value) if isinstance(value, Value) else str(value)


Function = TypeVar("Function", bound="Callable[..., Told]")
Returned = TypeVar("Returned")


class Told(Struct, frozen=True, kw_only=True):
    """What a command tells: data for scripts, else lines for a person and what stands beside them."""

    data: Any = None
    """`UNSET` where it is printed already."""
    lines: Iterable[str] = ()
    notes: Iterable[str] = ()
    show: Callable[[], None] | None = None
    """Prints it, where lines are not enough."""
    exit_code: int = ExitCode.OK
    then: Callable[[], None] | None = None
    """Done once it is told."""


def command(app: typer.Typer, name: str | None = None, *, vault: Any = None) -> Callable[[Function], Function]:
    """Make a command of a function, which is given input and output, and its own parameters.

    `--vault` and `--json` come after those; what the function returns is printed.
    """

    def declare(function: Function) -> Function:
        app.command(name)(told_command(function, vault or VaultOption))
        return function

    return declare


def told_command(function: Callable[..., Told], vault_option: Any = VaultOption) -> Callable[..., int]:
    def run(*, vault: Path | None, json_output: bool, **given: Any) -> int:
        io = current_io(vault)
        told = function(io, **given)
        if json_output:
            if told.data is not UNSET:
                io.json(told.data)
        else:
            if told.show:
                told.show()
            for line in told.lines:
                io.out(line)
            io.flush_out()
            for note in told.notes:
                io.note(note)
        if told.then:
            told.then()
        return told.exit_code

    own = [*inspect.signature(function).parameters.values()][1:]
    return with_parameters(
        run, function, [*own, parameter("vault", vault_option, None), parameter("json_output", JsonOption, False)]
    )


def parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def with_parameters(
    run: Callable[..., Returned], function: Callable[..., Any], parameters: Iterable[inspect.Parameter]
) -> Callable[..., Returned]:
    """Let Typer see these parameters, and the name and the help of the function behind a command."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    run.__signature__ = inspect.Signature([each.replace(kind=keyword) for each in parameters])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    return run


# Typer offers commands no public way to reach what `run` was given, so it is put here for the length of one call.
_current: ContextVar[CommandIO] = ContextVar("zkchat_command_io")


def current_io(vault: Path | None = None) -> CommandIO:
    return CommandIO(_current.get().environment, vault)


@contextmanager
def command_io(environment: Environment) -> Iterator[CommandIO]:
    token = _current.set(CommandIO(environment))
    try:
        yield _current.get()
    finally:
        _current.reset(token)
