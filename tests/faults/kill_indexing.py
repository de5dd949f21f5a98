"""Refresh the index of a vault in child processes that kill themselves before their n-th statement, for many n.

    python -m tests.faults.kill_indexing FOLDER KILLS

After each kill the index must be sound, and the next refresh must make it what a rebuild would; the same after several
processes refreshed it at once. Prints one JSON object.
"""

import json
import os
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from zkchat.index.indexing import reader
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.database import ThreadConnection
from zkchat.storage.vault_files import VaultFiles

NOTES = 12
reader.MAX_PART_NOTES = 4


class Doomed(SqliteNoteIndex):
    """Counts its statements and dies before one of them."""

    def __init__(self, path: Path, last: int) -> None:
        super().__init__(path)
        self.statements = 0
        connect = self._file._connect

        def connected() -> ThreadConnection:
            opened = connect()
            opened.database.set_trace_callback(lambda _statement: self._count(last))
            return opened

        self._file._connect = connected  # type: ignore[method-assign]

    def _count(self, last: int) -> None:
        self.statements += 1
        if self.statements == last:
            os.kill(os.getpid(), signal.SIGKILL)


def write_vault(vault: Path) -> None:
    vault.mkdir()
    for number in range(NOTES):
        text = f"# Garden {number}\n\n[[n{number + 1}]] #tag\n\n## Beds\n\nplants {number}\n"
        (vault / f"n{number}.md").write_text(text)


def change_vault(vault: Path) -> None:
    for number in range(0, NOTES, 2):
        (vault / f"n{number}.md").write_text(f"# Changed {number}\n\n[[m]] plants\n")
    (vault / "n1.md").rename(vault / "m.md")
    (vault / "n3.md").unlink()


def library_of(vault: Path, index: SqliteNoteIndex) -> Library:
    return Library.over(VaultFiles(vault, exclude=(), max_note_bytes=10_000), index)


def found_in(vault: Path, database: Path) -> object:
    """What a refresh makes of an index."""
    with closing(SqliteNoteIndex(database)) as index:
        library = library_of(vault, index)
        library.refresh()
        notes = sorted(index.catalog(), key=lambda row: row.path)
        return (
            notes,
            [(each.source, each.link, each.resolution) for row in notes for each in index.links_from([row.path])],
            [library.search(query, limit=99) for query in ("plants garden", "changed", "tag:tag")],
            index.is_complete(),
        )


def statements_of_a_refresh(vault: Path, database: Path) -> int:
    with closing(Doomed(database, last=0)) as index:
        library_of(vault, index).refresh()
        return index.statements


def killed(vault: Path, database: Path, last: int) -> bool:
    child = os.fork()
    if child == 0:
        library_of(vault, Doomed(database, last)).refresh()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def refresh_together(vault: Path, database: Path, processes: int) -> int:
    """How many of several processes that index the same vault at the same time did not succeed."""
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            library_of(vault, SqliteNoteIndex(database)).refresh()
            os._exit(0)
        children.append(child)
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


def is_sound(database: Path) -> bool:
    with closing(sqlite3.connect(database)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok")


def main(folder: Path, kills: int) -> None:
    vault = folder / "vault"
    write_vault(vault)
    before = folder / "before.db"
    with closing(SqliteNoteIndex(before)) as index:
        library_of(vault, index).refresh()
    old = before.read_bytes()
    change_vault(vault)
    wanted = found_in(vault, folder / "rebuilt.db")
    (folder / "counted.db").write_bytes(old)
    total = statements_of_a_refresh(vault, folder / "counted.db")
    report = {"statements": total, "kills": 0, "unsound": 0, "different": 0, "halfway": 0, "failed together": 0}
    for number, beginning in enumerate((None, old, None, old)):
        database = folder / f"together{number}.db"
        if beginning:
            database.write_bytes(beginning)
        report["failed together"] += refresh_together(vault, database, processes=4)
        report["different"] += found_in(vault, database) != wanted
    for number in range(kills):
        database = folder / f"{number}.db"
        database.write_bytes(old)
        report["kills"] += killed(vault, database, last=1 + number * total // kills)
        report["unsound"] += not is_sound(database)
        with closing(SqliteNoteIndex(database)) as index:
            report["halfway"] += not index.is_complete()
        report["different"] += found_in(vault, database) != wanted
    print(json.dumps(report))  # noqa: T201 - the answer to the test that runs this


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
