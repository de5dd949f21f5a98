"""The databases of a vault: sessions, memories, and the caches over messages and documents."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from msgspec import Struct

from zkchat.compose.trust import VaultTrust
from zkchat.compose.user_interface import UNATTENDED, Notices
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.environment import Environment
from zkchat.errors import ProviderError, StorageError
from zkchat.model.trust import HOW_TO_APPROVE, database_item
from zkchat.ports.sessions import SessionStore
from zkchat.storage import sessions
from zkchat.storage.durable_database import DurableDatabase
from zkchat.storage.lazy_sessions import LazySessions
from zkchat.storage.locations import Locations, claim, locate
from zkchat.storage.memories import LazyMemories, SqliteMemories, open_memories
from zkchat.storage.message_index import SqliteMessageIndex
from zkchat.storage.recovery import Recovered
from zkchat.storage.sessions import SqliteSessions
from zkchat.storage.summaries import SqliteSummaries

if TYPE_CHECKING:
    from zkchat.context.recall.search import ConversationSearch
    from zkchat.memory.facts import Memory

    FactStore = SqliteMemories | LazyMemories

Store = TypeVar("Store", bound="DurableDatabase")


@contextmanager
def open_sessions(
    environment: Environment, vault: Path | None, notices: Notices = UNATTENDED
) -> Iterator[SessionStore]:
    """The session store of a vault, for commands that need nothing else.

    A recovered file and settings that are left out are reported to `notices`.
    """
    workspace = load_workspace(environment, vault)
    with open_session_store(workspace) as (store, recovered):
        for notice in (*workspace.loaded.every_warning, *recovered):
            notices.note(notice)
        yield store


@contextmanager
def open_session_store(
    workspace: Workspace,
) -> Iterator[tuple[SqliteSessions | LazySessions, tuple[str, ...]]]:
    """The sessions, and what happened to their file, if anything. Where nothing is stored yet, nothing is written."""
    file = DurableFile(workspace, "sessions.db", sessions.open_sessions)
    store, notices = file.recover() if file.exists else (LazySessions(file), ())
    with store:
        yield store, notices


@contextmanager
def open_memory(
    workspace: Workspace,
) -> Iterator[tuple["FactStore", "Memory", tuple[str, ...]]]:
    """The facts of a vault, the memory over them, and what happened to their file, if anything."""
    from zkchat.context.relevance import Relevance
    from zkchat.memory.facts import Memory
    from zkchat.providers.static_vectors import installed

    file = DurableFile(workspace, "memories.db", open_memories)
    store, notices = file.recover() if file.exists else (LazyMemories(file), ())
    with store:
        yield store, Memory(store, Relevance(installed(), store), workspace.environment.now), notices


@contextmanager
def open_message_search(workspace: Workspace) -> "Iterator[ConversationSearch]":
    """The search over what was said in all sessions."""
    from zkchat.context.recall.search import ConversationSearch
    from zkchat.providers.static_vectors import installed

    embedder = None
    with suppress(ProviderError):
        embedder = installed()
    with closing(SqliteMessageIndex(DatabasePaths(workspace).cache("messages.db"))) as index:
        yield ConversationSearch(index, embedder)


@contextmanager
def open_summary_cache(workspace: Workspace) -> Iterator[SqliteSummaries]:
    """The sentences in which models summarised documents."""
    with closing(SqliteSummaries(DatabasePaths(workspace).cache("summaries.db"))) as sentences:
        yield sentences


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
