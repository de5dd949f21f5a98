"""`zkchat help`, and the layout of `--help` and of the manual page: examples, arguments, options, and sections."""

import inspect
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from textwrap import TextWrapper
from typing import Annotated, Final, cast

import typer
from msgspec import Struct
from typer._click import Command, Context, HelpFormatter, Parameter
from typer.core import TyperCommand, TyperGroup

from zkchat import render
from zkchat.cli.command_table import EARLIER, FURTHER, HELP_OPTIONS, SECTIONS
from zkchat.cli.common import current_io
from zkchat.core import ExitCode, UsageError
from zkchat.render import columns, wrap

Rows = Sequence[tuple[str, str]]

ALL: Final = "all"
"""The topic of everything that there is."""

_MAX_NAME_WIDTH = 24
"""Of the column with names; a longer name stands on a line of its own."""
_INDENT = "  "


class CommandHelp(Struct, frozen=True, kw_only=True):
    """What is said of one command, in the order in which it is shown."""

    usage: str
    """Without the name of the command."""
    paragraphs: list[str]
    examples: list[str]
    arguments: Rows
    options: Rows
    sections: Mapping[str, Rows]
    """Its commands, under the headings of their sections."""
    epilog: str


def draw(path: str, described: CommandHelp, width: int, terminal: int = sys.maxsize) -> str:
    """Blocks with an empty line between them.

    Examples are to be copied: they are continued as a shell takes it, and only where the `terminal` is too narrow.
    """
    tables = {"Arguments": described.arguments, **described.sections, "Options": described.options}
    blocks = [_usage(path, described.usage, width)]
    blocks += [_fill(each, width, _INDENT, _INDENT) for each in described.paragraphs]
    blocks += [f"{heading}:\n{_table(rows, width)}" for heading, rows in tables.items() if rows]
    if described.examples:
        lines = (wrap(f"{_INDENT}{line}", terminal - 2, prose=terminal, indent=4) for line in described.examples)
        blocks.append("\n".join(["Examples:", *(line.replace("\n", " \\\n") for line in lines)]))
    if described.epilog:
        blocks.append("\n".join(f"{_INDENT}{line}" for line in described.epilog.splitlines()))
    return wrap("\n\n".join(blocks), terminal, prose=terminal) + "\n"


def help_width(variables: Mapping[str, str]) -> int:
    """The columns for a help on this terminal; `COLUMNS` counts before what the terminal says."""
    least, most = 24, 78
    # Without a standard output `sys.__stdout__` is None, or closed.
    measured = columns(variables, sys.__stdout__)
    return max(least, min(most, measured - 2)) if measured else most


def _usage(path: str, usage: str, width: int) -> str:
    before = f"Usage: {path} "
    if width >= len(before) + 20:  # else the arguments stand below the command
        return _fill(usage, width, before, " " * len(before))
    below = " " * (len("Usage: ") + 4)
    return f"{before}\n{_fill(usage, width, below, below)}"


def _table(rows: Rows, width: int) -> str:
    names = min(max(len(name) for name, _ in rows), _MAX_NAME_WIDTH, width // 3)
    indent = _INDENT + " " * (names + 2)
    lines = []
    for name, about in rows:
        text = _fill(about, max(width - names - 4, 10) + len(indent), indent, indent)
        if len(name) > names and about:
            lines.append(f"{_INDENT}{name}\n{text}")
        else:
            lines.append(f"{_INDENT}{name}{text[len(_INDENT) + len(name) :]}")
    return "\n".join(lines)


class _Wrapper(TextWrapper):
    """Cuts a word that is longer than a line where the line ends, also where only a space is left of that."""

    def _handle_long_word(self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int) -> None:
        left = max(width - cur_len, 1)
        cur_line.append(reversed_chunks[-1][:left])
        reversed_chunks[-1] = reversed_chunks[-1][left:]


def _fill(text: str, width: int, first: str, others: str) -> str:
    lines = text.splitlines()
    if lines[:1] == ["\b"]:  # as in Click: not to be wrapped
        return "\n".join(f"{others}{line}" for line in lines[1:])
    joined = " ".join(line.lstrip() for line in lines)
    return _Wrapper(width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False).fill(joined)


_EXAMPLE: Final = re.compile(r"(?:[^|]+\| )?zkchat (?:[a-z]+|@\w+)\b(?:.*[^.])?")
"""A paragraph of a docstring that is a command line, alone or at the end of a pipe."""
_NO_OPTION: Final = re.compile(r"-(?:\s|\d|--)")
_SHIELD: Final = "\ufdd0"
"""Before a word that would be read as an option; no text has this code point."""
_RANGE: Final = re.compile(r"(?:(\d+)<=)?x(?:<=(\d+)|>=(\d+))(?=[;\]])")


def describe(command: Command, context: Context) -> CommandHelp:
    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    paragraphs = [paragraph for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]
    rows = [(param, record) for param in command.get_params(context) if (record := _row(param, context))]
    return CommandHelp(
        usage=" ".join(command.collect_usage_pieces(context)),
        paragraphs=[each for each in paragraphs if not _is_example(each)],
        examples=[line for each in paragraphs if _is_example(each) for line in _lines(each)],
        arguments=[row for param, row in rows if param.param_type_name == "argument"],
        options=[row for param, row in rows if param.param_type_name == "option"],
        sections=_sections(command),
        epilog=inspect.cleandoc(command.epilog or ""),
    )


class _Described:
    """A command with this layout of its help."""

    def get_help_option_names(self, _context: Context) -> list[str]:
        return [*HELP_OPTIONS]

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        described = describe(cast(Command, self), ctx)
        # As Typer does, which offers no Environment.
        variables = os.environ  # noqa: TID251
        terminal = columns(variables, sys.__stdout__)
        formatter.write(draw(ctx.command_path, described, help_width(variables), terminal or sys.maxsize))


class DescribedCommand(_Described, TyperCommand):
    """A command whose help names no type of Python and ends with its examples.

    A word that can be no option, such as `- [ ] Buy milk` or `-5`, is an argument, wherever it stands. Bytes that are
    no text are refused, but for the path of a file or folder, which may have any name.
    """

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        options = [param for param in self.params if param.param_type_name == "option"]
        with_value = {name for option in options if not getattr(option, "is_flag", False) for name in option.opts}
        shielded = [
            f"{_SHIELD}{word}" if _NO_OPTION.match(word) and before not in with_value else word
            for before, word in zip(["", *args], args, strict=False)
        ]
        rest = super().parse_args(ctx, shielded)
        ctx.params = {name: _unshielded(value) for name, value in ctx.params.items()}
        for param in self.params if not ctx.resilient_parsing else ():
            names_file = param.type.name == "path" or (param.metavar or "").startswith("FILE")
            if not names_file and not _is_text(ctx.params.get(param.name or "")):
                raise typer.BadParameter("it is not UTF-8 text", ctx=ctx, param=param)
        return rest

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        return _usage_pieces(self, ctx)


class DescribedGroup(_Described, TyperGroup):
    """The same for a command that has others below it."""

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        return [*_usage_pieces(self, ctx), self.subcommand_metavar]

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(self.get_help(ctx), err=True)
            raise typer.Exit(ExitCode.USAGE)
        return super().parse_args(ctx, args)


def _unshielded(value: object) -> object:
    if isinstance(value, list | tuple):
        return type(value)(map(_unshielded, value))
    is_shielded = isinstance(value, str) and value.startswith(_SHIELD)  # a choice stays the member that it is
    return str(value).removeprefix(_SHIELD) if is_shielded else value


def _is_text(value: object) -> bool:
    """Whether UTF-8 can hold a value. Python reads a byte that it cannot as half of a surrogate pair."""
    if isinstance(value, list | tuple):
        return all(map(_is_text, value))
    return not isinstance(value, str) or value == value.encode(errors="replace").decode()


def use_layout(app: typer.Typer) -> None:
    """Give every command of a table this layout, those of its groups included."""
    app.info.cls = DescribedGroup
    for command in app.registered_commands:
        command.cls = DescribedCommand
    for group in app.registered_groups:
        if group.typer_instance:
            use_layout(group.typer_instance)


def _usage_pieces(command: Command, context: Context) -> list[str]:
    options = [command.options_metavar] if command.options_metavar else []
    arguments = [param for param in command.get_params(context) if param.param_type_name == "argument"]
    names = [_name(each) if each.required else f"[{_name(each)}]" for each in arguments]
    return options + [f"{name}{'...' * (each.nargs != 1)}" for name, each in zip(names, arguments, strict=True)]


def _name(argument: Parameter) -> str:
    return argument.metavar or (argument.name or "").upper()


def _row(param: Parameter, context: Context) -> tuple[str, str] | None:
    record = param.get_help_record(context)
    if record is None:
        return None
    if param.param_type_name != "argument":
        about = _RANGE.sub(lambda each: _bounds(each[1] or each[3], each[2]), record[1])
        return record[0], about.replace("; required]", "]").replace("[required]", "").strip()
    # Typer tells the range of an option only.
    bounds = _bounds(getattr(param.type, "min", None), getattr(param.type, "max", None))
    return _name(param), record[1].replace("[required]", f"[{bounds}]" if bounds else "").strip()


def _bounds(least: object, most: object) -> str:
    if least is None:
        return "" if most is None else f"at most {most}"
    return f"at least {least}" if most is None else f"{least} to {most}"


def _sections(command: Command) -> Mapping[str, Rows]:
    """The commands below this one, under headings, if there are any."""
    if headings := getattr(command, "sections", None):
        return cast(Mapping[str, Rows], headings)
    below = [each for each in getattr(command, "commands", {}).values() if not each.hidden]
    return {"Commands": [(each.name or "", each.get_short_help_str(limit=70)) for each in below]} if below else {}


def _is_example(paragraph: str) -> bool:
    return all(_EXAMPLE.fullmatch(line) for line in _lines(paragraph))


def _lines(paragraph: str) -> list[str]:
    """The command lines of a paragraph; one that is continued on the next line of the docstring is one."""
    lines = [line.strip() for line in paragraph.splitlines()]
    return [" ".join(lines)] if not all(map(_EXAMPLE.fullmatch, lines)) else lines


def help_(
    context: typer.Context,
    topic: Annotated[
        list[str] | None, typer.Argument(metavar="TOPIC", help="A page, or a command such as context stats.")
    ] = None,
) -> None:
    """Show a page of the documentation, or the help of a command.

    Without a topic, it lists commands and pages; with `all`, subcommands and earlier names too. On a terminal a page is
    rendered; in a pipe it is Markdown.

    zkchat help tour

    zkchat help all

    zkchat help context stats

    zkchat help json | less
    """
    from zkchat.cli.completion import topics

    io, pages = current_io(), {each.name: each for each in topics()}
    words = topic or []
    page = pages.get(words[0].casefold()) if len(words) == 1 else None
    if not words or words == [ALL]:
        root = context.find_root()
        io.out(_everything(root.command) if words else root.command.get_help(root))
        io.out("\nPages (zkchat help PAGE):")
        io.out(_table([(page.name, page.title) for page in pages.values()], help_width(io.environment.variables)))
    elif page is None:
        io.out(_help_of_command(context, words, [*pages]))
    else:
        if io.environment.stdout_is_tty:
            console = render.console_for(io.environment.stdout, is_tty=True, variables=io.environment.variables)
            for row in render.note_rows(console, page.text):
                io.environment.stdout.write(f"{row.text}\n")
        else:
            io.out(page.text.rstrip("\n"))
        if page.name in getattr(context.find_root().command, "commands", {}):
            io.note(f"Help for the command {page.name}: zkchat {page.name} --help")


def _everything(root: Command) -> str:
    """All commands, with those below others; the few that the help leaves out; earlier names with those of now."""
    commands = getattr(root, "commands", {})
    tables = {
        heading: [row for name, line in rows for row in _below(commands[name], name, line)]
        for heading, rows in SECTIONS.items()
    }
    tables["Further commands"] = [(name, line) for name, _, line in FURTHER]
    tables["Earlier names, which still work"] = [(name, f"now: {new}") for name, _, new in EARLIER]
    width = help_width(current_io().environment.variables)
    return "\n\n".join(f"{heading}:\n{_table(rows, width)}" for heading, rows in tables.items())


def _below(command: Command, path: str, line: str) -> Iterator[tuple[str, str]]:
    yield path, line
    for name, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            yield from _below(each, f"{path} {name}", each.get_short_help_str(limit=70))


def _help_of_command(context: typer.Context, words: list[str], pages: list[str]) -> str:
    root = context.find_root()
    command, described = root.command, root
    for word in words:
        below = getattr(command, "commands", {})
        if word not in below:
            closest = get_close_matches(word, [*below, *pages])
            hint = f"Closest: {', '.join(closest)}." if closest else "To list all: zkchat help"
            raise UsageError(f"There is no page or command {' '.join(words)!r}.", hint=hint)
        command = below[word]
        described = typer.Context(command, parent=described, info_name=word)
    return command.get_help(described)
