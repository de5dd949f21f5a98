"""The user's own MCP servers: added to the settings, removed from them, and taken over from other programs."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.compose.paths import Paths
from zkchat.compose.workspace import Workspace
from zkchat.config.edit import remove_entry, set_entries
from zkchat.config.expansion import ExpansionError, check_constants
from zkchat.config.host_files import HOSTS, FoundFile, host_places, read_servers_of
from zkchat.config.servers import parse_server, parse_servers, server_table
from zkchat.environment import Environment
from zkchat.errors import ConfigError, UsageError
from zkchat.files import locked, resolve_link
from zkchat.model.tool_server import ServerDefinition

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


def own_servers(workspace: Workspace) -> dict[str, ServerDefinition]:
    """The servers of the user's settings that can be understood, by name."""
    return {server.name: server for server in parse_servers(workspace.settings.mcpServers, "user").definitions}


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


class ImportSource(Struct, frozen=True, kw_only=True):
    """A program, or a file that was named, and the servers that it defines."""

    title: str
    file: Path
    servers: tuple[ServerDefinition, ...]
    notes: tuple[str, ...]
    """What cannot be taken over, and what is called otherwise here."""


def host_names() -> list[str]:
    return [host.name for host in HOSTS]


def find_imports(environment: Environment, source: str | None, project: Path) -> tuple[list[ImportSource], list[str]]:
    """The servers of one program or file, or of every program that has any; and why a file cannot be used.

    Raises `UsageError` where what was named is not there, and `ConfigError` where it cannot be used.
    """
    if source is not None and source not in host_names():
        file = environment.home / source[2:] if source.startswith("~/") else environment.cwd / source
        try:
            return [_import_source(file.name, read_servers_of(file, project))], []
        except FileNotFoundError:
            programs = ", ".join(host_names())
            raise UsageError(f"There is no file {file}.", hint=f"Name a file, or a program: {programs}.") from None
    found: list[ImportSource] = []
    problems: list[str] = []
    tried: list[Path] = []
    for host in HOSTS:
        for file in host_places(host, environment.home, environment.variables):
            if source not in (None, host.name):
                continue
            tried.append(file)
            try:
                found.append(_import_source(host.title, read_servers_of(file, project)))
            except FileNotFoundError:
                continue
            except ConfigError as error:
                problems.append(error.message)
    if source is not None and not found:
        raise _nothing_there(source, tried, problems)
    return found, problems


def _nothing_there(source: str, tried: Sequence[Path], problems: Sequence[str]) -> UsageError:
    if problems:
        return UsageError("\n".join(problems))
    return UsageError(
        f"There are no servers of {source} where they usually are.",
        hint="\n".join(("Name the file: zkchat mcp import FILE. Looked at:", *map(str, tried))),
    )


def _import_source(title: str, found: FoundFile) -> ImportSource:
    notes = [problem.sentence for problem in found.servers.problems]
    notes += [f"“{theirs}” is called {ours} here." for theirs, ours in found.renamed.items()]
    kept = [definition for definition in found.servers.definitions if not _is_zkchat(definition)]
    if len(kept) < len(found.servers.definitions):
        notes.append("The server of zkchat itself is left out: the chat knows your notes without it.")
    return ImportSource(title=title, file=found.file, servers=tuple(kept), notes=tuple(notes))


def _is_zkchat(definition: ServerDefinition) -> bool:
    words = [Path(definition.command).name.removesuffix(".exe"), *definition.args]
    return ("zkchat", "mcp") in pairwise(words)
