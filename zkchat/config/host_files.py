"""Where other programs keep their MCP servers, and their definitions as ours."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.config.files import read_table
from zkchat.config.server_files import read_host_file
from zkchat.config.servers import ParsedServers, is_server_name, parse_servers
from zkchat.errors import ConfigError

_TABLES: Final = (("mcpServers",), ("servers",), ("mcp", "servers"), ("mcp_servers",), ("context_servers",))
"""Where in a file its servers may be."""
_FOREIGN_REFERENCE: Final = re.compile(r"\$\{(?P<kind>env|input):(?P<name>[^}:]{1,100})\}")
_KEPT: Final = ("command", "args", "env", "cwd", "url", "type", "headers", "disabled")
"""What means the same everywhere; a time-out is in seconds here and in milliseconds there."""


class Host(Struct, frozen=True):
    """A program that uses MCP servers, and the places of its file: below the home folder or the one of its settings."""

    name: str
    title: str
    in_home: tuple[str, ...] = ()
    in_settings: tuple[str, ...] = ()
    """Below `~/.config`, `~/Library/Application Support` or `%APPDATA%`."""
    table: str = "mcpServers"
    """Where in its file its servers are."""
    says_type: bool = False
    """Whether an entry says that it is started and spoken to by stdio."""


HOSTS: Final[Sequence[Host]] = (
    Host("claude-desktop", "Claude Desktop", in_settings=("Claude/claude_desktop_config.json",)),
    Host("claude-code", "Claude Code", in_home=(".claude.json",), says_type=True),
    Host("cursor", "Cursor", in_home=(".cursor/mcp.json",)),
    Host(
        "vscode",
        "VS Code",
        in_settings=("Code/User/mcp.json", "Code - Insiders/User/mcp.json"),
        table="servers",
        says_type=True,
    ),
    Host("zed", "Zed", in_settings=("zed/settings.json", "Zed/settings.json"), table="context_servers"),
    Host("windsurf", "Windsurf", in_home=(".codeium/windsurf/mcp_config.json",)),
    Host("gemini", "Gemini CLI", in_home=(".gemini/settings.json",)),
    Host("codex", "Codex", in_home=(".codex/config.toml",), table="mcp_servers"),
    Host("lm-studio", "LM Studio", in_home=(".lmstudio/mcp.json",)),
)


class FoundFile(Struct, frozen=True):
    """A file of another program, and the servers that it defines."""

    file: Path
    servers: ParsedServers
    renamed: Mapping[str, str]
    """The names that cannot be ours, with what they became."""


def host_places(host: Host, home: Path, variables: Mapping[str, str]) -> Iterator[Path]:
    """The usual places on each system, whether a file is there or not."""
    yield from (home / path for path in host.in_home)
    config = Path(variables.get("XDG_CONFIG_HOME", ""))
    folders = [config if config.is_absolute() else home / ".config", home / "Library" / "Application Support"]
    if Path(variables.get("APPDATA", "")).is_absolute():
        folders.append(Path(variables["APPDATA"]))
    yield from (folder / path for folder in folders for path in host.in_settings)


def read_servers_of(file: Path, project: Path) -> FoundFile:
    """The servers that a file defines for everything, and those for the project.

    Raises `ConfigError`, and `FileNotFoundError` where there is no such file.
    """
    if file.suffix == ".toml":
        if not file.exists():
            raise FileNotFoundError(str(file))
        content = read_table(file)
    else:
        content = read_host_file(file)
    tables = [*_tables(content), *_tables(_within(content, ("projects", str(project))))]
    if not tables:
        raise ConfigError(f"{file} defines no MCP servers.", hint="They would be in a table 'mcpServers'.")
    merged: dict[str, object] = {}
    renamed: dict[str, str] = {}
    for name, entry in (pair for table in tables for pair in table.items()):
        ours = _usable_name(name)
        if ours != name:
            renamed[name] = ours
        merged[ours] = _as_ours(entry)
    return FoundFile(file, parse_servers(merged, "user"), renamed)


def _tables(content: object) -> Iterator[Mapping[str, object]]:
    for path in _TABLES:
        if isinstance(found := _within(content, path), Mapping):
            yield found


def _within(content: object, path: Sequence[str]) -> object:
    for name in path:
        content = content.get(name) if isinstance(content, Mapping) else None
    return content


def _usable_name(name: str) -> str:
    return name if is_server_name(name) else re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:64] or "server"


def _as_ours(entry: object) -> object:
    if not isinstance(entry, Mapping):
        return entry
    table = {key: _with_our_references(entry[key]) for key in _KEPT if key in entry}
    for name in ("httpUrl", "serverUrl"):
        if isinstance(entry.get(name), str):
            table.setdefault("url", _with_our_references(entry[name]))
    if isinstance(entry.get("http_headers"), Mapping):
        table.setdefault("headers", _with_our_references(entry["http_headers"]))
    if entry.get("enabled") is False:
        table["disabled"] = True
    if isinstance(table.get("type"), str) and table["type"] in {"local", "remote"}:
        del table["type"]
    return table


def _with_our_references(value: object) -> object:
    """`${env:NAME}` and `${input:name}` of editors as `${NAME}`, in a text, a list or a table of texts."""
    match value:
        case list():
            return [_our_text(each) for each in value]
        case Mapping():
            return {name: _our_text(each) for name, each in value.items()}
    return _our_text(value)


def _our_text(value: object) -> object:
    return _FOREIGN_REFERENCE.sub(_our_reference, value) if isinstance(value, str) else value


def _our_reference(found: re.Match[str]) -> str:
    name = found["name"] if found["kind"] == "env" else found["name"].upper()
    return f"${{{re.sub(r'[^A-Za-z0-9_]', '_', name)}}}"
