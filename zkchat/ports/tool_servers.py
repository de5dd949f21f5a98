"""The servers that offer tools over MCP."""

from collections.abc import Mapping
from typing import Protocol

from zkchat.model.tool_server import ServerAnswer, ServerStatus


class ToolServers(Protocol):
    """The MCP servers of a conversation. No method raises for what a server does: it becomes a sentence."""

    def start(self) -> None:
        """Begin to connect to all of them; returns at once. A second time it does nothing."""

    def statuses(self) -> tuple[ServerStatus, ...]:
        """By name, as far as they are connected now. Never waits."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, object]) -> ServerAnswer: ...

    async def read(self, server: str, uri: str) -> ServerAnswer: ...

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ServerAnswer: ...
