"""The files of agents and rules: the vault's, each approved or not, and the user's."""

import os
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from zkchat.agents.profiles import Profiles, build_profiles
from zkchat.compose.paths import Paths
from zkchat.compose.trust import VaultTrust, profile_item
from zkchat.errors import UsageError
from zkchat.model.choices import Scope
from zkchat.model.profile import ProfileFile, ProfileKind
from zkchat.storage.profile_files import ProfileFolders


class ProfileStore(Struct, frozen=True):
    """Reads and writes the files. What the user writes into the vault is approved by writing it."""

    paths: Paths

    def load(self) -> Profiles:
        """The agents and rules in use, and why others are not."""
        return build_profiles(VaultTrust(self.paths).profiles(self._folders))

    def files(self) -> list[ProfileFile]:
        return list(self._folders.files())

    def create(self, scope: Scope, kind: ProfileKind, name: str, text: str) -> ProfileFile:
        """Write a file that is not there yet. Raises `UsageError` where one is."""
        file = self._folders.path_of(scope, kind, name)
        if os.path.lexists(file):
            raise UsageError(f"{file} is there already.", hint="Open it in your editor, or choose another name.")
        created = ProfileFile(kind=kind, name=name, origin=scope, path=str(file), text=text)
        self.write(created, text, None)
        return created

    def write(self, file: ProfileFile, text: str, before: ProfileFile | None) -> bool:
        """Write a file, and approve it as `approve_own` does. Whether it is used."""
        assert file.origin != "built-in"
        self._folders.write(file.origin, Path(file.path), text)
        return self.approve_own(replace(file, text=text), before)

    def approve_own(self, after: ProfileFile, before: ProfileFile | None) -> bool:
        """Approve a file of the vault that the user just wrote, unless what was there `before` was not approved."""
        if after.origin != "vault":
            return True
        return VaultTrust(self.paths).approve_own(profile_item(before) if before else None, profile_item(after))

    @property
    def _folders(self) -> ProfileFolders:
        return ProfileFolders(vault=self.paths.vault, config=self.paths.user_config.parent)
