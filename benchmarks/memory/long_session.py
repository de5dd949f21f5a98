"""What a session of 10,000 messages costs: to come back to, ask, search and export it, and on disk with each turn.

    python -m benchmarks.memory.long_session [--messages N] [--turns N] [--runs N]

Commands run as processes; their user and system time stands beside that of the same on a session of 100 messages,
both as ratios to `python -c pass` in the same run. Turns are measured in one process, with a model that answers from a
script, after the messages were imported and archived. What a turn adds to the store is counted in bytes of the cells of
its tables and indexes, beside the text in it: what was said, and what of notes and earlier messages went with the
question, each text once. Texts are counted as they are, and stored packed.
"""

import argparse
import asyncio
import io
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from benchmarks.memory.needles import conversation as chatter
from zkchat.app import ConversationOptions, open_conversation
from zkchat.core import Environment, TurnFinished
from zkchat.sessions import unpack

GARDEN = Path(__file__).parents[2] / "vault-fixtures/garden"
FEW = 100
TEXT = "text"
SHORTEST = 300
"""Messages; the generated conversation needs as many for its facts."""
WINDOW = 8192
QUESTION = "How much sleep do adults need?"
COMMANDS: Mapping[str, Sequence[str]] = {
    "sessions list": ("sessions", "list"),
    "come back: chat --continue, up to the prompt": ("chat", "--continue", "--plain"),
    "come back and ask: ask --continue": ("ask", QUESTION, "--continue", "--model", "quote"),
    "sessions search": ("sessions", "search", "the dentist"),
    "context stats": ("context", "stats"),
    "context export, JSON": ("context", "export", "--format", "json"),
    "context export, Markdown": ("context", "export", "--format", "markdown"),
}


class Home(Struct, frozen=True):
    """Somebody with one session of so many messages."""

    folder: Path
    messages: int

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    def fill(self, turns: int) -> None:
        """Import the messages, and write a script that is long enough for so many turns after them."""
        shutil.copytree(GARDEN, self.vault)
        (self.vault / ".zkchat").mkdir(exist_ok=True)
        said = [message.text for message in chatter(self.messages + 2 * turns + SHORTEST, seed=7)[0]]
        roles = ("user", "assistant")
        listed = [{"role": roles[number % 2], "content": said[number]} for number in range(self.messages)]
        (self.folder / "messages.json").write_text(json.dumps(listed))
        play = {"answers": [[{"text": text}] for text in said], "context_limit": WINDOW}
        (self.folder / "play.json").write_text(json.dumps(play))
        self.run("context", "import", str(self.folder / "messages.json"))

    def run(self, *arguments: str) -> float:
        """Run zkchat, and return the CPU seconds that it took."""
        return cpu_seconds([sys.executable, "-m", "zkchat", *arguments, "--vault", str(self.vault)], self.folder)

    def turns(self, count: int) -> Iterator[float]:
        """CPU milliseconds of each turn in a resumed conversation."""
        environment = Environment(
            stdin=io.StringIO(),
            stdout=io.StringIO(),
            stderr=io.StringIO(),
            variables={},
            cwd=self.folder,
            home=self.folder,
        )
        options = ConversationOptions(vault=self.vault, model="scripted:play.json", continue_last=True)
        said = chatter(2 * count + SHORTEST, seed=8)[0]
        with open_conversation(environment, options) as opened:
            for message in said[: 2 * count : 2]:
                start = time.process_time()

                async def turn(question: str = message.text) -> None:
                    last = [event async for event in opened.conversation.say(question)][-1]
                    assert isinstance(last, TurnFinished), last.kind

                asyncio.run(turn())
                yield (time.process_time() - start) * 1000

    def stored(self) -> dict[str, int]:
        """Bytes in the store, by table and index, and of the text in it."""
        (path,) = self.folder.glob(".local/share/zkchat/vaults/*/sessions.db")
        with closing(sqlite3.connect(path)) as database:
            sizes = dict(database.execute("SELECT name, SUM (payload) FROM dbstat GROUP BY name"))
            bodies = [json.loads(unpack(body)) for (body,) in database.execute("SELECT body FROM entries")]
        texts = {text for body in bodies for text in texts_in(body)}
        indexes = sum(size for name, size in sizes.items() if name not in {"entries", "request_items"})
        return {
            TEXT: sum(len(text.encode()) for text in texts),
            "entries": sizes["entries"],
            "items of requests": sizes["request_items"],
            "indexes": indexes,
        }


def texts_in(body: object) -> Iterator[str]:
    """What was said, quoted or shown, wherever it stands in an entry."""
    match body:
        case dict():
            for key, value in body.items():
                if key in {"text", "snippet", "summary"} and isinstance(value, str):
                    yield value
                else:
                    yield from texts_in(value)
        case list():
            for each in body:
                yield from texts_in(each)


def cpu_seconds(command: Sequence[str], folder: Path) -> float:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"HOME": str(folder), "PYTHONPATH": str(GARDEN.parents[1])}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        cwd=folder,
        env=environment,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show_commands(homes: Sequence[Home], runs: int) -> None:
    taken: dict[tuple[str, int], list[float]] = {}
    for _ in range(runs + 1):  # the first round is for the caches
        taken.setdefault(("", 0), []).append(cpu_seconds([sys.executable, "-c", "pass"], homes[0].folder))
        for name, arguments in COMMANDS.items():
            for home in homes:
                taken.setdefault((name, home.messages), []).append(home.run(*arguments))
    floor = statistics.median(taken["", 0][1:])
    print(f"\n{'':48}" + "".join(f"{home.messages:>12,}" for home in homes) + "  messages")
    for name in COMMANDS:
        medians = [statistics.median(taken[name, home.messages][1:]) for home in homes]
        print(f"{name:48}" + "".join(f"{median / floor:11.1f}x" for median in medians), flush=True)


def show_turns(home: Home, count: int) -> None:
    turns = home.turns(count)
    first = next(turns)
    before = home.stored()
    later = sorted(turns)
    print(f"\n{home.messages:,} messages, {count} turns, CPU: the first, which archives, {first:.0f} ms; ", end="")
    print(f"the others p50 {statistics.median(later):.0f}, p95 {later[int(0.95 * (len(later) - 1))]:.0f} ms")
    grown = {name: (size - before[name]) / (count - 1) for name, size in home.stored().items()}
    text = grown.pop(TEXT)
    print("bytes per turn: " + ", ".join(f"{name} {size:,.0f}" for name, size in grown.items()), end="")
    print(f"; together {sum(grown.values()):,.0f}, text {text:,.0f}", end="")
    print(f", beside the text {sum(grown.values()) - text:,.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        homes = [Home(Path(name) / str(messages), messages) for messages in (FEW, given.messages)]
        for home in homes:
            home.folder.mkdir()
            home.fill(given.turns)
            show_turns(home, given.turns)
        show_commands(homes, given.runs)


if __name__ == "__main__":
    main()
