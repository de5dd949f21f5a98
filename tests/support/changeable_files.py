"""The files of a vault in memory, as changes need them."""

from collections.abc import Mapping

from zkchat.core.changes import ChangeSet
from zkchat.core.errors import NoteUnreadable, VaultError


class FilesInMemory:
    """Implements `ports.changes.ChangeableFiles`, and makes change sets without a journal.

    A folder stays when it is empty.
    """

    def __init__(self, files: Mapping[str, bytes | str] | None = None) -> None:
        self.files: dict[str, bytes] = {}
        self.folders: set[str] = set()
        for path, content in (files or {}).items():
            self.put(path, content.encode() if isinstance(content, str) else content)

    def put(self, path: str, content: bytes) -> None:
        self.files[path] = content
        self._add_folders(path)

    def read_bytes(self, path: str) -> bytes | None:
        if path in self.folders:
            raise NoteUnreadable(f"{path} is not a regular file.")
        return self.files.get(path)

    def is_taken(self, path: str) -> bool:
        return path in self.files or path in self.folders

    def apply(self, changes: ChangeSet) -> None:
        """Make the changes as `ChangeSet` says. Raises `VaultError` where one cannot be made."""
        for move in changes.moves:
            self._move(move.source, move.target)
        for write in changes.writes:
            if write.path in self.folders or self.files.get(write.path) != write.before:
                raise VaultError(f"{write.path} is not what was expected.")
            self.put(write.path, write.after)

    def _move(self, source: str, target: str) -> None:
        if not self.is_taken(source) or self.is_taken(target) or target.startswith(f"{source}/"):
            raise VaultError(f"{source} cannot be moved to {target}.")
        self.files = {_moved(path, source, target): content for path, content in self.files.items()}
        self.folders = {_moved(path, source, target) for path in self.folders}
        self._add_folders(target)

    def _add_folders(self, path: str) -> None:
        while path := path.rpartition("/")[0]:
            if path in self.files:
                raise VaultError(f"{path} is a file.")
            self.folders.add(path)


def _moved(path: str, source: str, target: str) -> str:
    return target + path[len(source) :] if path == source or path.startswith(f"{source}/") else path
