"""Every tool, called by the SDK's own client over standard input and output, in both revisions of the protocol."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from tests.support.mcp_visits import use_resources_and_prompts
from tests.support.world import World

pytestmark = pytest.mark.outside

TEA = (
    "---\ntags: [drink]\n---\n# Tea\n\nGreen tea steeps for two minutes. See [[Water]].\n\n## Black\n\nFour minutes.\n"
)
NOTES = {
    "Tea.md": TEA,
    "Kitchen/Water.md": "# Water\n\nWater for tea boils at 100 degrees.\n",
    "Templates/Brew.md": "# {{title}}\n\nMade on {{date}}.\n",
}
READS: dict[str, dict[str, Any]] = {
    "ask_vault": {"question": "How long does green tea steep?"},
    "verify_quotes": {"text": "Green tea steeps for two minutes. Tea grows on the moon."},
    "search": {"query": "tea"},
    "fetch": {"id": "Kitchen/Water.md"},
    "recent": {"limit": 2},
    "tags": {"prefix": "dr"},
    "read_document": {"relative_path": "Tea"},
    "find_excerpts": {"query": "minutes"},
    "find_documents": {"query": "tea", "limit": 1},
    "resolve_wikilink": {"wikilink": "[[Water]]"},
    "find_backlinks": {"relative_path": "Water"},
    "find_forward_links": {"relative_path": "Tea"},
    "find_related": {"relative_path": "Tea"},
    "list_documents": {"tag": "drink"},
    "get_current_datetime": {},
}
WITHOUT_SOURCES = frozenset({"search", "fetch", "recent", "tags", "get_current_datetime"})
WRITES: dict[str, dict[str, Any]] = {
    "create_document": {"relative_path": "Cups/Mug", "text": "A mug.\n"},
    "edit_document": {"relative_path": "Tea", "old": "two minutes", "new": "three minutes"},
    "edit_section": {"relative_path": "Tea", "section": "Black", "text": "With milk."},
    "set_property": {"relative_path": "Tea", "key": "rating", "value": 5},
    "add_tag": {"relative_path": "Tea", "tag": "hot"},
    "append_daily": {"text": "- Drank tea."},
    "create_from_template": {"template": "Templates/Brew.md", "title": "Oolong"},
    "rename_document": {"relative_path": "Water", "new_name": "Spring water"},
    "move_document": {"relative_path": "Mug", "folder": "Kitchen"},
    "delete_document": {"relative_path": "Oolong"},
}


class Host:
    """A client, and a user who says what `answer` says."""

    answer = "accept"

    def __init__(self, world: World) -> None:
        self.world = world
        self.questions: list[str] = []
        self.heard: asyncio.Queue[Any] = asyncio.Queue()
        self.client: Client

    async def asked(self, _: object, params: Any) -> types.ElicitResult:
        self.questions.append(params.message)
        return types.ElicitResult(action=self.answer, content={} if self.answer == "accept" else None)  # type: ignore[arg-type]

    async def hear(self, message: Any) -> None:
        self.heard.put_nowait(message)

    async def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        result = await self.client.call_tool(tool, arguments)
        if not result.is_error:
            assert isinstance(result.content[0], types.TextContent)
            assert json.loads(result.content[0].text) == result.structured_content
            assert not [*empty_fields(result.structured_content)]
        return result

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.call(tool, **arguments)
        assert result.is_error
        assert isinstance(result.content[0], types.TextContent)
        return result.content[0].text


@asynccontextmanager
async def host_of(world: World, mode: str, *options: str, asks: bool = True) -> AsyncIterator[Host]:
    host = Host(world)
    server = StdioServerParameters(
        command=str(Path(sys.executable).with_name("zkchat")),
        args=["mcp", "--vault", str(world.vault), *options],
        env={"HOME": str(world.home), "XDG_CACHE_HOME": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""},
    )
    callback: Any = host.asked if asks else None
    async with Client(server, mode=mode, elicitation_callback=callback, message_handler=host.hear) as host.client:
        yield host


def uris(result: types.CallToolResult) -> list[str]:
    return [part.uri for part in result.content if isinstance(part, types.ResourceLink)]


def empty_fields(said: Any) -> Iterator[str]:
    """The names of fields that say nothing, below the answer itself."""
    for name, each in said.items() if isinstance(said, dict) else ():
        for value in each if isinstance(each, list) else [each]:
            yield from empty_fields(value)
        if each is None or each in ("", {}) or (each == [] and name not in {"results", "rows", "paths"}):
            yield name


async def every_tool_that_reads(host: Host) -> None:
    listed = {tool.name: tool for tool in (await host.client.list_tools()).tools}
    assert [*listed] == [*READS, *WRITES]
    for tool in listed.values():
        assert all(each.get("description") for each in tool.input_schema["properties"].values()), tool.name
    assert [name for name, tool in listed.items() if "Use it first" in (tool.description or "")] == ["ask_vault"]
    for name, arguments in READS.items():
        hints = listed[name].annotations
        assert hints
        assert (hints.read_only_hint, hints.destructive_hint, hints.open_world_hint) == (True, False, False)
        result = await host.call(name, **arguments)  # the client compares it with the output schema
        assert not result.is_error, result
        assert bool(uris(result)) == (name not in WITHOUT_SOURCES), name
    assert listed["fetch"].output_schema
    assert uris(await host.call("read_document", path="Water")) == ["note:///Kitchen/Water.md"]
    quote = (await host.call("ask_vault", question="How long does green tea steep?")).structured_content["quotes"][0]
    assert (quote["path"], quote["first_line"], quote["link"]) == ("Tea.md", 6, "[[Tea]]")
    verified = (await host.call("verify_quotes", **READS["verify_quotes"])).structured_content["statements"]
    assert [(each["verdict"], [place["path"] for place in each.get("places", ())]) for each in verified] == [
        ("quoted", ["Tea.md"]),
        ("unsupported", []),
    ]


async def what_is_wrong_is_said(host: Host) -> None:
    assert "Field required" in await host.refused("ask_vault")
    assert "There is no note 'Coffee'." in await host.refused("fetch", id="Coffee")
    assert "on:foo is not a time." in await host.refused("search", query="tea on:foo")
    assert "longer than" in await host.refused("verify_quotes", text="x" * 70_000)
    assert "offset: Input should be greater than or equal to 0" in await host.refused(
        "read_document", path="Tea", offset=-1
    )
    told = "No heading Milk in [[Tea]]; it has Tea, Black"
    for tool, arguments in {
        "read_document": {"path": "[[Tea#Milk]]"},
        "resolve_wikilink": {"link": "[[Tea#Milk]]"},
        "fetch": {"id": "[[Tea#Milk]]"},
        "ask_vault": {"question": "How long does it steep, [[Tea#Milk]]?"},
    }.items():
        assert told in json.dumps((await host.call(tool, **arguments)).structured_content), tool
    assert told in json.dumps((await host.call("read_document", path="Tea#Milk")).structured_content)
    assert "No heading" not in json.dumps((await host.call("read_document", path="Tea#Black")).structured_content)
    with pytest.raises(MCPError, match="Unknown tool: brew"):
        await host.client.call_tool("brew", {})


async def notes_are_fresh(host: Host) -> None:
    assert (await host.call("search", query='"bergamot"')).structured_content == {"results": []}
    host.world.note("Grey.md", "# Earl Grey\n\nWith bergamot.\n")
    (hit,) = (await host.call("search", query='"bergamot"')).structured_content["results"]
    assert (hit["id"], hit["title"], hit["url"]) == ("Grey.md", "Earl Grey", "note:///Grey.md")
    host.world.note("Grey.md", "# Earl Grey\n\nWithout.\n")
    assert (await host.call("search", query='"bergamot"')).structured_content == {"results": []}
    host.world.note("Grey.md", "---\nzkchat: local\n---\n# Earl Grey\n\nWithout.\n")
    assert "There is no note" in await host.refused("read_document", path="Earl Grey")
    host.world.note("Grey.md", "# Earl Grey\n\nWithout.\n")
    assert not (await host.call("read_document", path="Earl Grey")).is_error
    (host.world.vault / "Grey.md").unlink()
    assert "There is no note" in await host.refused("fetch", id="Grey.md")


async def every_tool_that_changes_notes(host: Host) -> None:
    host.answer = "decline"
    assert "declined" in await host.refused("create_document", path="No", text="x")
    assert not (host.world.vault / "No.md").exists()
    host.answer, host.questions = "accept", []
    for name, arguments in WRITES.items():
        result = await host.call(name, **arguments)
        assert not result.is_error, result
        assert result.structured_content["change"]
    assert [question.partition("\n")[0] for question in host.questions][:2] == ["Create Cups/Mug.md?", "Edit Tea.md?"]
    assert "-Green tea steeps for two minutes." in host.questions[1]
    assert len(host.questions) == len(WRITES)
    text = (host.world.vault / "Tea.md").read_text()
    assert "three minutes. See [[Spring water]]" in text
    assert "With milk." in text
    assert (host.world.vault / "Kitchen/Mug.md").exists()
    assert (host.world.vault / ".trash/Oolong.md").exists()


async def changes_heard(host: Host, mode: str) -> AsyncGenerator[str, None]:
    """What the host hears, in words, once it asked to: of the list, and of Tea.md and a private note."""
    wanted = ["note:///Tea.md", "note:///Secret.md"]
    if mode == "legacy":
        await host.client.list_resources()
        for uri in wanted:
            await host.client.subscribe_resource(uri)
        yield "ready"
        while True:
            heard = await host.heard.get()
            if isinstance(heard, types.ResourceUpdatedNotification):
                yield str(heard.params.uri)
            elif isinstance(heard, types.ResourceListChangedNotification):
                yield "list"
    async with host.client.listen(resources_list_changed=True, resource_subscriptions=wanted) as events:
        yield "ready"
        async for event in events:
            yield getattr(event, "uri", "list")


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_host_that_subscribed_hears_of_changes(world: World, mode: str) -> None:
    for path, text in {**NOTES, "Secret.md": "---\nzkchat: local\n---\nA pin.\n"}.items():
        world.note(path, text)

    async def visit() -> None:
        async with host_of(world, mode) as host, aclosing(changes_heard(host, mode)) as heard:
            assert await anext(heard) == "ready"
            if mode == "legacy":
                offered = host.client.server_capabilities.resources
                assert offered == types.ResourcesCapability(subscribe=True, list_changed=True)
            world.note("Secret.md", "---\nzkchat: local\n---\nAnother pin.\n")
            world.note("Kitchen/Water.md", "# Water\n\nIt is cold, and nobody subscribed to it.\n")
            world.note("Tea.md", f"{TEA}\nNow with milk.\n")
            assert await anext(heard) == "note:///Tea.md"
            world.note("Cup.md", "# Cup\n")
            assert await anext(heard) == "list"
            (world.vault / "Cup.md").unlink()
            assert await anext(heard) == "list"

    asyncio.run(asyncio.wait_for(visit(), 100))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_host_reads_and_changes_notes(world: World, mode: str) -> None:
    for path, text in NOTES.items():
        world.note(path, text)

    async def visit() -> None:
        async with host_of(world, mode, "--write") as host:
            await every_tool_that_reads(host)
            await what_is_wrong_is_said(host)
            await notes_are_fresh(host)
            await use_resources_and_prompts(host.client, world, is_modern=mode != "legacy")
            await every_tool_that_changes_notes(host)

    asyncio.run(asyncio.wait_for(visit(), 100))
    listed = world.run("changes", "--json").json
    assert [change["command"] for change in reversed(listed)] == [f"mcp {name}" for name in WRITES]
    assert world.run("undo", "--yes").code == 0
    assert (world.vault / "Oolong.md").exists()
