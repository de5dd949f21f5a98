"""The MCP servers of a process: opened with its first conversation, shared by those that follow, closed at the end."""

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from zkchat.compose.mcp_servers import open_tool_servers
from zkchat.compose.workspace import Workspace

if TYPE_CHECKING:
    from zkchat.ports.tool_servers import ToolServers


class ServerConnections:
    """Connects in the background; what is wrong with definitions is told once."""

    def __init__(self, *, at_once: bool = True) -> None:
        """`at_once`: connect as soon as they are opened, and let answers wait for it; else `start` begins it."""
        self.waits = at_once
        self._stack = ExitStack()
        self._is_open = False
        self._servers: ToolServers | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def open(self, workspace: Workspace) -> "tuple[ToolServers | None, tuple[str, ...]]":
        """The servers that may be used, None where there is none, and sentences about those that may not."""
        if self._is_open:
            return self._servers, ()
        warnings: list[str] = []
        opening = open_tool_servers(workspace, warn=warnings.append, at_once=self.waits)
        self._servers = self._stack.enter_context(opening)
        self._is_open = True
        return self._servers, tuple(warnings)

    def start(self) -> None:
        """Begin to connect, where that was put off."""
        if self._servers:
            self._servers.start()
