"""What searching by vectors costs in a vault of many passages: static ones, and larger ones as servers make them.

    python -m benchmarks.speed.vector_speed [--notes N] [--dimensions D]

The larger vectors are static ones, projected at random: what they cost does not depend on what they say. Beside the
mapped files, the same vectors are kept as rows of a database, as a baseline of the same run: how long the first look
takes, and how long it takes to have the vectors of 256 passages. Times are of the processor; the memory is the most
that a process held, mapped pages included, in a process of its own for each method.
"""

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.generate import write_vault
from benchmarks.speed.memory import PeakMemory, held_now
from zkchat.core import DIGEST_BYTES, Embedder, SimilarityTraits
from zkchat.index import Library, SqliteNoteIndex, VectorSearch, signs
from zkchat.models import installed
from zkchat.storage import VaultFiles

NOTES = 12_500
"""100,000 passages."""
DIMENSIONS = 768
QUERIES = 300
CANDIDATES = 256
METHODS = ("static", "large")


class Projected:
    """Static vectors in more dimensions; as if a server on this machine made them."""

    is_on_this_machine = True
    needs_server = True
    is_in_process = False
    batch_size = 64
    traits = SimilarityTraits()

    def __init__(self, dimensions: int) -> None:
        self.name = f"projected-{dimensions}"
        self.dimensions = dimensions
        self._projection = np.random.default_rng(1).standard_normal((256, dimensions)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = installed().embed(texts) @ self._projection
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector


def embedder_of(method: str, dimensions: int) -> Embedder:
    return installed() if method == "static" else Projected(dimensions)


def library_of(vault: Path, index: SqliteNoteIndex, embedder: Embedder) -> Library:
    files = VaultFiles(vault, exclude=(), max_note_bytes=10_000_000)
    search = VectorSearch(index.vectors, embedder, base=installed(), query_seconds=60, clock=time.monotonic)
    return Library.over(files, index, search)


def milliseconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)


def prepared(vault: Path, database: Path, dimensions: int) -> dict[str, float]:
    """Index and embed everything, by both methods."""
    with closing(SqliteNoteIndex(database)) as index:
        library = library_of(vault, index, Projected(dimensions))
        took = {"index": milliseconds(library.refresh)}
        took["static vectors of all"] = milliseconds(library.embed)
        took["large vectors of all"] = milliseconds(library.embed_by_server)
        took["look for passages without a vector"] = milliseconds(library.embed_by_server)
        took["passages"] = library.counts().sections
        return took


def searched(vault: Path, database: Path, queries: list[str], method: str, dimensions: int) -> dict[str, float]:
    """In a process of its own."""
    installed().embed(["warm"])
    found: dict[str, float] = {}
    with closing(SqliteNoteIndex(database)) as index:
        library = library_of(vault, index, embedder_of(method, dimensions))
        library.search(queries[0], words_only=True)
        found["first search"] = milliseconds(lambda: library.search(queries[0]))
        with PeakMemory() as peak:
            times = sorted(milliseconds(partial(library.search, each)) for each in queries)
        found |= {"search, p50": times[len(times) // 2], "search, p95": times[int(0.95 * len(times))]}
        note = next(vault.rglob("*.md"))
        note.write_text(f"{note.read_text()}\n\nOne more line.\n")
        library.refresh()
        library.search(queries[1], words_only=True)
        found["search after a change"] = milliseconds(lambda: library.search(queries[1]))
        found["memory, MB"] = max(peak.megabytes, held_now())
    return found


def rows_of(database: Path, method: str) -> Iterator[tuple[bytes, bytes]]:
    with closing(SqliteNoteIndex(database)) as index:
        stored = index.vectors.read(method)
        assert stored
        for block in stored.blocks:
            for row in range(len(block.digests) // DIGEST_BYTES):
                start = block.start + row * stored.vector_bytes
                digest = block.digests[row * DIGEST_BYTES : (row + 1) * DIGEST_BYTES]
                yield digest, bytes(stored.data[start : start + stored.vector_bytes])


def as_rows(database: Path, scratch: Path, method: str) -> dict[str, float]:
    """The same vectors in a table: what it takes to have their signs, and some of them."""
    with closing(sqlite3.connect(scratch, isolation_level=None)) as rows:
        rows.execute("PRAGMA journal_mode = WAL")
        rows.execute("CREATE TABLE vectors (section INTEGER PRIMARY KEY, vector BLOB NOT NULL)")
        rows.execute("BEGIN")
        vectors = enumerate(vector for _, vector in rows_of(database, method))
        count = rows.executemany("INSERT INTO vectors VALUES (?, ?)", vectors).rowcount
        rows.execute("COMMIT")

        def load() -> None:
            last = -1
            while some := rows.execute(
                "SELECT section, vector FROM vectors WHERE section > ? ORDER BY section LIMIT 8192", (last,)
            ).fetchall():
                signs(np.frombuffer(b"".join([vector for _, vector in some]), dtype=np.int8).reshape(len(some), -1))
                last = some[-1][0]

        chosen = np.random.default_rng(2).integers(0, count, (50, CANDIDATES)).tolist()
        query = "SELECT section, vector FROM json_each(?) AS wanted CROSS JOIN vectors ON section = wanted.value"
        took = [milliseconds(rows.execute(query, (json.dumps(some),)).fetchall) for some in chosen]
        return {"first look": milliseconds(load), f"{CANDIDATES} vectors": sorted(took)[len(took) // 2]}


def as_mapped(database: Path, method: str) -> dict[str, float]:
    with closing(SqliteNoteIndex(database)) as index:
        took = milliseconds(lambda: index.vectors.read(method))
        stored = index.vectors.read(method)
        assert stored
        starts = np.concatenate(
            [
                block.start + stored.vector_bytes * np.arange(len(block.digests) // DIGEST_BYTES)
                for block in stored.blocks
            ]
        )
        chosen = np.random.default_rng(2).choice(starts, (50, CANDIDATES)).tolist()

        def read(some: Sequence[int]) -> bytes:
            return b"".join([stored.data[start : start + stored.vector_bytes] for start in some])

        times = sorted(milliseconds(partial(read, some)) for some in chosen)
        return {"first look": took, f"{CANDIDATES} vectors": times[len(times) // 2]}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--notes", type=int, default=NOTES)
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vault, database = folder / "vault", folder / "index.db"
        queries = write_vault(vault, wanted.notes).queries(QUERIES)
        apart = partial(ProcessPoolExecutor, 1, mp_context=get_context("spawn"))
        with apart() as process:
            made = process.submit(prepared, vault, database, wanted.dimensions).result()
        print(f"{made.pop('passages'):,.0f} passages; large vectors of {wanted.dimensions} numbers\n")
        for what, took in made.items():
            print(f"{what:38}{took:12,.1f} ms")
        columns: dict[str, dict[str, float]] = {}
        for method in METHODS:
            with apart() as process:
                found = process.submit(searched, vault, database, queries, method, wanted.dimensions).result()
                columns[method] = found
        print(f"\n{'ms of the processor':38}{'static':>12}{'large':>12}")
        for what in columns["static"]:
            print(f"{what:38}{columns['static'][what]:12,.1f}{columns['large'][what]:12,.1f}")
        method = f"projected-{wanted.dimensions}"
        rows, mapped = as_rows(database, folder / "rows.db", method), as_mapped(database, method)
        print(f"\n{'large vectors, ms of the processor':38}{'rows':>12}{'mapped':>12}")
        for what in rows:
            print(f"{what:38}{rows[what]:12,.2f}{mapped[what]:12,.2f}")


if __name__ == "__main__":
    main()
