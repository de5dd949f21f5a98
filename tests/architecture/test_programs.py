"""Other programs are started in one module, which keeps the code of a vault out; the offender is named."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "zkchat"
ALLOWED = "subprocesses.py"
MODULES = {"concurrent.futures.process", "multiprocessing", "pty", "runpy", "webbrowser"}
NAMES = {
    "ProcessPoolExecutor", "create_subprocess_exec", "create_subprocess_shell", "fork", "forkpty", "launch_app",
    "popen", "posix_spawn", "posix_spawnp", "run_system_command", "startfile", "subprocess_exec", "subprocess_shell",
    "system", "which",
}  # fmt: skip
HARMLESS = {"DEVNULL", "PIPE", "Popen", "TimeoutExpired"}
"""What may be taken from `subprocess`: names for what `subprocesses` is given and gives back."""


def starts_of_programs(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if _is_banned(name.name) or name.name == "subprocess")
            case ast.ImportFrom(module="subprocess", names=names):
                yield from (name.name for name in names if name.name not in HARMLESS)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (name.name for name in names if _is_banned(f"{module}.{name.name}") or name.name in NAMES)
            case ast.Call(func=ast.Name(id="Popen")):
                yield "Popen"
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if _is_start(ast.unparse(value), name):
                yield f"{ast.unparse(value)}.{name}"
            case _:
                pass


def _is_banned(module: str) -> bool:
    return any(module == banned or module.startswith(f"{banned}.") for banned in MODULES)


def _is_start(owner: str, name: str) -> bool:
    return name in NAMES - {"system"} or (owner == "os" and name.startswith(("exec", "spawn", "system")))


def test_programs_are_started_in_one_module() -> None:
    words = re.compile("|".join(sorted({"subprocess", "Popen", "exec", "spawn", "concurrent", *MODULES, *NAMES})))
    found = {
        str(path.relative_to(PACKAGE)): starts
        for path in PACKAGE.rglob("*.py")
        if words.search(text := path.read_text())
        if (starts := sorted(set(starts_of_programs(text))))
    }
    assert found.pop(ALLOWED)
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess",
        "import multiprocessing.pool",
        "from multiprocessing import get_context",
        "from subprocess import run",
        "from subprocess import Popen\nPopen(['ls'])",
        "from concurrent.futures import ProcessPoolExecutor",
        "import concurrent.futures as f\nf.ProcessPoolExecutor()",
        "import os\nos.system('ls')",
        "import os\nos.execvp('ls', [])",
        "import os\nos.spawnl(0, 'ls')",
        "import asyncio\nasyncio.create_subprocess_exec('ls')",
        "import shutil\nshutil.which('ls')",
        "import webbrowser",
    ],
)
def test_every_way_to_start_one_is_noticed(code: str) -> None:
    assert [*starts_of_programs(code)]
