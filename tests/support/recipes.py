"""The recipes of CONTRIBUTING.md: what each says to write where, and by which commands it is checked."""

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = ("zkchat", "tests", "docs", "benchmarks", "scripts", "vault-fixtures")
COPIED_FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "NOTICE", "Makefile", "CHANGELOG.md")

_SECTION = re.compile(r"^## Add (?P<name>[^\n]+)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_STEP = re.compile(
    r"`(?P<path>[\w./-]+)`, (?P<where>a new file|at the end|before|after|instead of)(?: `(?P<anchor>[^`\n]+)`)?:\n+"
    r"(?P<margin> *)```\w+\n(?P<code>.*?)\n *```",
    re.DOTALL,
)
_COMMANDS = re.compile(r"```console\n(.*?)\n *```", re.DOTALL)


@dataclass(frozen=True)
class Edit:
    """Lines for a file: all of it, its end, or beside or instead of the one line that holds the anchor."""

    path: str
    code: str
    where: str
    anchor: str

    def apply(self, folder: Path) -> None:
        file = folder / self.path
        assert file.exists() == (self.where != "a new file"), f"{self.path}: {self.where}"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text("utf-8").splitlines(keepends=True) if file.exists() else []
        start, end = self._place(lines)
        gap = "\n\n" if self.where == "at the end" else ""
        file.write_text("".join([*lines[:start], gap, self.code, *lines[end:]]), "utf-8")

    def _place(self, lines: list[str]) -> tuple[int, int]:
        """The lines that the code takes the place of; none of them where it only comes between two."""
        if not self.anchor:
            return len(lines), len(lines)
        found = [number for number, line in enumerate(lines) if self.anchor in line]
        assert len(found) == 1, f"{self.path} has {len(found)} lines with {self.anchor!r}, and should have one"
        start = found[0] + (self.where == "after")
        return start, start + (self.where == "instead of")


@dataclass(frozen=True)
class Recipe:
    name: str
    edits: tuple[Edit, ...]
    commands: tuple[tuple[str, ...], ...]

    @property
    def named_tests(self) -> tuple[str, ...]:
        """What `make test ARGS=…` is to run."""
        return tuple(
            path
            for command in self.commands
            if command[:2] == ("make", "test")
            for path in command[2].removeprefix("ARGS=").split()
        )

    def follow(self, folder: Path) -> None:
        """Do all that it says, but for its tests."""
        for edit in self.edits:
            edit.apply(folder)
        for command in self.commands:
            if command[0] != "make":
                run(folder, *command)


def recipes(page: str) -> list[Recipe]:
    return [
        Recipe(
            name=section["name"],
            edits=tuple(_edit(step) for step in _STEP.finditer(section["text"])),
            commands=tuple(
                tuple(shlex.split(line.strip().removeprefix("$ ")))
                for block in _COMMANDS.findall(section["text"])
                for line in block.splitlines()
            ),
        )
        for section in _SECTION.finditer(page)
    ]


def _edit(step: re.Match[str]) -> Edit:
    # A block inside a list stands as far right as its fence.
    code = "".join(f"{line.removeprefix(step['margin'])}\n" for line in step["code"].splitlines())
    return Edit(path=step["path"], code=code, where=step["where"], anchor=step["anchor"] or "")


def copy_of_the_tree(folder: Path) -> Path:
    """With the compiled modules, which are read again where a source keeps its time, but none that is being written."""
    folder.mkdir(parents=True)
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    for name in COPIED_FILES:
        shutil.copy2(ROOT / name, folder / name)
    return folder


def run(folder: Path, *command: str) -> None:
    """Run a command in the copy, with the packages of this environment."""
    program, *arguments_of_it = command
    tool = sys.executable if program == "python" else str(Path(sys.executable).parent / program)
    done = subprocess.run(
        [tool, *arguments_of_it],
        cwd=folder,
        check=False,
        env={**_variables(), "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout[-6000:]}\n{done.stderr[-2000:]}"


def _variables() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
