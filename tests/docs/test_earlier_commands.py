"""Every command line that pages and the changelog of earlier versions name is still accepted, as are those of today."""

import re
import shlex
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.support.doc_examples import ROOT, pages
from tests.support.world import World
from zkchat.cli.command_table import COMMANDS, EARLIER, FURTHER
from zkchat.cli.main import commands, with_command

EARLIER_LINES = (Path(__file__).parent / "earlier_command_lines.txt").read_text("utf-8").splitlines()
"""Of README, docs and CHANGELOG when there were 33 commands: `a|b` is one of the two, `[X]` may be left out, `…` stands
for anything."""
REMOVED = {"zkchat search tea -milk", "zkchat goal", "zkchat mcp import", "zkchat mcp add|list|remove|check|import"}
"""In CHANGELOG, which says that they are refused or gone, or which never were commands."""
LINE = re.compile(r"(?<!`)`(zkchat(?: [^`\n]+)?)`(?!`)|^ *\$ (.*)", re.MULTILINE)
ENDS = re.compile(r"\s(?:\||&&|>|#)\s")
"""Where another program begins, a file, or a remark."""
OPEN_VALUE = re.compile(r"requires an argument|Missing argument")
"""Of a line that names an option or a command without its value."""


def lines_of(page: str) -> list[str]:
    text = (ROOT / page).read_text("utf-8").replace("\\|", "|")
    parts = [part.strip() for found in LINE.findall(text) for part in ENDS.split("".join(found))]
    return [part for part in parts if part.partition(" ")[0] == "zkchat"]


NOW = [line for page in (*pages(), "CHANGELOG.md") for line in lines_of(page)]


def spelled_out(line: str) -> Iterator[list[str]]:
    """Each command line that a line of a page stands for, as a shell would hand it over."""
    quoted = re.compile(r"[\"']")
    words = [[word] if quoted.search(line) else word.removesuffix("|…").split("|") for word in shlex.split(line)[1:]]
    for chosen in product(*words):
        yield [word.strip("[]") if re.fullmatch(r"\[[A-Z]+\]", word) else word for word in chosen]


def refusal(arguments: list[str]) -> str:
    """Why the parser takes no such line; nothing where it does. Values are not looked at."""
    rest, command = with_command(arguments), commands()
    context = typer.Context(command, info_name="zkchat")
    while below := getattr(command, "commands", None):
        if not rest or rest[0].startswith("-") or rest[0] == "…":
            return ""
        if rest[0] not in below:
            return "" if getattr(command, "invoke_without_command", False) and rest[0].isupper() else f"no {rest[0]}"
        command, rest = below[rest[0]], rest[1:]
    values: list[Any] = command.get_params(context)
    before = [param.process_value for param in values]
    for param in values:
        param.process_value = lambda _context, value: value
    try:
        command.make_context("zkchat", rest, parent=context)
    except typer.Exit:
        return ""  # --help
    except typer.TyperException as error:
        return "" if OPEN_VALUE.search(error.format_message()) else error.format_message()
    finally:
        for param, process in zip(values, before, strict=True):
            param.process_value = process
    return ""


@pytest.mark.parametrize(
    ("line", "is_accepted"),
    [
        ("zkchat vault status|fix-links --json", True),
        ("zkchat vault statue|status", False),
        ("zkchat ask QUESTION --jason", False),
        ('zkchat @research "…" --jason', False),
        ('zkchat "…" --goal --steps 3', True),
        ("zkchat changes NOTE OTHER", False),
    ],
)
def test_a_line_that_is_not_accepted_is_found(line: str, is_accepted: bool) -> None:
    assert any(map(refusal, spelled_out(line))) != is_accepted


@pytest.mark.parametrize("lines", [EARLIER_LINES, [*set(NOW) - REMOVED]], ids=["earlier", "now"])
def test_every_line_is_accepted(lines: list[str]) -> None:
    assert {line: why for line in lines for words in spelled_out(line) if (why := refusal(words))} == {}
    assert len(lines) > 150


def test_few_commands_are_listed_and_the_others_are_found_by_help_all(world: World) -> None:
    listed = [name for rows in COMMANDS.values() for name, _, _ in rows]
    assert len(listed) <= 16
    text, everything = world.run("--help").out, world.run("help", "all").out
    for name in listed:
        assert f"\n  {name} " in text
        assert f"\n  {name} " in everything
    for name, _, line in (*FURTHER, *EARLIER):
        assert f"\n  {name} " not in text
        assert f"\n  {name} " in everything
        assert line in everything
    assert "\n  config doctor " in everything


@pytest.mark.parametrize("name", [name for name, _, _ in EARLIER])
def test_an_earlier_name_leads_to_one_of_now(name: str) -> None:
    (line,) = [line for each, _, line in EARLIER if each == name]
    for new in line.split(", "):
        assert refusal(new.split()) == "", new
