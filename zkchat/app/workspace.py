"""A vault with the settings in force and the process: calendar, privacy, and what is asked of a user interface."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, get_args
from zoneinfo import ZoneInfo

from msgspec import Struct

from zkchat.app.paths import Paths, find_paths
from zkchat.app.settings import keep_debug_log, load_settings
from zkchat.config import Loaded, Settings
from zkchat.core import Agent, Calendar, Environment, SystemTimeZone, Weekday
from zkchat.notes import LocalFolder, local_folders

if TYPE_CHECKING:
    from zkchat.chat import CallReviewer, Reviewer
    from zkchat.index import Progress
    from zkchat.writing import ChangeReviewer


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
    loaded = keep_debug_log(environment, load_settings(environment, paths, model=model, agent=agent))
    return Workspace(environment, paths, loaded, stamp=stamp, model=model, agent=agent)


def calendar_of(workspace: Workspace) -> Calendar:
    """By the settings and the clock, as they are now."""
    settings = workspace.settings.calendar
    zone = ZoneInfo(settings.time_zone) if settings.time_zone else SystemTimeZone()
    now = workspace.environment.now().astimezone(zone)
    return Calendar(now, first_weekday=get_args(Weekday).index(settings.first_day_of_week))


def calendar_for(environment: Environment, vault: Path | None) -> Calendar:
    return calendar_of(load_workspace(environment, vault))


def local_folders_of(workspace: Workspace) -> list[LocalFolder]:
    """What the entries of `privacy.local_only` mean in this vault."""
    vault = workspace.paths.vault
    roots = (str(vault.absolute()), str(vault.resolve()))
    of_user = workspace.loaded.of_user.get("privacy.local_only", ())
    return local_folders(
        workspace.settings.privacy.local_only,
        roots,
        str(workspace.environment.home),
        user_wide=len(of_user) if isinstance(of_user, Sequence) else 0,
    )


def local_globs(workspace: Workspace) -> list[str]:
    """The patterns of all notes that stay on this machine by their folder: all there are, where that is not known."""
    if workspace.loaded.privacy_unknown:
        return ["**"]
    return [glob for folder in local_folders_of(workspace) for glob in folder.globs]


class Notices(Protocol):
    """Takes what the user should know beside the result: a file that was recovered, settings that are left out."""

    def note(self, text: str) -> None: ...


FileReviewer = Callable[[Path, str], bool]
"""Whether the file may be sent, to whom the words say."""


class UserInterface:
    """Shows progress, and asks for consent: here nobody is there, so nothing is shown, and nothing is agreed to."""

    reviewer: "Reviewer | None" = None
    """Who is asked about compactions, and so on: None where nobody can be asked."""
    change_reviewer: "ChangeReviewer | None" = None
    call_reviewer: "CallReviewer | None" = None
    file_reviewer: FileReviewer | None = None

    def note(self, text: str) -> None:
        """What `Notices` are told."""

    def may_remember(self, _text: str) -> bool:
        """Show the user what a model wants to be kept. Whether they agree."""
        return False

    def indexing_progress(self) -> "AbstractContextManager[Progress | None]":
        return nullcontext()

    def waiting(self, _what: str) -> AbstractContextManager[object]:
        """Show what is waited for, and for how long."""
        return nullcontext()


UNATTENDED = UserInterface()
