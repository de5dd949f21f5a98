"""A vault that somebody else made can do nothing before you said yes, and no harm after it.

Every command is run, in the vault and from elsewhere: no code of the vault runs, nothing outside of it changes, nothing
of it decides where requests go, and what is wrong is said in a sentence.
"""

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.hostile.vault_builder import CANARY, NOTES, OBEY, Ground, make
from zkchat.cli.command_table import BELOW
from zkchat.cli.main import app
from zkchat.core.errors import ExitCode

QUESTION = "How many steps has the lighthouse? See [[Orders]], [[Diary]], [[Linked secret]] and @../outside/secret.txt"
COMMANDS: dict[str, tuple[str, ...]] = {
    "ask": (QUESTION, "--model", "quote", "--panels"),
    "chat": ("--model", "quote", "--plain"),
    "search": ("lighthouse",),
    "verify": ("ZKCHAT.md",),
    "why": (QUESTION, "[[Orders]]"),
    "eval": ("ZKCHAT.md",),
    "show": ("[[Orders]]",),
    "recent": (),
    "tags": (),
    "daily": (),
    "brief": (),
    "today": (),
    "check": (),
    "timeline": ("[[Orders]]",),
    "links": ("[[Orders]]",),
    "backlinks": ("[[Note 1]]",),
    "resolve": ("[[run.sh]]",),
    "index": ("--rebuild",),
    "refs": ("--top",),
    "doctor": (),
    "acp": ("--model", "quote"),
    "lsp": (),
    "note new": ("Lamp", "White.", "--dry-run"),
    "note append": ("[[Orders]]", "White.", "--dry-run"),
    "note rename": ("[[Note 1]]", "Lamp", "--dry-run"),
    "note move": ("[[Note 1]]", "Lamps", "--dry-run"),
    "note set": ("[[Note 1]]", "colour", "white", "--dry-run"),
    "note tag": ("[[Note 1]]", "lamp", "--dry-run"),
    "note trash": ("[[Note 1]]", "--dry-run"),
    "changes": (),
    "undo": (),
    "vault status": (),
    "vault mentions": ("[[Orders]]",),
    "vault fix-links": ("--dry-run",),
    "note link": ("[[Orders]]", "--dry-run"),
    "vault neighbours": ("[[Orders]]",),
    "sessions list": (),
    "sessions show": ("1",),
    "sessions search": ("lighthouse",),
    "sessions rename": ("1", "lighthouse"),
    "sessions pin": ("1", "1"),
    "sessions priority": ("1", "1", "9"),
    "sessions delete": ("1", "--yes"),
    "context stats": (),
    "context compact": ("--model", "quote"),
    "context clear": ("--yes",),
    "context export": (),
    "context import": ("ZKCHAT.md",),
    "context show": (),
    "context summary": (),
    "context memory": (),
    "agent list": (),
    "agent show": ("default",),
    "agent new": ("fresh",),
    "agent edit": ("mine",),
    "agent run": ("How many steps has the lighthouse?", "--model", "quote"),
    "ask --goal": ("How many steps has the lighthouse?", "--model", "quote"),
    "agent config": ("mine", "description", "Still my own."),
    "rules list": (),
    "rules show": ("Always",),
    "rules new": ("fresh",),
    "memory add": ("The lighthouse is white.",),
    "memory list": (),
    "memory show": ("1",),
    "memory search": ("lighthouse",),
    "memory relevance": (),
    "memory forget": ("1",),
    "memory export": (),
    "memory import": ("@ZKCHAT.md",),
    "mcp": (),
    "mcp list": (),
    "mcp check": (),
    "mcp install": ("cursor",),
    "mcp add": ("fresh", "--replace", "--url", "http://127.0.0.1:9/mcp"),
    "mcp remove": ("fresh",),
    "models": (),
    "models pull": ("nosuchmodel",),
    "config show": (),
    "config get": ("ollama.host",),
    "config set": ("ui.color", "never"),
    "config unset": ("ui.color",),
    "config path": (),
    "trust": (),
    "setup": (),
    "completion": ("bash",),
    "help": ("commands",),
}
MOST_MEMORY = 4_000_000_000
MAY_FAIL = frozenset(
    {
        *("undo", "agent run", "agent new", "ask --goal", "daily", "setup", "completion", "help", "models pull"),
        *("sessions show", "sessions rename", "sessions pin", "sessions priority", "sessions delete", "mcp remove"),
        *("context compact", "context clear", "context import", "context summary", "context memory", "rules show"),
        *("rules new", "memory show", "memory forget", "memory import", "doctor", "verify", "eval"),
    }
)
"""What has nothing to work on here, takes no vault, or rightly says that something is wrong. Others give a result."""
READ_INPUT = ("chat", "acp", "lsp", "mcp")
"""What reads the input of its process."""
AS_INSTALLED = (*READ_INPUT, "ask", "search", "index", "doctor", "trust", "agent edit")
"""Started as a user does, each in a process of its own."""
RUN_ALL = """
import io, json, sys
from pathlib import Path
from msgspec.structs import replace
from zkchat.cli.main import run
from zkchat.core.environment import Environment
ran = []
for words in json.loads(sys.argv[1]):
    streams = {name: io.StringIO() for name in ("stdin", "stdout", "stderr")}
    code = run(words, replace(Environment.of_this_process(), **streams))
    ran.append([code, streams["stdout"].getvalue() + streams["stderr"].getvalue()])
Path(sys.argv[2]).write_text(json.dumps(ran))
"""
"""Several commands in one process, which is quicker."""
IN_CHAT = (
    "/help\n/tools\n/rules\n/agent default\n/open 1\n/search lighthouse\n/show 1\n/links\n/tags\n/daily\n/context\n"
    "How many steps has it?\n/verify\n/why [[Orders]]\n/quit\n"
)


@dataclass
class Recorder:
    """A server where the vault wants requests to go; nothing should ever come."""

    requests: list[str] = field(default_factory=list)

    def __enter__(self) -> "Recorder":
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                requests.append(f"{self.command} {self.path} {self.rfile.read(length)!r}")
                self.send_error(404)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                """Nobody reads it."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"


@dataclass(frozen=True)
class Hostile:
    ground: Ground
    recorder: Recorder
    vault_before: dict[str, str]
    """Digests of the vault's files as they were made."""

    @classmethod
    def make(cls, root: Path, recorder: Recorder, notes: int = 60) -> "Hostile":
        ground = make(root, recorder.address, notes)
        return cls(ground, recorder, ground.digests_of_vault())

    def run(self, *words: str, cwd: Path | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """zkchat as it is installed, in the vault unless said otherwise."""
        return self._start([str(Path(sys.executable).with_name("zkchat")), *words], cwd or self.ground.vault, stdin)

    def run_all(self, commands: Sequence[str], *more: str, cwd: Path | None = None) -> list[tuple[str, int, str]]:
        """Commands one after the other in one process: each with its exit code and all that it printed."""
        told = self.ground.root / "told.json"
        words = json.dumps([[*command.split(), *COMMANDS[command], *more] for command in commands])
        done = self._start([sys.executable, "-P", "-c", RUN_ALL, words, str(told)], cwd or self.ground.vault)
        assert done.returncode == 0, done.stderr
        return [(command, *ran) for command, ran in zip(commands, json.loads(told.read_text()), strict=True)]

    def _start(self, command: Sequence[str], cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.ground.home),
            "LANG": "C.UTF-8",
            "EDITOR": "true",
            "OPENAI_API_KEY": "sk-canary-5f2b9c",
        }
        return subprocess.run(
            command,
            cwd=cwd,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            env=variables,
            timeout=120,
            check=False,
            preexec_fn=_bound_memory,
        )


def _bound_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    """With a session to look at, as the first question leaves one."""
    with Recorder() as recorder:
        found = Hostile.make(tmp_path_factory.mktemp("hostile") / "ground", recorder, NOTES)
        assert found.run("ask", QUESTION, "--model", "quote").returncode == ExitCode.OK
        yield found


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    """The same vault, and a user who says yes to everything but the MCP server, which an approval lets run."""
    with Recorder() as recorder:
        found = Hostile.make(tmp_path_factory.mktemp("approved") / "ground", recorder)
        (found.ground.vault / ".mcp.json").unlink()
        assert found.run("trust", "--yes").returncode == ExitCode.OK
        yield found


def test_every_command_is_tried_here() -> None:
    found = {" ".join(words) for words in _leaves(typer.main.get_command(app))}
    assert found - {"serve"} == set(COMMANDS)  # which ends with a signal: test_hostile_vault_by_web.py


def _leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    below = getattr(command, "commands", None)
    if not below or (command.invoke_without_command and path):
        yield path
    for name, each in (below or {}).items():
        if name not in BELOW.get(" ".join(path), {}):  # which is another one by its name of now
            yield from _leaves(each, (*path, name))


@pytest.mark.parametrize("command", AS_INSTALLED)
def test_no_command_runs_code_changes_anything_outside_or_sends_anything(hostile: Hostile, command: str) -> None:
    code, told = _harmless(hostile, command)
    assert command in MAY_FAIL or code == ExitCode.OK, told
    assert hostile.ground.digests_of_vault() == hostile.vault_before
    assert hostile.recorder.requests == []


@pytest.mark.parametrize("place", ["vault", "home"])
def test_no_other_command_does_so_in_the_vault_or_from_elsewhere(hostile: Hostile, place: str) -> None:
    ground = hostile.ground
    outside = ground.digests_outside()
    commands = [command for command in COMMANDS if command not in READ_INPUT][:: 1 if place == "vault" else 4]
    for command, code, told in hostile.run_all(commands, "--vault", str(ground.vault), cwd=ground.root / place):
        _is_said_in_a_sentence(code, told)
        assert command in MAY_FAIL or code == ExitCode.OK, (command, told)
    assert ground.traces_of_code() == []
    assert ground.digests_outside() == outside
    assert ground.digests_of_vault() == hostile.vault_before
    assert hostile.recorder.requests == []


def test_after_a_yes_no_code_runs_and_nothing_outside_changes_all_the_same(approved: Hostile) -> None:
    outside = approved.ground.digests_outside()
    for command in ("ask", "chat"):
        _harmless(approved, command)
    for _, code, told in approved.run_all(["search", "index", "doctor", "sessions list", "memory list", "trust"]):
        _is_said_in_a_sentence(code, told)
    assert approved.ground.traces_of_code() == []
    assert approved.ground.digests_outside() == outside


def _harmless(hostile: Hostile, command: str) -> tuple[int, str]:
    """Run a command in the vault; whether or not it does its work, it does no harm and tells what is wrong."""
    outside = hostile.ground.digests_outside()
    ran = hostile.run(*command.split(), *COMMANDS[command], stdin=IN_CHAT if command == "chat" else "")
    told = ran.stdout + ran.stderr
    _is_said_in_a_sentence(ran.returncode, told)
    assert hostile.ground.traces_of_code() == []
    assert hostile.ground.digests_outside() == outside
    return ran.returncode, told


def _is_said_in_a_sentence(code: int, told: str) -> None:
    assert code in set(ExitCode) - {ExitCode.BUG}, told
    assert "Traceback" not in told
    assert f"{CANARY} of" not in told


def test_nothing_of_the_vault_instructs_a_model(hostile: Hostile) -> None:
    """What a model is given: notes as data, and none of the vault's agents, rules and pages."""
    script = hostile.ground.root / "play.json"
    script.write_text('{"answers": [[{"text": "Fine."}]]}')
    hostile.run("ask", "How many steps has the lighthouse of row 7?", "--model", f"scripted:{script}")
    shown = hostile.run("context", "show", "--request", "--json")
    assert "lighthouse of row 7" in shown.stdout
    assert OBEY not in shown.stdout
    assert CANARY not in shown.stdout
