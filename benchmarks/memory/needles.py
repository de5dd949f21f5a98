"""What of a long conversation can still be had: fifty facts, said once, archived, and asked about in other words.

    python -m benchmarks.memory.needles [--messages N] [--seeds N] [--first SEED] [--hard] [--misses]

Facts in eight languages stand at random places of a generated conversation whose other messages share words with them.
Each way to remember may put a fifth of a window of 4,096 tokens into the request. Beside the search stand two
baselines: the newest messages that fit, and SQLite's own full-text search.
"""

import argparse
import asyncio
import random
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count as counting
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from benchmarks.memory.facts import CHATTER, FACTS, PEOPLE, SUBJECTS, UNANSWERABLE, Fact
from tests.support.conversations import Reciting, conversation_over
from tests.support.libraries import library_of
from zkchat.chat import (
    CachedTokenizer,
    Conversation,
    ConversationSearch,
    content_terms,
    recall,
    summarise,
    tokenizer_for,
)
from zkchat.core import (
    ChatMessage,
    CompactionPart,
    Event,
    MessageEntry,
    ModelRequest,
    ProviderError,
    TextEmbedder,
    TextPart,
)
from zkchat.models import installed
from zkchat.sessions import SqliteMessageIndex, SqliteSessions

WINDOW = 4096
MEMORY = int(0.2 * WINDOW)
SUMMARY = int(0.3 * WINDOW)
FOLDED_AT_ONCE = 100
KEPT = 6
DISTRACTORS = 3
"""Messages for each fact that share its words and do not answer."""
BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)

Remember = Callable[[str], Mapping[str, str]]
"""From a question to the messages that come back with it: their ids, and the text that comes back."""


class Planted(NamedTuple):
    fact: Fact
    message: str


def conversation(length: int, *, seed: int, hard: bool = False) -> tuple[list[ChatMessage], list[Planted]]:
    """Chatter with the facts and their distractors in between, the same for the same seed."""
    chance = random.Random(seed)
    subjects = [*SUBJECTS, *PEOPLE] if hard else SUBJECTS
    planted = [fact.said for fact in FACTS] + [fact.distractor for fact in FACTS] * DISTRACTORS
    places = chance.sample(range(length - 2 * KEPT), len(planted))
    sentences = dict(zip(places, planted, strict=True))
    messages = []
    for number in range(length):
        said = [_chatter(chance, subjects) for _ in range(chance.randint(1, 2 if number % 2 == 0 else 4))]
        if number in sentences:
            said.insert(chance.randint(0, len(said)), sentences[number])
        messages.append(
            ChatMessage(
                id=f"m{number:05}",
                role="user" if number % 2 == 0 else "assistant",
                parts=(TextPart(text=" ".join(said)),),
                created_at=BEGIN + timedelta(minutes=40 * number),
            )
        )
    return messages, [Planted(fact, f"m{place:05}") for place, fact in zip(places, FACTS, strict=False)]


def _chatter(chance: random.Random, subjects: Sequence[str]) -> str:
    a, b, c = chance.sample(subjects, 3)
    return chance.choice(CHATTER).format(a=a, b=b, c=c)


@contextmanager
def stored(
    folder: Path, messages: Sequence[ChatMessage], embedder: TextEmbedder | None = None
) -> Iterator[tuple[SqliteSessions, ConversationSearch, str]]:
    """The conversation on disk, and the search over it."""
    minutes = counting()
    with (
        SqliteSessions(
            folder / "sessions.db", now=lambda: BEGIN + timedelta(minutes=next(minutes)), new_id=lambda: "needles"
        ) as store,
        closing(SqliteMessageIndex(folder / "messages.db")) as index,
    ):
        session = store.create("Needles").id
        store.append(session, [MessageEntry(message=message) for message in messages])
        search = ConversationSearch(index, embedder)
        search.catch_up(store)
        yield store, search, session


def by_recall(search: ConversationSearch, session: str, archived: Mapping[str, ChatMessage]) -> Remember:
    def remember(question: str) -> dict[str, str]:
        found = recall(search, question, archived, session=session, budget=MEMORY, count=TOKENS)
        return {each.message.id: each.text for each in found}

    return remember


def by_newest(archived: Mapping[str, ChatMessage]) -> Remember:
    newest = _fitting(reversed([*archived.values()]))
    return lambda _: newest


def by_fts5(archived: Mapping[str, ChatMessage]) -> Remember:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE said USING fts5 (id UNINDEXED, text)")
    database.executemany("INSERT INTO said VALUES (?, ?)", [(id_, each.text) for id_, each in archived.items()])

    def remember(question: str) -> dict[str, str]:
        words = "".join(letter if letter.isalnum() else " " for letter in question).split()
        asked = " OR ".join(f'"{word}"' for word in words)
        rows = database.execute("SELECT id FROM said WHERE said MATCH ? ORDER BY bm25 (said) LIMIT 50", (asked,))
        return _fitting(archived[id_] for (id_,) in rows)

    return remember


def _fitting(messages: Iterator[ChatMessage]) -> dict[str, str]:
    kept: dict[str, str] = {}
    left = MEMORY
    for message in messages:
        left -= TOKENS(message.text)
        if left < 0:
            break
        kept[message.id] = message.text
    return kept


def summary_of(messages: Sequence[ChatMessage]) -> tuple[str, int]:
    """The extractive summary after one compaction upon the other, and how many there were."""
    summary, times = "", 0
    for start in range(0, len(messages), FOLDED_AT_ONCE):
        summary = summarise(messages[start : start + FOLDED_AT_ONCE], SUMMARY, TOKENS, earlier=summary)
        times += 1
    return summary, times


def told_in(summary: str, fact: Fact) -> bool:
    """Whether the words of the answer stand on one line, in whatever form: `14th of April` is `14th April` there."""
    return any(content_terms(fact.answer) <= content_terms(line) for line in summary.splitlines())


def tops(search: ConversationSearch, session: str) -> list[list[str]]:
    """The 25 best for every question."""
    asked = [*(fact.asked for fact in FACTS), *UNANSWERABLE]
    return [[hit.message for hit in search.search(each, session=session, limit=25)] for each in asked]


def compacted(store: SqliteSessions, session: str, archived: Sequence[ChatMessage], summary: str) -> None:
    part = CompactionPart(number=1, summary=summary, archived=tuple(message.id for message in archived))
    marker = ChatMessage(id="compaction", role="system", parts=(part,), created_at=BEGIN)
    store.append(session, [MessageEntry(message=marker)])


@contextmanager
def by_conversation(folder: Path, messages: Sequence[ChatMessage]) -> Iterator[tuple[Remember, int]]:
    """What the request of a real conversation holds, after its compactions; and how many of those there were."""

    def no_summary(_: ModelRequest) -> str:
        raise ProviderError("It cannot write summaries.")

    def resumed() -> Conversation:
        model = Reciting(summary=no_summary, window=WINDOW)
        return conversation_over(library, store, model, session=store.get(session), tokenizer=TOKENIZER, search=search)

    with (
        stored(folder, (), installed()) as (store, search, session),
        library_of(folder, {"Note.md": "# Note\n\nNothing of interest.\n"}) as library,
    ):
        last: str | None = None
        for start in range(0, len(messages), FOLDED_AT_ONCE):
            for message in messages[start : start + FOLDED_AT_ONCE]:
                store.append(session, [MessageEntry(message=replace(message, parent_id=last))])
                last = message.id
            talk = resumed()
            asyncio.run(_drained(talk.compact()))
            last = talk.messages[-1].id
        talk = resumed()

        def remember(question: str) -> dict[str, str]:
            talk.branch(last)
            asyncio.run(_drained(talk.say(question)))
            record = talk.messages[-1].request_context
            assert record
            return {
                item.name: talk.history.contents.get(item.digest, talk.history.messages[item.name].text)
                for item in record.items
                if item.type in {"recall", "message"}
            }

        yield remember, len(talk.window.compactions)


async def _drained(events: AsyncGenerator[Event, None]) -> None:
    async for _ in events:
        pass


def report(name: str, remember: Remember, planted: Sequence[Planted], *, show_misses: bool) -> None:
    found = [remember(each.fact.asked) for each in planted]
    there = sum(each.message in messages for each, messages in zip(planted, found, strict=True))
    missed = [
        each.fact
        for each, messages in zip(planted, found, strict=True)
        if each.fact.answer not in messages.get(each.message, "")
    ]
    uncalled = sum(len(remember(question)) for question in UNANSWERABLE) / len(UNANSWERABLE)
    size = sum(len(messages) for messages in found) / len(found)
    answered = 1 - len(missed) / len(planted)
    print(f"{name:34}{there / len(planted):>10.0%}{answered:>10.0%}{size:>10.1f}{uncalled:>12.1f}")
    for fact in missed if show_misses else ():
        print(f"    {fact.asked}  ←  {fact.said}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=7, help="the first seed")
    parser.add_argument("--hard", action="store_true", help="talk about the people of the facts all the time")
    parser.add_argument("--misses", action="store_true", help="show the questions whose answer did not come back")
    wanted = parser.parse_args()
    for seed in range(wanted.first, wanted.first + wanted.seeds):
        messages, planted = conversation(wanted.messages, seed=seed, hard=wanted.hard)
        archived = {message.id: message for message in messages[:-KEPT]}
        tokens = sum(TOKENS(message.text) for message in messages)
        print(f"\n{len(FACTS)} facts in {len(messages):,} messages of {tokens:,} tokens, of which {MEMORY} come back")
        print(f"{'seed ' + str(seed):34}{'message':>10}{'answer':>10}{'messages':>10}{'unasked-for':>12}")
        with (
            tempfile.TemporaryDirectory() as name,
            stored(Path(name), messages, installed()) as (store, search, session),
        ):
            report("recall", by_recall(search, session, archived), planted, show_misses=wanted.misses)
            report("FTS5", by_fts5(archived), planted, show_misses=False)
            report("newest messages", by_newest(archived), planted, show_misses=False)
            before = tops(search, session)
            summary, times = summary_of([*archived.values()])
            compacted(store, session, [*archived.values()], summary)
            search.catch_up(store)
            after = tops(search, session)
        with tempfile.TemporaryDirectory() as name, by_conversation(Path(name), messages) as (remember, compactions):
            report(f"a conversation, {compactions} compactions", remember, planted, show_misses=wanted.misses)
        kept = sum(told_in(summary, each.fact) for each in planted) / len(planted)
        print(f"extractive summary alone, {SUMMARY} tokens, {times} compactions: {kept:.0%} of the answers")
        print(f"same 25 before and after archiving: {sum(map(list.__eq__, before, after))} of {len(before)} questions")


TOKENIZER = CachedTokenizer(tokenizer_for("o200k_base"))
TOKENS = TOKENIZER.count

if __name__ == "__main__":
    main()
