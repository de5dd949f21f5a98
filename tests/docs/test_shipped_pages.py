"""What an installed package holds beside its modules: the pages of `zkchat help`, the manual page, the scripts."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.support.world import World
from zkchat.cli.completion import Topic, topics

ROOT = Path(__file__).parents[2]
NAMES = [topic.name for topic in topics()]


def test_every_page_for_users_is_shipped() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {f"docs/{name}.md": f"zkchat/docs/{name}.md" for name in sorted(NAMES)}


def test_help_lists_pages_and_commands(world: World) -> None:
    listed = world.run("help").out
    assert listed.startswith(world.run("--help").out.rstrip("\n"))
    rows = dict(re.findall(r"^  ([a-z-]+) +(\S.*)$", listed.partition("Pages (")[2], re.MULTILINE))
    assert rows["exit-codes"] == "Exit codes"
    assert sorted(rows) == sorted(NAMES)


def test_help_of_a_command_is_that_of_the_command(world: World) -> None:
    assert world.run("help", "ask").out == world.run("ask", "--help").out
    assert world.run("help", "context", "stats").out == world.run("context", "stats", "--help").out
    wrong = world.run("help", "confg")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == "zkchat: There is no page or command 'confg'.\n        Closest: config.\n"


def test_a_page_is_markdown_in_a_pipe_and_drawn_on_a_terminal(world: World) -> None:
    piped, drawn = world.run("help", "Exit-Codes"), world.run("help", "exit-codes", terminal=True)
    assert piped.out.startswith("# Exit codes\n")
    assert "| 4 | VAULT |" in piped.out
    assert "Exit codes" in drawn.out
    assert "| 4 | VAULT |" not in drawn.out
    assert "zkchat models --help" in world.run("help", "models").err


@pytest.mark.parametrize("topic", topics(), ids=NAMES)
def test_a_page_leads_only_to_what_is_installed(topic: Topic) -> None:
    text = re.sub(r"(?ms)^(```|~~~).*?^\1\s*$", "", topic.text)
    assert re.findall(r"!\[|\]\((?!https?:)[^)]*\)", re.sub(r"`[^`]*`", "", text)) == []
    shown = re.findall(r"\(`zkchat help ([\w-]+)`\)", text)
    assert {*shown} <= {*NAMES}


def test_the_lines_of_a_paragraph_are_joined_and_all_others_stay(tmp_path: Path) -> None:
    page = tmp_path / "x.md"
    page.write_text(
        "# Title\nText that\ngoes on, see [keys](keys.md#all)\nand [this](../README.md).\n\n- one\n  more\n- two\n\n"
        "| a | b |\n|---|---|\n| [web](https://example.org) | d |\n\n```\nas [it](is.md)\nstands\n```\n\n"
        "![p](pictures/p.svg)\n\nEnd.\n"
    )
    assert Topic(page).text == (
        "# Title\nText that goes on, see keys (`zkchat help keys`) and this.\n\n- one more\n- two\n\n"
        "| a | b |\n|---|---|\n| [web](https://example.org) | d |\n\n```\nas [it](is.md)\nstands\n```\n\nEnd.\n"
    )


@pytest.mark.outside
@pytest.mark.slow
def test_a_wheel_works_outside_the_checkout(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert {f"zkchat/docs/{name}.md" for name in NAMES} <= {*names}
    assert {f"zkchat/cli/shells/completion.{shell}" for shell in ("bash", "zsh", "fish")} <= {*names}
    assert any(name.endswith(".data/data/share/man/man1/zkchat.1") for name in names)
    code = (
        "import sys, zkchat; from zkchat.__main__ import main; print(zkchat.__file__, flush=True); "
        "sys.argv = ['zkchat', 'help', 'exit-codes']; main()"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path / "site")}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    where, _, page = run.stdout.partition("\n")
    assert where.startswith(str(tmp_path))
    assert page.startswith("# Exit codes\n")
