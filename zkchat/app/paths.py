"""The paths of a vault and of zkchat's own files for it."""

import os
from pathlib import Path

from msgspec import Struct

from zkchat.config import read_default_vault
from zkchat.core import ConfigError, Environment, LostDefaultVault, UnconfirmedVault, VaultError
from zkchat.storage import FolderCount, KnownVaults, vault_files

MAX_NOTES_COUNTED = 10_000
_FILE_SYSTEM_ROOT = Path("/")
"""Never a vault. On Windows no resolved path equals it: a whole drive there may well be one."""


class Paths(Struct, frozen=True, kw_only=True):
    """The paths for one vault. Only the vault itself needs to exist."""

    vault: Path
    user_config: Path
    vault_config: Path
    data: Path
    cache: Path
    trust: Path

    @property
    def settings_lock(self) -> Path:
        """Held while a settings file is read, changed and written back."""
        return self.data / "settings.lock"

    @property
    def vault_key(self) -> str:
        """The key of approvals: after a vault has moved, its items are new."""
        return str(self.vault)


class FoundFolder(Struct, frozen=True, kw_only=True):
    path: Path
    is_named: bool
    """By the flag, by $ZKCHAT_VAULT or by the user's setting `vault.default`."""
    is_marked: bool
    is_confirmed: bool
    """Whether the user has said before that it is a vault."""
    is_home: bool

    @property
    def is_vault(self) -> bool:
        """A marker makes no vault of the home folder, where programs leave theirs unasked."""
        return self.is_named or self.is_confirmed or (self.is_marked and not self.is_home)


def find_paths(environment: Environment, vault: Path | None, *, needs_vault: bool = True) -> Paths:
    """Raises `VaultError` if the folder is not there, and `UnconfirmedVault` if a vault is needed and it is none.

    Works while the settings are broken.
    """
    root = find_vault(environment, vault) if needs_vault else find_settings_folder(environment, vault).path
    return Paths(
        vault=root,
        user_config=environment.config_dir / "config.toml",
        vault_config=root / ".zkchat" / "config.toml",
        data=environment.data_dir,
        cache=environment.cache_dir,
        trust=environment.data_dir / "trust.json",
    )


def find_vault(environment: Environment, vault: Path | None) -> Path:
    """The folder that was named, else the vault around the current folder, else the user's default vault."""
    found = find_folder(environment, vault)
    if not found.is_vault:
        raise unconfirmed(found)
    return found.path


def unconfirmed(found: FoundFolder) -> UnconfirmedVault:
    if found.is_home:
        return UnconfirmedVault(
            f"Your home folder {found.path} is not used as a vault unless you say so.",
            hint="Give the folder of your notes: --vault FOLDER",
        )
    return UnconfirmedVault(
        f"The folder {found.path} is not a vault yet.",
        hint="To use it as one: --vault . (or give the folder of your notes: --vault FOLDER)",
    )


def find_folder(environment: Environment, vault: Path | None) -> FoundFolder:
    """The same, or else the current folder, which is no vault.

    Raises `VaultError` if it is not there, and `ConfigError` where the user's file does not tell the default vault.
    """
    variable = environment.variables.get("ZKCHAT_VAULT")
    if named := vault or (Path(variable) if variable else None):
        return _describe(environment, _existing(environment, named), known_vaults(environment), is_named=True)
    return _vault_around(environment) or default_vault(environment) or _current_folder(environment)


def find_settings_folder(environment: Environment, vault: Path | None) -> FoundFolder:
    """The same, but a default vault that cannot be used is passed over, so that the setting can be corrected."""
    try:
        return find_folder(environment, vault)
    except (ConfigError, LostDefaultVault):
        return _vault_around(environment) or _current_folder(environment)


def default_vault(environment: Environment) -> FoundFolder | None:
    """The folder of `vault.default`. Raises `LostDefaultVault` where it cannot be used, and `ConfigError`."""
    path, origin = read_default_vault(environment.config_dir / "config.toml", environment.variables)
    if not path:
        return None
    try:
        folder = _existing(environment, Path(path))
    except VaultError as error:
        raise LostDefaultVault(
            f"{error.message} It is your default vault ('vault.default' {origin.phrase}).",
            hint="Choose another: zkchat setup. Or give one: --vault FOLDER",
        ) from error
    return _describe(environment, folder, known_vaults(environment), is_named=True)


def _vault_around(environment: Environment) -> FoundFolder | None:
    """The current folder or the nearest parent of it that is marked or confirmed as a vault."""
    here = environment.cwd.resolve()
    if not here.is_dir():
        raise VaultError(
            "The folder you started zkchat in no longer exists.",
            hint="Change to another one, or give the folder of your notes: --vault FOLDER",
        )
    known = known_vaults(environment)
    around = (folder for folder in (here, *here.parents) if folder != _FILE_SYSTEM_ROOT)
    candidates = (_describe(environment, folder, known, is_named=False) for folder in around)
    return next((candidate for candidate in candidates if candidate.is_vault), None)


def _current_folder(environment: Environment) -> FoundFolder:
    here = _existing(environment, environment.cwd)
    return _describe(environment, here, known_vaults(environment), is_named=False)


def count_notes(folder: Path) -> FolderCount:
    """How many notes and files a folder holds, up to a bound."""
    return vault_files.count_notes(folder, max_notes=MAX_NOTES_COUNTED)


def known_vaults(environment: Environment) -> KnownVaults:
    """The folders that the user confirmed as vaults."""
    return KnownVaults(environment.data_dir / "known-vaults.json")


def _describe(environment: Environment, folder: Path, known: KnownVaults, *, is_named: bool) -> FoundFolder:
    return FoundFolder(
        path=folder,
        is_named=is_named,
        is_marked=any((folder / name).is_dir() for name in (".zkchat", ".obsidian")),
        is_confirmed=folder in known,
        is_home=folder == environment.home.resolve(),
    )


def _existing(environment: Environment, named: Path) -> Path:
    """A named folder without links in its path. Raises `VaultError` where it cannot be a vault."""
    # `~/notes` from a variable or a quoted flag, which no shell has expanded.
    is_at_home = named.parts[:1] == ("~",)
    wanted = environment.cwd / (environment.home.joinpath(*named.parts[1:]) if is_at_home else named)
    try:
        root = wanted.resolve()
        what = "" if root.is_dir() else "is a file, not a folder" if root.exists() else "does not exist"
        what = "is the whole file system, not a folder of notes" if root == _FILE_SYSTEM_ROOT else what
        what = what or ("" if os.access(root, os.R_OK | os.X_OK) else "cannot be read: permission denied")
    except (OSError, RuntimeError) as error:  # too long a name, a loop of links
        reason = error.strerror if isinstance(error, OSError) else str(error)
        root, what = wanted, f"cannot be used: {reason}"
    if what:
        raise VaultError(f"The vault {root} {what}.", hint="Give the folder of your notes: --vault FOLDER")
    return root
