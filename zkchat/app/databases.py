"""Where the databases of a vault are, and the validation of those that lie inside it."""

import re
import sqlite3
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

from msgspec import Struct

from zkchat.app.trust import VaultTrust
from zkchat.app.workspace import Workspace
from zkchat.core import (
    HOW_TO_APPROVE,
    RefusedFile,
    StorageError,
    database_item,
    lazy_pattern,
    list_names,
    read_bounded,
    write_atomically,
)
from zkchat.index import note_schema
from zkchat.sessions import memories
from zkchat.sessions import store as message_index
from zkchat.storage import (
    DATABASES,
    SCHEMA,
    VERSION,
    DurableDatabase,
    Locations,
    Migration,
    Recovered,
    claim,
    execute_all,
    locate,
    open_read_only,
    result_code,
    storage_errors,
)
from zkchat.writing import SqliteChangeJournal

Store = TypeVar("Store", bound=DurableDatabase)


class DurableFile(Struct, Generic[Store], frozen=True):
    workspace: Workspace
    name: str
    open_store: Callable[..., Recovered[Store]]
    """After a recovery if its file is damaged or missing."""

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
        vault, trust, item = self.workspace.paths.vault, VaultTrust(self.workspace.paths), database_item(name)
        path = validate_vault_database(vault, name)
        if not trust.is_approved(item):
            if path.exists():
                raise StorageError(
                    f"{path} came with the vault and is not used: somebody else may have made it.", hint=HOW_TO_APPROVE
                )
            trust.approve([item])  # it will be ours
        ignore_in_git(vault)
        return path


_WAY_OUT: Final = "Move it away, or store the databases elsewhere: zkchat config set storage.location user"
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


def _cache(schema: Sequence[str], version: int) -> _Known:
    return _Known([lambda connection: execute_all(connection, *schema)], version, is_cache=True)


_DURABLE: Final[Mapping[str, type[DurableDatabase]]] = {
    "sessions.db": message_index.SqliteSessions,
    "memories.db": memories.SqliteMemories,
    "changes.db": SqliteChangeJournal,
}
_KNOWN: Final = {
    **{name: _Known(each.migrations, len(each.migrations), is_cache=False) for name, each in _DURABLE.items()},
    "index.db": _cache(note_schema.SCHEMA, note_schema.VERSION),
    "messages.db": _cache(message_index.SCHEMA, message_index.VERSION),
    "pdf.db": _cache(SCHEMA, VERSION),
}


def validate_vault_database(vault: Path, name: str) -> Path:
    """The path of a database in `.zkchat/`, where nothing is, or a database of ours.

    Raises `StorageError`, and leaves everything untouched, for links, hard links, and anything but regular files where
    zkchat would read or write, and for tables, views or triggers that are not ours.
    """
    folder = vault / ".zkchat"
    try:  # all that opening, backing up or recovering it may touch
        stem, backups = f"{Path(name).stem}.", folder / "backups"
        files = [folder / each for each in list_names(folder, beneath=vault) if each.startswith(stem)]
        files += [backups / each for each in list_names(backups, beneath=vault)]
    except RefusedFile as error:
        raise StorageError(f"The databases in {folder} are not used: {error.strerror}.", hint=_WAY_OUT) from error
    except OSError as error:
        raise StorageError(f"{folder} cannot be read: {error.strerror}.", hint=_WAY_OUT) from error
    for file in files:
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            what = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "not an ordinary file"
            raise StorageError(f"{file} is not used: it is {what}.", hint=_WAY_OUT)
    path = folder / name
    with storage_errors(path):
        is_ours = not path.exists() or not path.stat().st_size or _is_ours(path, _KNOWN[name])
    if not is_ours:
        raise StorageError(f"The database {path} is not used: another program changed it.", hint=_WAY_OUT)
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
