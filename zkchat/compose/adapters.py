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
from zkchat.environment import Environment, let_idle_threads_sleep
from zkchat.errors import ConfigError, StorageError
from zkchat.model.trust import HOW_TO_APPROVE, database_item

if TYPE_CHECKING:
    from zkchat.config.load import Loaded
    from zkchat.config.schema import Settings
    from zkchat.context.recall.search import ConversationSearch
    from zkchat.memory.facts import Memory
    from zkchat.model.profile import Agent, ProfileFile
    from zkchat.model.trust import TrustState, VaultItem
    from zkchat.ports import ModelProvider, Tokenizer
    from zkchat.providers.keys import ServerKey
    from zkchat.providers.registry import Sources
    from zkchat.storage.locations import Locations
    from zkchat.storage.memories import LazyMemories, SqliteMemories
    from zkchat.storage.sessions import LazySessions, Opened, SqliteSessions
    from zkchat.storage.summaries import SqliteSummaries
    from zkchat.vault.library import Library
    from zkchat.vault.privacy.local_folders import LocalFolder

_MOST_PROCESSES = 2
"""That share a long indexing; each takes some 100 MB, and more of them wait for the one that writes."""
_FOREIGN_TOKENIZER = 1.2
"""Tokens of another model's tokenizer for each of ours, rather high than low."""


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


def guarded_provider(
    environment: Environment, loaded: "Loaded", tell: Callable[[str], None]
) -> tuple["ModelProvider", str]:
    """As `create_provider`; where the vault's settings could not be read, one elsewhere is sent nothing."""
    from zkchat.providers.guarded import GuardedProvider

    provider, chosen = create_provider(environment, loaded, tell)
    runs_here = provider.info.on_this_machine or provider.info.provider == "local"
    if not loaded.privacy_unknown or runs_here:
        return provider, chosen
    return GuardedProvider(provider, loaded.privacy_unknown), chosen


def key_for_ollama(environment: Environment, loaded: "Loaded") -> "ServerKey":
    """The key for the server of the settings, where it may go there: a vault's choice of the server is not enough."""
    from zkchat.providers.keys import OLLAMA_VARIABLE, ollama_key

    is_users_choice = loaded.origins["ollama.host"].layer in {"user", "variable", "flag"}
    key = environment.variables.get(OLLAMA_VARIABLE, "")
    return ollama_key(key, loaded.settings.ollama.host, is_users_choice=is_users_choice)


def create_provider(
    environment: Environment, loaded: "Loaded", tell: Callable[[str], None]
) -> tuple["ModelProvider", str]:
    """The model that is set, or else the first that is there, with the sentence that says which and why.

    `tell` hears what is to be known of the key that goes to its server.
    """
    from zkchat.providers.registry import choose, create, named

    sources, keys = _sources(environment, loaded)
    choice = None if loaded.settings.model else choose(sources)
    name = choice.model if choice else loaded.settings.model
    provider = named(name, sources).provider
    if provider == "local":
        let_idle_threads_sleep()
    if provider in keys and keys[provider].warning:
        tell(keys[provider].warning)
    return create(name, sources), choice.sentence if choice else ""


def _sources(environment: Environment, loaded: "Loaded") -> "tuple[Sources, dict[str, ServerKey]]":
    """Where models come from, and the keys for those of servers."""
    from zkchat.providers.descriptor import ModelSettings, NamedModel
    from zkchat.providers.keys import openai_key
    from zkchat.providers.registry import Sources

    settings = loaded.settings
    variable = settings.openai.api_key_env
    keys = {
        "ollama": key_for_ollama(environment, loaded),
        "openai": openai_key(environment.variables.get(variable, ""), settings.openai.base_url, variable),
    }
    sources = Sources(
        ollama_host=settings.ollama.host,
        ollama_key=keys["ollama"].value,
        openai_base_url=settings.openai.base_url,
        openai_key=keys["openai"].value,
        openai_key_variable=variable,
        remote=frozenset(
            name
            for name, is_remote in (("ollama", settings.ollama.remote), ("openai", settings.openai.remote))
            if is_remote
        ),
        folder=environment.cwd,
        home=environment.home,
        cache=environment.cache_dir,
        window=settings.context.max_tokens,
        models={
            name: NamedModel(
                provider=model.provider,
                id=model.id,
                settings=ModelSettings(
                    context_limit=model.context_limit,
                    temperature=model.temperature,
                    calls_tools=model.calls_tools,
                    options=model.options,
                    remote=model.remote,
                ),
            )
            for name, model in settings.models.items()
        },
    )
    return sources, keys


def tokenizer_of(provider: "ModelProvider") -> tuple["Tokenizer", float]:
    """The model's own where it runs in this process, else the encoding that counts for it, or one that comes near.

    And what its counts are to be multiplied by until the model's server has said how it counts.
    """
    from zkchat.context.tokens import FALLBACK_ENCODING, CachedTokenizer, tokenizer_for

    info = provider.info
    if info.provider == "local":
        from zkchat.providers.local import LlamaCpp

        assert isinstance(provider, LlamaCpp)
        return CachedTokenizer(provider.tokenizer), 1.0
    has_server = not info.needs_notes and info.provider != "scripted"
    tokenizer = tokenizer_for(info.tokenizer, otherwise=FALLBACK_ENCODING if has_server else "")
    return CachedTokenizer(tokenizer), _FOREIGN_TOKENIZER if has_server and not tokenizer.exact else 1.0


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
