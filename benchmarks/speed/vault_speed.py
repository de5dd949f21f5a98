"""What the index and the search cost on a generated vault, beside what reading the files costs anybody.

Run it with: .venv/bin/python benchmarks/speed/vault_speed.py --notes 10000
Floors are measured in the same run: `scandir` + `stat` of every file, reading every byte, and one plain FTS5 table that
takes the same text. Seconds are those of the processor, so that other work on the machine counts as little as possible.
"""

import argparse
import os
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from generate import Generator, write_vault

from zkchat.storage.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles
from zkchat.vault.library import Library

QUERIES = 300


@dataclass(frozen=True)
class Row:
    what: str
    seconds: float
    note: str = ""


def entries(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as listed:
        for entry in listed:
            if entry.is_dir():
                yield from entries(entry.path)
            else:
                yield entry


def seconds_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def floors(vault: Path, scratch: Path) -> dict[str, float]:
    def look() -> None:
        for entry in entries(str(vault)):
            entry.stat()

    def read() -> list[bytes]:
        return [Path(entry.path).read_bytes() for entry in entries(str(vault))]

    texts = [content.decode() for content in read()]

    def insert() -> None:
        with closing(sqlite3.connect(scratch / "fts5.db", isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
            database.execute("BEGIN")
            database.executemany("INSERT INTO texts VALUES (?)", ((text,) for text in texts))
            database.execute("COMMIT")

    return {
        "scandir + stat": min(seconds_of(look) for _ in range(3)),
        "read all bytes": min(seconds_of(read) for _ in range(2)),
        "plain FTS5 insert": seconds_of(insert),
    }


def opened(vault: Path, index: SqliteNoteIndex) -> Library:
    return Library(VaultFiles(vault, exclude=(), max_note_bytes=10_000_000), index)


def measured(vault: Path, database: Path, queries: list[str]) -> tuple[list[Row], float]:
    """Every step in a process of its own, and the most memory it had, in MB."""
    rows = []
    with closing(SqliteNoteIndex(database)) as index:
        library = opened(vault, index)
        rows.append(Row("cold index", seconds_of(library.refresh)))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append(Row("no-op refresh", min(seconds_of(library.refresh) for _ in range(5))))
        changed = next(entry.path for entry in entries(str(vault)))
        edits = []
        for number in range(9):
            with open(changed, "a", encoding="utf-8") as note:
                note.write(f"\n\nedit {number}")
            edits.append(seconds_of(library.refresh))
        rows.append(Row("one-note refresh", statistics.median(edits)))
        rows.append(Row("resolve all links", seconds_of(lambda: resolve_all(library, index))))
        library.search(queries[0])
        times = sorted(seconds_of(lambda query=query: library.search(query)) for query in queries[1:])
        rows.append(Row("search, p50", statistics.median(times)))
        rows.append(Row("search, p95", times[int(0.95 * len(times))]))
        counts = library.counts()
    with closing(SqliteNoteIndex(database)) as index:
        rows.append(Row("first search of a process", seconds_of(lambda: opened(vault, index).search(queries[0]))))
    print(f"{counts.notes:,} notes, {counts.links:,} links, {counts.sections:,} sections")
    return rows, memory


def resolve_all(library: Library, index: SqliteNoteIndex) -> None:
    for row in index.catalog():
        for stored in index.links_from([row.path]):
            library.resolve(stored.link, stored.source)


def table(title: str, rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([title, *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    notes = parser.parse_args().notes
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        generator = write_vault(vault, notes)
        past = time.time() - 60
        for entry in entries(str(vault)):
            os.utime(entry.path, (past, past))
        size = sum(entry.stat().st_size for entry in entries(str(vault)))
        print(f"{size / 1e6:.1f} MB")
        base = floors(vault, Path(folder))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            rows, memory = apart.submit(measured, vault, Path(folder) / "index.db", generator.queries(QUERIES)).result()
    look, build = base["scandir + stat"], base["read all bytes"] + base["plain FTS5 insert"]
    shares = {"cold index": (build, "read + FTS5 insert"), "no-op refresh": (look, "scandir + stat")}
    shown = [("", "CPU ms", "")]
    shown += [(f"floor: {what}", f"{seconds * 1e3:,.1f}", "") for what, seconds in base.items()]
    for row in rows:
        floor, name = shares.get(row.what, (0.0, ""))
        beside = f"{row.seconds / floor:.2f} x ({name})" if floor else ""
        shown.append((row.what, f"{row.seconds * 1e3:,.1f}", beside))
    shown.append(("peak memory", f"{memory:.0f} MB", ""))
    print(table("", shown))


if __name__ == "__main__":
    main()
