"""`zkchat mcp`: the vault for other programs, over the Model Context Protocol."""

from pathlib import Path
from typing import Annotated, Final

import typer

from zkchat.cli import mcp_check, mcp_install, mcp_servers
from zkchat.cli.common import CommandIO, SettingsVaultOption, current_io
from zkchat.cli.mcp_package import require_sdk
from zkchat.cli.termination import Terminated
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.errors import ConfigError, UsageError

PORT: Final = 7717
"""Where `--http` serves unless told otherwise."""

app = typer.Typer(
    help="Serve the vault to MCP hosts, and use MCP servers in chats.",
    epilog="Without a command the vault is served on standard input and output.\n"
    "A host such as Claude Desktop starts that by itself: zkchat help mcp\n"
    "Notes that are local are withheld, unless you say --local.",
    invoke_without_command=True,
)

LocalOption = Annotated[
    bool, typer.Option("--local", help="The host's model runs on this machine: it may see local notes.")
]
WriteOption = Annotated[bool, typer.Option("--write", help="Offer tools that change notes.")]
HttpOption = Annotated[bool, typer.Option("--http", help="Serve on a port of this machine, for whoever has the token.")]
PortOption = Annotated[
    int | None,
    typer.Option("--port", metavar="N", min=0, max=65535, help=f"With --http; else {PORT}.", show_default=False),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="With --http: the file that keeps the token, made if missing. Else $ZKCHAT_MCP_TOKEN, or a new one.",
        show_default=False,
    ),
]


@app.callback()
def mcp(
    context: typer.Context,
    vault: SettingsVaultOption = None,
    local: LocalOption = False,
    write: WriteOption = False,
    http: HttpOption = False,
    port: PortOption = None,
    token_file: TokenFileOption = None,
) -> None:
    """Serve the vault to an MCP host, on standard input and output: tools, evidence with quotes, notes, prompts.

    A host such as Claude Desktop starts this by itself; see `zkchat help mcp`. Notes that are `local` are withheld
    unless you say that the host's model runs on this machine. The commands below are about servers of others, whose
    tools chats may use.
    """
    if context.invoked_subcommand is not None:
        return
    if not http and (port is not None or token_file):
        raise UsageError("--port and --token-file need --http.", hint="Serve on a port: zkchat mcp --http")
    io = current_io()
    workspace = _workspace(io, vault)
    if not local and (reason := workspace.loaded.privacy_unknown):
        raise ConfigError(
            f"{reason} So it is not known which notes stay on this machine, and none is served.",
            hint="Correct the file, or move it away. For a host whose model runs on this machine: zkchat mcp --local",
        )
    try:
        if http:
            _serve_http(io, workspace, PORT if port is None else port, token_file, is_local=local, may_write=write)
        else:
            _serve_stdio(io, workspace, is_local=local, may_write=write)
    except Terminated as end:  # the usual way in which hosts end a server
        raise typer.Exit(128 + end.signal) from None


app.command(name="list")(mcp_servers.list_)
app.command()(mcp_servers.add)
app.command()(mcp_servers.remove)
app.command()(mcp_check.check)
app.command()(mcp_install.install)


def _workspace(io: CommandIO, vault: Path | None) -> Workspace:
    workspace = load_workspace(io.environment, confirmed_vault(io, vault))
    require_sdk()
    return workspace


def _serve_stdio(io: CommandIO, workspace: Workspace, *, is_local: bool, may_write: bool) -> None:
    if io.environment.stdin_is_tty:
        io.note(
            "This waits for messages of an MCP host, which starts it by itself: see zkchat help mcp. Ctrl-D ends it."
        )
    from zkchat.mcp_server.serve import serve_stdio
    from zkchat.mcp_server.service import HostOptions

    serve_stdio(workspace, HostOptions(is_local=is_local, may_write=may_write), io)


def _serve_http(
    io: CommandIO, workspace: Workspace, port: int, token_file: Path | None, *, is_local: bool, may_write: bool
) -> None:
    from zkchat.mcp_server.access_token import access_token
    from zkchat.mcp_server.http import address_of, listen
    from zkchat.mcp_server.serve import serve_http
    from zkchat.mcp_server.service import HostOptions

    file = io.environment.cwd / token_file.expanduser() if token_file else None
    token = access_token(file, io.environment.variables)
    listening = listen(port)
    io.note(f"Serving {workspace.paths.vault} at {address_of(listening)}. Ctrl-C ends it.")
    if token.file:
        io.note(f"The token is in {token.file}.")
    elif token.is_new:
        io.note(f"Each request needs this header: Authorization: Bearer {token.text}")
    serve_http(workspace, HostOptions(is_local=is_local, may_write=may_write), io, listening, token)
