"""`zkchat serve mcp`: the vault as a server, and checks of other servers."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from zkchat.app import DefinedServer, Workspace, connect_servers, defined_servers, load_workspace
from zkchat.cli import mcp_servers
from zkchat.cli.common import CommandIO, SettingsVaultOption, Told, argument, current_io, flag, option, told_command
from zkchat.cli.mcp_servers import NO_SERVERS, print_server, require_sdk, server_record, unknown_server
from zkchat.cli.note_lookup import progress
from zkchat.cli.termination import Terminated
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.core import ConfigError, ExitCode, ServerStatus, UsageError, counted, plain_without

if TYPE_CHECKING:
    from zkchat.mcp import HostOptions

_NAMES_SHOWN: Final = {"tool": 30, "resource": 5, "prompt": 30}
_WAIT_SECONDS: Final = 60.0
"""For all of them; each is given up after much less."""
_POLL_SECONDS: Final = 0.02


@partial(told_command, vault_option=SettingsVaultOption)
def check(io: CommandIO, name: Annotated[str | None, argument("SERVER", "One server. Default: all.")] = None) -> Told:
    """Connect to the MCP servers, and show what they offer.

    It lists tools, resources and prompts, and how long each server took. A server that does not answer within 10
    seconds is skipped. The exit code is 6 if a server cannot be reached, and 3 if its definition cannot be used.
    """
    workspace = io.workspace(needs_vault=False)
    found = defined_servers(workspace)
    servers = [server for server in found.servers if name in (None, server.name)]
    if name is not None and not servers:
        raise unknown_server(name)
    usable = [server for server in servers if server.state == "enabled"]
    if usable:
        require_sdk("MCP servers need")
    outcomes = _connect(io, workspace, usable) if usable else {}
    if any(status.state != "ready" for status, _ in outcomes.values()):
        code = ExitCode.MODEL
    else:
        unusable = [server for server in servers if server.is_faulty or (name and server.state != "enabled")]
        code = ExitCode.CONFIG if unusable else ExitCode.OK
    return Told(
        data={"servers": [_record(server, outcomes) for server in servers], "warnings": found.warnings},
        show=lambda: _print(io, servers, outcomes),
        notes=found.warnings,
        exit_code=code,
    )


_Outcomes: TypeAlias = "dict[str, tuple[ServerStatus, float]]"


def _connect(io: CommandIO, workspace: Workspace, servers: Sequence[DefinedServer]) -> _Outcomes:
    """The status of each server once it is ready or has failed, and the seconds until then."""
    outcomes: dict[str, tuple[ServerStatus, float]] = {}
    begun: dict[str, float] = {}
    definitions = [server.definition for server in servers if server.definition]
    with (
        progress(io.environment, f"Connecting to {counted(len(servers), 'server')}"),
        connect_servers(workspace, definitions) as connected,
    ):
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


def _print(io: CommandIO, servers: Sequence[DefinedServer], outcomes: _Outcomes) -> None:
    if not servers:
        io.note(NO_SERVERS)
    for server in servers:
        if server.name not in outcomes:
            print_server(io, server)
            continue
        status, seconds = outcomes[server.name]
        if status.state != "ready":
            io.out(f"✗ {server.name}  {status.problem or 'It did not answer.'}", indent=4)
            if status.log and status.log not in status.problem and Path(status.log).is_file():
                io.out(f"    Its output is in {status.log}", indent=4)
            continue
        version = f", {_one_line(status.version)}" if status.version else ""
        io.out(f"✓ {server.name}  ready after {seconds:.1f} s{version}", indent=4)
        for line in offers(status):
            io.out(f"    {line}", indent=6)


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


PORT: Final = 7717
"""Where `--http` serves unless told otherwise."""

app = typer.Typer(
    help="Serve the vault to MCP hosts.",
    epilog="Without a command the vault is served on standard input and output.\n"
    "A host such as Claude Desktop starts that by itself: zkchat help mcp\n"
    "Private notes are left out, unless you add --local.",
    invoke_without_command=True,
)

LocalOption = Annotated[bool, flag("--local", "The host's model runs on this machine, so it may see private notes.")]
WriteOption = Annotated[bool, flag("--write", "Offer tools that change notes.")]
HttpOption = Annotated[bool, flag("--http", "Serve on a port of this machine, protected by a token.")]
PortOption = Annotated[
    int | None,
    option("--port", "N", f"With --http. Default: {PORT}.", min=0, max=65535),
]
TokenFileOption = Annotated[
    Path | None,
    option(
        "--token-file",
        "FILE",
        "With --http: the file with the token, created if missing. Default: $ZKCHAT_MCP_TOKEN, or a new one.",
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

    A host such as Claude Desktop starts this by itself; see `zkchat help mcp`. Private notes are left out, unless you
    say that the host's model runs on this machine.
    """
    if context.invoked_subcommand is not None:
        return
    if not http and (port is not None or token_file):
        raise UsageError("--port and --token-file need --http.", hint="Serve on a port: zkchat serve mcp --http")
    io = current_io(vault)
    workspace = load_workspace(io.environment, confirmed_vault(io))
    require_sdk()
    if not local and (reason := workspace.loaded.privacy_unknown):
        raise ConfigError(
            f"{reason} So zkchat cannot tell which notes are private, and serves none.",
            hint="Correct the file, or move it away. If the host's model runs on this machine, add --local.",
        )
    from zkchat.mcp import HostOptions

    options = HostOptions(is_local=local, may_write=write)
    try:
        if http:
            _serve_http(io, workspace, options, PORT if port is None else port, token_file)
        else:
            _serve_stdio(io, workspace, options)
    except Terminated as end:  # the usual way in which hosts end a server
        raise typer.Exit(128 + end.signal) from None


app.command()(mcp_servers.install)
servers = typer.Typer(help="List and change the MCP servers whose tools chats may use.", no_args_is_help=True)
for table, is_earlier in ((servers, False), (app, True)):
    table.command(name="list", hidden=is_earlier)(mcp_servers.list_)
    table.command(hidden=is_earlier)(mcp_servers.add)
    table.command(hidden=is_earlier)(mcp_servers.remove)
    table.command(hidden=is_earlier)(check)


def _serve_stdio(io: CommandIO, workspace: Workspace, options: "HostOptions") -> None:
    if io.environment.stdin_is_tty:
        io.note("This waits for an MCP host, which usually starts it: see zkchat help mcp. Ctrl-D stops it.")
    from zkchat.mcp import serve_stdio

    serve_stdio(workspace, options, io)


def _serve_http(
    io: CommandIO, workspace: Workspace, options: "HostOptions", port: int, token_file: Path | None
) -> None:
    from zkchat.hosting import access_token, listen
    from zkchat.mcp import address_of, serve_http

    file = io.environment.cwd / token_file.expanduser() if token_file else None
    token = access_token(file, io.environment.variables)
    listening = listen(port)
    io.note(f"Serving {workspace.paths.vault} at {address_of(listening)}. Ctrl-C stops it.")
    if token.file:
        io.note(f"The token is in {token.file}.")
    elif token.is_new:
        io.note(f"Each request needs this header: Authorization: Bearer {token.text}")
    serve_http(workspace, options, io, listening, token)
