"""`zkchat mcp`: the vault for other programs, over the Model Context Protocol."""

from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli import mcp_check, mcp_servers
from zkchat.cli.common import SettingsVaultOption, current_io
from zkchat.cli.termination import Terminated

if TYPE_CHECKING:
    from pathlib import Path

    from zkchat.cli.common import CommandIO

app = typer.Typer(help="Serve the vault to MCP hosts, and use MCP servers in chats.", invoke_without_command=True)

LocalOption = Annotated[
    bool, typer.Option("--local", help="The host's model runs on this machine: it may see local notes.")
]
WriteOption = Annotated[bool, typer.Option("--write", help="Offer tools that change notes.")]


@app.callback()
def mcp(
    context: typer.Context, vault: SettingsVaultOption = None, local: LocalOption = False, write: WriteOption = False
) -> None:
    """Serve the vault to an MCP host, on standard input and output: its tools, and evidence with quotes.

    A host such as Claude Desktop starts this by itself; see `zkchat help mcp`. Notes that are `local` are withheld
    unless you say that the host's model runs on this machine. The commands below are about servers of others, whose
    tools chats may use.
    """
    if context.invoked_subcommand is None:
        _serve(current_io(), vault, is_local=local, may_write=write)


app.command(name="list")(mcp_servers.list_)
app.command()(mcp_servers.add)
app.command()(mcp_servers.remove)
app.command()(mcp_check.check)
app.command(name="import")(mcp_servers.import_)


def _serve(io: "CommandIO", vault: "Path | None", *, is_local: bool, may_write: bool) -> None:
    from zkchat.cli.vault_consent import confirmed_vault
    from zkchat.compose.workspace import load_workspace

    vault = confirmed_vault(io, vault)
    workspace = load_workspace(io.environment, vault)
    require_sdk()
    if io.environment.stdin_is_tty:
        io.note("This waits for messages of an MCP host on standard input. Ctrl-D ends it.")
    from zkchat.mcp_server.serve import serve_stdio
    from zkchat.mcp_server.service import HostOptions

    try:
        serve_stdio(workspace, HostOptions(is_local=is_local, may_write=may_write), io)
    except Terminated as end:  # the usual way in which hosts end a server
        raise typer.Exit(128 + end.signal) from None


def require_sdk() -> None:
    """Raises `ConfigError` where the package `mcp` is not installed."""
    from importlib.util import find_spec

    from zkchat.errors import ConfigError

    if find_spec("mcp") is None:
        raise ConfigError(
            "MCP needs the package mcp, which is not installed.", hint="Install it: pip install 'zkchat[mcp]'"
        )
