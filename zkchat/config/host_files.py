"""Where other programs keep their MCP servers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct


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


def host_places(host: Host, home: Path, variables: Mapping[str, str]) -> Iterator[Path]:
    """The usual places on each system, whether a file is there or not."""
    yield from (home / path for path in host.in_home)
    config = Path(variables.get("XDG_CONFIG_HOME", ""))
    folders = [config if config.is_absolute() else home / ".config", home / "Library" / "Application Support"]
    if Path(variables.get("APPDATA", "")).is_absolute():
        folders.append(Path(variables["APPDATA"]))
    yield from (folder / path for folder in folders for path in host.in_settings)
