"""What is offered at a Tab; `make shells` tests the same in real shells."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.world import World
from zkchat.cli.completion import complete, split_line
from zkchat.index.note_schema import VERSION


def offered(world: World, line: str) -> list[str]:
    _, candidates = complete(split_line(line), world.environment())
    return [each.value for each in candidates]


def garden_of(world: World) -> World:
    world.note(
        "Evergreen notes.md", "---\naliases: [lasting]\n---\n# Notes that stay\n\n## Titles\n\n## Tending\n\n#method\n"
    )
    world.note("Ideas/Compost.md", "# Compost\n")
    world.note("Reference/Compost.md", "# Compost\n")
    world.note("Éclair.md", "# Éclair\n")
    world.note("new\nline.md", "# A title\x1b[31m\n")
    assert world.run("index").code == 0
    return world


@pytest.fixture
def garden(world: World) -> World:
    return garden_of(world)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The same, which no test changes."""
    return garden_of(World(tmp_path_factory.mktemp("garden")))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("backl", ["backlinks"]),
        ("context ex", ["export"]),
        ("ask --str", ["--strict"]),
        ("context export --he", ["--help"]),
        ("context export --format ", ["json", "markdown"]),
        ("context export --format=m", ["--format=markdown"]),
        ("links ever", ["Evergreen notes"]),
        ("links ecl", ["Éclair"]),
        ("links LAST", ["lasting"]),
        ("links notes\\ th", ["Notes that stay"]),
        ("links ideas/", ["Ideas/Compost"]),
        ("backlinks [[ever", ["[[Evergreen notes]]"]),
        ("resolve x --from ever", ["Evergreen notes"]),
        ("links Compost ever", []),
        ("ask 'what of [[Ever", ["what of [[Evergreen notes]]"]),
        ("ask '[[evergreen notes#T", ["[[evergreen notes#Titles]]", "[[evergreen notes#Tending]]"]),
        ("ask ever", []),
        ("@re", ["@research"]),
        ("ask --agent lib", ["librarian"]),
        ("agent run 'Compare [[Ever", ["Compare [[Evergreen notes]]"]),
        ("agent run --review ", ["end", "step"]),
        ("note move ever", ["Evergreen notes"]),
        ("note move x id", ["Ideas/"]),
        ("note new x --folder ref", ["Reference/"]),
        ("note tag x m", ["method"]),
        ("note set x model q", []),
        ("undo --id ", []),
        ("search tag:m", ["tag:method"]),
        ("search du", ["during:"]),
        ("sessions search ta", []),
        ("help exit", ["exit-codes"]),
        ("config get context.max", ["context.max_tokens"]),
        ("config set ui.keys ", ["emacs", "vi"]),
        ("config set context.auto_compact ", ["true", "false"]),
        ("config set no.such ", []),
        ("mcp install v", ["vscode"]),
        ("ask --model oll", ["ollama:"]),
        ("nonsense x", []),
    ],
)
def test_words_that_may_follow_are_offered(indexed: World, line: str, words: list[str]) -> None:
    assert offered(indexed, line) == words


def test_names_that_are_no_line_or_act_on_a_terminal_are_left_out(indexed: World) -> None:
    assert sorted(offered(indexed, "links ")) == ["Evergreen notes", "Ideas/Compost", "Reference/Compost", "Éclair"]
    assert offered(indexed, "links a\\ ti") == []


def test_sessions_are_offered_by_title_and_by_id(garden: World) -> None:
    answers = [[{"text": "Yes."}]] * 3
    for question in ("Is it so?", "Is it so?", "How much light?"):
        assert garden.run("ask", question, "--model", garden.script(*answers)).code == 0
    sessions = garden.run("sessions", "list", "--all", "--json").json
    ids = {each["title"]: each["id"] for each in sessions}
    assert offered(garden, "sessions show ") == [], "single questions are not listed"
    assert offered(garden, "sessions show how") == ["How much light?"], "but there once something is typed"
    for session in sessions:
        garden.run("ask", "And now?", "--session", session["id"], "--model", garden.script(*answers))
    assert offered(garden, "sessions show how") == ["How much light?"]
    assert len(offered(garden, "context stats ")) == 3, "two of them by their ids, as they have the same title"
    assert offered(garden, "agent run --resume how") == ["How much light?"]
    assert ids["How much light?"] in offered(garden, f"ask --session {ids['How much light?'][:6]}")


def test_mcp_servers_are_offered_by_name(garden: World) -> None:
    garden.note(".mcp.json", '{"mcpServers": {"tides": {"command": "x"}, "a b": {"command": "x"}}}')
    assert garden.run("mcp", "add", "time", "--", "uvx", "mcp-server-time").code == 0
    assert offered(garden, "mcp check ti") == ["tides", "time"]
    assert offered(garden, "mcp remove tim") == ["time"]


def test_the_vault_of_the_line_is_meant(garden: World, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert offered(garden, f"links --vault {other} ever") == []
    assert offered(garden, f"links ever --vault {garden.vault}") == []
    assert offered(garden, f"links --vault={garden.vault} ever") == ["Evergreen notes"]


def test_the_shell_completes_files_and_folders_itself(world: World) -> None:
    assert complete(split_line("ask --vault x"), world.environment()) == ("folders", [])
    assert complete(split_line("context import x"), world.environment()) == ("files", [])


def test_an_index_of_another_version_or_a_damaged_one_has_no_names(garden: World) -> None:
    (index,) = garden.home.rglob("index.db")
    subprocess.run([sys.executable, "-c", SET_VERSION, str(index), str(VERSION + 1)], check=True)
    assert offered(garden, "links ever") == []
    index.write_bytes(b"no database" * 1000)
    assert offered(garden, "links ever") == []
    index.unlink()
    assert offered(garden, "links ever") == []


SET_VERSION = (
    "import sqlite3, sys; database = sqlite3.connect(sys.argv[1]); "
    "database.execute(f'PRAGMA user_version = {sys.argv[2]}')"
)


def test_databases_in_a_vault_are_read_once_approved(world: World) -> None:
    world.note("Evergreen notes.md", "x\n")
    world.run("config", "set", "storage.location", "vault")
    assert world.run("index").code == 0
    assert offered(world, "links ever") == ["Evergreen notes"]
    world.run("trust", "--revoke")
    assert offered(world, "links ever") == []


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(file): (file.lstat().st_size, file.lstat().st_mtime_ns) for file in folder.rglob("*")}


@pytest.mark.outside
def test_a_tab_writes_nothing_imports_nothing_heavy_and_says_nothing_but_words(garden: World) -> None:
    garden.note("Later.md", "not yet indexed\n")
    before = tree(garden.root)
    code = (
        "import sys; from zkchat.__main__ import main; sys.argv = ['zkchat', *sys.argv[1:]]; main(); "
        "sys.stderr.write(' '.join(sys.modules))"
    )
    environment = {"HOME": str(garden.home), "PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}

    def press(**variables: str) -> tuple[str, set[str]]:
        done = subprocess.run(
            [sys.executable, "-c", code, "links", "L"],
            env=environment | variables, cwd=garden.vault, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout, {name.partition(".")[0] for name in done.stderr.split()}

    out, modules = press(_ZKCHAT_COMPLETE="complete_zsh")
    assert out == "words\nlasting\tEvergreen notes.md\n"
    assert modules & {"pydantic", "rich", "prompt_toolkit", "numpy", "yaml", "httpx", "asyncio"} == set()
    assert press(_ZKCHAT_COMPLETE="complete_bash", COMP_LINE='zkchat links "ev')[0] == "words\nEvergreen notes\n"
    assert press(_ZKCHAT_COMPLETE="complete_bash", COMP_LINE="A=b zkchat links ev")[0] == "words\nEvergreen\\ notes\n"
    assert press(_ZKCHAT_COMPLETE="complete_bash", COMP_LINE="")[0].startswith("words\n")
    assert tree(garden.root) == before


def test_the_script_of_each_shell_is_printed(world: World) -> None:
    for shell in ("bash", "zsh", "fish"):
        printed = world.run("completion", shell)
        assert (printed.code, printed.err) == (0, "")
        assert f"_ZKCHAT_COMPLETE=complete_{shell}" in printed.out
        assert f"zkchat config completion {shell}" in world.run("completion", "--help").out
