"""What `--version` and `--help` must not import; times are measured in benchmarks/, not here."""

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import zkchat
from zkchat.cli.command_table import PLACES
from zkchat.model.patterns import _LazyPattern

pytestmark = pytest.mark.outside

HEAVY = {
    "openai", "ollama", "numpy", "tiktoken", "prompt_toolkit", "rich", "pydantic", "httpx", "sqlite3",
    "pyromark", "yaml", "tomlkit", "Stemmer", "tokenizers", "asyncio", "acp",
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


def test_version_imports_nothing_but_the_version() -> None:
    assert imported_by("--version") & (HEAVY | {"typer"}) == set()


def test_help_imports_nothing_but_the_table_of_commands() -> None:
    assert imported_by("--help") & (HEAVY | {"typer", "msgspec", "typing"}) == set()


def test_the_help_of_a_command_imports_nothing_heavy() -> None:
    assert imported_by("ask", "--help") & HEAVY == set()


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["config", "show"], set()),
        (["sessions", "list", "--json"], {"sqlite3"}),
        (["search", "sleep"], {"sqlite3", "numpy", "Stemmer"}),
        (["ask", "Sleep?", "--model", "quote"], {"sqlite3", "numpy", "Stemmer", "pyromark", "asyncio"}),
    ],
)
def test_a_command_loads_its_own_module_and_the_libraries_it_needs(
    tmp_path: Path, arguments: list[str], needed: set[str]
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Sleep.md").write_text("# Sleep\n\nSeven hours are enough.\n")
    loaded = modules_of(*arguments, "--vault", str(vault), home=tmp_path)
    assert {name.partition(".")[0] for name in loaded} & HEAVY <= needed
    commands = {f"zkchat.cli.{place.partition('.')[0]}" for place in PLACES.values()}
    # Settings and answers ask about what comes with a vault.
    assert loaded & commands <= {f"zkchat.cli.{arguments[0]}", "zkchat.cli.trust"}


def test_no_sdk_of_a_protocol_is_loaded_where_it_is_not_used(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Sleep.md").write_text("# Sleep\n\nSeven hours are enough.\n")
    sdks = {"mcp", "mcp_types", "acp"}
    (tmp_path / "play.json").write_text('{"answers": [[{"text": "Seven."}]]}')
    model = f"scripted:{tmp_path}/play.json"  # one that could call tools of servers
    assert imported_by("ask", "Sleep?", "--model", model, "--vault", str(vault), home=tmp_path) & sdks == set()
    (vault / ".mcp.json").write_text('{"mcpServers": {"tides": {"command": "tides"}}}')
    assert imported_by("mcp", "list", "--vault", str(vault), home=tmp_path) & sdks == set()
    assert imported_by("mcp", "install", "cursor", "--vault", str(vault), home=tmp_path) & sdks == set()


def test_values_and_their_stores_need_no_pydantic() -> None:
    code = (
        "import importlib, pkgutil, sys\n"
        "for package in map(importlib.import_module, ('zkchat.model', 'zkchat.storage', 'zkchat.export')):\n"
        "    for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(found.name)\n"
        "print('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_search_by_the_vectors_of_zkchat_knows_no_server_and_no_pdf(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Sleep.md").write_text("# Sleep\n\nSeven hours are enough.\n")
    unused = {"openai", "ollama", "httpx", "prompt_toolkit", "pypdfium2", "PIL", "ssl"}
    assert imported_by("search", "sleep", "--vault", str(vault), home=tmp_path) & unused == set()


def test_patterns_of_modules_are_not_compiled_before_they_are_used() -> None:
    """They took ten times as long as Python itself: `lazy_pattern` makes those of modules and classes."""
    package = Path(__file__).parents[2] / "zkchat"
    eager = [
        f"{path.relative_to(package)}:{call.lineno}"
        for path in sorted(package.rglob("*.py"))
        for call in calls_at_import(ast.parse(path.read_text()))
        if ast.unparse(call.func) == "re.compile"
    ]
    assert eager == []


def calls_at_import(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.Call):
            yield child
        yield from calls_at_import(child)


def test_every_pattern_of_a_module_is_a_pattern() -> None:
    """A mistake in one would be noticed only by whoever needs it."""
    for found in pkgutil.walk_packages(zkchat.__path__, "zkchat."):
        if not found.name.endswith("__main__"):
            for value in vars(importlib.import_module(found.name)).values():
                if isinstance(value, _LazyPattern):
                    assert value.flags >= 0


def test_an_answer_without_a_model_knows_no_tools_no_brief_and_no_layout_of_pdfs(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Sleep.md").write_text("# Sleep\n\nSeven hours are enough.\n")
    modules = modules_of("ask", "How many hours of sleep?", "--model", "quote", "--vault", str(vault), home=tmp_path)
    unused = {
        *("yaml", "openai", "ollama", "httpx", "prompt_toolkit", "rich", "pypdfium2", "PIL", "mcp", "acp"),
        *("zkchat.tools.registry", "zkchat.tools.explore", "zkchat.tools.recall", "zkchat.tools.memory"),
        *("zkchat.writing.tools", "zkchat.chat.brief_summary", "zkchat.chat.archive_recall"),
        "zkchat.storage.pdf.layout",
    }
    assert modules & unused == set()
