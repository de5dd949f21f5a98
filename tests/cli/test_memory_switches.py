"""Memory that is switched off or dropped: nothing of it reaches the server, and the record says why."""

from pathlib import Path
from typing import Any

import pytest

from tests.providers.loopback import KEY, Loopback, Request, serving
from tests.support.world import World
from zkchat.core.prompt import Finish, TextChunk

pytestmark = pytest.mark.outside

PAGE, IMPORTED, FACT = "I keep forty hives", "Every hive has a number", "My favourite opening in chess is the Sicilian."
QUESTION = "What is my favourite opening in chess?"


server = serving(lambda: Loopback({"any": [TextChunk(text="The Sicilian."), Finish()]}), scope="function")


@pytest.fixture
def prepared(tmp_path: Path, server: Loopback) -> World:
    world = World(tmp_path, variables={"OPENAI_API_KEY": KEY, "ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1"})
    world.note("ZKCHAT.md", f"{PAGE}. @Hives.md\n")
    world.note("Hives.md", f"# Hives\n\n{IMPORTED}.\n")
    world.note(".zkchat/agents/plain.md", "---\nmemory: false\n---\nAnswer briefly.\n")
    world.variables |= {"ZKCHAT_MODEL": "openai:any", "ZKCHAT_CONTEXT__MAX_TOKENS": "16000"}
    assert world.run("trust", "--yes").code == 0
    assert world.run("memory", "add", FACT).code == 0
    return world


def sent(server: Loopback) -> list[Request]:
    return [request for request in server.requests if request.path.endswith("completions")]


def remembered(request: Request) -> list[str]:
    """What of memory a request holds."""
    said = "\n".join(str(message["content"]) for message in request.body["messages"])
    return [text for text in (PAGE, IMPORTED, FACT) if text in said]


def tools(request: Request) -> set[str]:
    return {tool["function"]["name"] for tool in request.body.get("tools", ())}


def left_out(world: World, *arguments: str) -> list[tuple[str, str, str]]:
    record: dict[str, Any] = world.run("ask", QUESTION, *arguments, "--json").json["context"]
    return [(each["item"]["name"], each["why"], each["item"]["reason"]) for each in record["left_out"]]


SWITCHES: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "setting": ({"ZKCHAT_MEMORY__ENABLED": "false"}, (), "memory.enabled is off"),
    "share": ({"ZKCHAT_CONTEXT__MEMORY_SHARE": "0"}, (), "context.memory_share is 0"),
    "agent": ({}, ("--agent", "plain"), "the agent plain uses no memory"),
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_switched_off_nothing_of_it_is_sent_and_the_record_says_why(
    prepared: World, server: Loopback, switch: str
) -> None:
    variables, arguments, reason = SWITCHES[switch]
    prepared.variables |= variables
    assert left_out(prepared, *arguments) == [
        ("memory", "off", reason), ("ZKCHAT.md", "off", reason), ("Hives.md", "off", reason),
    ]  # fmt: skip
    assert remembered(sent(server)[-1]) == []
    assert tools(sent(server)[-1]).isdisjoint({"remember", "recall"})
    assert f"ZKCHAT.md ({reason})" in prepared.run("context", "show", "--message", "2").out


def test_an_agent_without_memory_is_spoken_to_for_one_message(prepared: World, server: Loopback) -> None:
    prepared.run("ask", f"@plain {QUESTION}")
    prepared.run("ask", QUESTION, "--continue")
    assert [remembered(request) for request in sent(server)] == [[], [PAGE, IMPORTED, FACT]]


def test_the_page_is_dropped_and_added_again_in_a_chat(prepared: World, server: Loopback) -> None:
    typed = [QUESTION, "/drop [[ZKCHAT]]", "/drop [[ZKCHAT]]", QUESTION, "/context", "/why [[ZKCHAT]]"]
    typed += ["/add [[ZKCHAT]]", "/add [[ZKCHAT]]", QUESTION, "/drop [[Hives]]", QUESTION]
    chat = prepared.run("chat", stdin="\n".join(typed) + "\n")
    assert [remembered(request) for request in sent(server)] == [
        [PAGE, IMPORTED, FACT], [FACT], [PAGE, IMPORTED, FACT], [PAGE, FACT],
    ]  # fmt: skip
    said = chat.out + chat.err
    assert "ZKCHAT.md is not sent from now on. Each question now sends " in said
    assert "ZKCHAT.md is not sent in this session." in said
    assert "ZKCHAT.md (dropped by you)" in said
    assert "- you dropped it" in said
    assert "ZKCHAT.md is sent with every message from now on." in said
    assert "ZKCHAT.md is sent with every message already." in said
    assert "Hives.md is not sent from now on." in said


def test_what_is_switched_off_by_a_setting_is_not_added_and_keeps_nothing(prepared: World) -> None:
    prepared.variables["ZKCHAT_MEMORY__ENABLED"] = "false"
    chat = prepared.run("chat", stdin="/add memory\n/remember I like tea.\n")
    assert "Memory is not used: memory.enabled is off." in chat.out + chat.err
    assert "Memory is switched off: memory.enabled is false." in chat.out + chat.err
    assert [fact["text"] for fact in prepared.run("memory", "list", "--json").json] == [FACT]
