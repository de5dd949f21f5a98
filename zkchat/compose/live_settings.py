"""The settings of a program that runs for long: what they say of privacy and trust counts from the next turn or call.

Before each, the status of the files is looked at; they are read again only where one of them has changed.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from zkchat.compose.local_notes import local_globs
from zkchat.compose.trust import VaultTrust
from zkchat.compose.workspace import SettingsStamp, Workspace, settings_stamp
from zkchat.errors import ConfigError

TAKEN_BACK: Final = "You took back an approval of what comes with this vault, so nothing is sent to a model any more."
BEGIN_ANEW: Final = "Start zkchat again, or choose the model again: /model NAME"


class LiveSettings:
    """Used by one thread at a time; `local_only` may be read by any."""

    def __init__(self, workspace: Workspace) -> None:
        """`workspace`: with the settings that something is opened with."""
        self.workspace = workspace
        """With the settings as they were found last."""
        self.local_only = local_globs(workspace)
        """The patterns of notes that stay here by their folder. Always this list: what changes in it counts at once."""
        self.version = 0
        """Another one once something has changed."""
        self.problem = ""
        """Why the settings cannot be used as they are now; those from before count then, and all notes are local."""
        self.is_taken_back = False
        """Whether something is no longer approved that was when all of this was opened."""
        self._stamp = workspace.stamp
        self._files = workspace.paths.user_config, workspace.paths.vault_config
        self._present = self._present_files(workspace.stamp)
        """The files of settings that were there at some time."""
        self._approved = VaultTrust(workspace.paths).approved()
        self._followers: list[Callable[[Workspace], str]] = []
        self._notices: list[str] = []

    def follow(self, apply: Callable[[Workspace], str]) -> None:
        """Have `apply` called with other settings. What it returns is told to the user."""
        self._followers.append(apply)

    def catch_up(self) -> None:
        """Let the settings count as they are now. That they cannot be used raises nothing: it is a notice."""
        stamp = settings_stamp(self.workspace.paths)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        before, was_taken_back = self.workspace, self.is_taken_back
        self.is_taken_back = VaultTrust(before.paths).takes_back(self._approved)
        self._read_again()
        if self._differs_from(before) or was_taken_back != self.is_taken_back:
            self.version += 1
            self.local_only[:] = local_globs(self.workspace)
            self._notices += filter(None, [apply(self.workspace) for apply in self._followers])

    def take_notices(self) -> tuple[str, ...]:
        """What the user has not been told yet."""
        notices = tuple(self._notices)
        self._notices.clear()
        return notices

    def check_trust(self) -> None:
        """Raises `ConfigError` where an approval was taken back: what was opened may rest on it."""
        if self.is_taken_back:
            raise ConfigError(TAKEN_BACK, hint=BEGIN_ANEW)

    def _read_again(self) -> None:
        """Where the settings cannot be used, those from before count, and it is not known which notes are local."""
        before, self.problem = self.workspace, ""
        try:
            self.workspace = before.read_again()
            unknown = self.workspace.loaded.privacy_unknown or self._missing()
        except ConfigError as error:
            unknown = self.problem = error.message
        if unknown:
            loaded = replace(self.workspace.loaded, privacy_unknown=unknown)
            self.workspace = replace(self.workspace, loaded=loaded)
        if unknown != before.loaded.privacy_unknown and unknown:
            self._notices.append(f"{unknown} While that is so, every note counts as local.")

    def _missing(self) -> str:
        """A sentence where a file of settings is gone that was there: some editors take it away while they save it."""
        now = self._present_files(self._stamp)
        gone = [file for file in self._files if file in self._present - now]
        self._present |= now
        return f"{gone[0]} is gone: put it back, empty if you like, or start zkchat again." if gone else ""

    def _present_files(self, stamp: SettingsStamp) -> set[Path]:
        return {file for file in self._files if stamp.get(file)}

    def _differs_from(self, before: Workspace) -> bool:
        """Whether anything differs but how the terminal looks."""
        old, new = before.loaded, self.workspace.loaded
        return old.privacy_unknown != new.privacy_unknown or old.settings != replace(new.settings, ui=old.settings.ui)
