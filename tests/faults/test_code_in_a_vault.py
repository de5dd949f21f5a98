"""A vault may hold code with any name: no command runs any of it, started in the vault or over it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.hostile_vaults import LATE_MODULES, code_that_shadows, programs_that_shadow
from tests.support.world import World

ZKCHAT = str(Path(sys.executable).with_name("zkchat"))
ENOUGH_FOR_SEVERAL_PROCESSES = 2_100
COMMANDS = [
    ["index"],
    ["models", "pull", "smollm2"],
    ["agent", "edit", "gardener"],
    ["ask", "What grows?", "--model", "quote"],
    ["doctor"],
]


@pytest.fixture
def witness(world: World) -> Path:
    for number in range(ENOUGH_FOR_SEVERAL_PROCESSES):
        (world.vault / f"n{number}.md").write_text("# Garden\n\nBeans grow.\n")
    witness = world.root / "witness"
    witness.touch()
    programs_that_shadow(world.vault, witness)
    own = world.home / ".config" / "zkchat" / "agents" / "gardener.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\ndescription: Knows plants.\n---\nYou know plants.\n")
    return witness


def run_all(world: World, commands: Sequence[Sequence[str]], *start: str, **variables: str) -> None:
    """Each command, in the vault; no network is asked for anything."""
    environment = {
        "PATH": f"/usr/bin:/bin:{Path(sys.executable).parent}",
        "HOME": str(world.home),
        "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9",
        "PIP_NO_INDEX": "1",
        "EDITOR": "zk-editor",
        "DISPLAY": ":99",
        **variables,
    }
    for command in commands:
        done = subprocess.run(
            [*start, *command],
            cwd=world.vault,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert done.returncode != 1, done.stderr
    assert (world.home / ".cache" / "zkchat").exists()


def test_no_module_or_program_of_a_vault_is_run(world: World, witness: Path) -> None:
    code_that_shadows(world.vault, witness)
    run_all(world, COMMANDS, ZKCHAT)
    assert witness.read_text() == ""


def test_relative_folders_in_variables_make_no_difference(world: World, witness: Path) -> None:
    code_that_shadows(world.vault, witness, LATE_MODULES)
    (world.vault / "lib").mkdir()
    code_that_shadows(world.vault / "lib", witness, LATE_MODULES)
    path = f".::lib:/nowhere:{os.environ['PATH']}"
    run_all(world, COMMANDS[:3], sys.executable, "-m", "zkchat", PATH=path, PYTHONPATH=":lib:.")
    assert witness.read_text() == ""
