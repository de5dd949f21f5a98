"""What zkchat itself costs in a turn: links, refresh, search, request, ledger and store, without the model's own time.

    python -m benchmarks.speed.turn_speed [--notes N] [--words N] [--turns N] [--folder FOLDER]

The model answers at once from a script, with one search by tool. In a chat the files are looked at while the user
types, so that look stands in a row of its own; `ask` looks in its turn. Beside them stand two baselines of the same
run: looking at every file of the vault (`scandir` + `stat`), and four commits to SQLite that reach the disk. On a busy
machine look at the CPU time, which leaves out waiting for the disk. The first turns are left out: they load what all
need, and the first two looks list every folder.

With `--folder`, vault and index are kept there for the next run.
"""

import argparse
import asyncio
import io
import json
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random

from msgspec.structs import replace

from benchmarks.generate import WORDS_OF_NOTE, Generator, write_vault
from zkchat.app import ConversationOptions, conversation
from zkchat.chat import Conversation
from zkchat.core import Environment, TurnFinished

Milliseconds = tuple[float, float]
"""Of the clock on the wall, and of the processor."""
SEED = 4
LEFT_OUT = 3
"""Turns at the start that are not counted."""
MAX_REFRESH_SECONDS = 60.0
"""Seconds; more than a look takes."""


def milliseconds(work: Callable[[], object]) -> Milliseconds:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000


def look_at_every_file(folder: str) -> None:
    with os.scandir(folder) as listed:
        for entry in listed:
            if entry.is_dir():
                look_at_every_file(entry.path)
            else:
                entry.stat()


def four_commits(database: sqlite3.Connection) -> None:
    for _ in range(4):
        database.execute("INSERT INTO rows VALUES (?)", ("x" * 500,))
        database.commit()


def one_turn(conversation: Conversation, question: str) -> None:
    async def run() -> None:
        last = [event async for event in conversation.say(question)][-1]
        assert isinstance(last, TurnFinished), last

    asyncio.run(run())


def typed(opened: conversation.OpenConversation) -> Milliseconds:
    """A look at the files, as it goes on while somebody types."""

    def look() -> None:
        opened.library.prefetch()
        opened.library.refresh_within(MAX_REFRESH_SECONDS)

    return milliseconds(look)


def chat(opened: conversation.OpenConversation, questions: list[str]) -> tuple[list[Milliseconds], list[Milliseconds]]:
    """The looks while the user typed, and the turns that came after them."""
    looks, turns = [typed(opened)], []
    for question in questions:
        time.sleep(max(1.0, 0.011 * looks[-1][0]))  # looks are made about once a second, and for a tenth of the time
        looks.append(typed(opened))
        turns.append(milliseconds(partial(one_turn, opened.conversation, question)))
    return looks[1:], turns


def ask(opened: conversation.OpenConversation, questions: list[str]) -> list[Milliseconds]:
    return [milliseconds(partial(one_turn, opened.conversation, question)) for question in questions]


def baselines(folder: Path, vault: Path) -> tuple[list[Milliseconds], list[Milliseconds]]:
    looks = [milliseconds(lambda: look_at_every_file(str(vault))) for _ in range(20)]
    with closing(sqlite3.connect(folder / "baseline.db")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("CREATE TABLE rows (text)")
        return looks, [milliseconds(lambda: four_commits(database)) for _ in range(20)]


def row(name: str, times: list[Milliseconds]) -> str:
    columns = [sorted(column) for column in zip(*times, strict=True)]
    figures = [figure for each in columns for figure in (statistics.median(each), each[int(0.95 * (len(each) - 1))])]
    return f"{name:48}" + "".join(f"{figure:10.1f}" for figure in figures)


def script(queries: list[str]) -> str:
    answers = [
        answer
        for query in queries
        for answer in ([{"tool": "find_excerpts", "arguments": {"query": query}}], [{"text": "Noted in [[x]]."}])
    ]
    return json.dumps({"answers": answers, "context_limit": 200_000})


def environment_of(folder: Path, data: Path) -> Environment:
    """With the index in one folder, and the sessions in another."""
    return Environment(
        stdin=io.StringIO(),
        stdout=io.StringIO(),
        stderr=io.StringIO(),
        variables={
            "ZKCHAT_CONTEXT__MAX_TOKENS": "200000",  # else it is the summaries that are measured
            "XDG_DATA_HOME": str(data),
        },
        cwd=data,
        home=folder,
    )


def measure(folder: Path, data: Path, notes: int, words: int, turns: int) -> Iterator[str]:
    """Run the turns over the vault in a folder, which is written unless it is there; yielded are the rows."""
    vault = folder / "vault"
    if not vault.exists():
        vault.mkdir()
        write_vault(vault, notes, words)
    queries = Generator(notes, words=words).queries(turns)
    Random(SEED).shuffle(queries)  # they come sorted by kind, and the first ten are to be compared with the last
    (data / "play.json").write_text(script(queries))
    environment = environment_of(folder, data)
    options = ConversationOptions(vault=vault, model="scripted:play.json")
    questions = [f"{query}? See [[{query}]]." for query in queries]
    with conversation.open_conversation(environment, options) as opened:
        opened.refresher.refresh()
        opened.library.embed()
        asked = ask(opened, questions)[LEFT_OUT:]
    with conversation.open_conversation(environment, replace(options, bounded_refresh=True)) as opened:
        looks, chats = chat(opened, questions)
    every_file, commits = baselines(data, vault)
    title = f"{notes:,} notes, {turns} turns"
    yield f"{title:48}{'p50 ms':>10}{'p95 ms':>10}{'CPU p50':>10}{'CPU p95':>10}"
    yield row("the look at the files, while the user types", looks[LEFT_OUT:])
    yield row("a turn of a chat after it, without the model", chats[LEFT_OUT:])
    yield row("    the first ten", chats[LEFT_OUT : LEFT_OUT + 10])
    yield row("    the last ten", chats[-10:])
    yield row("a turn with the look in it, as of ask", asked)
    yield row("baseline: scandir + stat", every_file)
    yield row("baseline: four commits that reach the disk", commits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=WORDS_OF_NOTE, help="of a note, on average")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--folder", type=Path, help="where vault and index are kept")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        folder = wanted.folder or data
        print("\n".join(measure(folder, data, wanted.notes, wanted.words, wanted.turns)))


if __name__ == "__main__":
    main()
