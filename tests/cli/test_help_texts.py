"""`--help` of every command: it teaches, in the words of users."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tests.support.world import World
from zkchat.cli.main import app


def paths_of(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from paths_of(below, (*path, name))


EVERY_COMMAND = [*paths_of(typer.main.get_command(app))]
OF_PYTHON = re.compile(
    r"<class|<(?:str|int|float|bool|path|list\S*|int range|float range)>|\bNone\b|\bPath\b|typing|x>=|x<="
    r"|(?<!\$)\{[A-Z]|\[\[(?=[A-Z]+\]\])"
)
OF_THE_CHECKOUT = re.compile(r"\bdocs/|\.md\b(?<!ZKCHAT\.md)(?<!AGENTS\.md)(?<!me\.md)(?<!-\d\d\.md)(?<! \.md)")


def test_the_help_of_a_command_teaches_it_without_python_and_without_files_of_the_checkout(world: World) -> None:
    for path in EVERY_COMMAND:
        result = world.run(*path, "--help")
        usage, _, text = result.out.partition("\n\n")
        assert (result.code, result.err) == (0, "")
        assert usage.startswith(" ".join(("Usage: zkchat", *path)))
        assert re.match(r"  [A-Z].*\.$", text.split("\n\n")[0], re.DOTALL), f"{path}: the first paragraph is a sentence"
        assert (OF_PYTHON.findall(result.out), OF_THE_CHECKOUT.findall(result.out)) == ([], []), path
    assert world.run("ask", "-h") == world.run("ask", "--help")


@pytest.mark.parametrize(
    "group", ["memory", "memory rules", "config", "config agents", "config servers", "context", "vault"]
)
def test_a_group_without_a_command_prints_its_help(world: World, group: str) -> None:
    shown = world.run(*group.split())
    assert (shown.code, shown.err.partition("\n")[0]) == (2, f"Usage: zkchat {group} [OPTIONS] COMMAND [ARGS]...")


def test_arguments_are_named_as_in_other_programs(world: World) -> None:
    assert world.run("backlinks", "--help").out.startswith("Usage: zkchat backlinks [OPTIONS] NOTE\n")
    assert world.run("context", "stats", "--help").out.startswith("Usage: zkchat context stats [OPTIONS] [SESSION]\n")
    assert world.run("ask", "--help").out.startswith("Usage: zkchat ask [OPTIONS] [QUESTION]...\n")
    limit = next(line for line in world.run("search", "--help").out.splitlines() if "--limit" in line)
    assert " ".join(limit.split()) == "--limit N Maximum number to show. [default: 10; at least 1]"
    assert "[1 to 10]" in world.run("sessions", "priority", "--help").out


def test_examples_stand_in_a_section_of_their_own_one_on_a_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, _, examples = world.run("ask", "--help").out.partition("\nExamples:\n")
    assert [line.split()[0] for line in examples.splitlines()] == ["zkchat", "git", "zkchat"]
    _, _, examples = world.run("rules", "new", "--help").out.partition("\nExamples:\n")
    first, continued = examples.splitlines()  # too long for the 80 columns here: as a shell takes it
    assert first.endswith(" \\")
    assert continued.startswith("    --description")
    _, _, examples = world.run("undo", "--help").out.partition("\nExamples:\n")
    assert examples.splitlines()[0].strip() == "zkchat undo"


def test_the_help_fits_narrow_and_wide_terminals(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (40, 60, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        text, _, _ = world.run("rules", "new", "--help").out.partition("\nExamples:\n")
        assert max(map(len, text.splitlines())) <= min(columns, 80)


def test_every_sentence_is_printed_with_its_place_and_occasion_or_a_sample_of_them() -> None:
    def printed(*options: str) -> list[str]:
        command = [sys.executable, "-m", "scripts.sentences", *options]
        return subprocess.run(
            command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
        ).stdout.splitlines()

    told = printed()
    said = {line.partition(" | ")[2]: line.partition(":")[0] for line in told}
    assert said["UsageError | Which note do you want to see? zkchat show NOTE"] == "zkchat/cli/lookups.py"
    assert said["flag | Print JSON for scripts."] == "zkchat/cli/common.py"
    assert said["Goals steps | Maximum steps in the plan of a goal."] == "zkchat/config/sections.py"
    assert (
        said["StorageDamaged | {…} is damaged. It is only a cache: delete it, and it is rebuilt."]
        == "zkchat/storage/database.py"
    )
    assert any(each.startswith("help of undo | Undo what zkchat changed last.") for each in said)
    sample = printed("--sample", "9", "--seed", "3")
    assert len(sample) == 9
    assert set(sample) < set(told)
    assert sample == printed("--sample", "9", "--seed", "3") != printed("--sample", "9", "--seed", "4")
