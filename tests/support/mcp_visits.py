"""What a client does with the resources, prompts and completions of a vault, over any transport."""

import base64
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests.support.world import World

TEMPLATE = types.ResourceTemplateReference(uri="note:///{+path}")
PICTURE = b"\x89PNG\r\n\x1a\n\x00\xff"
HOST = "# Hospitality\n\nGuests bring bread.\n\n## Leaving\n\nNobody stays. [[Nowhere at all]]\n"
FILES: dict[str, str | bytes] = {
    "Visit/Host & guest #1?.md": HOST,
    "Visit/façade 100%.md": "---\naliases: [Frontage]\n---\n# Façade\n\nA front.\n",
    "Visit/house.png": PICTURE,
    "Visit/plan.canvas": '{"nodes":[{"id":"a","type":"text","text":"Rooms first","x":0,"y":0,"width":9,"height":9}]}',
    "Visit/.hidden.md": "Hidden.\n",
}
HOSPITALITY = "note:///Visit/Host%20&%20guest%20%231%3F.md"


async def use_resources_and_prompts(client: Client, world: World, *, is_modern: bool) -> None:
    """Files are added, used in every way, and removed."""
    for path, content in FILES.items():
        world.note(path, content)
    await _lists(client)
    await _reads(client, is_modern=is_modern)
    await _completes(client)
    await _prompts(client)
    for path in FILES:
        (world.vault / path).unlink()
    assert not [each for each in (await client.list_resources()).resources if each.name.startswith("Visit/")]


async def _lists(client: Client) -> None:
    names: list[str] = []
    cursor: str | None = None
    while True:
        page = await client.list_resources(cursor=cursor)
        assert 0 < len(page.resources) <= 100
        names += [each.name for each in page.resources]
        found = {each.name: each for each in page.resources}
        if "Visit/house.png" in found:
            assert found["Visit/house.png"].mime_type == "image/png"
            note = found["Visit/Host & guest #1?.md"]
            assert (note.title, note.uri, note.mime_type) == ("Hospitality", HOSPITALITY, "text/markdown")
            assert note.size == len(FILES[note.name])
        if (cursor := page.next_cursor) is None:
            break
    assert names == sorted({*names})
    assert {*names}.issuperset(FILES.keys() - {"Visit/.hidden.md"})
    assert "Visit/.hidden.md" not in names
    with pytest.raises(MCPError, match="cursor"):
        await client.list_resources(cursor="!")
    (template,) = (await client.list_resource_templates()).resource_templates
    assert template.uri_template == TEMPLATE.uri


async def _reads(client: Client, *, is_modern: bool) -> None:
    async def text(uri: str) -> str:
        (content,) = (await client.read_resource(uri)).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.uri == uri
        return content.text

    assert await text(HOSPITALITY) == FILES["Visit/Host & guest #1?.md"]
    assert await text(f"{HOSPITALITY}#Leaving") == "## Leaving\n\nNobody stays. [[Nowhere at all]]\n"
    assert await text("note:///Visit/Host & guest #1?.md") == FILES["Visit/Host & guest #1?.md"]
    assert "A front." in await text("NOTE:///Visit/fa%C3%A7ade%20100%25.md")
    assert await text("note:///Visit/plan.canvas") == "Rooms first\n"
    (picture,) = (await client.read_resource("note:///Visit/house.png")).contents
    assert isinstance(picture, types.BlobResourceContents)
    assert (picture.mime_type, base64.b64decode(picture.blob)) == ("image/png", PICTURE)
    for uri in (
        "note:///Visit/No.md",
        "note:///Visit/.hidden.md",
        "note:///../outside.md",
        "note:////etc/passwd",
        "note:///Visit/%2e%2e/Tea.md",
        "note:///%FF.md",
        f"{HOSPITALITY}#Arriving",
        "file:///etc/passwd",
    ):
        with pytest.raises(MCPError, match="Resource not found") as caught:
            await client.read_resource(uri)
        assert (caught.value.error.code, caught.value.error.data) == (-32602 if is_modern else -32002, {"uri": uri})


async def _completes(client: Client) -> None:
    async def values(ref: types.ResourceTemplateReference | types.PromptReference, name: str, typed: str) -> list[str]:
        found = (await client.complete(ref, {"name": name, "value": typed})).completion
        assert found.total == len(found.values)
        assert found.has_more is False
        return found.values

    ask, changed = types.PromptReference(name="ask"), types.PromptReference(name="what_changed")
    assert await values(TEMPLATE, "path", "visit/h") == ["Visit/Host & guest #1?.md", "Visit/house.png"]
    assert await values(TEMPLATE, "path", "hospi") == ["Visit/Host & guest #1?.md"]
    assert await values(TEMPLATE, "path", "frontage") == ["Visit/façade 100%.md"]
    assert await values(TEMPLATE, "path", "FACADE") == []
    assert await values(ask, "question", "Who visits [[Front") == ["Who visits [[façade 100%]]"]
    assert await values(ask, "question", "Who visits") == []
    assert await values(changed, "since", "to") == ["today"]
    assert await values(changed, "folder", "vis") == ["Visit"]
    for ref, name in ((types.PromptReference(name="brew"), "x"), (ask, "x"), (TEMPLATE, "x")):
        with pytest.raises(MCPError) as caught:
            await client.complete(ref, {"name": name, "value": ""})
        assert caught.value.error.code == types.INVALID_PARAMS


async def _prompts(client: Client) -> None:
    async def said(name: str, **arguments: str) -> tuple[str, dict[str, str]]:
        """What a prompt says, and the texts of notes that go with it."""
        messages = (await client.get_prompt(name, arguments)).messages
        blocks: list[Any] = [message.content for message in messages]
        assert {message.role for message in messages} == {"user"}
        texts = [block.text for block in blocks if block.type == "text"]
        return "\n".join(texts), {each.resource.uri: each.resource.text for each in blocks if each.type == "resource"}

    listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    assert [*listed] == ["ask", "daily_review", "what_changed", "vault_health"]
    assert [argument.required for argument in listed["ask"].arguments or ()] == [True]
    task, quotes = await said("ask", question="What do guests bring?")
    assert task.startswith("What do guests bring?\n")
    assert quotes[HOSPITALITY] == "Guests bring bread."
    task, notes = await said("what_changed", since="1d", folder="Visit")
    assert "2 notes" in task
    assert notes[HOSPITALITY] == FILES["Visit/Host & guest #1?.md"]
    task, notes = await said("daily_review", date="2020-02-02")
    assert "Sunday, 2020-02-02" in task
    assert "There is no daily note of that day." in task
    assert notes == {}
    task, _ = await said("vault_health", folder="Visit")
    assert "Visit/Host &amp; guest #1?.md, line 7: [[Nowhere at all]]" in task
    for name, given in (("brew", {}), ("ask", {}), ("ask", {"question": " "}), ("what_changed", {"since": "soon"})):
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, given)
        assert caught.value.error.code == types.INVALID_PARAMS
