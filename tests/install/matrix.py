"""Wheel and sdist of dist/, each installed into an empty environment with pip, uv and pipx: `make install-matrix`.

    python -m tests.install.matrix [--python PATH …] [--tool pip|uv|pipx …] [--extra NAME …] [--no-extras]

Interpreters are those given, else all of 3.11 to 3.14 that are found on the path or among those of pyenv; what is not
found is said. Then extras are installed from the wheel with uv: `all` on every interpreter, each alone on the last. A
row says what works with an installed zkchat, in an empty home, away from the checkout. Any that does not makes the
whole fail.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
QUESTION = "What did we decide in [[Greenhouse decisions]] about the frame?"
CHECKS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("version", ("--version",), "zkchat "),
    ("help", ("help",), "exit-codes"),
    ("page", ("help", "exit-codes"), "# Exit codes"),
    ("ask", ("ask", QUESTION, "--model", "quote"), "larch instead of aluminium"),
    ("search", ("search", "rye flour", "--json"), '"path"'),
    ("doctor", ("doctor", "--json"), "{"),
)
"""What is run, and what it has to print."""
WITHOUT_VAULT = {"version", "help", "page"}
MODULES = {
    "acp": ("acp", "zkchat.acp.agent"),
    "images": ("PIL.Image",),
    "local": ("xllamacpp",),
    "lsp": ("pygls", "zkchat.lsp.server"),
    "mcp": ("mcp", "zkchat.mcp.server"),
    "pdf": ("pypdfium2",),
    "serve": ("uvicorn", "zkchat.web.server"),
}
"""What each extra is there for, by import."""
EXTRAS: Mapping[str, tuple[str, ...]] = {**MODULES, "all": tuple(name for names in MODULES.values() for name in names)}
KEPT_VARIABLES = ("PIP_", "UV_", "PIPX_TEST", "SSL_CERT_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""What tells the installers how to reach their index."""


@dataclass(frozen=True)
class Outcome:
    problem: str
    megabytes: float
    """Of the installed tree."""


def interpreters() -> dict[str, str | None]:
    """The newest of each version that is found, on the path or among those of pyenv."""
    of_pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return {
        version: next(
            (
                candidate
                for candidate in (shutil.which(f"python{version}"), *_newest_first(of_pyenv, version))
                if candidate and release_of(candidate).startswith(f"{version}.")
            ),
            None,
        )
        for version in VERSIONS
    }


def _newest_first(folder: Path, version: str) -> list[str]:
    patches = {path.name.rpartition(".")[2]: path for path in folder.glob(f"{version}.*")}
    newest = sorted((patch for patch in patches if patch.isdigit()), key=int, reverse=True)
    return [str(patches[patch] / "bin/python") for patch in newest]


def release_of(python: str) -> str:
    """Its version; empty if it does not run, as pyenv's stand-ins on the path of versions that are not chosen."""
    code = "import platform; print(platform.python_version())"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=False).stdout.strip()


def run(command: Sequence[str | Path], folder: Path) -> str:
    """What a command prints; raises `CalledProcessError`. What was downloaded once is kept for the other rows."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LANG": "C.UTF-8"}
    environment |= {f"{tool}_CACHE_DIR": str(folder.parent / "cache" / tool) for tool in ("PIP", "UV")}
    environment |= {name: value for name, value in os.environ.items() if name.upper().startswith(KEPT_VARIABLES)}
    environment |= {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin"), "UV_LINK_MODE": "copy"}
    environment |= {"PIP_COMPILE": "0"}  # what is used compiles itself; all of it would take most of the time
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, [*map(str, command)], done.stdout, done.stderr)
    return done.stdout


def with_pip(python: str, artefact: str, folder: Path) -> Path:
    run([python, "-m", "venv", folder / "env"], folder)
    run([folder / "env/bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install", artefact], folder)
    return folder / "env/bin/zkchat"


def with_uv(python: str, artefact: str, folder: Path) -> Path:
    run(["uv", "-q", "venv", "--no-project", "--python", python, folder / "env"], folder)
    run(["uv", "-q", "pip", "install", "--python", folder / "env/bin/python", artefact], folder)
    return folder / "env/bin/zkchat"


def with_pipx(python: str, artefact: str, folder: Path) -> Path:
    run(["pipx", "install", "--quiet", "--python", python, artefact], folder)
    return folder / "bin/zkchat"


TOOLS: dict[str, Callable[[str, str, Path], Path]] = {"pip": with_pip, "uv": with_uv, "pipx": with_pipx}


def outcome(tool: str, python: str, artefact: Path, scratch: Path, extra: str = "") -> Outcome:
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        (folder / "home").mkdir()
        shutil.copytree(ROOT / "vault-fixtures/garden", folder / "notes")
        (folder / "notes/.zkchat").mkdir(exist_ok=True)
        try:
            program = TOOLS[tool](python, f"{artefact}[{extra}]" if extra else str(artefact), folder)
            if extra:
                run([program.with_name("python"), "-c", f"import {', '.join(EXTRAS[extra])}"], folder)
            problem = next(problems_of(program, folder), "")
        except (subprocess.SubprocessError, OSError) as error:
            problem = f"{error} {getattr(error, 'stderr', '') or ''}".strip()[-600:]
        trees = [path for path in (folder / "env", folder / "pipx") if path.exists()]
        return Outcome(problem, sum(map(tree_size, trees)) / 1e6)


def problems_of(program: Path, folder: Path) -> Iterator[str]:
    for check, arguments, expected in CHECKS:
        vault = () if check in WITHOUT_VAULT else ("--vault", str(folder / "notes"))
        if expected not in run([program, *arguments, *vault], folder):
            yield f"{check}: {expected!r} is not printed"


def tree_size(tree: Path) -> int:
    """Bytes of all files, those that are only linked to left out."""
    return sum(file.lstat().st_size for file in tree.rglob("*") if file.is_file() and not file.is_symlink())


def rows(tools: Sequence[str], pythons: Sequence[str], extras: Sequence[str]) -> Iterator[tuple[str, Outcome]]:
    artefacts = [*sorted((ROOT / "dist").glob("*.whl")), *sorted((ROOT / "dist").glob("*.tar.gz"))]
    if len(artefacts) != 2:
        raise SystemExit("There is no wheel and sdist in dist/: run make dist.")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for python in pythons:
            for tool in tools:
                for artefact, kind in zip(artefacts, ("wheel", "sdist"), strict=True):
                    yield f"{release_of(python):8} {tool:5} {kind:12}", outcome(tool, python, artefact, scratch)
        for python in pythons:
            for extra in extras if python == pythons[-1] else {"all"}.intersection(extras):
                row = f"{release_of(python):8} uv    {f'[{extra}]':12}"
                yield row, outcome("uv", python, artefacts[0], scratch, extra)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--tool", action="append", default=[], choices=[*TOOLS])
    parser.add_argument("--extra", action="append", default=[], choices=[*EXTRAS])
    parser.add_argument("--no-extras", action="store_true")
    given = parser.parse_args()
    found = interpreters()
    pythons = given.python or [python for python in found.values() if python]
    missing = [] if given.python else [version for version, python in found.items() if not python]
    extras = [] if given.no_extras else given.extra or [*EXTRAS]
    count = failed = 0
    for row, result in rows(given.tool or [*TOOLS], pythons, extras if pythons else []):
        count, failed = count + 1, failed + bool(result.problem)
        print(row, result.problem or f"{result.megabytes:6.0f} MB  works", flush=True)  # noqa: T201
    print(f"{len(pythons)} interpreters, {count} installations, {failed} failed.")  # noqa: T201
    if missing:
        print(f"Not found: Python {', '.join(missing)}. Put python{missing[0]} on the path, or name it.")  # noqa: T201
    return 1 if failed or not pythons else 0


if __name__ == "__main__":
    sys.exit(main())
