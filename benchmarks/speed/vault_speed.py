"""What the index and the search cost on a generated vault, beside what reading the files costs anybody.

    python -m benchmarks.speed.vault_speed [--notes N] [--peers FOLDER]

Baselines are measured in the same run: `scandir` + `stat` of every file, reading every byte, and one plain FTS5 table
that takes the same text. CPU time and memory are those of all processes together. Ratios are of CPU time, so that other
work on the machine counts little; that of the index built by several processes is of elapsed time. With `--peers`,
obsidiantools and zk-chat are installed into that folder and asked about a vault of 2,000 notes, as zkchat is.
"""

import argparse
import os
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.generate import write_vault
from benchmarks.speed.memory import PeakMemory
from benchmarks.speed.peers import PEER_NOTES, PEERS
from zkchat.index import Library, SqliteNoteIndex, VectorSearch, backlinks
from zkchat.models import installed
from zkchat.notes import LiveCatalog
from zkchat.storage import VaultFiles
from zkchat.subprocesses import ProcessPool

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
    cpu, wall = processor_seconds(), time.perf_counter()
    work()
    return processor_seconds() - cpu, time.perf_counter() - wall


def processor_seconds() -> float:
    """Of this process and of those that it started and that are done."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


def baselines(vault: Path, scratch: Path) -> Times:
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


def library_of(vault: Path, index: SqliteNoteIndex, workers: ProcessPool | None = None) -> Library:
    return Library.over(files_of(vault), index, VectorSearch(index.vectors, installed()), workers=workers)


@dataclass(frozen=True)
class Measured:
    times: Times
    memory: dict[str, float]
    """The most that was held, in MB."""
    held: str
    """What the index holds."""


def measured(vault: Path, database: Path, queries: list[str]) -> Measured:
    """In a process of its own."""
    times: Times = {}
    memory: dict[str, float] = {}

    def watched(name: str, work: Callable[[], object]) -> None:
        with PeakMemory() as peak:
            times[name] = seconds_of(work)
        memory[name] = peak.megabytes

    with closing(SqliteNoteIndex(database)) as index:
        library = library_of(vault, index)
        watched("cold index", library.refresh)
        watched(SHARED, library_of(vault, index, ProcessPool(PROCESSES)).rebuild)
        times["no-op refresh"] = min(seconds_of(library.refresh) for _ in range(5))
        times["one-note refresh"] = median(edits(vault, library))
        times["resolve all links"] = seconds_of(lambda: resolve_all(index))
        times["backlinks of one note"] = median(looks_back(library))
        watched("vectors of all sections", library.embed)
        for what, words_only in {"text only": True, "hybrid": False}.items():
            with PeakMemory() as peak:
                library.search(queries[0], words_only=words_only)
                searches = sorted(seconds_of(partial(library.search, each, words_only=words_only)) for each in queries)
            times[f"search, {what}, p50"] = searches[len(searches) // 2]
            times[f"search, {what}, p95"] = searches[int(0.95 * len(searches))]
            memory[f"search, {what}"] = peak.megabytes
        counts = library.counts()
    with closing(SqliteNoteIndex(database)) as index:
        opened = library_of(vault, index)
        times["first search, text only"] = seconds_of(lambda: opened.search(queries[0], words_only=True))
        times["first search, hybrid"] = seconds_of(lambda: opened.search(queries[0]))
    size = f"{counts.bytes / 1e6:,.0f} MB"
    held = f"{counts.notes:,} notes, {counts.links:,} links, {counts.sections:,} sections; {size} on disk"
    return Measured(times, memory, held)


def median(times: Iterable[Seconds]) -> Seconds:
    ordered = sorted(times)
    return ordered[len(ordered) // 2]


def looks_back(library: Library) -> Iterator[Seconds]:
    """The links that lead to some notes, with the lines they stand on."""
    for note in library.notes()[:: max(1, library.note_count() // 100)]:
        yield seconds_of(partial(backlinks, library, note.path))


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
        catalog.resolve_all(index.links_to_resolve([row.path]))


def shown(baseline: Times, found: Measured) -> str:
    look, (read_cpu, read_wall), (insert_cpu, insert_wall) = baseline.values()
    times = found.times
    beside = {
        "cold index": f"{times['cold index'][0] / (read_cpu + insert_cpu):.1f} x (read + FTS5 insert)",
        SHARED: f"{times[SHARED][1] / (read_wall + insert_wall):.1f} x",
        "no-op refresh": f"{times['no-op refresh'][0] / look[0]:.1f} x (scandir + stat)",
    }
    rows = [(f"baseline: {what}", *seconds, "") for what, seconds in baseline.items()]
    rows += [(what, *seconds, beside.get(what, "")) for what, seconds in times.items()]
    lines = [f"{what:28}{1000 * cpu:12,.1f}{1000 * wall:12,.1f}  {note}".rstrip() for what, cpu, wall, note in rows]
    peaks = [f"{what:28}{peak:12,.0f}" for what, peak in found.memory.items()]
    return "\n".join([f"{'ms':28}{'CPU':>12}{'elapsed':>12}", *lines, "", "peak memory, MB", *peaks])


def beside_peers(environments: Path, scratch: Path) -> Iterator[str]:
    """CPU seconds, or why there are none."""
    vault = scratch / "small vault"
    write_vault(vault, PEER_NOTES)
    yield f"\n{f'{PEER_NOTES:,} notes, CPU seconds':28}{'read and index':>16}{'backlinks':>12}"
    with closing(SqliteNoteIndex(scratch / "small.db")) as index:
        library = Library.over(files_of(vault), index)
        cold, _ = seconds_of(library.refresh)
        note = library.notes()[0].path
        back, _ = seconds_of(lambda: backlinks(library, note))
    yield f"{'zkchat':28}{cold:16.2f}{back:12.4f}"
    for peer in PEERS:
        took = peer.asked(environments, vault, note)
        if isinstance(took, str):
            yield f"{peer.name:28}  {took}"
        else:
            index_time = f"{took['index']:16.2f}" if "index" in took else f"{'–':>16}"
            yield f"{peer.name:28}{index_time}{took['backlinks']:12.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="where to install others, to be asked as well")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vault = folder / "vault"
        queries = write_vault(vault, wanted.notes).queries(QUERIES)
        past = time.time() - 60
        for entry in entries(str(vault)):
            os.utime(entry.path, (past, past))
        size = sum(entry.stat().st_size for entry in entries(str(vault)))
        baseline = baselines(vault, folder)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            found = apart.submit(measured, vault, folder / "index.db", queries).result()
        print(f"{size / 1e6:.1f} MB: {found.held}\n\n{shown(baseline, found)}")
        for line in beside_peers(wanted.peers, folder) if wanted.peers else ():
            print(line)


if __name__ == "__main__":
    main()
