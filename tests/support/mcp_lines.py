"""`zkchat serve mcp` in this process, line by line: what is written to standard input, and what comes back."""

import json
from collections.abc import Sequence
from typing import Any, Final

from tests.support.world import World

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
CLIENT: Final = {"name": "test", "version": "1"}


def request(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def modern(number: int, method: str, *, capabilities: dict[str, Any] | None = None, **params: Any) -> str:
    """A request of the stateless revision, which says with each who asks."""
    prefix = "io.modelcontextprotocol"
    meta = {
        f"{prefix}/protocolVersion": MODERN,
        f"{prefix}/clientInfo": CLIENT,
        f"{prefix}/clientCapabilities": capabilities or {},
    }
    return request(number, method, **{**params, "_meta": {**meta, **params.get("_meta", {})}})


def call(number: int, tool: str, **arguments: Any) -> str:
    return modern(number, "tools/call", name=tool, arguments=arguments)


def handshake(version: str = HANDSHAKE) -> list[str]:
    """What a client of an earlier revision says first."""
    begun = request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=CLIENT)
    return [begun, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})]


def exchange(world: World, *lines: str, options: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The messages that come back until all is answered."""
    ended = world.run("mcp", *options, stdin="\n".join(lines) + "\n")
    assert ended.code == 0, ended.err
    return [json.loads(line) for line in ended.out.splitlines()]


def answers(world: World, *lines: str, options: Sequence[str] = ()) -> dict[int, Any]:
    """By the number of the request: its result, or its error."""
    received = exchange(world, *lines, options=options)
    return {each["id"]: each.get("result", each.get("error")) for each in received if each.get("id") is not None}
