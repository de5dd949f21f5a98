"""Which folders of a vault stay on this machine, by the settings."""

from collections.abc import Sequence

from zkchat.compose.workspace import Workspace
from zkchat.vault.privacy.local_folders import LocalFolder, local_folders


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
