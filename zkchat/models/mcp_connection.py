"""One server as long as the chat lasts: negotiated, listed, watched, asked, and connected again."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
import httpx2
import mcp_types as types
from mcp import ClientSession, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp_types import (
    UNSUPPORTED_PROTOCOL_VERSION,
    DiscoverResult,
    Implementation,
    PaginatedRequestParams,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from msgspec.structs import replace
from pydantic import TypeAdapter, ValidationError

from zkchat.core import ServerAnswer, ServerDefinition, ServerStatus, ZkchatError
from zkchat.models.mcp_contents import (
    MAX_ITEMS,
    ServerFault,
    answer_of_prompt,
    answer_of_resource,
    answer_of_tool,
    arguments_for,
    describe,
    describe_status,
    is_about_status,
    is_closing,
    one_line,
    prompts_of,
    resources_of,
    tools_of,
    without_secrets,
)
from zkchat.models.mcp_stdio import MAX_MESSAGE, Pace, ServerLog, ServerProcess, open_process, start_process
from zkchat.version import __version__

_SECONDS_TO_CONNECT: Final = 10.0


class BoundedClient(httpx2.AsyncClient):
    """A client that remembers the last refusal and reads no endless answer."""

    refusal = ""
    """What the status of the last answer to a message says of the server; empty where it was no error."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        response = await super().send(request, **options)
        if request.method == "POST":
            self.refusal = ""
            if response.status_code >= 400:
                self.refusal = describe_status(response.status_code, str(response.request.url))
            elif response.next_request is not None:
                target = without_secrets(str(response.next_request.url))
                self.refusal = f"redirects to {target}, which is not followed: check its `url` in the settings"
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise ServerFault("compressed its answer though not asked to")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            kind = response.headers.get("content-type", "")
            response.stream = _BoundedStream(response.stream, endless=kind.lower().startswith("text/event-stream"))
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, *, endless: bool) -> None:
        self._stream = stream
        self._endless = endless
        """Whether it is a stream of events, which is bounded event by event."""
        self._pace = Pace()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE and not self._endless:
                raise ServerFault(f"sent a message of more than {MAX_MESSAGE // 1_000_000} MB")
            await self._pace.passed(chunk.count(b"data:"), len(chunk))
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


_CHANGES = ToolListChangedNotification | PromptListChangedNotification | ResourceListChangedNotification


class Link:
    """A session, and what stands behind it."""

    session: ClientSession

    def __init__(self) -> None:
        self.process: ServerProcess | None = None
        self.client: BoundedClient | None = None
        self.over = asyncio.Event()
        """It is to end, or its server ended."""
        self.changed = asyncio.Event()
        """The server said that a list of what it offers is another one now."""

    async def notice(self, message: IncomingMessage) -> None:
        """Take in a notification."""
        if isinstance(message, _CHANGES):
            self.changed.set()

    async def describe(self, error: BaseException) -> str:
        """The fault behind an exception, with what is known of the process or the last status."""
        if self.client is not None and self.client.refusal and is_about_status(error):
            return self.client.refusal
        if self.process is not None and is_closing(error):
            return await self.process.describe_end()
        return describe(error)

    def silence(self, seconds: float, what: str = "") -> ServerFault:
        """That no answer came."""
        noise = self.process.describe_noise() if self.process else ""
        return ServerFault(f"did not answer {what}{' ' if what else ''}within {seconds:g} s{noise}")


@asynccontextmanager
async def open_link(
    definition: ServerDefinition, variables: Mapping[str, str], log: ServerLog
) -> AsyncGenerator[Link, None]:
    """Start or reach a server; nothing is said to it yet. Raises `ServerFault`, also in groups."""
    link = Link()
    async with AsyncExitStack() as stack:
        streams: tuple[Any, Any]
        if definition.url:
            try:
                client = BoundedClient(
                    headers={**definition.headers, "accept-encoding": "identity"},
                    timeout=httpx2.Timeout(_SECONDS_TO_CONNECT, read=None),
                )
            except (ValueError, TypeError, httpx2.InvalidURL):
                raise ServerFault("cannot be reached: its `headers` in the settings are not valid") from None
            link.client = await stack.enter_async_context(client)
            opened = streamable_http_client(definition.url, http_client=client, max_sse_event_size=MAX_MESSAGE)
            streams = await stack.enter_async_context(opened)
        else:
            link.process = start_process(definition, variables, log, link.over.set)
            streams = await stack.enter_async_context(open_process(link.process))
        session = ClientSession(
            *streams, message_handler=link.notice, client_info=Implementation(name="zkchat", version=__version__)
        )
        link.session = await stack.enter_async_context(session)
        yield link


async def negotiate(session: ClientSession, *, only_older: bool, seconds: float) -> None:
    """Settle on a revision: by discovery, or by the handshake of the older ones where the server does not know it.

    `seconds`: for discovery, because servers of the older revisions may leave it without an answer.
    Raises `MCPError`; where the connection was closed, the server may be one that ends on an unknown question.
    """
    if only_older or not await _discovered(session, seconds):
        try:
            await session.initialize()
        except MCPError as error:
            # A slow server may have understood the first question after we stopped waiting for its answer.
            if error.code != UNSUPPORTED_PROTOCOL_VERSION or not await _discovered(session, seconds):
                raise


async def _discovered(session: ClientSession, seconds: float) -> bool:
    try:
        with anyio.fail_after(seconds):
            answer = DiscoverResult.model_validate(await session.send_discover(LATEST_MODERN_VERSION))
    except MCPError as error:
        if is_closing(error):
            raise
        return False
    except (TimeoutError, ValidationError):
        return False
    if not set(MODERN_PROTOCOL_VERSIONS) & set(answer.supported_versions):
        return False
    session.adopt(answer)
    return True


_MAX_PAGES: Final = 64
_SECONDS_BETWEEN: Final = 1.0
"""At least so long the lists stay as they are, however often a server says that they changed."""
_SECONDS_TO_RENEW: Final = 10.0

T = TypeVar("T")


Offers = tuple[dict[str, tuple[Any, ...]], str]
"""The lists of a server, and what of them could not be listed, after the server's name."""


async def list_offers(session: ClientSession, server: str) -> Offers:
    """Ask for every list that the server has. One that fails is empty, unless it is that of the tools."""
    has = session.server_capabilities
    problems: list[str] = []

    async def optional(name: str, list_page: Callable[..., Awaitable[Any]]) -> Sequence[Any]:
        try:
            return await _pages(list_page, name, problems)
        except (MCPError, ValueError) as error:
            problems.append(f"does not list its {name}: it {describe(error)}")
            return ()

    tools = await _pages(session.list_tools, "tools", problems) if has and has.tools else ()
    resources = await optional("resources", session.list_resources) if has and has.resources else ()
    prompts = await optional("prompts", session.list_prompts) if has and has.prompts else ()
    usable = _distinct(tools_of(server, tools))
    if len(usable) < len(tools):
        problems.append(f"lists {len(tools) - len(usable)} tools with names or schemas that cannot be used")
    lists = {
        "tools": usable,
        "resources": _distinct(resources_of(server, resources)),
        "prompts": _distinct(prompts_of(server, prompts)),
    }
    return lists, "; it ".join(problems)


async def follow_changes(link: Link, server: str, renew: Callable[[Offers], None]) -> None:
    """List again whenever the server says that its lists changed, until cancelled."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, link)
        while True:
            await link.changed.wait()
            link.changed.clear()
            with suppress(MCPError, ValueError, TimeoutError):
                with anyio.fail_after(_SECONDS_TO_RENEW):
                    renew(await list_offers(link.session, server))
            await anyio.sleep(_SECONDS_BETWEEN)


async def _listen(link: Link) -> None:
    """The newer revision tells of changes only whom asks for it."""
    has = link.session.server_capabilities
    tools = bool(has and has.tools and has.tools.list_changed)
    prompts = bool(has and has.prompts and has.prompts.list_changed)
    resources = bool(has and has.resources and has.resources.list_changed)
    if link.session.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (tools or prompts or resources):
        return
    with suppress(MCPError, SubscriptionLost, TimeoutError):
        async with listen(
            link.session, tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
        ) as events:
            async for _ in events:
                link.changed.set()


async def _pages(list_page: Callable[..., Awaitable[Any]], name: str, problems: list[str]) -> Sequence[Any]:
    items: list[Any] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await list_page(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        items += getattr(page, name)
        cursor = page.next_cursor
        if cursor is None and len(items) <= MAX_ITEMS:
            return items
        if cursor is None or len(items) > MAX_ITEMS:
            break
    problems.append(f"lists more than {MAX_ITEMS} {name}; the rest is left out")
    return items[:MAX_ITEMS]


def _distinct(items: Any) -> tuple[Any, ...]:
    """Those with different names, the first of each."""
    named: dict[str, Any] = {}
    for item in items:
        named.setdefault(getattr(item, "uri", None) or item.name, item)
    return tuple(named.values())


_CLOSE_SECONDS: Final = 1.5
"""For telling a server over HTTP that its session is over, and for learning why a connection ended."""

# The SDK's own `call_tool` checks answers against the server's schema, and patterns of a schema may take forever.
_TOOL_RESULT: Final = TypeAdapter[types.CallToolResult | types.InputRequiredResult](
    types.CallToolResult | types.InputRequiredResult
)


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
        self._secrets: Sequence[str] = ()
        """What must not be shown of the definition."""
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
        return f"Its output is in {self.status.log}." if has_log else ""

    async def connect(self) -> None:
        """Wait until there is a connection; where there is none, one attempt is made. `status` has its outcome."""
        if self._is_closed or self.status.state == "ready":
            return
        if self._holder is not None and self.status.state != "connecting":
            await asyncio.wait([self._holder])
        if self._lacks_holder():
            self._settled, self._concluded, self._scope = asyncio.Event(), asyncio.Event(), anyio.CancelScope()
            self.status = replace(self.status, state="connecting", problem="")
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

        return await self._answer(send, f"the request for {one_line(uri, 100)}")

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> ServerAnswer:
        async def send(session: ClientSession) -> ServerAnswer:
            result = await session.get_prompt(name, arguments_for(arguments), allow_input_required=True)
            return answer_of_prompt(_complete(result, types.GetPromptResult))

        return await self._answer(send, f"the request for the prompt {one_line(name, 100)}")

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
            if is_closing(error):  # why the connection ended is known in a moment
                with anyio.move_on_after(_CLOSE_SECONDS):
                    await self._concluded.wait()
                    raise ServerFault(self._reason) from None
            raise ServerFault(self._sentence(await link.describe(error))) from None
        except Exception as error:  # noqa: BLE001 - whatever a server sends ends here, as a sentence
            raise ServerFault(self._sentence(describe(error))) from None

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
            # Headers and their words, since a scheme may stand before a key.
            values = [*definition.headers.values(), *definition.env.values()]
            words = {word for value in values for word in (value, *value.split()) if len(word) >= 6}
            self._secrets, self._address = sorted(words, key=len, reverse=True), definition.url
            end = anyio.current_time() + self._connect_seconds
            with self._scope:
                if not await self._was_held(definition, end, only_older=False):
                    await self._was_held(definition, end, only_older=True)
        except ZkchatError as error:
            self._conclude(f"cannot be used: {error.message}")
        except BaseException as error:  # noqa: BLE001 - whatever a server does ends here, as a sentence
            self._conclude(describe(error, self._address))
        self._conclude("is no longer connected")

    async def _was_held(self, definition: ServerDefinition, end: float, *, only_older: bool) -> bool:
        """Hold one connection; False where the server ended on our first words, and may understand the older ones."""
        async with open_link(definition, self._variables, self._log) as link:
            self._link = link
            try:
                with anyio.move_on_after(end - anyio.current_time()) as limit:
                    await negotiate(link.session, only_older=only_older, seconds=0.4 * self._connect_seconds)
                    offers = await list_offers(link.session, self.status.name)
                    info = link.session.server_info
                    version = one_line(f"{info.name} {info.version}", 100) if info else ""
                    protocol = link.session.protocol_version or ""
                    self._was_ready = True
                    self._renew(offers, state="ready", version=version, protocol=protocol)
                    self._settled.set()
                if limit.cancelled_caught:
                    raise link.silence(self._connect_seconds)
            except Exception as error:  # noqa: BLE001 - said before the process is ended, which takes its time
                if is_closing(error) and not only_older:
                    return False
                self._conclude(await link.describe(error))
                return True
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow_changes, link, self.status.name, self._renew)
                await link.over.wait()
                tasks.cancel_scope.cancel()
            closed = MCPError(types.CONNECTION_CLOSED, "Connection closed")
            self._conclude(describe(closed) if self._is_closed else await link.describe(closed))
            self._scope.deadline = anyio.current_time() + _CLOSE_SECONDS
            return True

    def _renew(self, offers: Offers, **changes: Any) -> None:
        lists, lacking = offers
        problem = f"{self._sentence(lacking)} {self.hint}".rstrip() if lacking else ""
        self.status = replace(self.status, **lists, problem=problem, **changes)

    def _conclude(self, problem: str) -> None:
        """The connection is over; the first reason is the one that counts."""
        if not self._concluded.is_set():
            state = "lost" if self._was_ready else "failed"
            self._reason = self._sentence(problem)
            self.status = replace(self.status, state=state, problem=f"{self._reason} {self.hint}".rstrip())
        self._concluded.set()
        self._settled.set()

    def _sentence(self, clause: str) -> str:
        for secret in self._secrets:
            clause = clause.replace(secret, "…")
        return f"The MCP server {self.status.name} {clause.rstrip('.')}."


def _complete(result: object, kind: type[T]) -> T:
    """The result, unless the server first wants to ask the user or a model, which is not offered to it."""
    if not isinstance(result, kind):
        raise ServerFault("asks for input that zkchat cannot give")
    return result
