"""Files that a command writes where the user names them: in the vault as a change that can be undone."""

from pathlib import Path

from zkchat.cli.common import CommandIO
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.compose.writing import open_change_store
from zkchat.errors import VaultError
from zkchat.files import write_atomically
from zkchat.model.change import ChangeOrigin, ChangeSet, FileWrite

UNDO = "zkchat undo takes it back."


def write_output(io: CommandIO, vault: Path | None, file: Path, text: str, *, command: str) -> bool:
    """Write a file, over one that is there. Returns whether `zkchat undo` takes it back.

    That is so in the vault, except for files that no change of notes may touch: hidden, excluded or larger ones.
    """
    workspace = load_workspace(io.environment, vault)
    if _applied(io, workspace, file, text.encode("utf-8", "replace"), command):
        return True
    write_atomically(file, text, mode=0o600)
    return False


def _applied(io: CommandIO, workspace: Workspace, file: Path, content: bytes, command: str) -> bool:
    root = workspace.paths.vault.resolve()
    target = file.parent.resolve() / file.name
    if not target.is_relative_to(root) or len(content) > workspace.settings.vault.max_note_bytes:
        return False
    path = target.relative_to(root).as_posix()
    with open_change_store(workspace, notices=io) as store:
        try:
            before = store.read_bytes(path)
        except VaultError:
            return False
        if before != content:
            title = f"Create {path}" if before is None else f"Write {path}"
            write = FileWrite(path=path, before=before, after=content)
            store.apply(ChangeSet(title=title, writes=(write,)), ChangeOrigin(command=command))
            if before is None:
                target.chmod(0o600)
    return before != content
