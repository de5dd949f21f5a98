"""MCP servers without processes, and a user who is asked about calls, for tests of conversations with them."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from zkchat.chat.tools.server_tools import CallAnswer, ServerCall
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, ModelInfo, ModelRequest, TextChunk, ToolRequested
from zkchat.core.tool_server import ServerAnswer, ServerDefinition, ServerResource, ServerStatus, ServerTool


def server(name: str = "web", *tools: ServerTool, **more: Any) -> ServerStatus:
    """A server that is connected."""
    definition = ServerDefinition(name=name, **{"command": f"serve-{name}", **more})
    resources = (ServerResource(server=name, uri="memo://a", name="A memo"),)
    return ServerStatus(definition=definition, state="ready", tools=tools, resources=resources)


def tool(name: str = "send", server: str = "web", *, read_only: bool = False, **more: Any) -> ServerTool:
    return ServerTool(server=server, name=name, description=f"Does {name}.", is_read_only=read_only, **more)


class ServersInMemory:
    """Implements `ports.tool_servers.ToolServers`."""

    def __init__(self, *statuses: ServerStatus, answer: str = "fine", uris: tuple[str, ...] = ()) -> None:
        self.connected = statuses
        self.answer = ServerAnswer(text=answer, uris=uris)
        self.sent: list[tuple[str, str, Mapping[str, object]]] = []
        self.starts = 0

    def start(self) -> None:
        self.starts += 1

    def statuses(self) -> tuple[ServerStatus, ...]:
        return self.connected

    async def call(self, server: str, tool: str, arguments: Mapping[str, object]) -> ServerAnswer:
        self.sent.append((server, tool, arguments))
        return self.answer

    async def read(self, server: str, uri: str) -> ServerAnswer:
        self.sent.append((server, uri, {}))
        return self.answer

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ServerAnswer:
        self.sent.append((server, name, arguments))
        return self.answer


class ApprovalsInMemory:
    """Implements `tools.server_approval.CallApprovals`."""

    def __init__(self) -> None:
        self.tools: list[tuple[str, str]] = []

    def is_approved(self, definition: ServerDefinition, tool: ServerTool) -> bool:
        return (definition.name, tool.name) in self.tools

    def approve(self, definition: ServerDefinition, tool: ServerTool) -> None:
        self.tools.append((definition.name, tool.name))


class Answering:
    """Implements `tools.server_approval.CallReviewer`: a user who gives one answer after the other."""

    def __init__(self, *answers: CallAnswer) -> None:
        self._answers = [*answers]
        self.asked: list[ServerCall] = []

    def review(self, call: ServerCall) -> CallAnswer:
        self.asked.append(call)
        return self._answers.pop(0)


class Playing:
    """A model that makes calls and says texts, one after the other."""

    def __init__(self, *steps: tuple[str, str] | str, on_this_machine: bool = False, window: int = 16_000) -> None:
        self.info = ModelInfo(
            provider="playing", id="x", context_limit=window, calls_tools=True, on_this_machine=on_this_machine
        )
        self._steps = [*steps]
        self.requests: list[ModelRequest] = []

    async def connect(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        step = self._steps.pop(0) if self._steps else "Done."
        if isinstance(step, str):
            yield TextChunk(text=step)
        else:
            call_id = f"c{len(self.requests)}"
            yield ToolRequested(call=ToolCallPart(call_id=call_id, name=step[0], arguments=step[1]))
        yield Finish()

    @property
    def last_result(self) -> str:
        """What the last tool gave the model."""
        return next(message.text for message in reversed(self.requests[-1].messages) if message.role == "tool")
