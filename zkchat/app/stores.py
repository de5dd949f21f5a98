"""The databases of a vault, and the validation of those that lie inside it."""

import re
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from zkchat.app.workspace import UNATTENDED, Notices, Workspace, load_workspace
from zkchat.app.writing import DatabasePaths, DurableFile
from zkchat.core import (
    Environment,
    ProviderError,
    RefusedFile,
    SessionStore,
    StorageError,
    lazy_pattern,
    list_names,
    read_bounded,
    write_atomically,
)
from zkchat.index import note_schema
from zkchat.sessions import (
    LazyMemories,
    LazySessions,
    SqliteMemories,
    SqliteMessageIndex,
    SqliteSessions,
    SqliteSummaries,
    memories,
    open_memories,
)
from zkchat.sessions import store as message_index
from zkchat.storage import (
    DATABASES,
    SCHEMA,
    VERSION,
    DurableDatabase,
    Migration,
    execute_all,
    open_read_only,
    result_code,
    storage_errors,
)
from zkchat.writing import SqliteChangeJournal

if TYPE_CHECKING:
    from zkchat.chat import ConversationSearch, Memory


_WAY_OUT: Final = "Look at it and move it away, or run: zkchat config set storage.location user"
_INTERNAL: Final = lazy_pattern(rb"sqlite_(stat\d|sequence|autoindex_.*)", re.DOTALL)
_IGNORED: Final = (
    "# The databases of zkchat; what stands below this line has to stay the end of the file.\n"
    + "".join(f"/{Path(name).stem}.*\n" for name in DATABASES)
    + "/backups/\n"
)

Schema = frozenset[tuple[bytes, bytes, bytes, bytes]]
"""Kind, name, table and statement of each thing in a database."""


class _Known(NamedTuple):
    """What a database of ours may hold."""

    migrations: Sequence[Migration]
    version: int
    """That the migrations lead to."""
    is_cache: bool
    """Whether one of another version is rebuilt; else each migration leads to a version of its own."""


def _durable(store: type[DurableDatabase]) -> _Known:
    return _Known(store.migrations, len(store.migrations), is_cache=False)


def _cache(schema: Sequence[str], version: int) -> _Known:
    return _Known([lambda connection: execute_all(connection, *schema)], version, is_cache=True)


_KNOWN: Final = {
    "sessions.db": _durable(message_index.SqliteSessions),
    "memories.db": _durable(memories.SqliteMemories),
    "changes.db": _durable(SqliteChangeJournal),
    "index.db": _cache(note_schema.SCHEMA, note_schema.VERSION),
    "messages.db": _cache(message_index.SCHEMA, message_index.VERSION),
    "summaries.db": _cache(memories.SCHEMA, memories.VERSION),
    "pdf.db": _cache(SCHEMA, VERSION),
}


def validate_vault_database(vault: Path, name: str) -> Path:
    """The path of a database in `.zkchat/`, where nothing is, or a database of ours.

    Raises `StorageError`, and leaves everything untouched, for links, hard links, and anything but regular files where
    zkchat would read or write, and for tables, views or triggers that are not ours.
    """
    folder = vault / ".zkchat"
    for file in _files_of(vault, folder, name):
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            what = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "a file with another name, or none at all"
            raise StorageError(f"{file} is not used: it is {what}.", hint=_WAY_OUT)
    path = folder / name
    with storage_errors(path):
        is_ours = not path.exists() or not path.stat().st_size or _is_ours(path, _KNOWN[name])
    if not is_ours:
        raise StorageError(
            f"{path} is not used: it holds tables, views or triggers that this zkchat did not make.", hint=_WAY_OUT
        )
    return path


def ignore_in_git(vault: Path) -> None:
    """Let version control ignore the databases in a vault, whatever else its `.gitignore` there says."""
    file = vault / ".zkchat" / ".gitignore"
    try:
        text = read_bounded(file, max_bytes=1_000_000, beneath=vault).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        text = ""
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror}.", hint=_WAY_OUT) from error
    if text.endswith(f"\n{_IGNORED}") or text == _IGNORED:
        return
    rest = text.replace(_IGNORED, "")
    kept = f"{rest}\n" if rest and not rest.endswith("\n") else rest
    write_atomically(file, (kept + _IGNORED).encode("utf-8", "surrogateescape"), mode=0o644, beneath=vault)


def _files_of(vault: Path, folder: Path, name: str) -> Iterator[Path]:
    """All that opening, backing up or recovering a database may touch."""
    try:
        stem = f"{Path(name).stem}."
        yield from (folder / each for each in list_names(folder, beneath=vault) if each.startswith(stem))
        backups = folder / "backups"
        yield from (backups / each for each in list_names(backups, beneath=vault))
    except RefusedFile as error:
        raise StorageError(f"The databases in {folder} are not used: {error.strerror}.", hint=_WAY_OUT) from error
    except OSError as error:
        raise StorageError(f"{folder} cannot be read: {error.strerror}.", hint=_WAY_OUT) from error


def _is_ours(path: Path, known: _Known) -> bool:
    """Whether a database holds what zkchat made in its version. One that cannot be read is left to recovery."""
    try:
        with closing(open_read_only(path)) as connection:
            connection.text_factory = bytes
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            found = _schema_of(connection)
    except sqlite3.DatabaseError as error:
        if result_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return True
        raise
    if known.is_cache and version != known.version:
        return {row[:2] for row in found} <= {row[:2] for row in _schema_after(known.migrations)}
    if known.is_cache:
        return found == _schema_after(known.migrations)
    return 0 <= version <= known.version and found == _schema_after(known.migrations[:version])


def _schema_after(migrations: Sequence[Migration]) -> Schema:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as expected:
        for migration in migrations:
            migration(expected)
        expected.text_factory = bytes
        return _schema_of(expected)


def _schema_of(connection: sqlite3.Connection) -> Schema:
    rows = connection.execute("SELECT type, name, tbl_name, COALESCE (sql, '') FROM sqlite_schema")
    return frozenset(
        (kind, name, table, b" ".join(statement.split()))
        for kind, name, table, statement in rows
        if not (kind in (b"table", b"index") and _INTERNAL.fullmatch(name))
    )


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
    from zkchat.chat import Memory, Relevance
    from zkchat.models import installed

    file = DurableFile(workspace, "memories.db", open_memories)
    store, notices = file.recover() if file.exists else (LazyMemories(file), ())
    with store:
        yield store, Memory(store, Relevance(installed()), workspace.environment.now), notices


@contextmanager
def open_message_search(workspace: Workspace) -> "Iterator[ConversationSearch]":
    """The search over what was said in all sessions."""
    from zkchat.chat import ConversationSearch
    from zkchat.models import installed

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
