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
    servers = {
        "plain": [str(SERVER)],
        "dead": [str(SERVER), "exit"],
        "missing": None,
    }
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
    assert asked.startswith("▌ echo of the MCP server plain (may send things on)\n  q: ␛[31mred [[Tea]]\nCall it? ")
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
