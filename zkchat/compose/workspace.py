"""A vault with the settings in force and the process: stores, notes and conversations are opened from it."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from zkchat.compose.paths import Paths, find_paths
from zkchat.compose.settings import load_settings
from zkchat.environment import Environment

if TYPE_CHECKING:
    from zkchat.config.load import Loaded
    from zkchat.config.schema import Settings
    from zkchat.model.profile import Agent


class Workspace(Struct, frozen=True):
    """Nothing of it is open: the functions of this package open stores, notes and conversations from it."""

    environment: Environment
    paths: Paths
    loaded: "Loaded"

    @property
    def settings(self) -> "Settings":
        return self.loaded.settings

    def settings_stamp(self) -> object:
        """Another one once a file of settings has changed."""
        return [
            _stamp(file, follow)
            for file in (self.paths.user_config, self.paths.vault_config)
            for follow in (False, True)
        ]

    def changed_by(self, agent: "Agent | None", model: str | None) -> "Workspace":
        """The same vault with the settings that an agent changes, and with this model. Raises `ConfigError`."""
        return replace(self, loaded=load_settings(self.environment, self.paths, model=model, agent=agent))


def _stamp(file: Path, follow: bool) -> tuple[int, ...] | None:
    try:
        status = file.stat(follow_symlinks=follow)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def load_workspace(
    environment: Environment, vault: Path | None, *, model: str | None = None, needs_vault: bool = True
) -> Workspace:
    """Raises `VaultError` where there is no such vault, and `ConfigError` for settings that cannot be used."""
    paths = find_paths(environment, vault, needs_vault=needs_vault)
    return Workspace(environment, paths, load_settings(environment, paths, model=model))
