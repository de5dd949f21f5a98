"""What is asked of a server in a chat; every answer is a value, and every fault a sentence."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

import mcp_types as types
from mcp import ClientSession, MCPError
from pydantic import TypeAdapter

from zkchat.mcp_client.connection import Connection
from zkchat.mcp_client.contents import (
    answer_of_prompt,
    answer_of_resource,
    answer_of_tool,
    arguments_for,
    one_line,
)
from zkchat.mcp_client.faults import ServerFault
from zkchat.model.tool_server import ServerAnswer

# The SDK's own `call_tool` checks answers against the server's schema, and patterns of a schema may take forever.
_TOOL_RESULT: Final = TypeAdapter[types.CallToolResult | types.InputRequiredResult](
    types.CallToolResult | types.InputRequiredResult
)

T = TypeVar("T")


class Requests:
    """Requests over the connection to one server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def call_tool(self, tool: str, arguments: Mapping[str, object]) -> ServerAnswer:
        params = types.CallToolRequestParams(name=tool, arguments=arguments_for(arguments))

        async def send(session: ClientSession) -> ServerAnswer:
            try:
                result = await session.send_request(types.CallToolRequest(params=params), _TOOL_RESULT)
            except MCPError as error:
                if error.code != types.HEADER_MISMATCH:
                    raise
                await session.list_tools()  # its schema says which arguments are headers too
                result = await session.send_request(types.CallToolRequest(params=params), _TOOL_RESULT)
            return answer_of_tool(_complete(result, types.CallToolResult))

        return await self._answer(send, f"the call of {one_line(tool, 100)}")

    async def read_resource(self, uri: str) -> ServerAnswer:
        async def send(session: ClientSession) -> ServerAnswer:
            result = await session.read_resource(uri, allow_input_required=True)
            return answer_of_resource(_complete(result, types.ReadResourceResult))

        return await self._answer(send, f"for {one_line(uri, 100)}")

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> ServerAnswer:
        async def send(session: ClientSession) -> ServerAnswer:
            result = await session.get_prompt(name, arguments_for(arguments), allow_input_required=True)
            return answer_of_prompt(_complete(result, types.GetPromptResult))

        return await self._answer(send, f"for the prompt {one_line(name, 100)}")

    async def _answer(self, send: Callable[[ClientSession], Awaitable[ServerAnswer]], what: str) -> ServerAnswer:
        try:
            return await self._connection.request(send, what)
        except ServerFault as fault:
            return ServerAnswer(text=str(fault), failed=True, hint=self._connection.hint)


def _complete(result: object, kind: type[T]) -> T:
    """The result, unless the server first wants to ask the user or a model, which is not offered to it."""
    if not isinstance(result, kind):
        raise ServerFault("asks for input that zkchat does not give")
    return result
