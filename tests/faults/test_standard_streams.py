"""Every command with its streams closed, full or broken, and with odd variables: a sentence and an exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode

COMMANDS = [
    ["--version"],
    ["--help"],
    ["index"],
    ["search", "beans"],
    ["search", "beans", "--json"],
    ["show", "Garden"],
    ["recent"],
    ["brief", "--no-model"],
    ["links", "Garden"],
    ["backlinks", "Beans"],
    ["vault", "status"],
    ["agent", "list"],
    ["rules", "list"],
    ["memory", "list"],
    ["models"],
    ["config", "show"],
    ["doctor"],
    ["ask", "When do beans grow?", "--model", "quote"],
    ["ask", "When do beans grow?", "--model", "quote", "--panels"],
    ["ask", "When do beans grow?", "--model", "quote", "--json"],
    ["chat", "--model", "quote"],
    ["sessions", "list", "--all"],
    ["refs", "--top", "5"],
    ["context", "export"],
]
FAILING = [["ask", "--model", "nobody:nothing", "x"], ["search"], ["links", "Nowhere"], ["sessions", "show", "nobody"]]
EXPECTED = [ExitCode.OK] * len(COMMANDS) + [ExitCode.CONFIG, ExitCode.USAGE, ExitCode.VAULT, ExitCode.SESSION]
SILENT = [["rules", "list"], ["memory", "list"], ["chat", "--model", "quote"]]
"""With nothing to print on standard output."""
RUN_ALL = """
import json, sys
from pathlib import Path
from zkchat.cli.main import run
from zkchat.core.environment import Environment
codes = [run(command, Environment.of_this_process()) for command in json.loads(sys.argv[1])]
Path(sys.argv[2]).write_text(json.dumps(codes))
"""
"""Several commands in one process, which is quicker; each takes the streams anew, as a new process does."""


@pytest.fixture
def garden(world: World) -> World:
    world.note("Garden.md", "# Garden\n\nBeans grow in June. See [[Beans]] – «Ω».\n")
    world.note("Beans.md", "# Beans\n\nBeans need sun.\n")
    return world


def codes_of(world: World, redirection: str = "", **variables: str) -> tuple[list[int], str]:
    """The exit code of each command, and all that arrived anywhere."""
    results = world.root / "codes.json"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(world.home),
        "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9",
        "TERM": "xterm-256color",
        **variables,
    }
    arguments = [sys.executable, "-c", RUN_ALL, json.dumps([*COMMANDS, *FAILING]), str(results)]
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {redirection}', "sh", *arguments],
        cwd=world.vault,
        env={name: value for name, value in environment.items() if value != "(unset)"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    printed = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
    assert done.returncode == 0, printed
    assert "Traceback" not in printed
    assert "That is a bug" not in printed
    assert not [*Path(world.root).rglob("crash.txt")]
    return json.loads(results.read_text()), printed


def test_input_that_is_closed_and_errors_that_are_full_change_no_exit_code(garden: World) -> None:
    codes, _ = codes_of(garden, "<&- 2>/dev/full")
    assert codes == EXPECTED, dict(zip(map(str, COMMANDS), codes, strict=False))


@pytest.mark.parametrize("redirection", [">/dev/full", "<&- >&- 2>&-"])
def test_output_that_does_not_arrive_is_told_and_has_a_code(garden: World, redirection: str) -> None:
    codes, printed = codes_of(garden, redirection)
    lost = [ExitCode.OK if command in SILENT else ExitCode.OUTPUT for command in COMMANDS]
    assert codes == [*lost, *EXPECTED[len(COMMANDS) :]], dict(zip(map(str, COMMANDS), codes, strict=False))
    if "2>" not in redirection:
        assert "could not be written to standard output" in printed
    answered = [each for each in garden.run("sessions", "list", "--all", "--json").json if each["message_count"] == 2]
    assert len(answered) == 3  # the work was done


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "COLUMNS": "0", "TERM": "(unset)"},
        {"LC_ALL": "xx_YY.nonsense", "PYTHONUNBUFFERED": "1", "COLUMNS": "²", "XDG_CACHE_HOME": "../rel", "TERM": ""},
    ],
)
def test_odd_variables_change_no_exit_code(garden: World, variables: dict[str, str]) -> None:
    assert codes_of(garden, **variables)[0] == EXPECTED


def test_panels_are_drawn_at_any_width(garden: World) -> None:
    for columns in ("0", "abc", "-1", "²", "1", "7", "99999999999", ""):
        garden.variables |= {"COLUMNS": columns, "LINES": columns}
        drawn = garden.run("ask", "When do beans grow?", "--model", "quote", "--panels")
        assert (drawn.code, max(map(len, drawn.out.splitlines())) < 200) == (ExitCode.OK, True), columns


def test_a_home_that_is_no_folder_is_told(garden: World) -> None:
    codes, printed = codes_of(garden, HOME="/dev/null")
    assert ExitCode.BUG not in codes
    assert "/dev/null" in printed


def test_a_deleted_working_folder_is_told_and_another_vault_can_be_named(garden: World) -> None:
    gone = garden.root / "gone"
    gone.mkdir()
    command = f'rmdir "{gone}"; "{sys.executable}" -m zkchat search beans'
    environment = {"PATH": os.environ["PATH"], "HOME": str(garden.home)}
    for more, code in (
        ("", ExitCode.VAULT),
        (f'--vault "{garden.vault}"', ExitCode.OK),
        ("--vault rel", ExitCode.VAULT),
    ):
        done = subprocess.run(
            ["/bin/sh", "-c", f"{command} {more}"],
            cwd=gone,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        gone.mkdir()
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
        assert code == ExitCode.OK or "exist" in done.stderr


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_the_short_way_to_the_version_is_no_exception(redirection: str) -> None:
    command = f'"{sys.executable}" -m zkchat --version {redirection}'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.OUTPUT
    assert "Traceback" not in done.stderr
