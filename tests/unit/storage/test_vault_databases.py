"""Databases in a vault: what others put there is neither opened nor changed; ours are, in every version."""

import hashlib
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import hostile_vaults
from tests.support.sessions import NOON
from zkchat.app.databases import ignore_in_git, validate_vault_database
from zkchat.core.errors import StorageError
from zkchat.core.note import ExtractedText
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.sessions.memories import SqliteMemories
from zkchat.sessions.store import SqliteMessageIndex, SqliteSessions
from zkchat.storage.locations import DATABASES
from zkchat.storage.pdf_texts import SqliteExtractedTexts
from zkchat.writing.changes.journal import SqliteChangeJournal


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / ".zkchat").mkdir(parents=True)
    return folder


def make(path: Path) -> None:
    """A database of ours."""
    match path.name:
        case "sessions.db":
            SqliteSessions(path, now=lambda: NOON, new_id=lambda: "a").close()
        case "memories.db":
            SqliteMemories(path, now=lambda: NOON, new_id=lambda: "a").close()
        case "changes.db":
            SqliteChangeJournal(path, now=lambda: NOON, new_id=lambda: "a").close()
        case "index.db":
            with closing(SqliteNoteIndex(path)) as index:
                index.counts()
        case "messages.db":
            with closing(SqliteMessageIndex(path)) as messages:
                messages.known()
        case _:
            with closing(SqliteExtractedTexts(path, 1_000)) as texts:
                texts.keep(b"x", ExtractedText(pages=("A.",)))


def content(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.endswith(("-shm", "-wal"))
    }


@pytest.mark.parametrize("name", DATABASES)
def test_a_database_of_ours_is_used(vault: Path, name: str) -> None:
    make(vault / ".zkchat" / name)
    assert validate_vault_database(vault, name).stat().st_size > 0


def test_an_older_version_of_ours_is_used(vault: Path) -> None:
    path = vault / ".zkchat" / "sessions.db"
    for version in range(1, len(SqliteSessions.migrations) + 1):
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            for migration in SqliteSessions.migrations[:version]:
                migration(connection)
            connection.execute(f"PRAGMA user_version = {version}")
        assert validate_vault_database(vault, "sessions.db") == path
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    with pytest.raises(StorageError, match="something other than zkchat"):
        validate_vault_database(vault, "sessions.db")


FOREIGN = {
    "a trigger": "CREATE TRIGGER evil AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END",
    "a view": "CREATE VIEW evil AS SELECT * FROM {table}",
    "a table": "CREATE TABLE evil (x)",
    "an index": "CREATE INDEX evil ON {table} (rowid)",
    "a column": "ALTER TABLE {table} ADD COLUMN evil TEXT",
}
TABLES = {"sessions.db": "entries", "memories.db": "facts", "messages.db": "messages"}


@pytest.mark.parametrize("statement", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("name", TABLES)
def test_a_database_with_something_that_is_not_ours_is_refused_and_left_as_it_is(
    vault: Path, name: str, statement: str
) -> None:
    path = vault / ".zkchat" / name
    make(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement.format(table=TABLES[name]).replace("(rowid)", "(1)"))
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint (TRUNCATE)")
    before = content(vault)
    with pytest.raises(StorageError, match="something other than zkchat changed it"):
        validate_vault_database(vault, name)
    assert content(vault) == before


def test_what_is_only_in_the_log_is_seen_too(vault: Path) -> None:
    path = vault / ".zkchat" / "sessions.db"
    make(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW evil AS SELECT * FROM entries")
        with pytest.raises(StorageError, match="something other than zkchat"):
            validate_vault_database(vault, "sessions.db")


@pytest.mark.parametrize("version", [0, 3, 999])
def test_a_database_of_another_program_is_refused_whatever_its_version(vault: Path, version: int) -> None:
    for name in DATABASES:
        hostile_vaults.database(vault, name, version)
        before = content(vault)
        with pytest.raises(StorageError, match="something other than zkchat"):
            validate_vault_database(vault, name)
        assert content(vault) == before


def _linked(target: Path, file: Path) -> None:
    file.symlink_to(target)


def _hard_linked(target: Path, file: Path) -> None:
    file.hardlink_to(target)


@pytest.mark.parametrize("link", [_linked, _hard_linked])
@pytest.mark.parametrize(
    "name",
    [
        "index.db",
        "index.db-wal",
        "index.db-shm",
        "index.db-journal",
        "index.db.lock",
        "index.damaged-1.db",
        "backups/x.db",
    ],
)
def test_a_link_wherever_zkchat_would_write_is_refused(
    vault: Path, tmp_path: Path, link: Callable[[Path, Path], None], name: str
) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    (vault / ".zkchat" / "backups").mkdir()
    link(target, vault / ".zkchat" / name)
    with pytest.raises(StorageError, match="is not used"):
        validate_vault_database(vault, "index.db")
    assert target.read_text() == "mine"


@pytest.mark.parametrize("name", [".zkchat", ".zkchat/backups"])
def test_a_folder_that_is_a_link_is_refused(tmp_path: Path, name: str) -> None:
    vault, elsewhere = tmp_path / "vault", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (vault / name).parent.mkdir(parents=True)
    (vault / name).symlink_to(elsewhere)
    with pytest.raises(StorageError, match="is a symbolic link"):
        validate_vault_database(vault, "sessions.db")


def test_a_pipe_in_the_place_of_a_database_is_refused(vault: Path) -> None:
    os.mkfifo(vault / ".zkchat" / "sessions.db")
    with pytest.raises(StorageError, match="is not used"):
        validate_vault_database(vault, "sessions.db")


def test_a_database_with_a_journal_that_would_change_it_is_refused(vault: Path) -> None:
    path = vault / ".zkchat" / "sessions.db"
    hostile_vaults.hot_journal(vault, "sessions.db")
    before = path.read_bytes()
    with pytest.raises(StorageError):
        validate_vault_database(vault, "sessions.db")
    assert path.read_bytes() == before


@pytest.mark.outside
@pytest.mark.parametrize(
    "shipped", [None, "", "*\n", "!*\n", "!sessions.db\n!memories.db", "/sessions.*\n!*.db\n", b"\xff\n!sessions.db\n"]
)
def test_version_control_sees_no_database_whatever_the_vault_says(vault: Path, shipped: str | bytes | None) -> None:
    folder = vault / ".zkchat"
    if shipped is not None:
        (folder / ".gitignore").write_bytes(shipped.encode() if isinstance(shipped, str) else shipped)
    (vault / ".gitignore").write_text("!.zkchat/*.db\n!*.db\n")
    ignore_in_git(vault)
    ignore_in_git(vault)
    (folder / "backups").mkdir()
    for name in ("{}.db", "{}.db-wal", "{}.db-shm", "{}.db.lock", "{}.damaged-20260101T000000.db", "backups/{}-1Z.db"):
        for database in DATABASES:
            (folder / name.format(Path(database).stem)).touch()
    (vault / "Note.md").touch()
    subprocess.run(["git", "init", "-q", str(vault)], check=True)
    subprocess.run(["git", "-C", str(vault), "add", "-A"], check=True)
    listed = subprocess.run(["git", "-C", str(vault), "ls-files"], check=True, capture_output=True, text=True).stdout
    assert {*listed.split()} - {".zkchat/.gitignore"} == {".gitignore", "Note.md"}


def test_what_the_user_ignores_stays(vault: Path) -> None:
    file = vault / ".zkchat" / ".gitignore"
    file.write_text("mine")
    ignore_in_git(vault)
    once = file.read_text()
    assert once.startswith("mine\n# ")
    file.write_text(once + "more\n")
    ignore_in_git(vault)
    assert file.read_text() == once.replace("mine\n", "mine\nmore\n")


def test_a_gitignore_that_is_a_link_is_refused(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (vault / ".zkchat" / ".gitignore").symlink_to(tmp_path / "precious")
    with pytest.raises(StorageError, match="symbolic link"):
        ignore_in_git(vault)
    assert (tmp_path / "precious").read_text() == "mine"
