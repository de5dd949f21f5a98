"""One connection to a server, from its start to its end: a session over a process or over HTTP."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp import ClientSession
from mcp.client.session import IncomingMessage
from mcp_types import (
    Implementation,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)

from zkchat.mcp_client.faults import ServerFault, describe, is_about_status, is_closing
from zkchat.mcp_client.http import BoundedClient, client_for, open_http
from zkchat.mcp_client.server_log import ServerLog
from zkchat.mcp_client.stdio import ServerProcess, open_process, start_process
from zkchat.model.tool_server import ServerDefinition
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
