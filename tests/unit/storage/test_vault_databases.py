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
    with pytest.raises(StorageError, match="another program"):
        validate_vault_database(vault, "sessions.db")


FOREIGN = (
    "CREATE TRIGGER evil AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END",
    "CREATE VIEW evil AS SELECT * FROM {table}",
    "CREATE TABLE evil (x)",
    "CREATE INDEX evil ON {table} (1)",
    "ALTER TABLE {table} ADD COLUMN evil TEXT",
)
TABLES = {"sessions.db": "entries", "memories.db": "facts", "messages.db": "messages"}


@pytest.mark.parametrize(
    ("name", "statement"),
    [*(("sessions.db", statement) for statement in FOREIGN), ("memories.db", FOREIGN[0]), ("messages.db", FOREIGN[1])],
)
def test_a_database_with_something_that_is_not_ours_is_refused_and_left_as_it_is(
    vault: Path, name: str, statement: str
) -> None:
    path = vault / ".zkchat" / name
    make(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement.format(table=TABLES[name]))
        connection.commit()
        with pytest.raises(StorageError, match="another program"):
            validate_vault_database(vault, name)  # it is only in the log by now
        connection.execute("PRAGMA wal_checkpoint (TRUNCATE)")
    before = content(vault)
    with pytest.raises(StorageError, match="another program changed it"):
        validate_vault_database(vault, name)
    assert content(vault) == before


@pytest.mark.parametrize("version", [0, 3, 999])
def test_a_database_of_another_program_is_refused_whatever_its_version(vault: Path, version: int) -> None:
    for name in DATABASES:
        hostile_vaults.database(vault, name, version)
        before = content(vault)
        with pytest.raises(StorageError, match="another program"):
            validate_vault_database(vault, name)
        assert content(vault) == before


NAMES = ("index.db", "index.db-wal", "index.db-shm", "index.db-journal", "index.db.lock", "index.damaged-1.db")


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_link_or_pipe_wherever_zkchat_would_write_is_refused(vault: Path, link: Callable[[Path, Path], None]) -> None:
    target = vault.parent / "precious"
    target.write_text("mine")
    (vault / ".zkchat" / "backups").mkdir()
    for name in (*NAMES, "backups/x.db"):
        file = vault / ".zkchat" / name
        link(file, target)
        with pytest.raises(StorageError, match="is not used"):
            validate_vault_database(vault, "index.db")
        file.unlink()
    assert target.read_text() == "mine"
    os.mkfifo(vault / ".zkchat" / "index.db")
    with pytest.raises(StorageError, match="is not used"):
        validate_vault_database(vault, "index.db")


@pytest.mark.parametrize("name", [".zkchat", ".zkchat/backups"])
def test_a_folder_that_is_a_link_is_refused(tmp_path: Path, name: str) -> None:
    vault, elsewhere = tmp_path / "vault", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (vault / name).parent.mkdir(parents=True)
    (vault / name).symlink_to(elsewhere)
    with pytest.raises(StorageError, match="is a symbolic link"):
        validate_vault_database(vault, "sessions.db")


def test_a_database_with_a_journal_that_would_change_it_is_refused(vault: Path) -> None:
    path = vault / ".zkchat" / "sessions.db"
    hostile_vaults.hot_journal(vault, "sessions.db")
    before = path.read_bytes()
    with pytest.raises(StorageError):
        validate_vault_database(vault, "sessions.db")
    assert path.read_bytes() == before


@pytest.mark.outside
@pytest.mark.parametrize("shipped", [None, "!*\n", "/sessions.*\n!*.db\n", b"\xff\n!sessions.db\n"])
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
