"""The stores of a vault: sessions, memory, and what was said."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat import chat, models
from zkchat.app.databases import DatabasePaths, DurableFile
from zkchat.app.workspace import UNATTENDED, Notices, Workspace, load_workspace
from zkchat.core import (
    Environment,
    ProviderError,
    SessionStore,
)
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
    from zkchat.chat import ConversationSearch, Memory


if TYPE_CHECKING:
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
    file = DurableFile(workspace, "sessions.db", message_index.open_sessions)
    store, notices = file.recover() if file.exists else (LazySessions(file), ())
    with store:
        yield store, notices


@contextmanager
def open_memory(
    workspace: Workspace,
) -> Iterator[tuple["FactStore", "Memory", tuple[str, ...]]]:
    """The facts of a vault, the memory over them, and what happened to their file, if anything."""
    file = DurableFile(workspace, "memories.db", open_memories)
    store, notices = file.recover() if file.exists else (LazyMemories(file), ())
    with store:
        yield store, chat.Memory(store, chat.Relevance(models.installed()), workspace.environment.now), notices


@contextmanager
def open_message_search(workspace: Workspace) -> "Iterator[ConversationSearch]":
    """The search over what was said in all sessions."""
    embedder = None
    with suppress(ProviderError):
        embedder = models.installed()
    with closing(SqliteMessageIndex(DatabasePaths(workspace).cache("messages.db"))) as index:
        yield chat.ConversationSearch(index, embedder)
