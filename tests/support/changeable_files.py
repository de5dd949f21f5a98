"""The files of a vault in memory, as changes need them."""

from collections.abc import Mapping

from zkchat.errors import VaultError
from zkchat.model.change import ChangeSet


class FilesInMemory:
    """Implements `ports.ChangeableFiles`, and makes change sets without a journal."""

    def __init__(self, files: Mapping[str, bytes | str] | None = None) -> None:
        self.files = {
            path: content.encode() if isinstance(content, str) else content for path, content in (files or {}).items()
        }

    def read_bytes(self, path: str) -> bytes | None:
        return self.files.get(path)

    def is_taken(self, path: str) -> bool:
        return path in self.files or any(each.startswith(f"{path}/") for each in self.files)

    def apply(self, changes: ChangeSet) -> None:
        """Make the changes, first the moves in their order, then the writes. Raises `VaultError` where one cannot be
        made."""
        for move in changes.moves:
            if not self.is_taken(move.source) or self.is_taken(move.target):
                raise VaultError(f"{move.source} cannot be moved to {move.target}.")
            self.files = {_moved(path, move.source, move.target): content for path, content in self.files.items()}
        for write in changes.writes:
            if self.files.get(write.path) != write.before:
                raise VaultError(f"{write.path} is not what was expected.")
            self.files[write.path] = write.after


def _moved(path: str, source: str, target: str) -> str:
    return target + path[len(source) :] if path == source or path.startswith(f"{source}/") else path
