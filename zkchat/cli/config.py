"""`zkchat config`: what is set, where it comes from, and how to change it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from zkchat.app import SettingsEditor, Workspace, check_model_name, find_paths, load_workspace, setting_value
from zkchat.cli.common import CommandIO, JsonOption, SettingsVaultOption, current_io
from zkchat.cli.trust import trust
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.core import ConfigError, Scope, redacted_table, without_password

_HOW_TO_EMBED: Final = (
    "`zkchat index` makes its vectors, and so does a chat in the background; searches use static vectors until all are "
    "there. `zkchat doctor` asks whether its server answers."
)

app = typer.Typer(help="Show and change settings.", no_args_is_help=True)

_MAX_COLUMN: Final = 80
"""Where the origins of settings begin at most; a longer line stands out."""
KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="For example context.max_tokens.")]
ScopeOption = Annotated[Scope, typer.Option("--scope", help="Your own file, or the vault's.")]


@app.command()
def show(vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """Show every setting with its value and its origin."""
    io = current_io()
    workspace = _workspace(io, vault)
    origins, warnings = workspace.loaded.origins, workspace.loaded.every_warning
    if json_output:
        io.json({"settings": {key: _record(workspace, key) for key in origins}, "warnings": warnings})
        return
    lines = [(key, line) for key in origins for line in _lines(workspace, key)]
    width = max(len(line) for _, line in lines if len(line) <= _MAX_COLUMN)
    for key, line in lines:
        origin = origins[key]
        io.out(f"{line:<{width}}  # {' '.join([origin.layer, origin.where]).strip()}")
    io.flush_out()
    _print_warnings(io, workspace)


@app.command()
def get(key: KeyArgument, vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """Show one setting.

    zkchat config get context.max_tokens
    """
    io = current_io()
    workspace = _workspace(io, vault)
    value = _shown_value(workspace, key)
    if json_output:
        io.json({"key": key, **_record(workspace, key)})
        return
    io.out(without_password(value) if isinstance(value, str) else _format(workspace, key))
    _print_warnings(io, workspace)


@app.command(name="set")
def set_(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value; lists are separated by commas.")],
    scope: ScopeOption = "user",
    vault: SettingsVaultOption = None,
) -> None:
    """Change a setting. Comments in the file stay.

    `zkchat help configuration` describes all settings, `zkchat config show` shows those in force.

    zkchat config set model ollama:qwen3:8b

    zkchat config set vault.exclude "Archive/**, Templates/**" --scope vault
    """
    io = current_io()
    change = _editor(io, vault, scope).set(key, value)
    _note_unapproved(io, is_approved=change.is_approved)
    io.note(f"Set {key} in {change.file}.")
    if key == "embeddings.model" and value.strip():
        io.note_wrapped(_HOW_TO_EMBED)
    if key == "model" and value.strip():
        _check_model_name(io, vault, value)


@app.command()
def unset(key: KeyArgument, scope: ScopeOption = "user", vault: SettingsVaultOption = None) -> None:
    """Go back to the default: remove a setting from the file."""
    io = current_io()
    change = _editor(io, vault, scope).unset(key)
    _note_unapproved(io, is_approved=change.is_approved)
    io.note(f"Removed {key} from {change.file}." if change.was_set else f"{key} is not set in {change.file}.")


@app.command()
def path(vault: SettingsVaultOption = None, json_output: JsonOption = False) -> None:
    """Show where the settings files are, or would be."""
    io = current_io()
    paths = find_paths(io.environment, vault, needs_vault=False)
    files = {"user": paths.user_config, "vault": paths.vault_config}
    if json_output:
        io.json({scope: {"path": str(file), "exists": file.exists()} for scope, file in files.items()})
        return
    for scope, file in files.items():
        io.out(f"{scope:<5}  {file}{'' if file.exists() else '  (not there yet)'}")


app.command(name="trust", hidden=True)(trust)  # the name of `zkchat trust` in earlier versions


def _check_model_name(io: CommandIO, vault: Path | None, name: str) -> None:
    """Warn of a name that can mean no model, such as one without its provider."""
    try:
        check_model_name(_workspace(io, vault), name)
    except ConfigError as error:
        io.note_wrapped(f"warning: {error.message} {error.hint}")


def _workspace(io: CommandIO, vault: Path | None) -> Workspace:
    return load_workspace(io.environment, vault, needs_vault=False)


def _editor(io: CommandIO, vault: Path | None, scope: Scope) -> SettingsEditor:
    needs_vault = scope == "vault"
    folder = confirmed_vault(io, vault) if needs_vault else vault
    return SettingsEditor(find_paths(io.environment, folder, needs_vault=needs_vault), scope)


def _note_unapproved(io: CommandIO, *, is_approved: bool) -> None:
    if not is_approved:
        io.note("The file asks for more that you have not approved, so this counts after: zkchat trust")


def _record(workspace: Workspace, key: str) -> dict[str, object]:
    """A setting as scripts see it."""
    origin = workspace.loaded.origins[key]
    value = _shown_value(workspace, key)
    shown = without_password(value) if isinstance(value, str) else value
    return {"value": shown, "layer": origin.layer, "where": origin.where}


def _shown_value(workspace: Workspace, key: str) -> object:
    """The value without keys and passwords."""
    value = setting_value(workspace.loaded, key)
    return redacted_table(value) if key == "mcpServers" else value


def _lines(workspace: Workspace, key: str) -> Iterator[str]:
    """The setting on a line; of MCP servers, one line each."""
    value = _shown_value(workspace, key)
    if key != "mcpServers" or not isinstance(value, dict) or not value:
        yield f"{key} = {_format(workspace, key)}"
        return
    for name, server in value.items():
        shown = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
        yield f"{key}.{shown} = {_as_json(server)}"


def _format(workspace: Workspace, key: str) -> str:
    """The value on one line that reads as TOML too."""
    value = _shown_value(workspace, key)
    return "(unset)" if value is None else _as_json(value)


def _as_json(value: object) -> str:
    return without_password(json.dumps(value, ensure_ascii=False, default=str))


def _print_warnings(io: CommandIO, workspace: Workspace) -> None:
    for warning in workspace.loaded.every_warning:
        io.note(warning)
