"""Wheel and sdist of dist/, each installed into an empty environment with pip, uv and pipx: `make install-matrix`.

    python -m tests.install.matrix [--python PATH …] [--tool pip|uv|pipx …]

Interpreters are those given, else all of 3.11 to 3.14 that are found. A row says what works with an installed zkchat,
in an empty home, away from the checkout. Any that does not makes the whole fail.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
QUESTION = "What did we decide in [[Greenhouse decisions]] about the frame?"
CHECKS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("version", ("--version",), "zkchat "),
    ("help", ("help", "exit-codes"), "# Exit codes"),
    ("ask", ("ask", QUESTION, "--model", "quote"), "larch instead of aluminium"),
    ("search", ("search", "rye flour", "--json"), '"path"'),
    ("doctor", ("doctor", "--json"), "{"),
)
"""What is run, and what it has to print."""


@dataclass(frozen=True)
class Outcome:
    problem: str
    megabytes: float
    """Of the installed tree."""


def interpreters() -> list[str]:
    """The newest of each version that is found, on the path or among those of pyenv."""
    of_pyenv = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin/python"))
    found = []
    for version in VERSIONS:
        named = [str(path) for path in of_pyenv if path.parents[1].name.startswith(f"{version}.")]
        if program := shutil.which(f"python{version}") or (named[-1] if named else None):
            found.append(program)
    return found


def run(command: Sequence[str | Path], folder: Path) -> str:
    """What a command prints; raises `CalledProcessError`. What was downloaded once is kept for the other rows."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LANG": "C.UTF-8"}
    environment |= {f"{tool}_CACHE_DIR": str(folder.parent / "cache" / tool) for tool in ("PIP", "UV")}
    environment |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "PIPX_TEST"))}
    environment |= {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin"), "UV_LINK_MODE": "copy"}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return done.stdout


def with_pip(python: str, artefact: Path, folder: Path) -> Path:
    run([python, "-m", "venv", folder / "env"], folder)
    run([folder / "env/bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install", artefact], folder)
    return folder / "env/bin/zkchat"


def with_uv(python: str, artefact: Path, folder: Path) -> Path:
    run(["uv", "-q", "venv", "--no-project", "--python", python, folder / "env"], folder)
    run(["uv", "-q", "pip", "install", "--python", folder / "env/bin/python", artefact], folder)
    return folder / "env/bin/zkchat"


def with_pipx(python: str, artefact: Path, folder: Path) -> Path:
    run(["pipx", "install", "--quiet", "--python", python, artefact], folder)
    return folder / "bin/zkchat"


TOOLS: dict[str, Callable[[str, Path, Path], Path]] = {"pip": with_pip, "uv": with_uv, "pipx": with_pipx}


def outcome(tool: str, python: str, artefact: Path, scratch: Path) -> Outcome:
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        (folder / "home").mkdir()
        shutil.copytree(ROOT / "vault-fixtures/garden", folder / "notes")
        (folder / "notes/.zkchat").mkdir(exist_ok=True)
        try:
            program = TOOLS[tool](python, artefact, folder)
            for check, arguments, expected in CHECKS:
                vault = () if check in {"version", "help"} else ("--vault", str(folder / "notes"))
                if expected not in run([program, *arguments, *vault], folder):
                    return Outcome(f"{check}: {expected!r} is not printed", 0)
        except (subprocess.SubprocessError, OSError) as error:
            return Outcome(f"{error} {getattr(error, 'stderr', '') or ''}".strip()[-600:], 0)
        trees = [path for path in (folder / "env", folder / "pipx") if path.exists()]
        return Outcome("", sum(_size(tree) for tree in trees) / 1e6)


def _size(tree: Path) -> int:
    return sum(file.lstat().st_size for file in tree.rglob("*") if file.is_file() and not file.is_symlink())


def rows(tools: Sequence[str], pythons: Sequence[str], scratch: Path) -> Iterator[tuple[str, Outcome]]:
    artefacts = [*sorted((ROOT / "dist").glob("*.whl")), *sorted((ROOT / "dist").glob("*.tar.gz"))]
    if len(artefacts) != 2:
        raise SystemExit("There is no wheel and sdist in dist/: run make dist.")
    for python in pythons:
        version = subprocess.check_output(
            [python, "-c", "import platform; print(platform.python_version())"], text=True
        )
        for tool in tools:
            for artefact in artefacts:
                kind = "wheel" if artefact.suffix == ".whl" else "sdist"
                yield f"{version.strip():8} {tool:5} {kind}", outcome(tool, python, artefact, scratch)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--tool", action="append", default=[], choices=[*TOOLS])
    given = parser.parse_args()
    pythons = given.python or interpreters()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for row, result in rows(given.tool or [*TOOLS], pythons, Path(scratch)):
            failed += bool(result.problem)
            said = f"{result.megabytes:6.0f} MB  works" if not result.problem else result.problem
            print(row, said, flush=True)  # noqa: T201
    print(f"{len(pythons)} interpreters, {failed} failed.")  # noqa: T201
    return 1 if failed or not pythons else 0


if __name__ == "__main__":
    sys.exit(main())
