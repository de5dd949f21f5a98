"""One connection to a server: a session over a process or over HTTP, its first words, and what the server offers."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final, Literal, TypeVar

import anyio
from mcp import ClientSession, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp_types import (
    UNSUPPORTED_PROTOCOL_VERSION,
    DiscoverResult,
    Implementation,
    PaginatedRequestParams,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ToolListChangedNotification,
    UnsupportedProtocolVersionErrorData,
)
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from msgspec import Struct
from pydantic import ValidationError

from zkchat.mcp_client.contents import MAX_ITEMS, prompts_of, resources_of, tools_of
from zkchat.mcp_client.faults import ServerFault, describe, is_about_status, is_closing
from zkchat.mcp_client.http import BoundedClient, client_for, open_http
from zkchat.mcp_client.stdio import ServerLog, ServerProcess, open_process, start_process
from zkchat.model.tool_server import ServerDefinition, ServerPrompt, ServerResource, ServerTool
from zkchat.version import __version__

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
            link.client = client_for(definition)
            streams = await stack.enter_async_context(open_http(link.client, definition))
        else:
            link.process = start_process(definition, variables, log, link.over.set)
            streams = await stack.enter_async_context(open_process(link.process))
        session = ClientSession(
            *streams, message_handler=link.notice, client_info=Implementation(name="zkchat", version=__version__)
        )
        link.session = await stack.enter_async_context(session)
        yield link


Handshake = Literal["any", "older"]


async def negotiate(session: ClientSession, handshake: Handshake, *, seconds: float) -> None:
    """Settle on a revision: by discovery, or by the handshake of the older ones where the server does not know it.

    `seconds`: for discovery, because servers of the older revisions may leave it without an answer.
    Raises `MCPError`; where the connection was closed, the server may be one that ends on an unknown question.
    """
    if handshake == "older" or not await _discovered(session, seconds):
        try:
            await session.initialize()
        except MCPError as error:
            # A slow server may have understood the first question after we stopped waiting for its answer.
            if error.code != UNSUPPORTED_PROTOCOL_VERSION or not await _discovered(session, seconds):
                raise


async def _discovered(session: ClientSession, seconds: float) -> bool:
    try:
        with anyio.fail_after(seconds):
            answer = DiscoverResult.model_validate(await _discovery(session))
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


async def _discovery(session: ClientSession) -> dict[str, Any]:
    """The answer to discovery; a server that refuses the revision is asked once more, by one that it names."""
    try:
        return await session.send_discover(LATEST_MODERN_VERSION)
    except MCPError as error:
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        named = UnsupportedProtocolVersionErrorData.model_validate(error.error.data).supported
        common = [version for version in MODERN_PROTOCOL_VERSIONS if version in named]
        if not common:
            raise
        return await session.send_discover(common[-1])


_MAX_PAGES: Final = 64
_SECONDS_BETWEEN: Final = 1.0
"""At least so long the lists stay as they are, however often a server says that they changed."""
_SECONDS_TO_RENEW: Final = 10.0

T = TypeVar("T")


class Offers(Struct, frozen=True, kw_only=True):
    """The lists of a server."""

    tools: tuple[ServerTool, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()
    problem: str = ""
    """What of them could not be listed, after the server's name."""


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
    return Offers(
        tools=usable,
        resources=_distinct(resources_of(server, resources)),
        prompts=_distinct(prompts_of(server, prompts)),
        problem="; it ".join(problems),
    )


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
