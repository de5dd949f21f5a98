"""The files of agents and rules: the vault's, each approved or not, and the user's."""

from typing import TYPE_CHECKING

from zkchat.compose.paths import Paths
from zkchat.compose.trust import VaultTrust

if TYPE_CHECKING:
    from zkchat.agents.profiles import Profiles
    from zkchat.storage.profile_files import ProfileFolders


def profile_folders(paths: Paths) -> "ProfileFolders":
    from zkchat.storage.profile_files import ProfileFolders

    return ProfileFolders(vault=paths.vault, config=paths.user_config.parent)


def load_profiles(paths: Paths) -> "Profiles":
    from zkchat.agents.profiles import build_profiles

    return build_profiles(VaultTrust(paths).profiles(profile_folders(paths)))
