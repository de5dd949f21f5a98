"""What `--version` and `--help` must not import; times are measured in benchmarks/, not here."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.outside

HEAVY = {
    "openai", "ollama", "numpy", "tiktoken", "prompt_toolkit", "rich", "pydantic", "httpx", "sqlite3",
    "pyromark", "yaml", "tomlkit", "Stemmer", "tokenizers", "asyncio",
}  # fmt: skip


def imported_by(*arguments: str) -> set[str]:
    code = (
        "import sys; sys.argv = ['zkchat', *sys.argv[1:]]\n"
        "from zkchat.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert run.stdout.strip()
    return {name.partition(".")[0] for name in run.stderr.split()}


def test_version_imports_nothing_but_the_version() -> None:
    assert imported_by("--version") & (HEAVY | {"typer"}) == set()


def test_help_imports_nothing_heavy() -> None:
    assert imported_by("--help") & HEAVY == set()


def test_the_help_of_a_command_imports_nothing_heavy() -> None:
    # Typer itself reads a command's parameters with pydantic.
    assert imported_by("ask", "--help") & HEAVY <= {"pydantic"}
