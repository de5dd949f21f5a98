"""The manual page is the help of today, and troff and mandoc find nothing wrong with it."""

import shutil
import subprocess
from pathlib import Path

import pytest
import typer.main

from scripts.man_page import man_page
from tests.cli.test_help_texts import EVERY_COMMAND
from zkchat.cli.command_table import EARLIER
from zkchat.cli.main import app

PAGE = Path(__file__).parents[2] / "man" / "zkchat.1"
CHECKS = {"groff": ["groff", "-man", "-ww", "-z", "-Tutf8"], "mandoc": ["mandoc", "-T", "lint", "-W", "warning"]}


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == man_page(), "run: python -m scripts.man_page man/zkchat.1"


def test_the_page_names_every_command_and_of_earlier_names_what_they_are_called_now() -> None:
    text = man_page()
    earlier = {name for name, _, _ in EARLIER}
    shown = [path for path in EVERY_COMMAND if path and path[0] not in earlier and not hidden(path)]
    named = [f".SS {' '.join(('zkchat', *path))} " for path in shown]
    assert [line for line in named if line.replace("-", r"\-") not in text] == []
    assert [name for name in earlier if rf"\fB{name}\fR" not in text] == []


def hidden(path: tuple[str, ...]) -> bool:
    command = typer.main.get_command(app)
    for name in path:
        command = getattr(command, "commands", {})[name]
    return command.hidden


def test_no_text_begins_a_request_of_its_own() -> None:
    requests = {line.split()[0] for line in man_page().splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".nf", ".fi", ".RS", ".RE", '.\\"'}


@pytest.mark.outside
@pytest.mark.parametrize("program", CHECKS)
def test_a_formatter_finds_nothing_wrong(program: str) -> None:
    if not shutil.which(program):
        pytest.skip(f"there is no {program}: apt install {program}")
    done = subprocess.run([*CHECKS[program], str(PAGE)], capture_output=True, text=True, check=False)
    assert [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line] == []
