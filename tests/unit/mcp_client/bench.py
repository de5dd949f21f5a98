import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zkchat.core.tool_server import ServerAnswer, ServerDefinition, ServerStatus
from zkchat.models.mcp_servers import McpServers

SERVER = Path(__file__).with_name("plain_server.py")
VARIABLES = {"PATH": os.defpath, "HOME": "/", "OPENAI_API_KEY": "secret-key"}


def plain(mode: str = "", *arguments: str, name: str = "", **more: Any) -> ServerDefinition:
    """The server of `plain_server`."""
    whole = {"command": sys.executable, "args": ("-S", "-E", str(SERVER), mode, *arguments), **more}
    return ServerDefinition(name=name or mode or "plain", **whole)


class Bench:
    """Servers under test, and answers of theirs without an event loop."""

    def __init__(self, folder: Path, *definitions: ServerDefinition, **options: Any) -> None:
        self.folder = folder
        self.servers = McpServers(definitions, folder, **{"variables": VARIABLES, "connect_seconds": 30, **options})

    def __enter__(self) -> "Bench":
        assert self.servers.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self.servers.close()

    def status(self, name: str) -> ServerStatus:
        return next(status for status in self.servers.statuses() if status.name == name)

    def call(self, tool: str, arguments: Mapping[str, object] | None = None, *, server: str = "plain") -> ServerAnswer:
        return asyncio.run(self.servers.call(server, tool, arguments or {}))


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody asked about does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"
