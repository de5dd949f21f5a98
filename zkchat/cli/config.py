"""`zkchat config`: what is set, where it comes from, and how to change it."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import JsonOption, Process, VaultOption, YesOption, process

if TYPE_CHECKING:
    from zkchat.config.load import Loaded
    from zkchat.places import Paths

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
        here.json({"settings": {key: _described(loaded, key) for key in loaded.origins}, "warnings": loaded.warnings})
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
    here.out(value if isinstance(value, str) else _shown(loaded, key))
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
    from zkchat.config.schema import needs_trust
    from zkchat.files import locked

    here = process()
    paths = _paths(here, vault)
    file = _file(paths, scope)
    with locked(paths.settings_lock, seconds=_LOCK_SECONDS):
        set_value(file, key, value)
    here.note(f"Set {key} in {file}.")
    if scope is Scope.VAULT and needs_trust(key):
        here.note("It counts after your approval: zkchat config trust")


@app.command()
def unset(key: KeyArgument, scope: ScopeOption = Scope.USER, vault: VaultOption = None) -> None:
    """Go back to the default: remove a setting from the file."""
    from zkchat.config import edit
    from zkchat.files import locked

    here = process()
    paths = _paths(here, vault)
    file = _file(paths, scope)
    with locked(paths.settings_lock, seconds=_LOCK_SECONDS):
        was_there = edit.unset(file, key)
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


@app.command()
def trust(vault: VaultOption = None, yes: YesOption = False) -> None:
    """Approve the model and the endpoints that the vault's own settings ask for."""
    from zkchat.config.load import vault_requests
    from zkchat.config.trust import TrustStore, digest
    from zkchat.errors import UsageError

    here = process()
    paths = _paths(here, vault)
    file = paths.vault_config
    asked = vault_requests(file)
    store = TrustStore(paths.trust)
    if not asked:
        here.out(f"Nothing in {file} needs your approval.")
        return
    if store.is_trusted(paths.vault_key, digest(asked)):
        here.out(f"What {file} asks for is approved already.")
        return
    here.out(f"{file} asks for:")
    for key, value in asked.items():
        here.out(f"  {key} = {_as_json(value)}")
    if not yes and not here.confirm("Notes may be sent there. Approve?"):
        raise UsageError("Nothing was approved.", hint="To approve without being asked: zkchat config trust --yes")
    store.approve(paths.vault_key, digest(asked))
    here.out("Approved. If the values change, you will be asked again.")


def _paths(here: Process, vault: Path | None) -> "Paths":
    from zkchat.places import paths

    return paths(here.environment, vault)


def _file(paths: "Paths", scope: Scope) -> Path:
    from zkchat.config.load import leads_out
    from zkchat.errors import OutsideVault

    if scope is Scope.USER:
        # Many people keep their dot files elsewhere and link to them: the link stays.
        return paths.user_config.resolve()
    if leads_out(paths.vault_config):
        raise OutsideVault(f"{paths.vault_config} leads out of the vault.", hint="Replace the link by a file.")
    return paths.vault_config


def _loaded(here: Process, paths: "Paths") -> "Loaded":
    from zkchat.config.load import load
    from zkchat.config.trust import TrustStore

    store = TrustStore(paths.trust)
    return load(
        paths.user_config,
        paths.vault_config,
        here.environment.variables,
        {},
        lambda content: store.is_trusted(paths.vault_key, content),
    )


def _described(loaded: "Loaded", key: str) -> dict[str, object]:
    from zkchat.config.schema import value_of

    origin = loaded.origins[key]
    return {"value": value_of(loaded.settings, key), "layer": origin.layer, "where": origin.where}


def _shown(loaded: "Loaded", key: str) -> str:
    from zkchat.config.schema import value_of

    value = value_of(loaded.settings, key)
    return "(unset)" if value is None else _as_json(value)


def _as_json(value: object) -> str:
    """One line that reads as TOML too."""
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


def _tell_warnings(here: Process, loaded: "Loaded") -> None:
    for warning in loaded.warnings:
        here.note(warning)
