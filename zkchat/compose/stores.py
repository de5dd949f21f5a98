"""The databases of a vault: sessions, memories, and the caches over messages and documents."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat.compose.databases import DatabasePaths, DurableFile
from zkchat.compose.user_interface import UNATTENDED, Notices
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.environment import Environment
from zkchat.errors import ProviderError
from zkchat.ports.sessions import SessionStore
from zkchat.storage import sessions
from zkchat.storage.lazy_sessions import LazySessions
from zkchat.storage.memories import LazyMemories, SqliteMemories, open_memories
from zkchat.storage.message_index import SqliteMessageIndex
from zkchat.storage.sessions import SqliteSessions
from zkchat.storage.summaries import SqliteSummaries

if TYPE_CHECKING:
    from zkchat.context.recall.search import ConversationSearch
    from zkchat.memory.facts import Memory

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
