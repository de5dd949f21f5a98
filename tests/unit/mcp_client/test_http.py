"""Servers that are reached over HTTP: every fault is a sentence, and headers go to nobody but their server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.mcp_client.bench import Bench
from tests.unit.mcp_client.http_server import HttpServer, serving
from zkchat.core.tool_server import ServerDefinition

pytestmark = pytest.mark.outside

HEADERS = {"Authorization": "Bearer secret-token"}
FAULTS = ("401", "404", "500", "elsewhere", "moved", "html", "invalid", "echoes", "compressed")


@pytest.fixture(scope="module")
def http() -> Iterator[HttpServer]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def bench(http: HttpServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    faulty = (ServerDefinition(name=path, url=http.url(path), headers=HEADERS) for path in FAULTS)
    definitions = (
        ServerDefinition(name="ok", url=http.url("ok?key=hidden"), headers=HEADERS),
        ServerDefinition(name="refused", url="http://user:secret-token@127.0.0.1:9/mcp?key=secret-token"),
        ServerDefinition(name="scheme", url="ftp://127.0.0.1/mcp"),
        ServerDefinition(name="header", url=http.url("ok"), headers={"X": "a\nb: secret-token"}),
        ServerDefinition(name="short key", url=http.url("echoes"), headers={"Authorization": "abc123"}),
    )
    with Bench(tmp_path_factory.mktemp("logs"), *definitions, *faulty) as bench:
        yield bench


def test_a_server_over_http_is_connected_and_called(bench: Bench, http: HttpServer) -> None:
    status = bench.status("ok")
    assert (status.state, status.problem, status.version, status.log) == ("ready", "", "web 2", "")
    assert [tool.name for tool in status.tools] == ["echo", "close", "big", "empty"]
    assert bench.call("echo", server="ok").text == "echo"
    sent = [headers for _, path, method, headers in http.requests if (path, method) == ("/ok", "tools/call")]
    assert sent[-1]["authorization"] == "Bearer secret-token"
    assert "secret-token" not in "".join(status.problem for status in bench.servers.statuses())
    assert not [headers for _, _, _, headers in http.requests if headers["host"].startswith("localhost")]
    assert bench.status("moved").state == "ready", "within the server it is followed"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("401", "refused access (401 Unauthorized): check its `headers` in the settings."),
        ("404", "is not at {address}/404 (404 Not Found): check its `url` in the settings."),
        ("500", "failed (500 Internal Server Error)."),
        (
            "elsewhere",
            "redirects to http://localhost:{port}/ok, which is not followed: check its `url` in the settings.",
        ),
        ("html", "answered with an error: Unexpected content type: text/html."),
        ("invalid", "answered with an error: no such tenant."),
        ("echoes", "answered with an error: not allowed: …."),
        ("short key", "answered with an error: not allowed: …."),
        ("compressed", "compressed its answer though not asked to."),
        ("refused", "cannot be reached at http://127.0.0.1:9/mcp: Connection refused."),
        ("header", "cannot be reached: its `headers` in the settings are not valid."),
        ("scheme", "cannot be reached: its `url` in the settings is not valid."),
    ],
)
def test_a_server_that_cannot_be_connected_is_one_sentence(
    bench: Bench, http: HttpServer, name: str, says: str
) -> None:
    said = says.format(port=http.port, address=http.url("").rstrip("/"))
    assert (bench.status(name).state, bench.status(name).problem) == ("failed", f"The MCP server {name} {said}")


def test_a_server_that_hangs_has_failed_at_the_limit(http: HttpServer, tmp_path: Path) -> None:
    with Bench(tmp_path, ServerDefinition(name="slow", url=http.url("hangs")), connect_seconds=0.5) as bench:
        assert bench.status("slow").problem == "The MCP server slow did not answer within 0.5 s."


def test_an_answer_without_end_or_a_closed_connection_costs_one_call(bench: Bench) -> None:
    assert bench.call("close", server="ok").text.startswith("The MCP server ok closed the connection")
    assert bench.call("echo", server="ok").text == "echo"
    assert bench.call("big", server="ok").text == "The MCP server ok sent a message of more than 16 MB."
    assert bench.call("empty", server="ok").text == "The MCP server ok closed the connection."
    assert bench.call("echo", server="ok").text == "echo"


@pytest.mark.parametrize("tool", ["deep", "deep event"])
def test_an_answer_that_cannot_be_read_fails_its_call(bench: Bench, tool: str) -> None:
    answer = bench.call(tool, server="ok")
    assert answer.failed
    assert answer.text.startswith("The MCP server ok sent an answer that cannot be read: ")
    assert bench.call("echo", server="ok").text == "echo"


def test_a_server_that_forgot_the_session_gets_a_new_one(bench: Bench, http: HttpServer) -> None:
    http.forgets = True
    assert bench.call("echo", server="ok").text == "echo"
