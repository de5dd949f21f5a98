"""A vault with the settings in force and the process: stores, notes and conversations are opened from it."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from zkchat.compose.paths import Paths, find_paths
from zkchat.compose.settings import load_settings
from zkchat.config.load import Loaded
from zkchat.config.schema import Settings
from zkchat.environment import Environment
from zkchat.model.profile import Agent

SettingsStamp = Mapping[Path, tuple[int, ...] | None]
"""By file, what changes with it; None where it is not there."""


class Workspace(Struct, frozen=True):
    """Nothing of it is open: the functions of this package open stores, notes and conversations from it."""

    environment: Environment
    paths: Paths
    loaded: Loaded
    stamp: SettingsStamp = {}
    """Of the files that the settings were read from."""
    model: str | None = None
    """That was named beside the settings."""
    agent: Agent | None = None
    """That changes them."""

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    def changed_by(self, agent: Agent | None, model: str | None) -> "Workspace":
        """The same vault with the settings that an agent changes, and with this model. Raises `ConfigError`."""
        return _load(self.environment, self.paths, model, agent)

    def read_again(self) -> "Workspace":
        """The same with the settings as they are now. Raises `ConfigError`."""
        return self.changed_by(self.agent, self.model)


def settings_stamp(paths: Paths) -> SettingsStamp:
    """Another one once a file of settings has changed, or the file of the user's approvals."""
    return {file: _stamp(file) for file in (paths.user_config, paths.vault_config, paths.trust)}


def _stamp(file: Path) -> tuple[int, ...] | None:
    """Of the file and, where it is a link, of what it leads to."""
    try:
        stamps = [file.lstat(), file.stat()]
    except OSError:
        return None
    return tuple(
        part for each in stamps for part in (each.st_dev, each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns)
    )


def load_workspace(
    environment: Environment, vault: Path | None, *, model: str | None = None, needs_vault: bool = True
) -> Workspace:
    """Raises `VaultError` where there is no such vault, and `ConfigError` for settings that cannot be used."""
    paths = find_paths(environment, vault, needs_vault=needs_vault)
    return _load(environment, paths, model, None)


def _load(environment: Environment, paths: Paths, model: str | None, agent: Agent | None) -> Workspace:
    stamp = settings_stamp(paths)  # first, so that a change while they are read is noticed later
    loaded = load_settings(environment, paths, model=model, agent=agent)
    return Workspace(environment, paths, loaded, stamp=stamp, model=model, agent=agent)
