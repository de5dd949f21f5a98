"""Writes the manual page from the help of all commands: `python -m scripts.man_page man/zkchat.1`."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer.main

from zkchat.cli import EARLIER, FURTHER, GOAL, HELP_OPTIONS, CommandHelp, Rows, app, describe
from zkchat.core import ExitCode

if TYPE_CHECKING:
    from typer._click import Command, Context

_EXIT_CODES: Final = Path(__file__).parents[1] / "docs" / "exit-codes.md"
_FILES: Final = (
    ("~/.config/zkchat/config.toml", "Your settings; zkchat config path shows where they are."),
    ("VAULT/.zkchat/", "What belongs to a vault: its settings, agents and rules."),
    ("~/.local/share/zkchat/", "Conversations and facts."),
    ("~/.cache/zkchat/", "Indexes, which come back when they are deleted, and models that were fetched."),
)
_VARIABLES: Final = (
    ("ZKCHAT_VAULT", "The vault, where --vault names none."),
    ("ZKCHAT_SECTION__KEY", "A setting, for example ZKCHAT_CONTEXT__MAX_TOKENS; zkchat help configuration lists all."),
    ("OPENAI_API_KEY, OPENAI_BASE_URL, OLLAMA_HOST", "Keys and servers of models."),
    ("NO_COLOR", "No colours."),
)


def man_page() -> str:
    root = typer.main.get_command(app)
    context = typer.Context(root, info_name="zkchat")
    described = describe(root, context)
    return "\n".join(_lines(root, context, described)) + "\n"


def _lines(root: "Command", context: "Context", described: CommandHelp) -> Iterator[str]:
    yield r".\" Written by `python -m scripts.man_page`: change the help of the commands instead."
    yield '.TH ZKCHAT 1 "" "zkchat" "User Commands"'
    yield ".SH NAME"
    yield r"zkchat \- chat with your Markdown notes in the terminal"
    yield ".SH SYNOPSIS"
    yield from (".B zkchat", _roff(described.usage))
    yield ".SH DESCRIPTION"
    yield from _paragraphs(described.paragraphs)
    yield from _rows(described.options)
    commands = getattr(root, "commands", {})
    further = {"Further commands": [(GOAL, ""), *((name, line) for name, _, line in FURTHER)]}
    for heading, listed in {**described.sections, **further}.items():
        yield f".SH {_roff(heading.upper())}"
        for name, _ in listed:
            yield from _command(commands[name], typer.Context(commands[name], parent=context, info_name=name))
    earlier = [(name, f"now: zkchat {new}") for name, _, new in EARLIER]
    for heading, rows in (
        ("EARLIER NAMES", earlier),
        ("ENVIRONMENT", _VARIABLES),
        ("FILES", _FILES),
        ("EXIT STATUS", _exit_codes()),
    ):
        yield f".SH {heading}"
        yield from _rows([*rows])
    yield ".SH SEE ALSO"
    yield from _paragraphs(["zkchat help lists the pages that come with zkchat; zkchat help PAGE shows one."])


def _command(command: "Command", context: "Context") -> Iterator[str]:
    """A command, and those below it."""
    described = describe(command, context)
    yield f".SS {_roff(f'{context.command_path} {described.usage}')}"
    yield from _paragraphs(described.paragraphs)
    yield from _rows([*described.arguments, *_without_help(described.options)])
    if described.examples:
        yield from (".PP", "Examples:", ".RS 4", ".nf")
        yield from (_roff(line) for line in described.examples)
        yield from (".fi", ".RE")
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from _command(below, typer.Context(below, parent=context, info_name=name))


def _without_help(options: Rows) -> Rows:
    return [(name, text) for name, text in options if name != ", ".join(HELP_OPTIONS)]


def _paragraphs(paragraphs: list[str]) -> Iterator[str]:
    for number, paragraph in enumerate(paragraphs):
        if number:
            yield ".PP"
        if paragraph.startswith("\b"):
            yield from (".nf", *map(_roff, paragraph.splitlines()[1:]), ".fi")
        else:
            yield _roff(" ".join(paragraph.split()))


def _rows(rows: Rows) -> Iterator[str]:
    for name, text in rows:
        yield from (".TP", rf"\fB{_roff(name)}\fR", _roff(text))


def _exit_codes() -> Rows:
    page = _EXIT_CODES.read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| \w+ \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == len(ExitCode)
    return [(code, text.replace("`", "")) for code, text in rows]


def _roff(text: str) -> str:
    """A text as it is: no character begins a request or an escape."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("…", "...").replace("'", r"\(aq")
    escaped = escaped.replace("`", r"\(ga").replace("^", r"\(ha").replace("~", r"\(ti").replace('"', r"\(dq")
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(man_page(), "utf-8")
