"""`zkchat serve mcp`, the vault as a server; `zkchat config servers`, the servers whose tools chats may use."""

import time
from collections.abc import Sequence
from functools import partial
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from zkchat import hosting
from zkchat.app import (
    DefinedServer,
    ServerEditor,
    Workspace,
    connect_servers,
    define_server,
    defined_servers,
    find_host_entry,
    load_workspace,
    server_command,
)
from zkchat.cli.common import (
    CommandIO,
    JsonOption,
    SettingsVaultOption,
    Told,
    YesOption,
    argument,
    current_io,
    flag,
    option,
    require,
    told_command,
)
from zkchat.cli.key_questions import KeyQuestions
from zkchat.cli.note_lookup import progress
from zkchat.cli.terminal import Terminated
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.config import HostEntry, write_entry
from zkchat.core import (
    HIDDEN,
    ConfigError,
    ExitCode,
    ServerDefinition,
    ServerStatus,
    UsageError,
    counted,
    hide_keys,
    hide_keys_of,
    hide_value,
    hide_values,
    plain_without,
    show_reach,
)

if TYPE_CHECKING:
    from zkchat.mcp import HostOptions

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
        require("mcp", "MCP servers need the package mcp", "mcp")
    outcomes = _connect(io, workspace, usable) if usable else {}
    if any(status.state != "ready" for status, _ in outcomes.values()):
        code = ExitCode.MODEL
    else:
        unusable = [server for server in servers if server.is_faulty or (name and server.state != "enabled")]
        code = ExitCode.CONFIG if unusable else ExitCode.OK
    return Told(
        data={"servers": [_checked_record(server, outcomes) for server in servers], "warnings": found.warnings},
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
        limit = {"tool": 30, "resource": 5, "prompt": 30}[what]
        shown = ", ".join(map(_one_line, names[:limit]))
        more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
        lines.append(f"{counted(len(names), what)}: {shown}{more}" if names else f"no {what}s")
    return lines


def _one_line(text: str) -> str:
    return " ".join(text[:200].split())


def _checked_record(server: DefinedServer, outcomes: _Outcomes) -> dict[str, object]:
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
    help="Let Claude Desktop and other MCP hosts use your notes.",
    epilog="Without a command, zkchat serves the vault on standard input and output.\n"
    "A host such as Claude Desktop starts it by itself: zkchat help mcp\n"
    "Private notes are left out, unless you add --local.",
    invoke_without_command=True,
)

LocalOption = Annotated[bool, flag("--local", "The host's model runs on this machine, so it may see private notes.")]
WriteOption = Annotated[bool, flag("--write", "Offer tools that change notes.")]
HttpOption = Annotated[bool, flag("--http", "Serve on a port of this machine, protected by a token.")]
PortOption = Annotated[int | None, option("--port", "N", f"With --http. Default: {PORT}.", min=0, max=65535)]
TokenFileOption = Annotated[
    Path | None,
    option(
        "--token-file",
        "FILE",
        "With --http: file with the token, created if missing. Default: the token in $ZKCHAT_MCP_TOKEN, or a new one.",
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
    """Serve the vault to an MCP host, on standard input and output: tools, quoted passages, notes, prompts.

    A host such as Claude Desktop starts this by itself; see `zkchat help mcp`. Private notes are left out, unless you
    say that the host's model runs on this machine.
    """
    if context.invoked_subcommand is not None:
        return
    if not http and (port is not None or token_file):
        raise UsageError("--port and --token-file need --http.", hint="Serve on a port: zkchat serve mcp --http")
    io = current_io(vault)
    workspace = load_workspace(io.environment, confirmed_vault(io))
    require("mcp", "MCP needs the package mcp", "mcp")
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
            if io.environment.stdin_is_tty:
                io.note(
                    "Waiting for an MCP host, which usually starts this itself; see zkchat help mcp. Ctrl-D stops it."
                )
            from zkchat.mcp import serve_stdio

            serve_stdio(workspace, options, io)
    except Terminated as end:  # the usual way in which hosts end a server
        raise typer.Exit(128 + end.signal) from None


def _serve_http(
    io: CommandIO, workspace: Workspace, options: "HostOptions", port: int, token_file: Path | None
) -> None:
    from zkchat.mcp import address_of, serve_http

    file = io.environment.cwd / token_file.expanduser() if token_file else None
    token = hosting.access_token(file, io.environment.variables)
    listening = hosting.listen(port)
    io.note(f"Serving {workspace.paths.vault} at {address_of(listening)}. Ctrl-C stops it.")
    if token.file:
        io.note(f"The token is in {token.file}.")
    elif token.is_new:
        io.note(f"Each request needs this header: Authorization: Bearer {token.text}")
    serve_http(workspace, options, io, listening, token)


_STATE_WORDS = {
    "enabled": "enabled",
    "disabled": "switched off",
    "not_approved": "not approved",
    "variable_missing": "a variable is missing",
    "invalid": "cannot be used",
}
NO_SERVERS = "No servers are defined. Add one: zkchat config servers add NAME -- COMMAND"
_MARKS = {"enabled": "✓", "disabled": "·", "not_approved": "!", "variable_missing": "✗", "invalid": "✗"}


def print_server(io: CommandIO, server: DefinedServer) -> None:
    """A line about its state, and how it is reached."""
    way_out = "; to see and approve it: zkchat config trust" if server.state == "not_approved" else ""
    whose = "your server" if server.origin == "user" else "server of the vault"
    state = f"{whose}: {_STATE_WORDS[server.state]}{way_out}"
    io.out(f"{_MARKS[server.state]} {server.name}  {state}", indent=4)
    if server.definition and (reach := show_reach(server.definition)):
        io.out(f"    {reach}", indent=6)
        if server.definition.env:
            io.out(f"    variables: {', '.join(server.definition.env)}", indent=6)
        if server.definition.headers:
            io.out(f"    headers: {', '.join(server.definition.headers)}", indent=6)
        if server.definition.is_local:
            io.out("    sends nothing to other machines (as you said), so it may see private notes", indent=6)
    if server.problem and not way_out:
        io.out(f"    {server.problem}", indent=4)


def server_record(server: DefinedServer) -> dict[str, object]:
    """A server as scripts see it, without values that may be secrets."""
    record: dict[str, object] = {
        "name": server.name,
        "origin": server.origin,
        "state": server.state,
        "problem": server.problem,
    }
    if definition := server.definition:
        record |= {
            "transport": "http" if definition.url else "stdio",
            "command": hide_keys(definition.command),
            "args": hide_keys_of(definition.args),
            "url": hide_keys(definition.url),
            "env": hide_values(definition.env),
            "headers": hide_values(definition.headers),
            "cwd": hide_keys(definition.cwd),
            "local": definition.is_local,
            "timeout": definition.call_seconds,
        }
    return record


NewNameArgument = Annotated[str, argument("NAME", "Its name.")]
ServerArgument = Annotated[str, argument("SERVER", "Its name; `zkchat config servers list` shows them.")]

CommandArgument = Annotated[
    list[str] | None, argument("-- COMMAND", "The command that starts the server, after two hyphens.")
]
UrlOption = Annotated[str | None, option("--url", "URL", "Instead of a command: the server's address.")]
EnvOption = Annotated[
    list[str] | None,
    option("--env", "NAME=VALUE", "An environment variable for the server; NAME alone passes on yours. Repeatable."),
]
HeaderOption = Annotated[
    list[str] | None, option("--header", "'NAME: VALUE'", "An HTTP header for a server with --url. Repeatable.")
]
FolderOption = Annotated[str | None, option("--cwd", "FOLDER", "The folder it starts in. Default: your home.")]
TimeoutOption = Annotated[float | None, option("--timeout", "SECONDS", "How long a call may take. Default: 60.")]
ServerLocalOption = Annotated[
    bool, flag("--local", "The server sends nothing to other machines, so it may see private notes.")
]
ReplaceOption = Annotated[bool, flag("--replace", "Replace the server that you already have under this name.")]


@partial(told_command, vault_option=SettingsVaultOption)
def list_(io: CommandIO) -> Told:
    """List the MCP servers that chats may use, and why others are left out. Nothing is started.

    They are defined in your settings (`zkchat config servers add`), and in `.mcp.json` of the vault, which is used once
    you have approved it (`zkchat config trust`). Values of variables and headers are not shown.
    """
    found = defined_servers(io.workspace(needs_vault=False))

    def show() -> None:
        for server in found.servers:
            print_server(io, server)
            for other in found.overridden:
                if other.name == server.name:
                    line = f"· {other.name}  server of the vault: not used, because your server has this name"
                    io.out(line, indent=4)

    servers, overridden = (list(map(server_record, each)) for each in (found.servers, found.overridden))
    return Told(
        data={"servers": servers, "overridden": overridden, "warnings": found.warnings},
        show=show,
        notes=[*[NO_SERVERS] * (not found.servers), *found.warnings],
    )


def add(
    name: NewNameArgument,
    command: CommandArgument = None,
    url: UrlOption = None,
    env: EnvOption = None,
    header: HeaderOption = None,
    cwd: FolderOption = None,
    timeout: TimeoutOption = None,
    local: ServerLocalOption = False,
    replace: ReplaceOption = False,
    vault: SettingsVaultOption = None,
) -> None:
    """Add an MCP server to your settings. Chats then offer its tools to the model.

    The command is not run by a shell. `${NAME}` and `${NAME:-default}` are replaced with your variables in every chat,
    so no key has to be in the settings.

    zkchat config servers add time -- uvx mcp-server-time

    zkchat config servers add github --env GITHUB_PERSONAL_ACCESS_TOKEN -- github-mcp-server stdio

    zkchat config servers add wiki --url https://wiki.example/mcp --header 'Authorization: Bearer ${WIKI_TOKEN}'
    """
    io = current_io(vault)
    program, *args = command or [""]
    definition = define_server(
        name,
        {
            "command": _whole_path(io, program) if "/" in program else program,
            "args": args,
            "url": url,
            "env": dict(map(_variable, env or ())),
            "headers": dict(map(_header, header or ())),
            "cwd": _whole_path(io, cwd) if cwd else "",
            "timeout": timeout * 1000 if timeout and timeout >= 1000 else timeout,
            "local": local,
        },
    )
    workspace = io.workspace(needs_vault=False)
    if name in workspace.settings.mcpServers and not replace:
        raise UsageError(
            f"Your settings already have a server '{name}'.",
            hint=f"Choose another name, add --replace, or look at it: zkchat config servers check {name}",
        )
    _add(io, workspace, definition)


def _add(io: CommandIO, workspace: Workspace, definition: ServerDefinition) -> None:
    editor = ServerEditor(workspace.paths)
    editor.add([definition])
    io.note(f"Added {definition.name} to {editor.file}: {show_reach(definition)}")
    secret = HIDDEN in map(hide_value, (*definition.env.values(), *definition.headers.values()))
    if secret and editor.file.stat().st_mode & 0o077:
        io.note(f"Others on this machine may read what you entered. Protect it: chmod 600 {editor.file}")
    # Arguments that name files here, but not where the server is started.
    # `Path.is_file` raises for a name that no file can have.
    here = [
        each
        for each in definition.args
        if not each.startswith(("-", "/")) and isfile(io.environment.cwd / each)  # noqa: PTH113
    ]
    if here and not definition.cwd:
        io.note(
            f"The server starts in your home. For the {here[0]} in this folder, give the full path or --cwd FOLDER."
        )
    for server in defined_servers(workspace.read_again()).servers:
        if server.name == definition.name and (sentence := server.problem or server.warning):
            io.note(sentence)
    io.note(f"Try it: zkchat config servers check {definition.name}")


def remove(name: ServerArgument, vault: SettingsVaultOption = None) -> None:
    """Remove an MCP server from your settings."""
    io = current_io(vault)
    workspace = io.workspace(needs_vault=False)
    editor = ServerEditor(workspace.paths)
    if editor.remove(name):
        io.note(f"Removed {name} from {editor.file}.")
        # A server of the vault, approved before, may now count in the place of the one that was removed.
        for server in defined_servers(workspace.read_again()).servers:
            is_approved = server.state in {"enabled", "variable_missing"}
            if server.name == name and server.origin == "vault" and server.definition and is_approved:
                reach = show_reach(server.definition)
                io.note(f"You approved the vault's server of this name, so it is used from now on: {reach}")
                io.note("To revoke every approval for this vault: zkchat config trust --revoke")
        return
    if any(server.name == name for server in defined_servers(workspace).servers):
        raise UsageError(
            f"The server '{name}' belongs to the vault: it is defined in {workspace.paths.vault / '.mcp.json'}.",
            hint="Remove it there, or revoke every approval for this vault: zkchat config trust --revoke",
        )
    raise unknown_server(name)


def unknown_server(name: str) -> UsageError:
    return UsageError(f"There is no server '{name}'.", hint="To list them: zkchat config servers list")


def _whole_path(io: CommandIO, path: str) -> str:
    """A path from the current folder, so that it means the same wherever a chat begins."""
    return path if path.startswith(("~", "$")) else str(io.environment.cwd / path)


def _variable(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    return (name, value) if sign else (name, f"${{{name}}}")


def _header(text: str) -> tuple[str, str]:
    name, sign, value = text.partition(":")
    if not sign:
        raise UsageError("A header needs a name and a value.", hint="For example: --header 'Authorization: Bearer …'")
    return name.strip(), value.strip()


ProgramArgument = Annotated[
    str, argument("PROGRAM", "claude-desktop, claude-code, cursor, vscode, zed, windsurf, gemini, codex or lm-studio.")
]
NameOption = Annotated[str, option("--name", "NAME", "Your vault's name in the program.", show_default=True)]
HostLocalOption = Annotated[bool, flag("--local", "The model runs on this machine, so it may see private notes.")]
DryRunOption = Annotated[bool, flag("--dry-run", "Show the entry and where it belongs; write nothing.")]

_WHY_NOT: Final = {
    "commented": "the file has comments, which would be lost",
    "foreign": "the file is not JSON",
    "absent": "it has no settings yet",
}


def install(
    program: ProgramArgument,
    vault: SettingsVaultOption = None,
    name: NameOption = "zkchat",
    local: HostLocalOption = False,
    write: WriteOption = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    json_output: JsonOption = False,
) -> None:
    """Add your vault as a server to another program.

    You see the entry, and it is written after you confirm. Everything else in the program's file stays, and a backup is
    kept beside it. A file that is not JSON, or has comments, is not changed: copy the entry into it. With --yes the
    exit code is then 3.

    zkchat serve mcp install claude-desktop --vault ~/notes

    zkchat serve mcp install cursor --write --yes
    """
    io = current_io(vault)
    workspace = load_workspace(io.environment, confirmed_vault(io))
    require("mcp", "MCP needs the package mcp", "mcp")  # without it, the program could not start the server
    command = server_command(io.environment, workspace.paths.vault, is_local=local, may_write=write)
    entry = find_host_entry(io.environment, program, name, command)
    is_refused = entry.state in _WHY_NOT and yes and not dry_run
    if not json_output:
        io.out(entry.text, as_it_is=True)
        io.flush_out()
        if not is_refused:
            io.note(_about(entry))
    is_wanted = entry.is_writable and not dry_run and (yes or (not json_output and _agrees(io, entry)))
    backup = write_entry(entry) if is_wanted else None
    if is_wanted and not json_output:
        kept = f" Backup: {backup}." if backup else ""
        io.note(f"Written.{kept} Restart {entry.host.title} to use it.")
    if json_output:
        io.json(_record(entry, is_written=is_wanted, backup=backup))
    if is_refused:
        raise ConfigError(
            f"Nothing was written for {entry.host.title}: {_WHY_NOT[entry.state]} ({entry.file}).", hint=_way_out(entry)
        )


def _about(entry: HostEntry) -> str:
    if entry.is_writable:
        replaced = " There it replaces another entry of that name." if entry.state == "other" else ""
        return f"This entry belongs in the settings of {entry.host.title}: {entry.file}.{replaced}"
    if entry.state == "same":
        return f"This entry is already in the settings of {entry.host.title}: {entry.file}."
    return f"Not written for {entry.host.title} ({entry.file}): {_WHY_NOT[entry.state]}. {_way_out(entry)}"


def _way_out(entry: HostEntry) -> str:
    if entry.state == "absent":
        return f"Start {entry.host.title} once, so that it creates its settings, or add the entry to them yourself."
    return "Add the entry to the file yourself."


def _agrees(io: CommandIO, entry: HostEntry) -> bool:
    if not io.environment.stdin_is_tty:
        io.note("To write it there: --yes")
        return False
    if KeyQuestions(io).confirm(f"Write it into {entry.file.name}?"):
        return True
    io.note("Nothing was written.")
    return False


def _record(entry: HostEntry, *, is_written: bool, backup: Path | None) -> dict[str, object]:
    return {
        "program": entry.host.name,
        "file": str(entry.file),
        "table": entry.host.table,
        "name": entry.name,
        "entry": entry.value,
        "state": entry.state,
        "written": is_written,
        "backup": str(backup) if backup else None,
    }


app.command()(install)
servers = typer.Typer(help="List and change the MCP servers whose tools chats may use.", no_args_is_help=True)
for table, is_earlier in ((servers, False), (app, True)):
    table.command(name="list", hidden=is_earlier)(list_)
    table.command(hidden=is_earlier)(add)
    table.command(hidden=is_earlier)(remove)
    table.command(hidden=is_earlier)(check)
