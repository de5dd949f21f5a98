"""MCP servers in settings: the user's own, added and removed, and the vault as one of another program's."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.app.paths import Paths
from zkchat.config import (
    HOSTS,
    ExpansionError,
    HostEntry,
    check_constants,
    find_entry,
    parse_server,
    remove_entry,
    server_table,
    set_entries,
)
from zkchat.core import Environment, ServerDefinition, UsageError, locked, resolve_link
from zkchat.subprocesses import find_program

_TABLE: Final = "mcpServers"
_LOCK_SECONDS: Final = 30.0


def define_server(name: str, table: Mapping[str, object]) -> ServerDefinition:
    """A server as the user describes it, by the keys of the settings. Raises `UsageError` for what can never work."""
    hint = "See: zkchat mcp add --help"
    try:
        definition = parse_server(name, {key: value for key, value in table.items() if value}, "user")
        check_constants(definition)
    except ValueError as error:
        raise UsageError(f"The server '{name}' {error}.", hint=hint) from None
    except ExpansionError as error:
        raise UsageError(error.message, hint=hint) from None
    if definition.headers and not definition.url:
        raise UsageError(f"The server '{name}' has a command, and headers are sent to a url only.", hint=hint)
    return definition


class ServerEditor(Struct, frozen=True):
    """Changes the table `mcpServers` of the user's file. While it does, nobody else changes a settings file."""

    paths: Paths

    @property
    def file(self) -> Path:
        return resolve_link(self.paths.user_config)

    def add(self, definitions: Iterable[ServerDefinition]) -> None:
        """Write definitions; those of the same names are replaced."""
        entries = {definition.name: server_table(definition) for definition in definitions}
        with locked(self.paths.settings_lock, seconds=_LOCK_SECONDS):
            set_entries(self.file, _TABLE, entries)

    def remove(self, name: str) -> bool:
        """Remove a definition, whether it can be used or not; whether it was there."""
        with locked(self.paths.settings_lock, seconds=_LOCK_SECONDS):
            return remove_entry(self.file, _TABLE, name)

    @property
    def is_read_by_others(self) -> bool:
        """Whether other users of this machine may read the file."""
        try:
            return bool(self.file.stat().st_mode & 0o077)
        except OSError:
            return False


def server_command(environment: Environment, vault: Path, *, is_local: bool, may_write: bool) -> list[str]:
    """What starts the server of a vault from anywhere."""
    options = [option for option, wanted in (("--local", is_local), ("--write", may_write)) if wanted]
    return [*_program(environment), "mcp", "--vault", str(vault), *options]


def _program(environment: Environment) -> list[str]:
    beside = Path(sys.executable).with_name("zkchat.exe" if sys.platform == "win32" else "zkchat")
    if beside.exists():
        return [str(beside)]
    found = find_program("zkchat", environment.variables)
    return [found] if found else [sys.executable, "-m", "zkchat"]


def find_host_entry(environment: Environment, program: str, name: str, command: Sequence[str]) -> HostEntry:
    """The entry for a program of which we know where it keeps its servers, and what is there now.

    Raises `UsageError` for another one, and `ConfigError` where its file cannot be used.
    """
    host = next((host for host in HOSTS if host.name == program), None)
    if host is None:
        known = ", ".join(host.name for host in HOSTS)
        raise UsageError(f"Where {program} keeps its servers is not known.", hint=f"Known are {known}.")
    return find_entry(host, name, command, environment.home, environment.variables)
