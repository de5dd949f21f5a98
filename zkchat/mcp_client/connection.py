"""One server as long as the chat lasts: connected, watched, and connected again at the next call where it was lost."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
import mcp_types as types
from mcp import ClientSession, MCPError
from msgspec.structs import replace
from pydantic import TypeAdapter

from zkchat.errors import ZkchatError
from zkchat.mcp_client.contents import (
    answer_of_prompt,
    answer_of_resource,
    answer_of_tool,
    arguments_for,
    one_line,
)
from zkchat.mcp_client.faults import ServerFault, describe, is_closing
from zkchat.mcp_client.link import Handshake, Link, Offers, follow_changes, list_offers, negotiate, open_link
from zkchat.mcp_client.stdio import ServerLog
from zkchat.model.tool_server import ServerAnswer, ServerDefinition, ServerStatus

_CLOSE_SECONDS: Final = 1.5
"""For telling a server over HTTP that its session is over, and for learning why a connection ended."""

# The SDK's own `call_tool` checks answers against the server's schema, and patterns of a schema may take forever.
_TOOL_RESULT: Final = TypeAdapter[types.CallToolResult | types.InputRequiredResult](
    types.CallToolResult | types.InputRequiredResult
)

T = TypeVar("T")


class _SessionGone(Exception):
    """The server knows nothing of the session any more, and has not looked at the request."""


class Connection:
    """One server. Everything but `status` and `kill` belongs to the event loop of the servers."""

    def __init__(
        self,
        definition: ServerDefinition,
        log_file: Path,
        variables: Mapping[str, str],
        expand: Callable[[ServerDefinition], ServerDefinition],
        connect_seconds: float,
    ) -> None:
        self.status = ServerStatus(definition=definition, log="" if definition.url else str(log_file))
        self._variables = variables
        self._expand = expand
        self._connect_seconds = connect_seconds
        self._log = ServerLog(log_file)
        self._secrets: tuple[str, ...] = ()
        self._address = ""
        self._reason = ""
        """Why there is no connection, as a sentence without the hint."""
        self._holder: asyncio.Task[None] | None = None
        self._link: Link | None = None
        self._scope = anyio.CancelScope()
        self._settled = asyncio.Event()
        """The current attempt to connect has succeeded or failed."""
        self._concluded = asyncio.Event()
        """The current connection has ended, and `status` says why."""
        self._was_ready = False
        self._is_closed = False

    @property
    def hint(self) -> str:
        """Where the user finds more about a fault."""
        has_log = self._link is not None and self._link.process is not None
        return f"What it wrote is in {self.status.log}." if has_log else ""

    async def connect(self) -> None:
        """Wait until there is a connection; where there is none, one attempt is made. `status` has its outcome."""
        if self._is_closed or self.status.state == "ready":
            return
        if self._holder is not None and self.status.state != "connecting":
            await asyncio.wait([self._holder])
        if self._lacks_holder():
            self._settled, self._concluded, self._scope = asyncio.Event(), asyncio.Event(), anyio.CancelScope()
            self._update(state="connecting", problem="")
            self._holder = asyncio.create_task(self._hold())
        await self._settled.wait()

    def _lacks_holder(self) -> bool:
        return not self._is_closed and (self._holder is None or self._holder.done())

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
        """What a server answers within its limit, or a sentence; connects again where the session is gone."""
        try:
            await self.connect()
            try:
                return await self._send(send, what)
            except _SessionGone:
                if self._link is not None:
                    self._link.over.set()
                await self._concluded.wait()
                await self.connect()
                return await self._send(send, what)
        except ServerFault as fault:
            return ServerAnswer(text=str(fault), failed=True, hint=self.hint)

    async def _send(self, send: Callable[[ClientSession], Awaitable[ServerAnswer]], what: str) -> ServerAnswer:
        link, seconds = self._link, self.status.definition.call_seconds
        if link is None or self.status.state != "ready":
            raise ServerFault(self._reason or self._sentence("is not connected"))
        try:
            with anyio.fail_after(seconds):
                return await send(link.session)
        except TimeoutError:
            raise ServerFault(self._sentence(str(link.silence(seconds, what)))) from None
        except MCPError as error:
            if error.code == types.INVALID_REQUEST and error.message == "Session terminated":
                raise _SessionGone from None
            raise ServerFault(await self._explain(error, link)) from None
        except Exception as error:  # noqa: BLE001 - whatever a server sends ends here, as a sentence
            raise ServerFault(self._sentence(describe(error))) from None

    async def _explain(self, error: MCPError, link: Link) -> str:
        """Why a request failed; of a connection that ended, what is said of its end."""
        if is_closing(error):
            with anyio.move_on_after(_CLOSE_SECONDS):
                await self._concluded.wait()
                return self._reason
        return self._sentence(await link.describe(error))

    async def close(self) -> None:
        """End the connection for good."""
        self._is_closed = True
        if self._holder is not None:
            if self._link is not None and self.status.state == "ready":
                self._link.over.set()
            else:
                self._scope.cancel()
            await asyncio.wait([self._holder])
        self._log.close()

    def kill(self) -> None:
        """End the process of the server, and its children, at once; from any thread."""
        if self._link is not None and self._link.process is not None:
            self._link.process.kill()

    async def _hold(self) -> None:
        """Connect, and stay so until it is over. Never raises."""
        try:
            definition = self._expand(self.status.definition)
            self._secrets, self._address = _secrets_of(definition), definition.url
            end = anyio.current_time() + self._connect_seconds
            with self._scope:
                if not await self._was_held(definition, end, "any"):
                    await self._was_held(definition, end, "older")
        except ZkchatError as error:
            self._conclude(f"cannot be used: {error.message}")
        except BaseException as error:  # noqa: BLE001 - whatever a server does ends here, as a sentence
            self._conclude(describe(error, self._address))
        self._conclude("is not connected any more")

    async def _was_held(self, definition: ServerDefinition, end: float, handshake: Handshake) -> bool:
        """Hold one connection; False where the server ended on our first words, and may understand the older ones."""
        async with open_link(definition, self._variables, self._log) as link:
            self._link = link
            try:
                with anyio.move_on_after(end - anyio.current_time()) as limit:
                    await negotiate(link.session, handshake, seconds=0.4 * self._connect_seconds)
                    self._be_ready(link.session, await list_offers(link.session, self.status.name))
                if limit.cancelled_caught:
                    raise link.silence(self._connect_seconds)
            except Exception as error:  # noqa: BLE001 - said before the process is ended, which takes its time
                if is_closing(error) and handshake == "any":
                    return False
                self._conclude(await link.describe(error))
                return True
            await self._stay(link)
            return True

    async def _stay(self, link: Link) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow_changes, link, self.status.name, self._renew)
            await link.over.wait()
            tasks.cancel_scope.cancel()
        closed = MCPError(types.CONNECTION_CLOSED, "Connection closed")
        self._conclude(describe(closed) if self._is_closed else await link.describe(closed))
        self._scope.deadline = anyio.current_time() + _CLOSE_SECONDS

    def _be_ready(self, session: ClientSession, offers: Offers) -> None:
        self._was_ready = True
        info = session.server_info
        version = one_line(f"{info.name} {info.version}", 100) if info else ""
        self._renew(offers, state="ready", version=version, protocol=session.protocol_version or "")
        self._settled.set()

    def _renew(self, offers: Offers, **changes: Any) -> None:
        problem = f"{self._sentence(offers.problem)} {self.hint}".rstrip() if offers.problem else ""
        lists = {"tools": offers.tools, "resources": offers.resources, "prompts": offers.prompts}
        self._update(**lists, problem=problem, **changes)

    def _conclude(self, problem: str) -> None:
        """The connection is over; the first reason is the one that counts."""
        if not self._concluded.is_set():
            state = "lost" if self._was_ready else "failed"
            self._reason = self._sentence(problem)
            self._update(state=state, problem=f"{self._reason} {self.hint}".rstrip())
        self._concluded.set()
        self._settled.set()

    def _update(self, **changes: Any) -> None:
        self.status = replace(self.status, **changes)

    def _sentence(self, clause: str) -> str:
        for secret in self._secrets:
            clause = clause.replace(secret, "…")
        return f"The MCP server {self.status.name} {clause.rstrip('.')}."


def _secrets_of(definition: ServerDefinition) -> tuple[str, ...]:
    """What must not be shown of a definition: headers, and their words, since a scheme may stand before a key."""
    values = [*definition.headers.values(), *definition.env.values()]
    words = {word for value in values for word in (value, *value.split()) if len(word) >= 6}
    return tuple(sorted(words, key=len, reverse=True))


def _complete(result: object, kind: type[T]) -> T:
    """The result, unless the server first wants to ask the user or a model, which is not offered to it."""
    if not isinstance(result, kind):
        raise ServerFault("asks for input that zkchat does not give")
    return result
