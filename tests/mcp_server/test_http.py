"""`zkchat serve mcp --http`, used by the SDK's own client in both revisions, and by whoever has no business there."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("mcp")

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.mcp_lines import modern
from tests.support.mcp_visits import use_resources_and_prompts
from tests.support.world import World, serving
from zkchat.hosting.http import AccessToken, Gate

pytestmark = [pytest.mark.outside, pytest.mark.skipif(sys.platform == "win32", reason="signals")]

MANY = 130
"""Notes, so that they are listed in pages."""
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@contextmanager
def serving_http(world: World, *options: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The process, its address, and the token where it prints one."""
    with serving(world, "mcp", "--http", *options) as (process, line):
        address = re.search(r" at (http://127\.0\.0\.1:\d+/mcp)\.", line)
        assert address
        assert process.stderr
        yield process, address[1], process.stderr.readline().rpartition("Bearer ")[2].strip()


def refusals(address: str, token: str) -> dict[str, int]:
    """What each request gets that is not to be served."""
    body, right = modern(1, "tools/list"), {**JSON, "Authorization": f"Bearer {token}"}
    host = address.removeprefix("http://").removesuffix("/mcp")
    headers: dict[str, dict[str, str]] = {
        "no token": JSON,
        "wrong token": {**JSON, "Authorization": f"Bearer {token}x"},
        "part of the token": {**JSON, "Authorization": f"Bearer {token[:-1]}"},
        "no bearer": {**JSON, "Authorization": token},
        "another host": {**right, "Host": f"rebound.example:{host.rpartition(':')[2]}"},
        "another port": {**right, "Host": "127.0.0.1:1"},
        "a page elsewhere": {**right, "Origin": "https://evil.example"},
        "a page that looks near": {**right, "Origin": f"http://{host}.evil.example"},
        "a file": {**right, "Origin": "null"},
    }
    with httpx.Client(timeout=100) as client:
        found = {what: client.post(address, content=body, headers=each).status_code for what, each in headers.items()}
        found["too large"] = client.post(address, content=b" " * 4_100_000, headers=right).status_code
        found["another path"] = client.post(address + "x", content=body, headers=right).status_code
        return found


async def used_by_a_client(world: World, address: str, token: str, mode: str) -> None:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=100) as http:
        transport: Any = streamable_http_client(address, http_client=http)
        async with Client(transport, mode=mode) as client:
            if mode != "legacy":
                await use_resources_and_prompts(client, world, is_modern=True)
            result = await client.call_tool("search", {"query": "number 77"})
            assert result.structured_content["results"][0]["id"] == "Many/77.md"


@pytest.mark.parametrize(("mode", "end"), [("legacy", signal.SIGINT), ("2026-07-28", signal.SIGTERM)])
def test_a_client_with_the_token_is_served_until_a_signal(world: World, mode: str, end: signal.Signals) -> None:
    for number in range(MANY):
        world.note(f"Many/{number}.md", f"# Note number {number}\n")
    with serving_http(world) as (process, address, token):
        asyncio.run(asyncio.wait_for(used_by_a_client(world, address, token, mode), 100))
        if mode == "legacy":
            assert refusals(address, token) == {
                **dict.fromkeys(("no token", "wrong token", "part of the token", "no bearer"), 401),
                **dict.fromkeys(("another host", "another port"), 421),
                **dict.fromkeys(("a page elsewhere", "a page that looks near", "a file"), 403),
                "too large": 413,
                "another path": 404,
            }
        with open_stream(address, token):
            process.send_signal(end)
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (128 + end, "", "")


@contextmanager
def half_open(address: str) -> Iterator[list[socket.socket]]:
    """As many connections as nobody can mean well with: silent ones, half headers, half bodies without the token."""
    host = address.removeprefix("http://").removesuffix("/mcp")
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n".encode()
    port = int(host.rpartition(":")[2])
    with ExitStack() as stack:
        sockets = []
        for begin in (b"", head, head + b"\r\n{") * 100:
            sockets.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=100)))
            sockets[-1].sendall(begin)
        yield sockets


def was_closed(connection: socket.socket) -> bool:
    """Waits for it."""
    with suppress(ConnectionError):
        while connection.recv(1000):
            pass
    return True


def test_connections_without_the_token_take_no_place_of_those_that_have_it(tmp_path: Path) -> None:
    with serving_http(World(tmp_path)) as (_, address, token), half_open(address), open_stream(address, token):
        pass


SHORT_SERVER = """
from mcp.server.lowlevel import Server
from zkchat.mcp.server import address_of, serve
from zkchat.hosting import AccessToken, listen

listening = listen(0)
print(address_of(listening), flush=True)
serve(Server("short"), listening, AccessToken(text="x" * 16), seconds_for_token=1)
"""


def test_connections_that_never_show_the_token_are_closed() -> None:
    with subprocess.Popen([sys.executable, "-c", SHORT_SERVER], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            with half_open(process.stdout.readline().strip()) as sockets:
                assert all(map(was_closed, sockets))
        finally:
            process.kill()


def test_a_refusal_names_every_host_that_is_served() -> None:
    async def pass_on(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("refused requests are passed on to nobody")

    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    gate = Gate(pass_on, AccessToken(text="x" * 16), 7717)
    scope = {"type": "http", "headers": [(b"host", b"rebound.example:7717")]}
    asyncio.run(gate(scope, lambda: None, keep))  # type: ignore[arg-type, return-value]
    assert (sent[0]["status"], sent[1]["body"]) == (
        421,
        b"This server only answers at 127.0.0.1:7717 and localhost:7717.",
    )


def test_a_port_that_is_in_use_is_told_of(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = world.run("mcp", "--http", "--port", port)
    assert (result.code, result.out) == (2, "")
    assert f"The port {port} is in use." in result.err
    assert "--port 0" in result.err


def test_a_token_that_cannot_be_one_is_told_of_before_anything_is_served(tmp_path: Path) -> None:
    world = World(tmp_path, {"ZKCHAT_MCP_TOKEN": "short"})
    result = world.run("mcp", "--http", "--port", "0")
    assert result.code == 3
    assert "$ZKCHAT_MCP_TOKEN" in result.err
    assert "Serving" not in result.err
    assert "ZKCHAT_MCP_TOKEN" not in world.run("config", "show").err


@contextmanager
def open_stream(address: str, token: str) -> Iterator[None]:
    """A session whose client listens for messages."""
    headers = {**JSON, "Authorization": f"Bearer {token}"}
    begin = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    with httpx.Client(timeout=100) as client:
        begun = client.post(address, content=json.dumps(begin), headers=headers)
        assert begun.status_code == 200
        session = begun.headers["mcp-session-id"]
        with client.stream("GET", address, headers={**headers, "Mcp-Session-Id": session}) as answer:
            assert answer.status_code == 200
            yield
