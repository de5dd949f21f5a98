"""What the pages and zkchat itself name in passing is there: commands, slash commands, settings."""

import ast
import re
import shlex
from importlib.util import find_spec
from typing import Any

import pytest
import typer.main

from tests.support.doc_examples import FENCE, PAGES_FOR_DEVELOPERS, ROOT, pages
from zkchat.cli.main import app, with_command
from zkchat.config.schema import FIELDS, model_keys
from zkchat.repl.commands.table import COMMANDS

CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
SECTIONS = {key.partition(".")[0] for key in FIELDS if "." in key}
CLI = typer.main.get_command(app)
SLASH = {f"/{name}" for command in COMMANDS for name in (command.name, *command.aliases)}

ENDPOINTS = {"/tokenize"}
"""Of servers, and not commands."""


def inline_codes(page: str) -> list[str]:
    return CODE.findall(FENCE.sub("", (ROOT / page).read_text("utf-8")).replace("\\|", "|"))


def unknown_in(command: str) -> list[str]:
    """The subcommands and options of a command line that zkchat does not have.

    A word in capitals is a placeholder, `…` any subcommand.
    """
    commands: list[Any] = [CLI]
    unknown: list[str] = []
    for word in with_command(shlex.split(command.partition(" | ")[0])[1:]):
        below = {name: command for each in commands for name, command in getattr(each, "commands", {}).items()}
        if word.startswith("--"):
            options = {name for each in commands for option in each.params for name in option.opts}
            unknown += {word} - options - {"--help"}
        elif below and word == "…":
            commands = [*below.values()]
        elif below and word == word.lower():
            unknown += [name for name in word.split("|") if name not in below and name != "…"]
            commands = [below[name] for name in word.split("|") if name in below]
    return unknown


@pytest.mark.parametrize(
    ("command", "unknown"),
    [
        ("zkchat config … --json | head", []),
        ("zkchat config … --jason", ["--jason"]),
        ("zkchat vault statue|status", ["statue"]),
        ('zkchat @research "…" --jason', ["--jason"]),
    ],
)
def test_a_command_that_is_not_there_is_found(command: str, unknown: list[str]) -> None:
    assert unknown_in(command) == unknown


def test_the_commands_that_zkchat_itself_names_are_there() -> None:
    command = re.compile(rf"zkchat (?:{'|'.join(getattr(CLI, 'commands', {}))})\b[\w \-|]*")
    texts = [
        node.value
        for file in (ROOT / "zkchat").rglob("*.py")
        if command.search(source := file.read_text("utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    named = [found for text in texts for found in command.findall(text)]
    assert len(named) > 30
    ends_of_a_sentence = {"lists", "shows", "--"}
    assert [found for found in named if {*unknown_in(found)} - ends_of_a_sentence] == []


@pytest.mark.parametrize("page", pages())
def test_the_slash_commands_of_a_page_are_there(page: str) -> None:
    named = {code.split()[0] for code in inline_codes(page) if re.match(r"/[a-z]+(?: |$)", code)}
    assert named <= SLASH | ENDPOINTS


@pytest.mark.parametrize("page", [*pages(), *PAGES_FOR_DEVELOPERS])
def test_the_modules_and_targets_of_a_page_are_there(page: str) -> None:
    codes = inline_codes(page)
    modules = [code.split()[2] for code in codes if re.match(r"python -m [\w.]+(?: |$)", code)]
    targets = [code.split()[1] for code in codes if re.match(r"make [a-z-]+(?: |$)", code)]
    assert [module for module in modules if module != "zkchat" and not find_spec(module)] == []
    assert {*targets} <= {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)}


@pytest.mark.parametrize("page", pages())
def test_the_settings_of_a_page_are_there(page: str) -> None:
    named = {
        code.split()[0]
        for code in inline_codes(page)
        if re.fullmatch(rf"(?:{'|'.join(SECTIONS)}|models)\.(?!md|db|json)[\w.]+(?: .*)?", code)
    }
    assert named <= {*FIELDS, *model_keys("NAME"), *model_keys("quick")}
