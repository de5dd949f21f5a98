"""Embed a vault in child processes that are killed at random moments, and go on until everything is embedded.

    python -m tests.faults.kill_embedding FOLDER KILLS

A child dies before a line of the modules that embed and store vectors, chosen at random; what it writes, it writes in
small pieces. After each kill the vectors that are there must be those of their passages. Prints one JSON object: what
was embedded more than once beyond the batches in flight, which vectors were wrong, and whether all came about.
"""

import json
import os
import random
import signal
import sys
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from tests.support.embedders import RecordingEmbedder, StaticEmbedder, stored_vectors
from zkchat.core.index import passage_digest
from zkchat.index import vector_files
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.method_vectors import packed
from zkchat.index.search.vectors import VectorSearch
from zkchat.storage.vault_files import VaultFiles

NOTES = 24
BATCH = 4
PIECE_BYTES = 100
SEED = 7
TRACED = ("vector_files.py", "embedding.py", "kill_embedding.py")


def write_vault(vault: Path) -> None:
    vault.mkdir(parents=True)
    for number in range(NOTES):
        (vault / f"n{number}.md").write_text(f"# Garden {number}\n\nplants {number}\n")


class Logging(RecordingEmbedder):
    """Writes down what it embeds."""

    def __init__(self, log: Path) -> None:
        super().__init__(batch_size=BATCH)
        self._log = log

    def embed(self, texts: Any) -> Any:
        with self._log.open("a") as log:
            log.write(f"{json.dumps(texts)}\n")
        return super().embed(texts)


def library_of(vault: Path, index: SqliteNoteIndex, log: Path) -> Library:
    files = VaultFiles(vault, exclude=(), max_note_bytes=10_000)
    return Library.over(files, index, VectorSearch(index.vectors, Logging(log), base=StaticEmbedder()))


def embed_all(library: Library) -> None:
    library.refresh()
    library.embed()
    library.embed_by_server()


def write_in_pieces(file: BinaryIO, content: bytes) -> None:
    for start in range(0, len(content), PIECE_BYTES):
        file.write(content[start : start + PIECE_BYTES])


class Doom:
    """Kills the process before the n-th line of what is traced; without n, only counts."""

    def __init__(self, last: int | None) -> None:
        self.lines = 0
        self._last = last

    def __call__(self, frame: FrameType, event: str, _argument: object) -> "Doom | None":
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self._last:
                os.kill(os.getpid(), signal.SIGKILL)
        return self


def lines_of(vault: Path, database: Path, log: Path) -> int:
    """Of all the work."""
    vector_files._write_whole = write_in_pieces
    doom = Doom(None)
    with closing(SqliteNoteIndex(database)) as index:
        library = library_of(vault, index, log)
        sys.settrace(doom)
        embed_all(library)
        sys.settrace(None)
    return doom.lines


def killed(vault: Path, database: Path, log: Path, last: int) -> bool:
    child = os.fork()
    if child == 0:
        library = library_of(vault, SqliteNoteIndex(database), log)
        sys.settrace(Doom(last))
        embed_all(library)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def vectors_in(database: Path, method: str) -> list[tuple[bytes, bytes]]:
    with closing(SqliteNoteIndex(database)) as index:
        return stored_vectors(index.vectors, method)


def main(folder: Path, kills: int) -> None:
    vault, chosen = folder / "vault", random.Random(SEED)
    write_vault(vault)
    lines = lines_of(vault, folder / "counted.db", folder / "counted.log")
    server = RecordingEmbedder()
    texts = [(f"Garden {number}", f"# Garden {number}\n\nplants {number}") for number in range(NOTES)]
    right = {passage_digest(*text): packed(server.direction("\n".join(text))[None]) for text in texts}
    report = {"lines": lines, "kills": 0, "wrong": 0, "twice": 0, "stored twice": 0, "incomplete": 0, "most kills": 0}
    number = 0
    while report["kills"] < kills:
        database, log, own_kills = folder / f"{number}.db", folder / f"{number}.log", 0
        while report["kills"] < kills and killed(vault, database, log, chosen.randint(1, lines)):
            own_kills += 1
            report["kills"] += 1
            found = vectors_in(database, server.name)
            report["wrong"] += sum(right.get(digest) != vector for digest, vector in found)
        with closing(SqliteNoteIndex(database)) as index:
            library = library_of(vault, index, log)
            embed_all(library)
            progress = library.embedding_progress()
        found = vectors_in(database, server.name)
        report["incomplete"] += dict(found) != right or not progress or progress.active_method != server.name
        report["stored twice"] += len(found) - len(dict(found))
        embedded = [text for line in log.read_text().splitlines() for text in json.loads(line)]
        report["twice"] += max(0, len(embedded) - len({*embedded}) - BATCH * own_kills)
        report["most kills"] = max(report["most kills"], own_kills)
        number += 1
    print(json.dumps(report))  # noqa: T201 - the answer to the test that runs this


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
