"""`zkchat mcp check`: connects to MCP servers, and shows what they offer or why they do not answer."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from zkchat.cli.common import CommandIO, JsonOption, SettingsVaultOption, current_io
from zkchat.cli.mcp_servers import load_workspace_for, unknown_server
from zkchat.cli.server_lines import print_server, print_wrapped, server_record
from zkchat.compose.mcp_servers import DefinedServer, connect_servers, defined_servers, is_client_installed
from zkchat.compose.workspace import Workspace
from zkchat.errors import ConfigError, ExitCode
from zkchat.extras import install_command
from zkchat.model.text import counted
from zkchat.model.tool_server import ServerStatus
from zkchat.model.values import plain_without

_NAMES_SHOWN: Final = {"tool": 30, "resource": 5, "prompt": 30}
_WAIT_SECONDS: Final = 60.0
"""For all of them; each is given up after much less."""
_POLL_SECONDS: Final = 0.02


def check(
    name: Annotated[
        str | None, typer.Argument(metavar="SERVER", help="One of them; else all.", show_default=False)
    ] = None,
    vault: SettingsVaultOption = None,
    json_output: JsonOption = False,
) -> int:
    """Connect to the MCP servers, and show what they offer.

    It lists tools, resources and prompts, and how long each server took. One that does not answer within 10 seconds is
    given up. The exit code is 6 where a server cannot be reached, and 3 where one cannot be used as it is defined.
    """
    io = current_io()
    workspace = load_workspace_for(io, vault)
    found = defined_servers(workspace)
    servers = [server for server in found.servers if name in (None, server.name)]
    if name is not None and not servers:
        raise unknown_server(name)
    usable = [server for server in servers if server.state == "enabled"]
    if usable and not is_client_installed():
        raise ConfigError(
            "MCP servers need the package mcp, which is not installed.", hint=f"Install it: {install_command('mcp')}"
        )
    outcomes = _connect(io, workspace, usable) if usable else {}
    if json_output:
        io.json({"servers": [_record(server, outcomes) for server in servers], "warnings": found.warnings})
    else:
        _print(io, servers, outcomes)
        io.flush_out()
        for warning in found.warnings:
            io.note_wrapped(warning)
    return _exit_code(servers, outcomes, is_named=name is not None)


_Outcomes: TypeAlias = "dict[str, tuple[ServerStatus, float]]"


def _connect(io: CommandIO, workspace: Workspace, servers: Sequence[DefinedServer]) -> _Outcomes:
    """The status of each server once it is ready or has failed, and the seconds until then."""
    if io.environment.stderr_is_tty:
        io.note(f"Connecting to {counted(len(servers), 'server')}…")
    outcomes: dict[str, tuple[ServerStatus, float]] = {}
    begun: dict[str, float] = {}
    with connect_servers(workspace, [server.definition for server in servers if server.definition]) as connected:
        deadline = time.monotonic() + _WAIT_SECONDS
        while len(outcomes) < len(servers) and time.monotonic() < deadline:
            now = time.monotonic()
            for status in connected.statuses():
                if status.state != "waiting":
                    begun.setdefault(status.name, now)
                if status.state not in {"waiting", "connecting"} and status.name not in outcomes:
                    outcomes[status.name] = status, now - begun[status.name]
            time.sleep(_POLL_SECONDS)
        for status in connected.statuses():
            outcomes.setdefault(status.name, (status, _WAIT_SECONDS))
    return outcomes


def _exit_code(servers: Sequence[DefinedServer], outcomes: _Outcomes, *, is_named: bool) -> int:
    if any(status.state != "ready" for status, _ in outcomes.values()):
        return ExitCode.MODEL
    is_unusable = any(server.is_faulty or (is_named and server.state != "enabled") for server in servers)
    return ExitCode.CONFIG if is_unusable else ExitCode.OK


def _print(io: CommandIO, servers: Sequence[DefinedServer], outcomes: _Outcomes) -> None:
    if not servers:
        io.note("No servers are defined. Add one: zkchat mcp add NAME -- COMMAND")
    for server in servers:
        if server.name not in outcomes:
            print_server(io, server)
            continue
        status, seconds = outcomes[server.name]
        if status.state != "ready":
            print_wrapped(io, f"✗ {server.name}  {status.problem or 'It did not answer.'}", indent=4)
            if status.log and status.log not in status.problem and Path(status.log).is_file():
                print_wrapped(io, f"    What it said is in {status.log}", indent=4)
            continue
        version = f", {_one_line(status.version)}" if status.version else ""
        print_wrapped(io, f"✓ {server.name}  ready after {seconds:.1f} s{version}", indent=4)
        for line in offers(status):
            print_wrapped(io, f"    {line}", indent=6)


def offers(status: ServerStatus) -> Sequence[str]:
    """A line each on its tools, resources and prompts: how many, and the first of them."""
    offers = {
        "tool": [tool.name for tool in status.tools],
        "resource": [resource.uri for resource in status.resources],
        "prompt": [prompt.name for prompt in status.prompts],
    }
    lines = []
    for what, names in offers.items():
        limit = _NAMES_SHOWN[what]
        shown = ", ".join(map(_one_line, names[:limit]))
        more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
        lines.append(f"{counted(len(names), what)}: {shown}{more}" if names else f"no {what}s")
    return lines


def _one_line(text: str) -> str:
    return " ".join(text[:200].split())


def _record(server: DefinedServer, outcomes: _Outcomes) -> dict[str, object]:
    record = server_record(server)
    if server.name not in outcomes:
        return record
    status, seconds = outcomes[server.name]
    return record | {
        "state": status.state,
        "problem": status.problem,
        "seconds": round(seconds, 3),
        "version": status.version,
        "log": status.log,
        "tools": [plain_without(tool, "server") for tool in status.tools],
        "resources": [plain_without(resource, "server") for resource in status.resources],
        "prompts": [plain_without(prompt, "server") for prompt in status.prompts],
    }
