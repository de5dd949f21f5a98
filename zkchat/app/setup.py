"""What `zkchat setup` offers and writes: the folder of the notes, the model, and the folders that stay here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.app.paths import FoundFolder, find_paths, known_vaults
from zkchat.app.settings import SettingsEditor, check_setting
from zkchat.config import read_table
from zkchat.core import Environment, HostedService
from zkchat.models import SETUP_HELPS, services_with_key

MODEL: Final = "model"
_DEFAULT_VAULT: Final = "vault.default"
LOCAL_ONLY: Final = "privacy.local_only"
_BASE_URL: Final = "openai.base_url"
_KEY_VARIABLE: Final = "openai.api_key_env"
_MAX_FOLDERS_LISTED: Final = 12


class SetupPlan(Struct, frozen=True, kw_only=True):
    """What the user chose; nothing of it is written yet."""

    folder: FoundFolder | None
    """The folder of the notes; None where the user named none."""
    settings: Mapping[str, str]
    """By key, as text; an empty one is removed from the user's file."""


class SetupResult(Struct, frozen=True, kw_only=True):
    """What was written, and where."""

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
    return names[:_MAX_FOLDERS_LISTED]


def missing_folders(vault: Path, typed: str) -> list[str]:
    """Of folders separated by commas, those that the vault does not have; globs and whole paths are not looked at."""
    names = [name.strip().rstrip("/") for name in typed.split(",")]
    plain = [name for name in names if name and not set(name) & set("*?[~") and not Path(name).is_absolute()]
    return [name for name in plain if not _has_folder(vault, name)]


def _has_folder(vault: Path, name: str) -> bool:
    """Whether there is such a folder, in any case."""
    folder = vault
    for part in Path(name).parts:
        try:
            found = [each for each in folder.iterdir() if each.name.casefold() == part.casefold() and each.is_dir()]
        except OSError:
            return False
        if not found:
            return False
        folder = found[0]
    return True


def offered_services(environment: Environment) -> list[HostedService]:
    """Hosted services for which the environment holds a key."""
    return services_with_key(environment.variables)


def default_vault_setting(folder: FoundFolder) -> dict[str, str]:
    """The setting that makes a folder the default vault; none for a name that is no text, which no file can hold."""
    try:
        str(folder.path).encode()
    except UnicodeEncodeError:
        return {}
    return {_DEFAULT_VAULT: str(folder.path)}


def offer_within_setup(offer: str) -> str:
    """What could be set up, without the advice to run the setup."""
    return offer.replace(SETUP_HELPS, "")


def service_settings(service: HostedService) -> dict[str, str]:
    return {_BASE_URL: service.base_url, _KEY_VARIABLE: service.key_variable}


def with_settings(environment: Environment, settings: Mapping[str, str]) -> Environment:
    """The environment as if these settings were set."""
    variables = {f"ZKCHAT_{key.upper().replace('.', '__')}": value for key, value in settings.items()}
    return replace(environment, variables={**environment.variables, **variables})
