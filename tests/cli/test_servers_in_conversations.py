"""MCP servers in `ask` and `chat`: a real process that is called, and two that are broken."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World

pytestmark = pytest.mark.outside

SERVER = Path(__file__).parents[1] / "unit" / "mcp_client" / "plain_server.py"
CALL = {"tool": "plain__echo", "arguments": {"q": "\x1b[31mred [[Tea]]"}}
ANSWER: list[list[dict[str, Any]]] = [[CALL], [{"text": "Done."}]]


@pytest.fixture
def served(world: World) -> World:
    import_module("zkchat.models.mcp_connection")  # loading the SDK is no part of the time for connecting then
    servers = {"plain": [str(SERVER)], "dead": [str(SERVER), "exit"], "missing": None}
    tables = [
        f"[mcpServers.{name}]\ncommand = {json.dumps(sys.executable if args else '/no/such/program')}\n"
        f"args = {json.dumps(['-S', *(args or [])])}\n"
        for name, args in servers.items()
    ]
    world.configure("\n".join(tables))
    world.note("Tea.md", "# Tea\nGreen.\n")
    return world


def test_a_call_is_shown_asked_about_and_made_and_broken_servers_cost_a_sentence(served: World) -> None:
    model = served.script(*ANSWER)
    result = served.run("ask", "Hello?", "--plain", "--model", model, typed="?\ny\n", terminal=True)
    assert result.code == 0
    assert result.out.startswith("Done.")
    asked = result.err[result.err.index("▌") :]
    assert asked.startswith("▌ echo of the MCP server plain (may send data elsewhere)\n  q: ␛[31mred [[Tea]]\nCall it")
    assert "\x1b[31m" not in result.err
    assert "to plain: echo" in result.err
    assert result.err.count("The MCP server dead ended with exit code 3.") == 1
    assert result.err.count("there is no program /no/such/program") == 1

    refused = served.run("ask", "Hello?", "--plain", "--model", model, stdin="")
    assert refused.code == 0
    assert "to plain: echo" in refused.err
    assert "not called" in refused.err


def test_an_answer_of_always_holds_in_later_conversations_and_prompts_are_asked(served: World) -> None:
    model = served.script(*ANSWER, *ANSWER)
    lines = ["One.", "a", "/tools", "/plain:talk", "/plain:talk big cats", "/quit"]
    result = served.run("chat", "--plain", "--model", model, typed="\n".join(lines) + "\n", terminal=True)
    assert result.code == 0
    assert result.err.count("Call it? ") == 1
    assert "* plain/echo" in result.out
    assert "there is no program /no/such/program" in result.out
    assert "The prompt talk needs topic. Write it: /plain:talk topic=…" in result.out
    assert "Talk about big cats." in result.out
    stored = json.loads((served.home / ".local" / "share" / "zkchat" / "mcp-approvals.json").read_text())
    assert [*stored["tools"].values()] == ["plain/echo"]


def test_the_servers_of_an_agent_are_shown_with_their_modes(served: World) -> None:
    shown = served.run("agent", "show", "default").out
    assert "MCP server: dead [always] enabled\nMCP server: missing [always] enabled\n" in shown


OFFERED: dict[str, dict[str, str]] = {
    "files": {f"file_{number}": "Read a file from the file system." for number in range(6)},
    "git": {"git_log": "Shows the commit logs", "git_diff": "Shows differences between branches or commits"},
    "weather": {"get_forecast": "Get the weather forecast for a location"},
}


def test_in_a_small_window_the_tools_of_servers_are_chosen_by_the_question(served: World) -> None:
    tables = [
        f"[mcpServers.{name}]\ncommand = {json.dumps(sys.executable)}\n"
        f"args = {json.dumps(['-S', str(SERVER), 'tools', json.dumps(tools)])}\n"
        for name, tools in OFFERED.items()
    ]
    served.configure("[context]\ntools_share = 0.15\n[mcp]\nconnect_seconds = 60.0\n" + "\n".join(tables))
    model = served.script([{"text": "Late."}], context_limit=4096)
    assert served.run("ask", "Will it rain in Oslo?", "--model", model).code == 0
    record = served.run("context", "show", "--message", "2", "--json").json
    sent = {item["name"] for item in record["items"] if item["type"] == "tool"}
    assert {"weather__get_forecast", "find_excerpts", "read_document"} <= sent
    left_out = {left["item"]["name"] for left in record["left_out"] if left["item"]["type"] == "tool"}
    assert "git__git_log" in left_out


def test_how_long_a_server_may_take_to_answer_is_a_setting(served: World) -> None:
    served.configure(
        f"[mcp]\nconnect_seconds = 0.2\n[mcpServers.mute]\ncommand = {json.dumps(sys.executable)}\n"
        f"args = {json.dumps(['-S', str(SERVER), 'mute'])}\n"
    )
    told = served.run("config", "servers", "check")
    assert "did not answer within 0.2 s" in told.out + told.err
