"""What a server offers: its lists, page by page within bounds, and again when the server says that they changed."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import anyio
from mcp import ClientSession, MCPError
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp_types import PaginatedRequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct

from zkchat.mcp_client.contents import MAX_ITEMS, prompts_of, resources_of, tools_of
from zkchat.mcp_client.faults import describe
from zkchat.mcp_client.link import Link
from zkchat.model.tool_server import ServerPrompt, ServerResource, ServerTool

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
