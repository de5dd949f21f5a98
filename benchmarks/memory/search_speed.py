"""What searching the archive costs in a turn, and in a fresh process, as the archive grows.

    python -m benchmarks.memory.search_speed [--messages N …]

Beside it stands a search of SQLite's own full-text index over the same messages. Milliseconds of this process alone.
"""

import argparse
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from benchmarks.memory.facts import FACTS, SUBJECTS
from benchmarks.memory.needles import conversation, stored
from zkchat.chat import ConversationSearch
from zkchat.core import ChatMessage, MessageEntry
from zkchat.models import installed
from zkchat.sessions import SqliteMessageIndex

TURNS = 60


def milliseconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def row(name: str, times: Sequence[float]) -> None:
    ordered = sorted(times)
    print(f"{name:44}{statistics.median(ordered):10.2f}{ordered[int(0.95 * (len(ordered) - 1))]:10.2f}")


def plain_search(messages: Sequence[ChatMessage], questions: Sequence[str]) -> list[float]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE said USING fts5 (text)")
        database.executemany("INSERT INTO said VALUES (?)", [(message.text,) for message in messages])
        find = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25 (said) LIMIT 25"
        words = ["".join(letter if letter.isalnum() else " " for letter in each).split() for each in questions]
        asked = [" OR ".join(f'"{word}"' for word in each) for each in words]

        def found(each: str) -> list[tuple[int]]:
            return database.execute(find, (each,)).fetchall()

        return [milliseconds(partial(found, each)) for each in asked]


def measure(folder: Path, length: int) -> None:
    messages, _ = conversation(length, seed=7)
    chance = random.Random(7)
    questions = [f"{fact.asked} {' '.join(chance.sample(SUBJECTS, 3))}" for fact in FACTS]
    archived = {message.id for message in messages}
    print(f"\n{f'{length:,} messages':44}{'p50':>10}{'p95':>10}")
    with stored(folder, messages, installed()) as (store, search, session):
        entries = store.entries(session)
        search.ranked("warm", session=session)
        learning, ranking = [], []
        for turn in range(TURNS):
            new = replace(messages[turn], id=f"new{turn}")
            entries += store.append(session, [MessageEntry(message=new)])
            question = questions[turn % len(questions)]
            learning.append(milliseconds(partial(search.learn, session, entries)))
            ranking.append(milliseconds(partial(search.ranked, question, session=session, limit=25, among=archived)))
        row("taking in a new message", learning)
        row("the best 25 of the archive", ranking)
        row(
            "the same with snippets",
            [milliseconds(partial(search.search, each, limit=25)) for each in questions],
        )
        row("FTS5 bm25(), in memory", plain_search(messages, questions))
        with closing(SqliteMessageIndex(folder / "messages.db")) as index:
            fresh = ConversationSearch(index, installed())
            row("first search of a fresh process", [milliseconds(lambda: fresh.search("the dentist", limit=25))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, nargs="+", default=[1_000, 10_000])
    for length in parser.parse_args().messages:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), length)


if __name__ == "__main__":
    main()
