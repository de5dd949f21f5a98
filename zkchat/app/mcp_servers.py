"""The user's MCP servers: which may be used, their connections, and their tools for a conversation."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from zkchat import models
from zkchat.app.trust import VaultTrust
from zkchat.app.workspace import Workspace
from zkchat.config import (
    ExpansionError,
    MissingVariable,
    ParsedServers,
    expand,
    parse_servers,
    read_vault_servers,
    server_item,
)
from zkchat.core import HOW_TO_APPROVE, ConfigError, ServerDefinition, ServerOrigin, ToolServers, install_command
from zkchat.models import McpServers

DefinedState = Literal["enabled", "disabled", "not_approved", "variable_missing", "invalid"]


class DefinedServer(Struct, frozen=True, kw_only=True):
    """A server as it is known without connecting to it."""

    name: str
    origin: ServerOrigin
    state: DefinedState
    definition: ServerDefinition | None = None
    """As it is written, without the values of variables; None where it cannot be understood."""
    problem: str = ""
    """Why it is not used, as a sentence."""
    warning: str = ""
    """What of its definition does not count, as a sentence."""

    @property
    def is_faulty(self) -> bool:
        """Whether somebody has to correct something before it can be used."""
        return self.state in {"variable_missing", "invalid"}


class DefinedServers(Struct, frozen=True, kw_only=True):
    """All servers by their names. The user's definition of a name counts before the vault's."""

    servers: tuple[DefinedServer, ...] = ()
    overridden: tuple[DefinedServer, ...] = ()
    """Those of the vault that are not used because the user's have their names."""
    warnings: tuple[str, ...] = ()

    @property
    def usable(self) -> list[ServerDefinition]:
        return [server.definition for server in self.servers if server.state == "enabled" and server.definition]


def defined_servers(workspace: Workspace) -> DefinedServers:
    """What the user's settings and the vault define. Nothing is started or reached, and no SDK is loaded."""
    of_user = parse_servers(workspace.settings.mcpServers, "user")
    warnings: tuple[str, ...] = ()
    try:
        of_vault = read_vault_servers(workspace.paths.vault)
    except ConfigError as error:
        of_vault, warnings = ParsedServers(), (f"{error.message} Its servers are ignored.",)
    taken = {*workspace.settings.mcpServers}
    servers = [*_described(workspace, of_user, "user")]
    described = [*_described(workspace, of_vault, "vault")]
    servers += [server for server in described if server.name not in taken]
    return DefinedServers(
        overridden=tuple(server for server in described if server.name in taken),
        servers=tuple(sorted(servers, key=lambda server: (server.name.casefold(), server.name))),
        warnings=(*of_user.warnings, *warnings, *(server.warning for server in servers if server.warning)),
    )


def _described(workspace: Workspace, parsed: ParsedServers, origin: ServerOrigin) -> Iterator[DefinedServer]:
    for bad in parsed.problems:
        yield DefinedServer(name=bad.name, origin=origin, state="invalid", problem=bad.sentence)
    for definition in parsed.definitions:
        state, problem, warning = _state(workspace, definition)
        yield DefinedServer(
            name=definition.name,
            origin=origin,
            state=state,
            # Of an address that is not on this machine nobody can say that it is.
            definition=replace(definition, is_local=False) if warning else definition,
            problem=problem,
            warning=warning,
        )


def _state(workspace: Workspace, definition: ServerDefinition) -> tuple[DefinedState, str, str]:
    if not definition.is_enabled:
        return "disabled", "", ""
    if definition.origin == "vault" and not VaultTrust(workspace.paths).is_approved(server_item(definition)):
        return (
            "not_approved",
            f"The server '{definition.name}' comes with the vault and is not approved. {HOW_TO_APPROVE}",
            "",
        )
    try:
        url = expanded_definition(workspace, definition).url
    except MissingVariable as error:
        return "variable_missing", error.message, ""
    except ExpansionError as error:
        return "invalid", error.message, ""
    if definition.is_local and url and not models.is_loopback(url):
        return "enabled", "", f"The server '{definition.name}' is not on this machine, so it gets no private notes."
    return "enabled", "", ""


def expanded_definition(workspace: Workspace, definition: ServerDefinition) -> ServerDefinition:
    """The definition with the values of variables, to be handed to nobody but the client. Raises `ExpansionError`.

    A server of the user is started in the home folder: what lies in a vault must not become a part of it.
    """
    environment = workspace.environment
    folder = workspace.paths.vault if definition.origin == "vault" else environment.home
    return expand(definition, environment.variables, folder, environment.home)


@contextmanager
def connect_servers(
    workspace: Workspace, definitions: Sequence[ServerDefinition], *, at_once: bool = True
) -> Iterator[McpServers]:
    """Begin to connect, or leave that to `start`; at the end all of them are closed."""
    servers = models.McpServers(
        definitions,
        workspace.environment.cache_dir / "mcp-logs",
        variables=workspace.environment.variables,
        expand=lambda definition: expanded_definition(workspace, definition),
        connect_seconds=workspace.settings.mcp.connect_seconds,
    )
    try:
        if at_once:
            servers.start()
        yield servers
    finally:
        servers.close()


def is_client_installed() -> bool:
    return find_spec("mcp") is not None


class ServerConnections(ExitStack):
    """Connects in the background; what is wrong with definitions is told once."""

    def __init__(self, *, at_once: bool = True) -> None:
        """`at_once`: connect as soon as they are opened, and let answers wait for it; else `start` begins it."""
        super().__init__()
        self.waits = at_once
        self._is_open = False
        self._servers: McpServers | None = None

    def open(self, workspace: Workspace) -> tuple[ToolServers | None, tuple[str, ...]]:
        """The servers that may be used, None where there is none, and sentences about those that may not.

        Where there is none, nothing is loaded; what happens later is told by the status of each.
        """
        if self._is_open:
            sentence = self.withdraw_changed(workspace)
            return self._servers, (sentence,) if sentence else ()
        self._is_open = True
        found = defined_servers(workspace)
        warnings = [*found.warnings, *(server.problem for server in found.servers if server.is_faulty)]
        if found.usable and not is_client_installed():
            to_install = f"To use them: {install_command('mcp')}"
            warnings.append(f"MCP servers are not used, because the package mcp is not installed. {to_install}")
        elif found.usable:
            self._servers = self.enter_context(connect_servers(workspace, found.usable, at_once=self.waits))
        return self._servers, tuple(warnings)

    def withdraw_changed(self, workspace: Workspace) -> str:
        """Use no server any more that the settings define otherwise now, or that is not approved; says so."""
        if self._servers is None:
            return ""
        usable = defined_servers(workspace).usable
        used = [status.definition for status in self._servers.statuses() if status.state != "disabled"]
        names = [definition.name for definition in used if definition not in usable]
        self._servers.withdraw(names)
        named = ", ".join(names)
        return f"MCP servers no longer used, because their settings changed: {named}." if names else ""

    def start(self) -> None:
        """Begin to connect, where that was put off."""
        if self._servers:
            self._servers.start()
