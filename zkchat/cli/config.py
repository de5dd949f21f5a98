"""`zkchat config`: what is set, where it comes from, and how to change it."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Final

import typer

from zkchat.app import (
    SettingsEditor,
    Workspace,
    as_key,
    check_model_name,
    find_paths,
    setting_help,
    setting_value,
    shown_key,
)
from zkchat.cli.common import CommandIO, SettingsVaultOption, Told, argument, command, current_io
from zkchat.cli.vault_consent import scope_paths
from zkchat.core import ConfigError, Scope, hide_values, redacted_table, without_password

_HOW_TO_EMBED: Final = (
    "To prepare your notes for this model, run `zkchat config index`, or just chat. Until then the search "
    "works as before. `zkchat config doctor` checks whether the model's server answers."
)
_UNAPPROVED: Final = "This takes effect once you approve all settings of the vault: zkchat config trust"

app = typer.Typer(help="Show and change settings, agents, servers; find what is wrong.", no_args_is_help=True)

KeyArgument = Annotated[str, argument("KEY", "For example context.max_tokens.")]
ScopeOption = Annotated[Scope, typer.Option("--scope", help="Your own settings file, or the vault's.")]


@command(app, vault=SettingsVaultOption)
def show(io: CommandIO) -> Told:
    """Show every setting, its value, and where it was set."""
    workspace = io.workspace(needs_vault=False)
    origins, warnings = workspace.loaded.origins, workspace.loaded.every_warning
    rows = [(origins[key], line) for key in origins for line in _lines(workspace, key)]
    width = max(len(line) for _, line in rows if len(line) <= 80)  # a longer line stands out
    lines = [f"{line:<{width}}  # {' '.join([origin.layer, origin.where]).strip()}" for origin, line in rows]
    data = {"settings": {shown_key(key): _record(workspace, key) for key in origins}, "warnings": warnings}
    return Told(data=data, lines=lines, notes=warnings)


@command(app, vault=SettingsVaultOption)
def get(io: CommandIO, key: KeyArgument) -> Told:
    """Show one setting.

    Standard error says what it is for, its default, and where the value is from.

    zkchat config get context.max_tokens
    """
    key = as_key(key)
    workspace = io.workspace(needs_vault=False)
    value = _shown_value(workspace, key)
    line = value if isinstance(value, str) else _format(value)
    data = {"key": key, **_record(workspace, key)}
    about = setting_help(workspace.loaded, key)
    return Told(data=data, lines=[line], notes=(*about, *workspace.loaded.every_warning))


@app.command(name="set")
def set_(
    key: KeyArgument,
    value: Annotated[str, argument("VALUE", "The new value; lists are separated by commas.")],
    scope: ScopeOption = "user",
    vault: SettingsVaultOption = None,
) -> None:
    """Change a setting. Comments in the file stay.

    `zkchat help configuration` describes all settings, `zkchat config show` shows the current values.

    zkchat config set model ollama:qwen3:8b

    zkchat config set vault.exclude "Archive/**, Templates/**" --scope vault
    """
    io, key = current_io(vault), as_key(key)
    change = SettingsEditor(scope_paths(io, scope), scope).set(key, value)
    if not change.is_approved:
        io.note(_UNAPPROVED)
    io.note(f"Set {key} in {change.file}.")
    if key == "embeddings.model" and value.strip():
        io.note(_HOW_TO_EMBED)
    if key == "model" and value.strip():
        try:
            check_model_name(io.workspace(needs_vault=False), value)
        except ConfigError as error:  # a name that can mean no model, such as one without its provider
            io.note(f"warning: {error.message} {error.hint}")


@app.command()
def unset(key: KeyArgument, scope: ScopeOption = "user", vault: SettingsVaultOption = None) -> None:
    """Go back to the default: remove a setting from the file."""
    io, key = current_io(vault), as_key(key)
    change = SettingsEditor(scope_paths(io, scope), scope).unset(key)
    if not change.is_approved:
        io.note(_UNAPPROVED)
    io.note(f"Removed {key} from {change.file}." if change.was_set else f"{key} is not set in {change.file}.")


@command(app, vault=SettingsVaultOption)
def path(io: CommandIO) -> Told:
    """Show where the settings files are, or would be."""
    paths = find_paths(io.environment, io.vault, needs_vault=False)
    files = {"user": paths.user_config, "vault": paths.vault_config}
    return Told(
        data={scope: {"path": str(file), "exists": file.exists()} for scope, file in files.items()},
        lines=[f"{scope:<5}  {file}{'' if file.exists() else '  (not there yet)'}" for scope, file in files.items()],
    )


def _record(workspace: Workspace, key: str) -> dict[str, object]:
    """A setting as scripts see it."""
    origin = workspace.loaded.origins[key]
    return {"value": _shown_value(workspace, key), "layer": origin.layer, "where": origin.where}


def _shown_value(workspace: Workspace, key: str) -> object:
    """The value without keys and passwords."""
    value = setting_value(workspace.loaded, key)
    if isinstance(value, str):
        return without_password(value)
    if key.startswith("models.") and isinstance(value, dict) and key.endswith(".headers"):
        return hide_values(value)
    return redacted_table(value) if key == "mcpServers" else value


def _lines(workspace: Workspace, key: str) -> Iterator[str]:
    """The setting on a line; of MCP servers, one line each."""
    value = _shown_value(workspace, key)
    if key != "mcpServers" or not isinstance(value, dict) or not value:
        yield f"{shown_key(key)} = {_format(value)}"
        return
    for name, server in value.items():
        shown = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
        yield f"{key}.{shown} = {_format(server)}"


def _format(value: object) -> str:
    """The value on one line that reads as TOML too."""
    return "(unset)" if value is None else without_password(json.dumps(value, ensure_ascii=False, default=str))
