"""`zkchat mcp` line by line: what is written to standard input, and what comes back."""

import json
from typing import Any

import pytest

from tests.support.world import World

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def request(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def modern(number: int, method: str, **params: Any) -> str:
    return request(number, method, _meta=MODERN, **params)


def call(number: int, tool: str, **arguments: Any) -> str:
    return modern(number, "tools/call", name=tool, arguments=arguments)


def exchange(world: World, *lines: str, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    ended = world.run("mcp", *options, stdin="\n".join(lines) + "\n")
    assert ended.code == 0, ended.err
    return [json.loads(line) for line in ended.out.splitlines()]


@pytest.fixture
def world(tmp_path: Any) -> World:
    world = World(tmp_path)
    world.note("Sleep.md", "# Sleep\n\nSeven hours of sleep are enough.\n")
    return world


def test_every_request_that_was_read_before_the_end_of_input_is_answered(world: World) -> None:
    answers = exchange(world, *(call(number, "search", query="sleep") for number in range(20)))
    assert sorted(answer["id"] for answer in answers) == [*range(20)]
    assert all("Sleep.md" in json.dumps(answer["result"]) for answer in answers)
