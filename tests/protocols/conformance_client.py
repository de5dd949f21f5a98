"""A client for the conformance suite: connects to a server as a chat does, and uses all that it offers.

    python -m tests.protocols.conformance_client URL

Every tool is called, with arguments that fit its schema. Prints what came back.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from zkchat.core.tool_server import ServerDefinition, ServerTool
from zkchat.models.mcp_servers import McpServers

SAMPLES: Final[Mapping[str, Any]] = {
    "string": "evergreen",
    "integer": 2,
    "number": 2,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}
SERVER: Final = "suite"


def sample(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the types that a schema names."""
    return {name: _value(inner) for name, inner in schema.get("properties", {}).items()}


def _value(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return None
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    if kind == "object":
        return sample(schema)
    return SAMPLES.get(kind if isinstance(kind, str) else kind[0])


def calls(tools: Sequence[ServerTool], wanted: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls to make: those that the suite wants, else one of each tool."""
    if wanted:
        yield from ((call["name"], call["arguments"]) for call in json.loads(wanted).get("toolCalls", ()))
        return
    for tool in tools:
        arguments = sample(tool.parameters)
        if "schema" in arguments:  # the suite looks whether the schema of another tool came here unchanged
            arguments["schema"] = tools[0].parameters
        yield tool.name, arguments


async def use(servers: McpServers) -> None:
    """Call and read all that there is, and say what came back."""
    (status,) = servers.statuses()
    print(status.state, status.protocol, status.version, status.problem)  # noqa: T201
    for tool, arguments in calls(status.tools, os.environ.get("MCP_CONFORMANCE_CONTEXT", "")):
        print("tool", tool, await servers.call(SERVER, tool, arguments))  # noqa: T201
    for resource in status.resources:
        print("resource", resource.uri, await servers.read(SERVER, resource.uri))  # noqa: T201
    for prompt in status.prompts:
        given = {argument.name: "evergreen" for argument in prompt.arguments}
        print("prompt", prompt.name, await servers.prompt(SERVER, prompt.name, given))  # noqa: T201


def main(url: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        servers = McpServers([ServerDefinition(name=SERVER, url=url)], Path(folder), variables=os.environ)
        try:
            servers.wait(20)
            asyncio.run(use(servers))
            return 0 if servers.statuses()[0].state in ("ready", "lost") else 1
        finally:
            servers.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
