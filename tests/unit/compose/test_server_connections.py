"""The connections of a process: begun at once or once the prompt is there, shared by its conversations."""

import asyncio
import threading

import pytest

from tests.support.world import World
from zkchat.app.mcp_servers import ServerConnections
from zkchat.app.workspace import load_workspace

pytestmark = pytest.mark.outside


def connecting() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "mcp-servers"}


def test_a_chat_begins_to_connect_once_it_says_so_and_keeps_its_servers(world: World) -> None:
    with ServerConnections() as connections:
        assert connections.open(load_workspace(world.environment(), world.vault)) == (None, ())
    world.configure('[mcpServers.gone]\ncommand = "/no/such/program"\n[mcpServers.odd]\n')
    workspace = load_workspace(world.environment(), world.vault)
    before = connecting()
    with ServerConnections(at_once=False) as connections:
        servers, warnings = connections.open(workspace)
        assert servers is not None
        assert len(warnings) == 1
        assert connections.open(workspace) == (servers, ())
        assert connecting() <= before
        connections.start()
        assert connecting() - before
    assert not connections.waits


def test_a_server_that_the_settings_define_otherwise_now_is_used_no_more(world: World) -> None:
    file = world.settings_file
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = '[mcpServers.kept]\ncommand = "/no/such/program"\n'
    file.write_text(f'{kept}[mcpServers.far]\nurl = "http://127.0.0.1:9/mcp"\nlocal = true\n')
    workspace = load_workspace(world.environment(), world.vault)
    with ServerConnections(at_once=False) as connections:
        servers, _ = connections.open(workspace)
        assert servers is not None
        assert connections.withdraw_changed(workspace.read_again()) == ""
        file.write_text(f'{kept}[mcpServers.far]\nurl = "http://127.0.0.1:9/mcp"\n')
        assert connections.withdraw_changed(workspace.read_again()).endswith("because their settings changed: far.")
        assert {status.name: status.state for status in servers.statuses()} == {"far": "disabled", "kept": "waiting"}
        assert asyncio.run(servers.call("far", "tool", {})).text == "There is no MCP server far."
        assert connections.withdraw_changed(workspace.read_again()) == "", "that is said once"
