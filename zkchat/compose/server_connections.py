"""The MCP servers of a process: opened with its first conversation, shared by those that follow, closed at the end."""

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from zkchat.compose.mcp_servers import defined_servers, open_tool_servers, usable_definitions
from zkchat.compose.workspace import Workspace
from zkchat.ports.tool_servers import ToolServers

if TYPE_CHECKING:
    from zkchat.mcp_client.servers import McpServers


class ServerConnections:
    """Connects in the background; what is wrong with definitions is told once."""

    def __init__(self, *, at_once: bool = True) -> None:
        """`at_once`: connect as soon as they are opened, and let answers wait for it; else `start` begins it."""
        self.waits = at_once
        self._stack = ExitStack()
        self._is_open = False
        self._servers: McpServers | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def open(self, workspace: Workspace) -> tuple[ToolServers | None, tuple[str, ...]]:
        """The servers that may be used, None where there is none, and sentences about those that may not."""
        if self._is_open:
            sentence = self.withdraw_changed(workspace)
            return self._servers, (sentence,) if sentence else ()
        warnings: list[str] = []
        opening = open_tool_servers(workspace, warn=warnings.append, at_once=self.waits)
        self._servers = self._stack.enter_context(opening)
        self._is_open = True
        return self._servers, tuple(warnings)

    def withdraw_changed(self, workspace: Workspace) -> str:
        """Use no server any more that the settings define otherwise now, or that is not approved; says so."""
        if self._servers is None:
            return ""
        usable = usable_definitions(defined_servers(workspace))
        used = [status.definition for status in self._servers.statuses() if status.state != "disabled"]
        names = [definition.name for definition in used if definition not in usable]
        self._servers.withdraw(names)
        named = ", ".join(names)
        return f"MCP servers that are not used any more, because their settings changed: {named}." if names else ""

    def start(self) -> None:
        """Begin to connect, where that was put off."""
        if self._servers:
            self._servers.start()
