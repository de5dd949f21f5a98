"""What the index and the search cost on a generated vault, beside what reading the files costs anybody.

Run it with: python -m benchmarks.speed.vault_speed --notes 10000
Floors are measured in the same run: `scandir` + `stat` of every file, reading every byte, and one plain FTS5 table that
takes the same text. Ratios are of CPU time, so that other work on the machine counts as little as possible; that of the
index built by several processes is of elapsed time.
"""

import argparse
import os
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.generate import write_vault
from zkchat.storage.note_index import SqliteNoteIndex
from zkchat.storage.processes import ProcessWorkers
from zkchat.storage.vault_files import VaultFiles
from zkchat.vault.catalog import LiveCatalog
from zkchat.vault.library import Library

QUERIES = 300
PROCESSES = min(4, os.cpu_count() or 1)
SHARED = f"cold index, {PROCESSES} processes"


Seconds = tuple[float, float]
"""Of the processor, and of the clock on the wall."""
Times = dict[str, Seconds]


def entries(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as listed:
        for entry in listed:
            if entry.is_dir():
                yield from entries(entry.path)
            else:
                yield entry


def seconds_of(work: Callable[[], object]) -> Seconds:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def floors(vault: Path, scratch: Path) -> Times:
    def look() -> None:
        for entry in entries(str(vault)):
            entry.stat()

    def read() -> list[bytes]:
        return [Path(entry.path).read_bytes() for entry in entries(str(vault))]

    def insert() -> None:
        with closing(sqlite3.connect(scratch / "fts5.db", isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
            database.execute("BEGIN")
            database.executemany("INSERT INTO texts VALUES (?)", ((text,) for text in texts))
            database.execute("COMMIT")

    texts = [content.decode() for content in read()]
    return {
        "scandir + stat": min(seconds_of(look) for _ in range(3)),
        "read all bytes": min(seconds_of(read) for _ in range(2)),
        "plain FTS5 insert": seconds_of(insert),
    }


def files_of(vault: Path) -> VaultFiles:
    return VaultFiles(vault, exclude=(), max_note_bytes=10_000_000)


def measured(vault: Path, database: Path, queries: list[str]) -> tuple[Times, float, str]:
    """In a process of its own: the times, the most memory while indexing (in MB), and what the index holds."""
    times: Times = {}
    with closing(SqliteNoteIndex(database)) as index:
        library = Library(files_of(vault), index)
        times["cold index"] = seconds_of(library.refresh)
        memory = peak_memory()
        times[SHARED] = seconds_of(Library(files_of(vault), index, workers=ProcessWorkers(PROCESSES)).rebuild)
        times["no-op refresh"] = min(seconds_of(library.refresh) for _ in range(5))
        times["one-note refresh"] = sorted(edits(vault, library))[7]
        times["resolve all links"] = seconds_of(lambda: resolve_all(index))
        library.search(queries[0])
        searches = sorted(seconds_of(partial(library.search, query)) for query in queries)
        times["search, p50"] = searches[len(searches) // 2]
        times["search, p95"] = searches[int(0.95 * len(searches))]
        counts = library.counts()
    with closing(SqliteNoteIndex(database)) as index:
        times["first search after opening"] = seconds_of(lambda: Library(files_of(vault), index).search(queries[0]))
    held = f"{counts.notes:,} notes, {counts.links:,} links, {counts.sections:,} sections"
    return times, memory, held


def peak_memory() -> float:
    """In MB. Linux counts what the parent had, too, unless asked in its own way."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def edits(vault: Path, library: Library) -> Iterator[Seconds]:
    note = Path(next(entries(str(vault))).path)
    for number in range(15):
        with note.open("a", encoding="utf-8") as file:
            file.write(f"\n\nedit {number}")
        yield seconds_of(library.refresh)


def resolve_all(index: SqliteNoteIndex) -> None:
    catalog = LiveCatalog(index)
    catalog.catch_up()
    for row in index.catalog():
        for stored in index.links_from([row.path]):
            catalog.resolve(stored.link, stored.source, suggestions=0)


def shown(floor: Times, times: Times, memory: float) -> str:
    look, (read_cpu, read_wall), (insert_cpu, insert_wall) = floor.values()
    beside = {
        "cold index": f"{times['cold index'][0] / (read_cpu + insert_cpu):.1f} x (read + FTS5 insert)",
        SHARED: f"{times[SHARED][1] / (read_wall + insert_wall):.1f} x",
        "no-op refresh": f"{times['no-op refresh'][0] / look[0]:.1f} x (scandir + stat)",
    }
    rows = [(f"floor: {what}", *seconds, "") for what, seconds in floor.items()]
    rows += [(what, *seconds, beside.get(what, "")) for what, seconds in times.items()]
    lines = [f"{what:28}{1000 * cpu:12,.1f}{1000 * wall:12,.1f}  {note}".rstrip() for what, cpu, wall, note in rows]
    return "\n".join([f"{'ms':28}{'CPU':>12}{'elapsed':>12}", *lines, f"{'peak memory, MB':28}{memory:12,.0f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    notes = parser.parse_args().notes
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        queries = write_vault(vault, notes).queries(QUERIES)
        past = time.time() - 60
        for entry in entries(str(vault)):
            os.utime(entry.path, (past, past))
        size = sum(entry.stat().st_size for entry in entries(str(vault)))
        floor = floors(vault, Path(folder))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            times, memory, held = apart.submit(measured, vault, Path(folder) / "index.db", queries).result()
        print(f"{size / 1e6:.1f} MB: {held}\n\n{shown(floor, times, memory)}")


if __name__ == "__main__":
    main()
