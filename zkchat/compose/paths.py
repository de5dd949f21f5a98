"""The paths of a vault and of zkchat's own files for it."""

from dataclasses import dataclass
from pathlib import Path

from zkchat.environment import Environment
from zkchat.errors import VaultError

MARKERS = (".zkchat", ".obsidian")
"""Folders that mark a vault."""
_FILE_SYSTEM_ROOT = Path("/")
"""Never a vault. On Windows no resolved path equals it: a whole drive there may well be one."""


@dataclass(frozen=True, kw_only=True)
class Paths:
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


def find_paths(environment: Environment, vault: Path | None) -> Paths:
    """Raises `VaultError` if the folder is not there. Works while the settings are broken."""
    root = find_vault(environment, vault)
    return Paths(
        vault=root,
        user_config=environment.config_dir / "config.toml",
        vault_config=root / ".zkchat" / "config.toml",
        data=environment.data_dir,
        cache=environment.cache_dir,
        trust=environment.data_dir / "trust.json",
    )


def find_vault(environment: Environment, vault: Path | None) -> Path:
    """The folder that was named, else the nearest marked parent of the current folder, else that folder itself."""
    named = vault or (
        Path(environment.variables["ZKCHAT_VAULT"]) if environment.variables.get("ZKCHAT_VAULT") else None
    )
    if named is None:
        here = environment.cwd.resolve()
        if not here.is_dir():
            raise VaultError(
                "The folder that zkchat was started in is not there any more.",
                hint="Go to another one, or name the folder of your notes: --vault FOLDER",
            )
        marked = (folder for folder in (here, *here.parents) if any((folder / name).is_dir() for name in MARKERS))
        named = next((folder for folder in marked if folder != _FILE_SYSTEM_ROOT), here)
    wanted = environment.cwd / _at_home(named, environment.home)
    try:
        root = wanted.resolve()
        what = "" if root.is_dir() else "is a file, not a folder" if root.exists() else "is not there"
        what = "is the whole file system, not a folder of notes" if root == _FILE_SYSTEM_ROOT else what
    except (OSError, RuntimeError) as error:  # too long a name, a loop of links
        reason = error.strerror if isinstance(error, OSError) else str(error)
        root, what = wanted, f"cannot be used: {reason}"
    if what:
        raise VaultError(f"The vault {root} {what}.", hint="Name the folder of your notes: --vault FOLDER")
    return root


def _at_home(path: Path, home: Path) -> Path:
    """`~/notes` from a variable or a quoted flag, which no shell has expanded."""
    return home.joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else path
