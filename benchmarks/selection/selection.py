"""How often the right rule or tool is among those that a message calls for, and what choosing costs.

    python -m benchmarks.selection.selection [--misses]

The messages of messages.json are our own. README.md says more.
"""

import argparse
import json
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from zkchat.chat import CachedTokenizer, Candidate, Memory, RecallLimits, Relevance, SelectionLimits
from zkchat.chat.context.selection import Selector
from zkchat.chat.context.tokens import Estimate
from zkchat.models import installed
from zkchat.sessions import SqliteMemories

MESSAGES = Path(__file__).parent / "messages.json"
FACTS = Path(__file__).parent / "facts.json"
TURNS = 40
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

Scores = Callable[[str, Sequence[str]], list[float]]


@dataclass(frozen=True)
class Message:
    language: str
    text: str
    wanted: frozenset[str]
    """The items of which one should be called; none: nothing should."""
    is_held_out: bool
    """Not looked at when the threshold was chosen."""


def load() -> tuple[dict[str, str], list[Message]]:
    stored = json.loads(MESSAGES.read_text("utf-8"))
    messages = [
        Message(language, text, frozenset(filter(None, wanted.split("|"))), place % 4 >= 2)
        for place, (language, text, wanted) in enumerate(stored["messages"])
    ]
    return {name: f"{name.replace('_', ' ')}\n{about}" for name, about in stored["items"].items()}, messages


class WithoutWords:
    """The embedding alone."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, ...], NDArray[np.float32]] = {}
        self._embedder = installed()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        key = tuple(texts)
        if key not in self._vectors:
            self._vectors[key] = self._embedder.embed(texts)
        cosines: list[float] = (self._vectors[key] @ self._embedder.embed([question])[0]).tolist()
        return cosines


def quality(items: dict[str, str], messages: Sequence[Message], *, misses: bool) -> None:
    systems: dict[str, Scores] = {
        "words alone": Relevance().scores,
        "embedding alone": WithoutWords().scores,
        "both": Relevance(installed()).scores,
    }
    print(f"{len(items)} rules and tools, {sum(bool(m.wanted) for m in messages)} messages that call for one of them\n")
    print("| | top 1 | top 3 | top 5 | held out: top 1 | top 5 |")
    print("|---|---|---|---|---|---|")
    for name, scores in systems.items():
        ranks = {message: rank(scores, items, message) for message in messages if message.wanted}
        held_out = [place for message, place in ranks.items() if message.is_held_out]
        figures = [share(list(ranks.values()), most) for most in (1, 3, 5)] + [share(held_out, most) for most in (1, 5)]
        print(f"| {name} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")
        if misses:
            for message, place in ranks.items():
                if place > 0:
                    print(f"    {place + 1:>3}: {message.text} → {', '.join(message.wanted)}")
    languages = sorted({message.language for message in messages})
    both = systems["both"]
    print("\nTop 5 by language, both:", ", ".join(by_language(both, items, messages, each) for each in languages))


def rank(scores: Scores, items: dict[str, str], message: Message) -> int:
    """How many items come before the first right one; a score of 0 is never right."""
    found = dict(zip(items, scores(message.text, list(items.values())), strict=True))
    best = max(found[name] for name in message.wanted)
    return sum(score > best for score in found.values()) if best > 0 else len(items)


def share(places: Sequence[int], most: int) -> float:
    return sum(place < most for place in places) / len(places)


def by_language(scores: Scores, items: dict[str, str], messages: Sequence[Message], language: str) -> str:
    places = [rank(scores, items, m) for m in messages if m.wanted and m.language == language]
    return f"{language} {share(places, 5):.2f} of {len(places)}"


def choice(items: dict[str, str], messages: Sequence[Message]) -> None:
    """What the selector really sends, with its threshold and its limit."""
    rules = [Candidate(type="rule", name=name, include="agent", about=about) for name, about in items.items()]
    selector = Selector(Relevance(installed()), CachedTokenizer(Estimate()))
    for name, some in {"all": messages, "held out": [m for m in messages if m.is_held_out]}.items():
        sent = {message: [item.name for item in selector.select(message.text, rules).records] for message in some}
        right = [bool(message.wanted & {*names}) for message, names in sent.items() if message.wanted]
        quiet = [not names for message, names in sent.items() if not message.wanted]
        extra = statistics.mean(len({*names} - message.wanted) for message, names in sent.items())
        print(
            f"Sent at threshold {SelectionLimits().threshold} ({name}): "
            f"the right item in {sum(right)} of {len(right)}; nothing "
            f"in {sum(quiet)} of {len(quiet)} messages that call for nothing; {extra:.2f} others for each message"
        )


def facts() -> None:
    """The fact that a question calls for. The threshold is the best on every second one; the others are held out."""
    stored = json.loads(FACTS.read_text("utf-8"))
    texts: list[str] = stored["facts"]
    systems: dict[str, Scores] = {
        "words alone": Relevance().scores,
        "embedding alone": WithoutWords().scores,
        "both": Relevance(installed()).scores,
    }
    print(f"\n| the right one of {len(texts)} facts | top 1 | top 5 | held out: top 1 | recalled | rightly silent |")
    print("|---|---|---|---|---|---|")
    for name, scores in systems.items():
        found = [(place % 2, scores(text, texts), right) for place, (text, right) in enumerate(stored["questions"])]
        places = [
            (held_out, sum(other > each[right] for other in each))
            for held_out, each, right in found
            if right is not None
        ]
        tops = [share([place for _, place in places], most) for most in (1, 5)]
        held_out_top = share([place for held_out, place in places if held_out], 1)
        least = RecallLimits().threshold
        recalled = [each[right] >= least for held_out, each, right in found if held_out and right is not None]
        silent = [max(each) < least for held_out, each, right in found if held_out and right is None]
        print(
            f"| {name} | {tops[0]:.2f} | {tops[1]:.2f} | {held_out_top:.2f} | {sum(recalled)} of {len(recalled)} "
            f"| {sum(silent)} of {len(silent)} |"
        )
    print()


def cost(messages: Sequence[Message]) -> None:
    """200 rules, 200 tools and 5,000 memories: what a turn pays before its request."""
    words = sorted({word for message in messages for word in message.text.split()})
    generator = np.random.default_rng(7)

    def text(length: int) -> str:
        return " ".join(generator.choice(words, length))

    candidates = [
        Candidate(type=kind, name=f"{kind} {number}", include="agent", about=text(12), text=text(60))
        for kind in ("rule", "tool")
        for number in range(200)
    ]
    with TemporaryDirectory() as folder:
        ids = iter(range(1_000_000))
        file = Path(folder) / "memories.db"
        with SqliteMemories(file, now=lambda: NOON, new_id=lambda: f"f{next(ids)}") as store:
            fill(file, [f"{text(10)} {number}" for number in range(5000)])

            def one_run(questions: Sequence[str]) -> list[float]:
                relevance, tokenizer = Relevance(installed()), CachedTokenizer(Estimate())
                selector = Selector(relevance, tokenizer)
                memory = Memory(store, relevance, lambda: NOON + timedelta(days=1))

                def turn(question: str) -> float:
                    begun = time.thread_time()
                    selector.select(question, candidates, tool_tokens=2000)
                    memory.recall(question, tokenizer, 1000)
                    return 1000 * (time.thread_time() - begun)

                return [turn(question) for question in questions]

            very_first, *_ = one_run(["Hello!"])
            first, *others = one_run(["Hello!", *(message.text for message in messages[:TURNS])])
    turns = sorted(others)
    print(
        f"A turn, CPU: p50 {statistics.median(turns):.1f} ms, p95 {turns[int(0.95 * TURNS)]:.1f} ms; the first "
        f"of a run {first:.0f} ms, the very first, in which all vectors are made, {very_first:.0f} ms"
    )


def fill(file: Path, texts: Sequence[str]) -> None:
    """Straight into the table: one commit instead of five thousand."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executemany(
            "INSERT INTO facts (id, text, source, at, session_id) VALUES (?, ?, 'user', ?, '')",
            [(f"x{number}", text, NOON.isoformat()) for number, text in enumerate(texts)],
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="show the messages whose right item is not the first")
    items, messages = load()
    quality(items, messages, misses=parser.parse_args().misses)
    print()
    choice(items, messages)
    facts()
    cost(messages)


if __name__ == "__main__":
    main()
