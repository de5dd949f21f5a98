"""Where the databases of a vault are, and how one that is damaged is opened."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from zkchat.compose.trust import VaultTrust
from zkchat.compose.workspace import Workspace
from zkchat.errors import StorageError
from zkchat.model.trust import HOW_TO_APPROVE, database_item
from zkchat.storage.durable_database import DurableDatabase
from zkchat.storage.locations import Locations, claim, locate
from zkchat.storage.recovery import Recovered

Store = TypeVar("Store", bound=DurableDatabase)


class OpenStore(Protocol[Store]):
    """Opens a store, after a recovery if its file is damaged or missing."""

    def __call__(self, path: Path, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> Recovered[Store]: ...


class DurableFile(Struct, Generic[Store], frozen=True):
    """Implements `storage.durable_database.StoreFile`."""

    workspace: Workspace
    name: str
    open_store: OpenStore[Store]

    @property
    def exists(self) -> bool:
        return DatabasePaths(self.workspace).exist

    def open(self) -> Store:
        return self.recover().store

    def recover(self) -> Recovered[Store]:
        """Open the store, with a notice where its file was damaged."""
        environment = self.workspace.environment
        path = DatabasePaths(self.workspace).durable(self.name)
        return self.open_store(path, now=environment.now, new_id=environment.new_id)


class DatabasePaths(Struct, frozen=True):
    """Where the databases of a vault are. A vault gets its id when something of it is stored, not before."""

    workspace: Workspace

    @property
    def exist(self) -> bool:
        """Whether anything was stored for this vault."""
        return self._in_vault or self._locations.sessions.parent.is_dir()

    def durable(self, name: str) -> Path:
        """The path of a database that cannot be made again. Raises `StorageError`."""
        if self._in_vault:
            return self._checked(name)
        paths, new_id = self.workspace.paths, self.workspace.environment.new_id
        locations = claim(paths.vault, data_dir=paths.data, cache_dir=paths.cache, new_id=new_id)
        return locations.sessions.with_name(name)

    @property
    def durable_folder(self) -> Path:
        """Where those databases are, or are not yet."""
        return self.workspace.paths.vault / ".zkchat" if self._in_vault else self._locations.sessions.parent

    def cache(self, name: str) -> Path:
        """The path of a database that can be made again. Raises `StorageError`."""
        return self._checked(name) if self._in_vault else self._locations.index.with_name(name)

    @property
    def _in_vault(self) -> bool:
        return self.workspace.settings.storage.location == "vault"

    @property
    def _locations(self) -> Locations:
        paths = self.workspace.paths
        return locate(paths.vault, data_dir=paths.data, cache_dir=paths.cache)

    def _checked(self, name: str) -> Path:
        """A path in the vault, where others may have put a file: only what the user approved, and ours by form."""
        from zkchat.storage.vault_databases import ignore_in_git, validate_vault_database

        vault, trust, item = self.workspace.paths.vault, VaultTrust(self.workspace.paths), database_item(name)
        path = validate_vault_database(vault, name)
        if not trust.is_approved(item):
            if path.exists():
                raise StorageError(f"{path} came with the vault and is not approved.", hint=HOW_TO_APPROVE)
            trust.approve([item])  # it will be ours
        ignore_in_git(vault)
        return path
