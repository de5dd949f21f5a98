"""One step of `growth`, in a process of its own: prints what it found as a line of JSON.

    python -m benchmarks.speed.growth_steps STEP VAULT [ARGUMENT]

The steps of zkchat go through the code that its commands use. CPU seconds leave out the start of the process.
"""

import json
import os
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zkchat.index import Library

EDITS = 5
QUERIES = 100
SAMPLE_NOTES = 20_000
"""Notes whose text goes into the plain FTS5 table."""
SEED = 6
AGES = 2_000
"""The notes are of so many days, about as many of each."""
ASKED = 20
"""How often each question is asked, each time about another word."""
QUESTIONS = {
    "plain": ("What do I know about {}?", "How does {} work?", "Which {} is the best?", "Why is there {}?"),
    "time": (
        "What did I write about {} last month?",
        "What is my newest note about {}?",
        "When did I last write about {}?",
        "What did I write last week?",
        "What did I change yesterday?",
        "What did I do on 3 March?",
        "What did I write in 1999?",
    ),
}


def cpu_seconds() -> float:
    """Of this process and of those that it started and that are done."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


def seconds_of(work: Callable[[], object]) -> float:
    before = cpu_seconds()
    work()
    return cpu_seconds() - before


def entries(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as listed:
        for entry in listed:
            if entry.is_dir():
                yield from entries(entry.path)
            else:
                yield entry


@contextmanager
def opened(vault: Path) -> Iterator["Library"]:
    from zkchat.app import open_library
    from zkchat.core import Environment

    with open_library(Environment.of_this_process(), vault) as (_, library):
        yield library


def write(vault: Path, notes: str, words: str, queries: str) -> dict[str, float]:
    """The vault, unless it is there, and questions about it."""
    from benchmarks.generate import Generator, write_vault

    is_there = vault.exists()
    generator = (Generator if is_there else partial(write_vault, vault))(int(notes), words=int(words))
    if not is_there:
        spread_over_days(vault)
    Path(queries).write_text(json.dumps(generator.queries(QUERIES)), "utf-8")
    return {}


def spread_over_days(vault: Path) -> None:
    """Give the files the times of some years."""
    chosen, now = Random(SEED), time.time()
    for entry in sorted(entries(str(vault)), key=lambda entry: entry.path):
        at = now - 86_400 * (1 + AGES * chosen.random())
        os.utime(entry.path, (at, at))


def walk(vault: Path) -> dict[str, float]:
    """The floor of every look at the files."""

    def look() -> None:
        for entry in entries(str(vault)):
            entry.stat()

    return {"seconds": min(seconds_of(look) for _ in range(2))}


def read(vault: Path) -> dict[str, float]:
    """The floor of an index, with `insert`."""
    size = 0

    def read_all() -> None:
        nonlocal size
        for entry in entries(str(vault)):
            size += len(Path(entry.path).read_bytes())

    return {"seconds": seconds_of(read_all), "bytes": size}


def insert(vault: Path) -> dict[str, float]:
    """The text of some notes in a plain FTS5 table, in memory."""
    texts = [(Path(entry.path).read_text("utf-8"),) for entry in islice(entries(str(vault)), SAMPLE_NOTES)]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
        took = seconds_of(lambda: database.executemany("INSERT INTO texts VALUES (?)", texts))
    return {"seconds": took, "notes": len(texts)}


def index(vault: Path) -> dict[str, float]:
    with opened(vault) as library:
        took = seconds_of(library.refresh)
        counts = library.counts()
    return {"seconds": took, "notes": counts.notes, "links": counts.links, "sections": counts.sections}


def vectors(vault: Path) -> dict[str, float]:
    with opened(vault) as library:
        return {"seconds": seconds_of(library.embed)}


def edits(vault: Path) -> dict[str, float]:
    """One note is changed, and the index follows, in a process that has looked at the vault before."""
    note = Path(next(entries(str(vault))).path)
    with opened(vault) as library:
        took: dict[str, list[float]] = {"first look": [seconds_of(library.refresh)], "edit": [], "vectors": []}
        for number in range(EDITS):
            with note.open("a", encoding="utf-8") as file:
                file.write(f"\n\nedit {number}")
            took["edit"].append(seconds_of(library.refresh))
            took["vectors"].append(seconds_of(library.embed))
    return {what: sorted(times)[len(times) // 2] for what, times in took.items()}


def searches(vault: Path, queries: str) -> dict[str, float]:
    """Questions one after the other in one process, as in a chat; the first of them loads what all need."""
    asked = json.loads(Path(queries).read_text("utf-8"))
    with opened(vault) as library:
        first = seconds_of(lambda: library.search(asked[0]))
        took = sorted(seconds_of(lambda each=each: library.search(each)) for each in asked[1:])  # type: ignore[misc]
    return {"first": first, "p50": took[len(took) // 2], "p95": took[int(0.95 * len(took))]}


def questions(vault: Path, queries: str, kind: str) -> dict[str, float]:
    """What the notes say on questions, as in turns of a chat, without the model and the look at the files."""
    from zkchat.answers import find_evidence

    words = [query.split()[-1] for query in json.loads(Path(queries).read_text("utf-8"))[-ASKED:]]
    asked = [question.format(word) for word in words for question in QUESTIONS[kind]]
    with opened(vault) as library:
        first, *took = [seconds_of(lambda each=each: find_evidence(library, each, ())) for each in asked]  # type: ignore[misc]
    took.sort()
    return {"first": first, "p50": took[len(took) // 2], "p95": took[int(0.95 * len(took))]}


STEPS: dict[str, Callable[..., dict[str, float]]] = {
    each.__name__: each for each in (write, walk, read, insert, index, vectors, edits, searches, questions)
}

if __name__ == "__main__":
    step, folder, *arguments = sys.argv[1:]
    print(json.dumps(STEPS[step](Path(folder), *arguments)))
