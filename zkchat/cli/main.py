"""The command line: one run of a command, and the one place where errors become sentences and exit codes."""

import errno
import os
import re
import traceback
from collections import UserDict
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Final

import typer
import typer.main
from msgspec.structs import replace
from typer._click import Command, Context
from typer._click.shell_completion import CompletionItem
from typer.core import TyperGroup

from zkchat import repl
from zkchat.cli.command_table import BELOW, EPILOG, GOAL, HELP, HELP_OPTIONS, MEANT, PLACES, SECTIONS
from zkchat.cli.common import CommandIO, ContinueOption, ResumeOption, command_io, current_io, flag
from zkchat.cli.help import DescribedGroup, use_layout
from zkchat.cli.terminal import Terminated
from zkchat.core import Environment, ExitCode, UnknownProfile, ZkchatError, debug_log_file
from zkchat.version import __version__

AGENT_AS_COMMAND: Final = re.compile(r"@(\w[\w-]*)")


_NO_NUMBER: Final = re.compile(r".+ is not a valid (int|float)(?: range)?\.?", re.DOTALL)
_OUT_OF_RANGE: Final = re.compile(r"(\S+) is not in the range (?:(\S+)<=)?x(?:<=(\S+)|>=(\S+))\.")
_NO_COMMAND: Final = re.compile(r"No such command '([\w-]+)'")
_EXTRA: Final = re.compile(r"unexpected extra argument.* \((.+)\)", re.DOTALL)
_SHORT_OPTION: Final = re.compile(r"-[^-]")


class LazyCommands(UserDict[str, Any]):
    """Commands by name. In the place of one stands where it is, until it is asked for."""

    def __getitem__(self, name: str) -> Command:
        found: Command | str = self.data[name]
        if isinstance(found, str):
            # The command at `module.attribute` of this package, or the one made of an action.
            *package, module, attribute = found.split(".")
            if package:
                target = import_module("zkchat.cli.actions").command_of(module, attribute)
            else:
                target = getattr(import_module(f"zkchat.cli.{module}"), attribute)
            alone = typer.Typer(rich_markup_mode=None)
            if isinstance(target, typer.Typer):
                alone.add_typer(target, name=name)
            else:
                alone.command(name=name)(target)
            use_layout(alone)
            command = typer.main.get_group(alone).commands[name]
            if name in BELOW and isinstance(command, TyperGroup):
                command.commands = LazyCommands(command.commands, **BELOW[name])
            self.data[name] = found = command
        return found


class RootGroup(DescribedGroup):
    """`zkchat` itself. What is shown of its commands is in the table."""

    sections = SECTIONS

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = LazyCommands(PLACES)

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        return ['["QUESTION"] [-c] [-r] [OPTIONS]', "|", *super().collect_usage_pieces(ctx)[1:]]

    def list_commands(self, _context: Context) -> list[str]:
        return [*self.commands]

    def shell_complete(self, ctx: Context, incomplete: str) -> list[CompletionItem]:
        rows = [row for rows in self.sections.values() for row in rows if row[0].startswith(incomplete)]
        rows = rows or [(name, "") for name in PLACES if name.startswith(incomplete)]
        options = super(TyperGroup, self).shell_complete(ctx, incomplete)
        return [*(CompletionItem(name, help=line) for name, line in rows), *options]


app = typer.Typer(
    name="zkchat",
    cls=RootGroup,
    help=HELP,
    epilog=EPILOG,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help costs half the start-up time of help drawn with Rich.
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"zkchat {__version__}")
        raise typer.Exit


@app.callback()
def zkchat(
    context: typer.Context,
    _continue: ContinueOption = False,
    _resume: ResumeOption = False,
    _debug: Annotated[bool, flag("--debug", "Log requests, replies, decisions and times, without keys.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Chat with your Markdown notes in the terminal. See the sources of each answer, and what fills the context.

    In a vault, `zkchat` alone starts the chat.
    """
    if context.invoked_subcommand is None:
        from zkchat.cli.chat import start

        start(current_io())


@cache
def commands() -> Any:
    """The tree of commands, built once for this process: Typer would build it anew at each call."""
    return typer.main.get_command(app)


def run(arguments: Sequence[str], environment: Environment) -> int:
    """Run one command and return its exit code. No exception leaves it.

    `--debug`, anywhere before `--`, sets `debug.log` for this call.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    without = [each for each in arguments[:end] if each != "--debug"]
    if len(without) == end:
        return _run(arguments, environment)
    variables = {**environment.variables, "ZKCHAT_DEBUG__LOG": "true"}
    code = _run([*without, *arguments[end:]], replace(environment, variables=variables))
    if file := debug_log_file():
        CommandIO(environment).note(f"The debug log: {file}")
    return code


def _run(arguments: Sequence[str], environment: Environment) -> int:
    agent_name = AGENT_AS_COMMAND.fullmatch(arguments[0]) if arguments else None
    arguments = with_command(arguments)
    with redirect_stdout(environment.stdout), redirect_stderr(environment.stderr), command_io(environment) as io:
        try:
            code = commands()(arguments, prog_name="zkchat", standalone_mode=False)
            environment.stdout.flush()
        except (KeyboardInterrupt, typer.Abort):
            return ExitCode.INTERRUPTED
        except Terminated as end:
            io.note(f"zkchat: Ended by {end.signal.name}. Any unfinished answer is kept.")
            return 128 + end.signal
        except (BrokenPipeError, SystemExit):  # Typer makes the second of the first
            # `zkchat … | head` is not an error; what is left in the buffer has nowhere to go.
            devnull = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(devnull, environment.stdout.fileno())
            except (OSError, ValueError):
                pass
            finally:
                os.close(devnull)
            return ExitCode.OK
        except Exception as error:  # noqa: BLE001 - the error boundary
            code = _report_error(io, error)
            # The name stood in the place of a command.
            return ExitCode.USAGE if agent_name and isinstance(error, UnknownProfile) else code
        return _check_output(io, code if isinstance(code, int) else ExitCode.OK)


def with_command(arguments: Sequence[str]) -> list[str]:
    """The arguments with a command first: one that follows `--vault DIR` or the like, `ask` for an agent or before a
    question, `sessions list` for `sessions` alone, and else `chat` before options, which `zkchat` alone starts."""
    agent_name = AGENT_AS_COMMAND.fullmatch(arguments[0]) if arguments else None
    named = ["ask", "--agent", agent_name[1], *arguments[1:]] if agent_name else _named(arguments)
    ask, goal = GOAL.split()
    return [GOAL, *(each for each in named[1:] if each != goal)] if named[:1] == [ask] and goal in named else named


def _named(arguments: Sequence[str]) -> list[str]:
    at = 0
    while at < len(arguments) and arguments[at] in {"--vault", "--model", "--agent"}:
        at += 2
    if at and at < len(arguments) and (arguments[at] in PLACES or _is_question(arguments[at])):
        return _named([*arguments[at:], *arguments[:at]])
    first = arguments[0] if arguments else ""
    if first.startswith("-") and first not in {"--version", *HELP_OPTIONS}:
        return ["chat", *arguments]
    if first == "sessions" and all(each.startswith("-") and each not in HELP_OPTIONS for each in arguments[1:2]):
        return [first, "list", *arguments[1:]]
    return ["ask", *arguments] if _is_question(first) and first not in PLACES else [*arguments]


def _is_question(word: str) -> bool:
    return " " in word.strip() or word.endswith(("?", "？"))


def _report_error(io: CommandIO, error: Exception) -> int:
    """Print an error and return its exit code; the trace of a bug is written to a file."""
    if isinstance(error, ZkchatError):
        io.fail(error)
        return error.exit_code
    if isinstance(error, typer.TyperException):
        io.note(f"zkchat: {_usage_message(error)}")
        io.note(f"        {_way_out(error)}")
        return ExitCode.USAGE
    report = io.environment.cache_dir / "crash.txt"
    # Frames and the message, never local variables: those may hold a key or a note.
    lines = [f"zkchat {__version__}\n", *traceback.format_exception(error)]
    io.note(f"zkchat: This is a bug: {type(error).__name__}: {error}")
    kept = f"The details are in {report}; please report it with that file."
    try:
        report.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        report.touch(mode=0o600)
        report.write_text("".join(lines), encoding="utf-8")
    except OSError:
        kept = "The details could not be written anywhere."
    io.note(f"        {kept}")
    return ExitCode.BUG


def _check_output(io: CommandIO, code: int) -> int:
    """The exit code, or the one for lost output where the command itself succeeded."""
    failure = io.environment.output_failure
    if failure is None or code != ExitCode.OK:
        return code
    reason = "it is closed" if failure.errno == errno.EBADF else (failure.strerror or str(failure)).lower()
    io.note(f"zkchat: The result could not be written to standard output: {reason}.")
    io.note("        The command finished; only its output is lost.")
    return ExitCode.OUTPUT


def _usage_message(error: typer.TyperException) -> str:
    error.message = _plain(error.message)
    if alike := getattr(error, "possibilities", None):
        close = get_close_matches(getattr(error, "option_name", ""), alike, n=1, cutoff=0.75)  # Typer names almost any
        return f"{error.message}.{''.join(f' Did you mean {each}?' for each in close)}"
    if (unknown := _NO_COMMAND.match(error.message)) and _meant(_words(error), unknown[1]):
        return f"{unknown[0]}."  # Typer's guess would stand beside what is known
    sentence = " ".join(error.format_message().split()).rstrip(".")
    return sentence if sentence.endswith("?") else f"{sentence}."


def _way_out(error: typer.TyperException) -> str:
    """The help of the command; where a search is to leave a word out, how that is typed."""
    words = _words(error)
    if words == ["search"] and _SHORT_OPTION.fullmatch(getattr(error, "option_name", "")):
        return "To exclude a word, put quotes around the whole query: zkchat search 'tea -milk'"
    unknown = _NO_COMMAND.match(error.message)
    if unknown and (meant := _meant(words, unknown[1])):
        return f"There is: {meant}"
    if unknown and words == ["sessions"]:
        return f"To search your conversations for it: zkchat sessions search {unknown[1]}"
    if unknown and not words and "Did you mean" not in error.message:
        return f"To ask about it: zkchat ask {unknown[1]}. All commands: zkchat --help"
    if words == ["sessions", "list"] and (extra := _EXTRA.search(error.message)):
        return f"To find what was said, with its date: zkchat sessions search {extra[1]}"
    return f"See: {' '.join(['zkchat', *words, '--help'])}"


def _words(error: typer.TyperException) -> list[str]:
    """The names of the command that was called, without `zkchat`."""
    context = getattr(error, "ctx", None)
    return context.command_path.split()[1:] if context else []


def _meant(words: Sequence[str], name: str) -> str:
    """What does what somebody typed a wrong name for; empty where that cannot be told."""
    return MEANT.get(" ".join(words), {}).get(name) or ", ".join(_with_that_name(name))


def _with_that_name(name: str) -> Iterator[str]:
    """The commands below others that have this name, and that of the chat."""
    groups = {group: commands().commands[group] for rows in SECTIONS.values() for group, _ in rows}
    for group, command in groups.items():
        if isinstance(command, TyperGroup) and name in command.commands:
            yield f"zkchat {group} {name}"
    if any(name in (command.name, *command.aliases) for command in repl.COMMANDS):
        yield f"/{name} in a chat"


def _plain(message: str) -> str:
    if kind := _NO_NUMBER.fullmatch(message):
        return "it must be a whole number" if kind[1] == "int" else "it must be a number"
    if not (out := _OUT_OF_RANGE.fullmatch(message)):
        return message
    least, most = out[2] or out[4], out[3]
    if least and float(out[1]) < float(least):
        return f"it must be {least} or more"
    return f"it must be {most} or less"
