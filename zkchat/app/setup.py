"""What is written into settings for users: what `zkchat setup` offers, MCP servers, the vault as one of a program."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.app.paths import FoundFolder, Paths, find_paths, known_vaults
from zkchat.app.settings import LOCK_SECONDS, SettingsEditor, check_setting
from zkchat.config import (
    HOSTS,
    ExpansionError,
    HostEntry,
    check_constants,
    find_entry,
    parse_server,
    read_table,
    remove_entry,
    server_table,
    set_entries,
)
from zkchat.core import Environment, ServerDefinition, UsageError, locked, resolve_link
from zkchat.subprocesses import find_program

MODEL: Final = "model"
LOCAL_ONLY: Final = "privacy.local_only"


class SetupPlan(Struct, frozen=True, kw_only=True):
    """What the user chose; nothing of it is written yet."""

    folder: FoundFolder | None
    """The folder of the notes; None where the user named none."""
    settings: Mapping[str, str]
    """By key, as text; an empty one is removed from the user's file."""


class SetupResult(Struct, frozen=True, kw_only=True):
    file: Path
    written: Mapping[str, str]
    is_new_vault: bool


def write_setup(environment: Environment, plan: SetupPlan) -> SetupResult:
    """Write the user's settings, and remember the folder as a vault. Raises `ConfigError` and `StorageError`."""
    paths = find_paths(environment, plan.folder.path if plan.folder else None, needs_vault=False)
    editor = SettingsEditor(paths, "user")
    for key, value in plan.settings.items():
        if value:
            check_setting(key, value)
    written: dict[str, str] = {}
    for key, value in plan.settings.items():
        if value:
            editor.set(key, value)
            written[key] = value
        elif editor.unset(key).was_set:
            written[key] = ""
    is_new = plan.folder is not None and not (plan.folder.is_marked or plan.folder.is_confirmed)
    if plan.folder and is_new:
        known_vaults(environment).add(plan.folder.path)
    return SetupResult(file=paths.user_config, written=written, is_new_vault=is_new)


def local_folders_set(environment: Environment) -> Sequence[str]:
    """The folders that the user's own file keeps on this machine."""
    paths = find_paths(environment, None, needs_vault=False)
    section = read_table(paths.user_config).get("privacy")
    folders = section.get("local_only") if isinstance(section, dict) else None
    return [str(folder) for folder in folders] if isinstance(folders, list) else []


def top_folders(vault: Path) -> list[str]:
    """The first folders of a vault by name, without hidden ones."""
    try:
        names = sorted(entry.name for entry in vault.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return []
    return names[:12]


def missing_folders(vault: Path, typed: str) -> list[str]:
    """Of folders separated by commas, those that the vault does not have; globs and whole paths are not looked at."""
    names = [name.strip().rstrip("/") for name in typed.split(",")]
    plain = [name for name in names if name and not set(name) & set("*?[~") and not Path(name).is_absolute()]

    def is_there(name: str) -> bool:
        folder = vault
        with suppress(OSError, StopIteration):
            for part in map(str.casefold, Path(name).parts):
                folder = next(each for each in folder.iterdir() if each.name.casefold() == part and each.is_dir())
            return True
        return False

    return [name for name in plain if not is_there(name)]


def default_vault_setting(folder: FoundFolder) -> dict[str, str]:
    """The setting that makes a folder the default vault; none for a name that is no text, which no file can hold."""
    try:
        str(folder.path).encode()
    except UnicodeEncodeError:
        return {}
    return {"vault.default": str(folder.path)}


WITHOUT_KEY: Final = {"openai.api_key_env": "ZKCHAT_NO_KEY"}
"""What an address is tried with that somebody has only typed: the key of another service does not go there."""


def with_settings(environment: Environment, settings: Mapping[str, str]) -> Environment:
    variables = {f"ZKCHAT_{key.upper().replace('.', '__')}": value for key, value in settings.items()}
    return replace(environment, variables={**environment.variables, **variables})


_TABLE: Final = "mcpServers"


def define_server(name: str, table: Mapping[str, object]) -> ServerDefinition:
    """A server as the user describes it, by the keys of the settings. Raises `UsageError` for what can never work."""
    hint = "See: zkchat config servers add --help"
    try:
        definition = parse_server(name, {key: value for key, value in table.items() if value}, "user")
        check_constants(definition)
    except ValueError as error:
        raise UsageError(f"The server '{name}' {error}.", hint=hint) from None
    except ExpansionError as error:
        raise UsageError(error.message, hint=hint) from None
    if definition.headers and not definition.url:
        raise UsageError(f"Headers need a server with a url; '{name}' is a program.", hint=hint)
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
        with locked(self.paths.settings_lock, seconds=LOCK_SECONDS):
            set_entries(self.file, _TABLE, entries)

    def remove(self, name: str) -> bool:
        """Remove a definition, whether it can be used or not; whether it was there."""
        with locked(self.paths.settings_lock, seconds=LOCK_SECONDS):
            return remove_entry(self.file, _TABLE, name)


def server_command(environment: Environment, vault: Path, *, is_local: bool, may_write: bool) -> list[str]:
    """What starts the server of a vault from anywhere."""
    options = [option for option, wanted in (("--local", is_local), ("--write", may_write)) if wanted]
    beside = Path(sys.executable).with_name("zkchat.exe" if sys.platform == "win32" else "zkchat")
    found = str(beside) if beside.exists() else find_program("zkchat", environment.variables)
    program = [found] if found else [sys.executable, "-m", "zkchat"]
    return [*program, "mcp", "--vault", str(vault), *options]


def find_host_entry(environment: Environment, program: str, name: str, command: Sequence[str]) -> HostEntry:
    """The entry for a program of which we know where it keeps its servers, and what is there now.

    Raises `UsageError` for another one, and `ConfigError` where its file cannot be used.
    """
    host = next((host for host in HOSTS if host.name == program), None)
    if host is None:
        known = ", ".join(host.name for host in HOSTS)
        raise UsageError(f"zkchat does not know the settings of {program}.", hint=f"Known: {known}.")
    return find_entry(host, name, command, environment.home, environment.variables)
