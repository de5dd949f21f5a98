"""MCP servers as commands show them: lines for people, records for scripts. No value that may be secret is shown."""

from collections.abc import Sequence

from zkchat.cli.common import CommandIO
from zkchat.compose.mcp_servers import DefinedServer
from zkchat.model.server_display import hide_keys, hide_keys_of, hide_values, show_reach
from zkchat.model.tool_server import ServerDefinition

_STATE_WORDS = {
    "enabled": "enabled",
    "disabled": "switched off",
    "not_approved": "not approved",
    "variable_missing": "a variable is missing",
    "invalid": "cannot be used",
}
_ORIGIN_WORDS = {"user": "your server", "vault": "server of the vault"}
_MARKS = {"enabled": "✓", "disabled": "·", "not_approved": "!", "variable_missing": "✗", "invalid": "✗"}


def print_server(io: CommandIO, server: DefinedServer) -> None:
    """A line about its state, and how it is reached."""
    way_out = "; to see and approve it: zkchat trust" if server.state == "not_approved" else ""
    state = f"{_ORIGIN_WORDS[server.origin]}: {_STATE_WORDS[server.state]}{way_out}"
    print_wrapped(io, f"{_MARKS[server.state]} {server.name}  {state}", indent=4)
    if server.definition and (reach := show_reach(server.definition)):
        print_wrapped(io, f"    {reach}", indent=6)
        for line in server_details(server.definition):
            print_wrapped(io, f"    {line}", indent=6)
    if server.problem and not way_out:
        print_wrapped(io, f"    {server.problem}", indent=4)


def print_wrapped(io: CommandIO, line: str, *, indent: int) -> None:
    """Print a line of the result, wrapped between words on a terminal."""
    io.out(io.wrap(line, indent=indent) if io.environment.stdout_is_tty else line)


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


def server_details(definition: ServerDefinition) -> Sequence[str]:
    """Lines about what is beside its command or address."""
    lines = []
    if definition.env:
        lines.append(f"variables: {', '.join(definition.env)}")
    if definition.headers:
        lines.append(f"headers: {', '.join(definition.headers)}")
    if definition.is_local:
        lines.append("declared local: it may get local notes")
    return lines
