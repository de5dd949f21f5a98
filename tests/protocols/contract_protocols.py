"""`zkchat mcp` and `zkchat acp` against programs of the public protocol projects (`make protocols`); the name keeps it
out of the other tests."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.protocols import conformance
from tests.protocols.acpx_round_trip import CHECKS, NOTE, Client
from tests.protocols.conformance import ZKCHAT, HttpServer, Run, Side, required
from tests.protocols.node_programs import NoNode, environment, install, program, run
from tests.protocols.scenarios import REVISIONS
from tests.support.world import World

ERAS = {"2025-11-25": "legacy", "2026-07-28": "modern"}
QUESTION = "What is an evergreen note?"
PAGE = conformance.ROOT / "tests" / "protocols" / "conformance.md"
SEEN: dict[tuple[Side, str], Run] = {}
"""The runs of the suite, for the tables of the page."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        install()
    except NoNode as error:
        pytest.fail(str(error), pytrace=False)
    return tmp_path_factory.mktemp("protocols")


@pytest.fixture(scope="module")
def vault(home: Path) -> Path:
    return conformance.garden(home)


@pytest.fixture(scope="module")
def server(vault: Path, home: Path) -> Iterator[HttpServer]:
    with conformance.served(vault, home) as running:
        yield running


@pytest.mark.parametrize("revision", REVISIONS)
def test_our_server_passes_the_conformance_suite(revision: str, server: HttpServer, home: Path) -> None:
    got = conformance.run_server_side(revision, server, home)
    one = SEEN["server", revision] = Run(required("server", revision, home), got)
    assert len(one.needed) > 20
    assert conformance.differences("server", one.needed, got) == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_our_client_passes_the_conformance_suite(revision: str, home: Path) -> None:
    got = conformance.run_client_side(revision, home)
    one = SEEN["client", revision] = Run(required("client", revision, home), got)
    assert len(one.needed) > 3
    assert conformance.differences("client", one.needed, got) == []


def test_the_page_shows_these_results() -> None:
    if len(SEEN) < 2 * len(REVISIONS):
        pytest.skip("not all of the suite was run")
    page = PAGE.read_text("utf-8")
    assert conformance.renewed(page, conformance.tables(SEEN)) == page


class Inspector:
    """The inspector's command line, with one server."""

    def __init__(self, home: Path, era: str, options: Sequence[str], target: Sequence[str]) -> None:
        self._home = home
        self._options = ["--cli", "--protocol-era", era, *options]
        self._target = target

    def asks(self, method: str, *arguments: str) -> Any:
        done = run("inspector", *self._options, "--method", method, *arguments, *self._target,
                   home=self._home, cwd=self._home)  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), done.stderr or done.stdout
        return json.loads(done.stdout)


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=REVISIONS)
def inspector(request: pytest.FixtureRequest, transport: str, home: Path, vault: Path) -> Inspector:
    era = ERAS[request.param]
    if transport == "stdio":
        return Inspector(home, era, [], ["--", ZKCHAT, "mcp", "--vault", str(vault)])
    server: HttpServer = request.getfixturevalue("server")
    header = ["--header", f"Authorization: Bearer {server.token}"]
    return Inspector(home, era, ["--transport", "http", "--server-url", server.url, *header], [])


def test_the_inspector_lists_and_uses_all_that_the_server_offers(inspector: Inspector) -> None:
    tools = inspector.asks("tools/list", "--strict")["tools"]
    assert {"ask_vault", "verify_quotes", "search", "fetch"} <= {tool["name"] for tool in tools}
    found = inspector.asks("tools/call", "--tool-name", "search", "--tool-arg", "query=evergreen")
    best = found["structuredContent"]["results"][0]
    assert best["title"] == "Evergreen notes"
    assert best["url"] in {one["uri"] for one in inspector.asks("resources/list")["resources"]}
    (text,) = inspector.asks("resources/read", "--uri", best["url"])["contents"]
    assert "written to grow" in text["text"]
    assert inspector.asks("resources/templates/list")["resourceTemplates"]
    assert "ask" in {prompt["name"] for prompt in inspector.asks("prompts/list")["prompts"]}
    asked = inspector.asks("prompts/get", "--prompt-name", "ask", "--prompt-args", f"question={QUESTION}")
    assert "written to grow" in json.dumps(asked["messages"])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_acpx_and_our_agent(
    check: Callable[[Client], bool], home: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", environment(home)["PATH"])
    world.note("Sleep.md", NOTE)
    assert check(Client(program("acpx"), world))
