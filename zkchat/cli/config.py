"""`zkchat config`: what is set, where it comes from, and how to change it."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import JsonOption, Process, VaultOption, process
from zkchat.cli.trust import trust
from zkchat.model.secrets import without_password

if TYPE_CHECKING:
    from zkchat.compose.paths import Paths
    from zkchat.config.load import Loaded

app = typer.Typer(help="Show and change settings.", no_args_is_help=True)

_LOCK_SECONDS = 30.0


class Scope(StrEnum):
    USER = "user"
    VAULT = "vault"


KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="For example context.max_tokens.")]
ScopeOption = Annotated[Scope, typer.Option("--scope", help="Your own file, or the vault's.")]


@app.command()
def show(vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show every setting with its value and its origin."""
    here = process()
    loaded = _loaded(here, _paths(here, vault))
    if json_output:
        here.json(
            {"settings": {key: _described(loaded, key) for key in loaded.origins}, "warnings": loaded.every_warning}
        )
        return
    lines = {key: f"{key} = {_shown(loaded, key)}" for key in loaded.origins}
    width = max(len(line) for line in lines.values())
    for key, line in lines.items():
        origin = loaded.origins[key]
        here.out(f"{line:<{width}}  # {' '.join([origin.layer, origin.where]).strip()}")
    _tell_warnings(here, loaded)


@app.command()
def get(key: KeyArgument, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show one setting."""
    from zkchat.config.load import unknown
    from zkchat.config.schema import value_of

    here = process()
    loaded = _loaded(here, _paths(here, vault))
    if key not in loaded.origins:
        raise unknown(key, among=loaded.origins)
    if json_output:
        here.json({"key": key, **_described(loaded, key)})
        return
    value = value_of(loaded.settings, key)
    here.out(without_password(value) if isinstance(value, str) else _shown(loaded, key))
    _tell_warnings(here, loaded)


@app.command(name="set")
def set_(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value; lists are separated by commas.")],
    scope: ScopeOption = Scope.USER,
    vault: VaultOption = None,
) -> None:
    """Change a setting. Comments in the file stay."""
    from zkchat.config.edit import set_value

    here = process()
    paths = _paths(here, vault)
    file, beneath = _file(paths, scope)
    with _changing(here, paths, scope) as requested:
        written = set_value(file, key, value, beneath=beneath)
        requested[key] = written
    here.note(f"Set {key} in {file}.")


@app.command()
def unset(key: KeyArgument, scope: ScopeOption = Scope.USER, vault: VaultOption = None) -> None:
    """Go back to the default: remove a setting from the file."""
    from zkchat.config import edit

    here = process()
    paths = _paths(here, vault)
    file, beneath = _file(paths, scope)
    with _changing(here, paths, scope) as requested:
        was_there = edit.unset(file, key, beneath=beneath)
        for gone in [each for each in requested if each == key or each.startswith(f"{key}.")]:
            del requested[gone]
    here.note(f"Removed {key} from {file}." if was_there else f"{key} is not set in {file}.")


@app.command()
def path(vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show where the settings files are, or would be."""
    here = process()
    paths = _paths(here, vault)
    files = {Scope.USER: paths.user_config, Scope.VAULT: paths.vault_config}
    if json_output:
        here.json({scope: {"path": str(file), "exists": file.exists()} for scope, file in files.items()})
        return
    for scope, file in files.items():
        here.out(f"{scope:<5}  {file}{'' if file.exists() else '  (not there yet)'}")


app.command(name="trust", hidden=True)(trust)  # the name of `zkchat trust` in earlier versions


def _paths(here: Process, vault: Path | None) -> "Paths":
    from zkchat.compose.paths import find_paths

    return find_paths(here.environment, vault)


def _file(paths: "Paths", scope: Scope) -> tuple[Path, Path | None]:
    """The settings file, and the folder below which no link is followed."""
    from zkchat.files import followed

    if scope is Scope.USER:
        # Many people keep their dot files elsewhere and link to them: the link stays.
        return followed(paths.user_config), None
    return paths.vault_config, paths.vault


@contextmanager
def _changing(here: Process, paths: "Paths", scope: Scope) -> Iterator[dict[str, object]]:
    """While a settings file is changed, nobody else changes one. What the vault's file then asks for is approved by
    the user's own command, unless it asked for something unapproved before."""
    from zkchat.compose.trust import VaultTrust
    from zkchat.config.files import read_vault_file, settings_item
    from zkchat.config.schema import needs_trust
    from zkchat.files import locked

    with locked(paths.settings_lock, seconds=_LOCK_SECONDS):
        before = read_vault_file(paths.vault_config).requests if scope is Scope.VAULT else {}
        after = dict(before)
        yield after
        asked = {key: value for key, value in after.items() if needs_trust(key)}
        if not asked or asked == before:
            return
        previous = settings_item(before) if before else None
        if not VaultTrust(paths).approve_own(previous, settings_item(asked)):
            here.note("The file asks for more that you have not approved, so this counts after: zkchat trust")


def _loaded(here: Process, paths: "Paths") -> "Loaded":
    from zkchat.compose.settings import load_settings

    return load_settings(here.environment, paths)


def _described(loaded: "Loaded", key: str) -> dict[str, object]:
    from zkchat.config.schema import value_of

    origin = loaded.origins[key]
    value = value_of(loaded.settings, key)
    shown = without_password(value) if isinstance(value, str) else value
    return {"value": shown, "layer": origin.layer, "where": origin.where}


def _shown(loaded: "Loaded", key: str) -> str:
    from zkchat.config.schema import value_of

    value = value_of(loaded.settings, key)
    return "(unset)" if value is None else without_password(_as_json(value))


def _as_json(value: object) -> str:
    """One line that reads as TOML too."""
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


def _tell_warnings(here: Process, loaded: "Loaded") -> None:
    for warning in loaded.every_warning:
        here.note(warning)
