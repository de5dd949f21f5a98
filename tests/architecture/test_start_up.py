"""What commands must not import; times are measured in benchmarks/, not here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.outside, pytest.mark.slow]

HEAVY = {
    "openai", "ollama", "numpy", "tiktoken", "prompt_toolkit", "pydantic", "httpx", "sqlite3",
    "pyromark", "yaml", "tomlkit", "Stemmer", "tokenizers", "asyncio", "acp", "pygls",
}  # fmt: skip


def imported_by(*arguments: str, home: Path | None = None) -> set[str]:
    return {name.partition(".")[0] for name in modules_of(*arguments, home=home)}


def modules_of(*arguments: str, home: Path | None = None) -> set[str]:
    code = (
        "import sys; sys.argv = ['zkchat', *sys.argv[1:]]\n"
        "from zkchat.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    variables = None if home is None else {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", code, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=variables)
    assert run.stdout.strip()
    return {*run.stderr.split()}


def test_numpy_starts_no_threads_and_no_program_is_told_so(tmp_path: Path) -> None:
    code = (
        "import os, sys; sys.argv = ['zkchat', 'config', 'path']\n"
        "from zkchat.cli import main as cli\n"
        "cli.run = lambda arguments, environment: print(environment.variables.get('OPENBLAS_NUM_THREADS')) or 0\n"
        "from zkchat.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    variables = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables)
    assert run.stdout.split() == ["None", "1"]


def test_the_help_of_a_command_imports_nothing_heavy() -> None:
    assert imported_by("ask", "--help") & (HEAVY - {"sqlite3", "Stemmer", "asyncio"}) == set()


STANDARD = {"asyncio", "secrets", "ssl", "xml", "zipfile"}
"""Modules of the standard library that take a millisecond and more."""


WRITTEN = 1_700_000_000
"""When notes were written: one that was just written would be read again."""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return vault_in(tmp_path)


def vault_in(home: Path) -> Path:
    vault = home / "vault"
    vault.mkdir()
    (vault / "Sleep.md").write_text("# Sleep\n\nSieben Stunden genügen – meistens.\n\n#health\n")
    os.utime(vault / "Sleep.md", (WRITTEN, WRITTEN))
    return vault


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of somebody who has searched in a vault, so that it is indexed and there are vectors."""
    home = tmp_path_factory.mktemp("home")
    vault = vault_in(home)
    nights = "".join(f"# Night {number}\n\nSlept well.\n\n" for number in range(1_100))
    (vault / "Diary.md").write_text(nights)
    os.utime(vault / "Diary.md", (WRITTEN, WRITTEN))
    modules_of("index", "--vault", str(vault), home=home)
    return home


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["config", "show"], set()),
        (["sessions", "list", "--json"], {"sqlite3"}),
        (["index"], {"sqlite3", "numpy"}),
        (["search", "sleep"], {"sqlite3", "numpy", "Stemmer"}),
        (["search", "tag:health"], {"sqlite3", "numpy", "Stemmer"}),
        (["ask", "How long should I sleep?"], {"sqlite3", "numpy", "Stemmer", "pyromark"}),
        (["ask", "[[Sleep]]"], {"sqlite3", "numpy", "Stemmer", "pyromark"}),
    ],
)
def test_a_command_loads_its_own_module_and_the_libraries_it_needs(
    searched: Path, arguments: list[str], needed: set[str]
) -> None:
    model = ["--model", "quote"] if arguments[0] == "ask" else []
    loaded = modules_of(*arguments, *model, "--vault", str(searched / "vault"), home=searched)
    assert {name.partition(".")[0] for name in loaded} & (HEAVY - STANDARD) == needed


def test_no_sdk_of_a_protocol_and_no_check_of_calls_is_loaded_where_it_is_not_used(tmp_path: Path, vault: Path) -> None:
    sdks = {"mcp", "mcp_types", "acp", "pydantic"}
    (tmp_path / "play.json").write_text('{"answers": [[{"text": "Seven."}]]}')
    model = f"scripted:{tmp_path}/play.json"  # one that could call tools of servers
    assert imported_by("ask", "Sleep?", "--model", model, "--vault", str(vault), home=tmp_path) & sdks == set()
    (vault / ".mcp.json").write_text('{"mcpServers": {"tides": {"command": "tides"}}}')
    assert imported_by("mcp", "list", "--vault", str(vault), home=tmp_path) & sdks == set()
    assert imported_by("mcp", "install", "cursor", "--vault", str(vault), home=tmp_path) & sdks == set()


def test_values_and_their_stores_need_no_pydantic() -> None:
    code = (
        "import importlib, pkgutil, sys\n"
        "for package in map(importlib.import_module, ('zkchat.core', 'zkchat.storage', 'zkchat.sessions')):\n"
        "    for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(found.name)\n"
        "print('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_search_by_the_vectors_of_zkchat_knows_no_server_and_no_pdf(tmp_path: Path, vault: Path) -> None:
    unused = {"openai", "ollama", "httpx", "prompt_toolkit", "pypdfium2", "PIL"}
    assert imported_by("search", "sleep", "--vault", str(vault), home=tmp_path) & unused == set()


def test_an_answer_without_a_model_knows_no_tools_no_brief_and_no_layout_of_pdfs(tmp_path: Path, vault: Path) -> None:
    modules = modules_of("ask", "How many hours of sleep?", "--model", "quote", "--vault", str(vault), home=tmp_path)
    unused = {
        *("yaml", "openai", "ollama", "httpx", "prompt_toolkit", "pypdfium2", "PIL", "mcp", "acp"),
        "zkchat.chat.tools.memory",
    }
    assert modules & unused == set()
