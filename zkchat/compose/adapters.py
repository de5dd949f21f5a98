"""The adapters, opened for one vault: settings, model, sessions, notes, and the search over what was said."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from zkchat.compose.paths import Paths
from zkchat.compose.trust import VaultTrust
from zkchat.environment import Environment
from zkchat.errors import ConfigError, StorageError
from zkchat.model.trust import HOW_TO_APPROVE, database_item

if TYPE_CHECKING:
    from zkchat.config.load import Loaded
    from zkchat.config.schema import Settings
    from zkchat.context.recall.search import ConversationSearch
    from zkchat.memory.facts import Memory
    from zkchat.model.profile import Agent, ProfileFile
    from zkchat.model.trust import TrustState, VaultItem
    from zkchat.storage.locations import Locations
    from zkchat.storage.memories import LazyMemories, SqliteMemories
    from zkchat.storage.sessions import LazySessions, Opened, SqliteSessions
    from zkchat.storage.summaries import SqliteSummaries
    from zkchat.vault.library import Library
    from zkchat.vault.privacy.local_folders import LocalFolder

_MOST_PROCESSES = 2
"""That share a long indexing; each takes some 100 MB, and more of them wait for the one that writes."""


def load_settings(
    environment: Environment, where: Paths, *, model: str | None = None, agent: "Agent | None" = None
) -> "Loaded":
    """The settings in force, with the model that the user named and what an agent changes."""
    from zkchat.config.load import load

    flags = {f"context.{name}": value for name, value in agent.context.items()} if agent else {}
    chosen = model or (agent.model if agent else "") or None
    return load(
        where.user_config,
        where.vault_config,
        environment.variables,
        {"model": chosen, **flags},
        VaultTrust(where).is_approved,
    )


def trust_states(environment: Environment, where: Paths) -> "list[tuple[VaultItem, TrustState]]":
    """All that comes with the vault, with the user's decisions; databases too, where they are to be used."""
    try:
        in_vault = load_settings(environment, where).settings.storage.location == "vault"
    except ConfigError:
        in_vault = False  # approved settings may be wrong: then this is how to take the approval back
    return VaultTrust(where).states(in_vault=in_vault)


@contextmanager
def opened_sessions(
    environment: Environment, where: Paths, settings: "Settings"
) -> Iterator[tuple["SqliteSessions | LazySessions", tuple[str, ...]]]:
    """The sessions, and what happened to their file, if anything. Where nothing is stored yet, nothing is written."""
    from zkchat.storage.sessions import LazySessions
    from zkchat.storage.sessions import open_sessions as open_store

    place = _Place(environment, where, settings)

    def opened() -> "Opened":
        return open_store(place.to_store("sessions.db"), now=environment.now, new_id=environment.new_id)

    if not place.holds_something:
        with LazySessions(lambda: place.holds_something, lambda: opened().store) as unopened:
            yield unopened, ()
        return
    found = opened()
    with found.store as store:
        yield store, found.notices


def local_folders_of(environment: Environment, where: Paths, settings: "Settings") -> "list[LocalFolder]":
    """What the entries of `privacy.local_only` mean in this vault."""
    from zkchat.vault.privacy.local_folders import local_folders

    roots = (str(where.vault.absolute()), str(where.vault.resolve()))
    return local_folders(settings.privacy.local_only, roots, str(environment.home))


@contextmanager
def opened_library(
    environment: Environment, where: Paths, settings: "Settings", tell: Callable[[str], None]
) -> Iterator["Library"]:
    """The notes. Where the cache cannot be written, `tell` hears that they are indexed for this once."""
    from zkchat.providers.static_vectors import installed
    from zkchat.storage.locations import writable_cache_path
    from zkchat.storage.note_index import SqliteNoteIndex
    from zkchat.storage.process_pool import ProcessPool
    from zkchat.storage.vault_files import VaultFiles
    from zkchat.vault.library import Library
    from zkchat.vault.search.vectors import Meaning

    workers = ProcessPool(min(_MOST_PROCESSES, os.cpu_count() or 1))
    files = VaultFiles(where.vault, exclude=settings.vault.exclude, max_note_bytes=settings.vault.max_note_bytes)
    with ExitStack() as stack:
        own = _Place(environment, where, settings).of_cache("index.db")
        path, reason = stack.enter_context(writable_cache_path(own, environment.temporary_folders))
        if reason:
            tell(f"{own.parent} cannot be written ({reason}), so your notes are indexed anew for this call.")
        index = stack.enter_context(closing(SqliteNoteIndex(path)))
        meaning = Meaning(index.vectors, installed())
        local_only = [glob for folder in local_folders_of(environment, where, settings) for glob in folder.globs]
        library = Library(files, index, meaning, workers=workers, local_only=local_only, clock=monotonic)
        yield stack.enter_context(closing(library))


@contextmanager
def opened_message_search(
    environment: Environment, where: Paths, settings: "Settings"
) -> "Iterator[ConversationSearch]":
    from zkchat.context.recall.search import ConversationSearch
    from zkchat.storage.message_index import SqliteMessageIndex

    path = _Place(environment, where, settings).of_cache("messages.db")
    with closing(SqliteMessageIndex(path)) as index:
        yield ConversationSearch(index)


@contextmanager
def opened_sentences(environment: Environment, where: Paths, settings: "Settings") -> "Iterator[SqliteSummaries]":
    """What models said of documents."""
    from zkchat.storage.summaries import SqliteSummaries

    path = _Place(environment, where, settings).of_cache("summaries.db")
    with closing(SqliteSummaries(path)) as sentences:
        yield sentences


@dataclass(frozen=True)
class _Place:
    """Where the databases of a vault are. A vault gets its id when something of it is stored, not before."""

    environment: Environment
    where: Paths
    settings: "Settings"

    @property
    def holds_something(self) -> bool:
        return self._in_vault or self._located.sessions.parent.is_dir()

    def to_store(self, name: str) -> Path:
        """The place of a precious database. Raises `StorageError`."""
        from zkchat.storage.locations import claim

        if self._in_vault:
            return self._checked(name)
        data, cache = self.where.data, self.where.cache
        places = claim(self.where.vault, data_dir=data, cache_dir=cache, new_id=self.environment.new_id)
        return places.sessions.with_name(name)

    def of_cache(self, name: str) -> Path:
        """The place of a database that can be made again. Raises `StorageError`."""
        return self._checked(name) if self._in_vault else self._located.index.with_name(name)

    @property
    def _in_vault(self) -> bool:
        return self.settings.storage.location == "vault"

    @property
    def _located(self) -> "Locations":
        from zkchat.storage.locations import locate

        return locate(self.where.vault, data_dir=self.where.data, cache_dir=self.where.cache)

    def _checked(self, name: str) -> Path:
        """A place in the vault, where others may have put something: only what the user approved, and ours by form."""
        from zkchat.storage.vault_databases import ignore_in_git, validate_vault_database

        trust, item = VaultTrust(self.where), database_item(name)
        path = validate_vault_database(self.where.vault, name)
        if not trust.is_approved(item):
            if path.exists():
                raise StorageError(f"{path} came with the vault and is not approved.", hint=HOW_TO_APPROVE)
            trust.approve([item])  # it will be ours
        ignore_in_git(self.where.vault)
        return path


def profile_files(where: Paths) -> "Iterator[ProfileFile]":
    """The files of agents and rules: the vault's, each approved or not, and the user's."""
    from zkchat.storage.profile_files import ProfileFolders

    return VaultTrust(where).profiles(ProfileFolders(vault=where.vault, config=where.user_config.parent))


@contextmanager
def opened_memory(
    environment: Environment, where: Paths, settings: "Settings"
) -> Iterator[tuple["SqliteMemories | LazyMemories", "Memory", str]]:
    """The facts of a vault, the memory over them, and what happened to their file, if anything."""
    from zkchat.context.relevance import Relevance
    from zkchat.memory.facts import Memory
    from zkchat.providers.static_vectors import installed
    from zkchat.storage.memories import LazyMemories, open_memories

    place = _Place(environment, where, settings)

    def opened() -> "tuple[SqliteMemories, str]":
        return open_memories(place.to_store("memories.db"), now=environment.now, new_id=environment.new_id)

    store: SqliteMemories | LazyMemories
    store, notice = (
        opened() if place.holds_something else (LazyMemories(lambda: place.holds_something, lambda: opened()[0]), "")
    )
    with store:
        yield store, Memory(store, Relevance(installed(), store), environment.now), notice
