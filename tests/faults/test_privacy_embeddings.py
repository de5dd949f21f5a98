"""An embedding server elsewhere, and every command by which words of a local note could reach it.

The commands are taken from their tables, so that a new one is tried here by itself. The server runs on loopback and is
declared to be elsewhere; it records each text that it gets. Tools are tried beside it in `test_privacy_tools.py`, and
those of an MCP host in `tests/mcp_server/test_privacy.py`.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperArgument, TyperGroup

import zkchat
from tests.providers.loopback import serving
from tests.support.egress import FILE, ID, QUOTING, Recorder, Scene, embed_elsewhere, leaked, make_scene
from tests.support.embedding_server import EmbeddingServer
from zkchat.cli.main import app
from zkchat.repl.commands.table import COMMANDS

QUESTION = "What is the lighthouse password?"
WORDS: dict[str, tuple[str, ...]] = {
    "search": ("lighthouse", "password"),
    "ask": (QUESTION,),
    "agent run": (QUESTION,),
    "verify": (FILE,),
    "why": (QUESTION, ID),
    "eval": ("questions.txt",),
    "note rename": (ID, "Lamp"),
    "note append": (ID, "White."),
    "note set": (ID, "colour", "white"),
    "note tag": (ID, "lamp"),
    "memory import": (f"@{FILE}",),
    "sessions show": ("1",),
    "context import": ("talk.json",),
}
"""What a command is given where the id of the local note, for each of its arguments, would come to nothing."""
ORIGINS = {
    "actions/notes.py": "what the user typed",
    "api.py": "a query of who calls it",
    "app/library.py": "a word of our own",
    "chat/question.py": "what the user typed, or an MCP host asks",
    "chat/tools/explore.py": "what a model asks",
    "core/index.py": "what is made of such a text alone",
    "index/indexing/embedding.py": "passages of open notes",
    "mcp/vault_tools.py": "what an MCP host asks",
}
"""Where a text is said to be open, and what it comes from. Names, titles and texts of notes are no such thing."""


def leaves(command: object, *words: str) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Every command of the command line: its name, its arguments, and whether a model is chosen for it."""
    if not isinstance(command, TyperGroup) or command.invoke_without_command:
        parameters = getattr(command, "params", ())
        given = WORDS.get(" ".join(words)) or [ID for each in parameters if isinstance(each, TyperArgument)]
        dry = ["--dry-run" for each in parameters if "--dry-run" in each.opts]
        yield " ".join(words), (*given, *dry), any("--model" in each.opts for each in parameters)
    if isinstance(command, TyperGroup):
        for name, each in command.commands.items():
            yield from leaves(each, *words, name)


COMMAND_LINE = [each for each in leaves(typer.main.get_command(app)) if each[0] != "serve"]
"""Without the server of the page, which ends with a signal: tests/web/test_privacy.py asks it."""


embedder = serving(EmbeddingServer, name="embedder")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, embedder: EmbeddingServer) -> Iterator[Scene]:
    """A conversation with a local turn, in a vault whose open notes have been embedded."""
    with Recorder() as server:
        scene = make_scene(tmp_path_factory.mktemp("embeddings"), server)
        scene.world.variables |= {"TERM": "dumb", "EDITOR": "true"}
        scene.world.note("questions.txt", f"{QUESTION} => [[{ID}]]\n  And its colour? =>\n")
        embed_elsewhere(scene.world, embedder)
        server.says = QUOTING
        scene.ask(scene.here, f"Is Quollsecret the lighthouse password? See [[{ID}]].")
        shutil.copytree(scene.world.root, tmp_path_factory.mktemp("kept") / "root")
        yield scene


@pytest.fixture(autouse=True)
def _as_it_was(scene: Scene, embedder: EmbeddingServer, tmp_path_factory: pytest.TempPathFactory) -> None:
    kept = next(tmp_path_factory.getbasetemp().glob("kept*/root"))
    shutil.rmtree(scene.world.root)
    shutil.copytree(kept, scene.world.root)
    embedder.received.clear()


@pytest.fixture
def model(request: pytest.FixtureRequest, scene: Scene) -> str:
    name: str = getattr(scene, request.param)
    scene.world.variables["ZKCHAT_MODEL"] = name
    return name


@pytest.mark.parametrize(
    ("command", "arguments", "model"),
    [
        (name, arguments, model)
        for name, arguments, has_model in COMMAND_LINE
        for model in (["here", "elsewhere"] if has_model else ["here"])
    ],
    indirect=["model"],
)
def test_no_command_sends_a_word_of_a_local_note_to_be_embedded_elsewhere(
    scene: Scene, embedder: EmbeddingServer, model: str, command: str, arguments: tuple[str, ...]
) -> None:
    del model  # is set
    scene.world.run(*command.split(), *arguments, stdin="")
    assert leaked(str(embedder.embedded).lower(), *arguments) == set()


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_no_slash_command_does(scene: Scene, embedder: EmbeddingServer, command: str) -> None:
    typed = f"/show {ID}\n/{command} {ID}\ny\n/{command}\ny\n/quit\n"
    ran = scene.world.run("chat", "--continue", "--model", scene.here, typed=typed, terminal=True)
    assert "Wombattitle" in ran.out
    assert leaked(str(embedder.embedded).lower()) == set()


@pytest.mark.parametrize("command", [("vault", "mentions", ID), ("note", "link", ID, "--dry-run")], ids=" ".join)
def test_a_server_on_this_machine_compares_the_names_of_local_notes(
    scene: Scene, embedder: EmbeddingServer, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setitem(scene.world.variables, "ZKCHAT_EMBEDDINGS__LOCAL", "true")
    scene.world.run(*command)
    assert "wombattitle" in leaked(str(embedder.embedded).lower())


def test_what_you_search_for_is_sent(scene: Scene, embedder: EmbeddingServer) -> None:
    scene.world.run("search", "white tower")
    assert embedder.embedded == ["white tower"]


def test_it_is_known_where_a_text_is_said_to_be_open() -> None:
    package = Path(zkchat.__file__).parent
    makers = {file for file in package.rglob("*.py") if re.search(r"(?<!class )\bOpenText\(", file.read_text("utf-8"))}
    assert {file.relative_to(package).as_posix() for file in makers} == ORIGINS.keys()
