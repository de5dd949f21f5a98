"""The stores of a vault: sessions, memory, what was said, and the names in them that shells complete."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from zkchat import app, chat, config, core, index, models, storage
from zkchat.app.databases import DatabasePaths, DurableFile, validate_vault_database
from zkchat.app.paths import find_paths
from zkchat.app.workspace import UNATTENDED, Notices, Workspace, calendar_of, load_workspace
from zkchat.app.writing import renamed_notes
from zkchat.core import Environment, ProviderError, SessionStore, ZkchatError
from zkchat.sessions import (
    LazyMemories,
    LazySessions,
    SqliteMemories,
    SqliteMessageIndex,
    SqliteSessions,
    open_memories,
)
from zkchat.sessions import store as message_index

if TYPE_CHECKING:
    from zkchat.chat import ConversationSearch, Memory, Profiles
    from zkchat.core import CatalogRow, SessionsSaid

FactStore = SqliteMemories | LazyMemories


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
def open_session_store(workspace: Workspace) -> Iterator[tuple[SqliteSessions | LazySessions, tuple[str, ...]]]:
    """The sessions, and what happened to their file, if anything. Where nothing is stored yet, nothing is written."""
    file = DurableFile(workspace, "sessions.db", message_index.open_sessions)
    store, notices = file.recover() if file.exists() else (LazySessions(file.exists, file.open), ())
    with store:
        yield store, notices


@contextmanager
def open_memory(workspace: Workspace) -> Iterator[tuple[FactStore, "Memory", tuple[str, ...]]]:
    """The facts of a vault, the memory over them, and what happened to their file, if anything."""
    file = DurableFile(workspace, "memories.db", open_memories)
    store, notices = file.recover() if file.exists() else (LazyMemories(file.exists, file.open), ())
    with store:
        relevance, now = chat.Relevance(models.installed()), workspace.environment.now
        yield store, chat.Memory(store, relevance, now, renamed=partial(renamed_notes, workspace)), notices


@contextmanager
def open_message_search(workspace: Workspace) -> "Iterator[ConversationSearch]":
    """The search over what was said in all sessions."""
    embedder = None
    with suppress(ProviderError):
        embedder = models.installed()
    with closing(SqliteMessageIndex(DatabasePaths(workspace).cache("messages.db"))) as index:
        yield chat.ConversationSearch(index, embedder)


@contextmanager
def open_said(workspace: Workspace, store: SessionStore) -> "Iterator[SessionsSaid]":
    """It is asked with each key that is typed: what was read for one is kept for the next."""
    with open_message_search(workspace) as search:

        def said(words: str, *, with_read: bool = False) -> list[str]:
            search.catch_up(store)
            # Of many messages, for they may be of one session.
            found = search.look_up(store, words, calendar_of(workspace), limit=200, with_read=with_read)
            return [*dict.fromkeys(hit.session for hit in found)]

        yield said


Found = TypeVar("Found")


class StoredNames(Struct, frozen=True):
    """Of one vault. What cannot be read has no names."""

    environment: Environment
    vault: Path | None

    def notes(self) -> "list[CatalogRow]":
        return self._read("index.db", index.read_notes)

    def headings(self, path: str) -> list[str]:
        return self._read("index.db", lambda file: index.read_headings(file, path))

    def tags(self) -> list[str]:
        return self._read("index.db", index.read_tags)

    def sessions(self) -> list[tuple[str, str, bool]]:
        """Ids, titles, and whether they are in lists; the last used first."""
        return self._read("sessions.db", index.read_sessions)

    def facts(self) -> list[tuple[str, str]]:
        """Ids and texts."""
        return self._read("memories.db", index.read_facts)

    def agents(self) -> list[tuple[str, str]]:
        """Names and descriptions."""
        return [(agent.name, agent.description) for agent in self._profiles().agents.values()]

    def rules(self) -> list[tuple[str, str]]:
        return [(rule.name, rule.description) for rule in self._profiles().rules.values()]

    def models(self) -> list[tuple[str, str]]:
        """Names that can be given without asking a server: the user's own, files, and `quote`."""
        settings = app.load_workspace(self.environment, self.vault).settings
        named = [(name, f"{model.provider}:{model.id}") for name, model in settings.models.items()]
        files = [(info.name, "") for info in models.list_models(self.environment.cache_dir)]
        return [*named, *([(settings.model, "")] if settings.model else []), *files, ("quote", "no model at all")]

    def servers(self) -> list[tuple[str, str]]:
        """MCP servers, with how each is reached."""
        found = app.defined_servers(app.load_workspace(self.environment, self.vault, needs_vault=False)).servers
        return [(server.name, core.show_reach(server.definition) if server.definition else "") for server in found]

    def mcp_hosts(self) -> list[str]:
        """Programs whose MCP servers can be taken over."""
        return [host.name for host in config.HOSTS]

    def settings(self) -> list[tuple[str, str]]:
        """The keys of all settings, with what they mean; those of models that the user has named too."""
        with suppress(ZkchatError):
            origins = app.load_workspace(self.environment, self.vault, needs_vault=False).loaded.origins
            return [(config.shown_key(key), field.description) for key in origins if (field := config.field_of(key))]
        return [(key, field.description) for key, field in config.FIELDS.items()]

    def values_of(self, key: str) -> list[str]:
        """What a setting may be, where that is one of a few words."""
        field = config.field_of(config.as_key(key))
        if field is None:
            return []
        return ["true", "false"] if field.kinds[0] is bool else [*field.choices]

    def _profiles(self) -> "Profiles":
        return app.ProfileStore(find_paths(self.environment, self.vault)).load()

    def _read(self, name: str, read: Callable[[Path], list[Found]]) -> list[Found]:
        with suppress(ZkchatError):
            if path := self._database(name):
                return read(path)
        return []

    def _database(self, name: str) -> Path | None:
        """Where a database is; None for one in the vault that the user has not approved."""
        workspace = app.load_workspace(self.environment, self.vault)
        paths = workspace.paths
        if workspace.settings.storage.location == "vault":
            is_approved = app.VaultTrust(paths).is_approved(core.database_item(name))
            return validate_vault_database(paths.vault, name) if is_approved else None
        found = storage.locate(paths.vault, data_dir=paths.data, cache_dir=paths.cache)
        return found.index if name == "index.db" else found.sessions.with_name(name)
