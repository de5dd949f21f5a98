"""A long conversation in a small window: nothing over the cap, nothing lost, and a restart changes nothing."""

import asyncio
import random
from collections.abc import Callable
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from shutil import copy

import pytest

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.sessions import NOON
from zkchat.chat.context.tokens import CachedTokenizer, Encoding
from zkchat.chat.conversation import Conversation
from zkchat.chat.message_search import ConversationSearch
from zkchat.core.events import Compacted, TurnFinished
from zkchat.core.prompt import ModelRequest
from zkchat.core.session import Session
from zkchat.core.session_history import compaction_of, messages_of
from zkchat.index.library import Library
from zkchat.sessions.store import SqliteMessageIndex, SqliteSessions

WINDOW, RESERVE, TURNS = 4096, 512, 240
TURNS_PER_COMPACTION = 50
TOKENIZER = CachedTokenizer(Encoding("o200k_base"))
SUBJECTS = ("the lighthouse", "sourdough", "Luhmann's cards", "the cello", "glaciers", "the harbour", "moss", "chess")

NOTES = {"Moss.md": "# Moss\n\nIt grows slowly.\n"}


def store_in(folder: Path) -> SqliteSessions:
    numbers = count(1)
    return SqliteSessions(folder / "sessions.db", now=lambda: NOON, new_id=lambda: f"s{next(numbers)}")


def answer(number: int) -> str:
    chance = random.Random(number)
    sentences = chance.choice([1, 3, 8, 20, 60])
    words = (f"{chance.choice(SUBJECTS).capitalize()} has {chance.randrange(10_000)} sides." for _ in range(sentences))
    return " ".join(words)


def summary(request: ModelRequest) -> str:
    return f"Summary of {len(request.messages[1].text)} characters."


def question(number: int) -> str:
    return f"Turn {number}: what did I say about {SUBJECTS[number % len(SUBJECTS)]} and [[Moss]]?"


def tokens_of(request: ModelRequest) -> int:
    return sum(TOKENIZER.count(message.text) for message in request.messages)


def open_talk(
    stack: ExitStack, folder: Path, library: Library, provider: Reciting, session: Session | None = None
) -> tuple[Conversation, SqliteSessions]:
    store = stack.enter_context(store_in(folder))
    search = ConversationSearch(stack.enter_context(closing(SqliteMessageIndex(folder / "messages.db"))))
    talk = conversation_over(
        library, store, provider, session=session, tokenizer=TOKENIZER, search=search, reserve=RESERVE
    )
    return talk, store


@pytest.mark.slow
def test_hundreds_of_turns_in_a_small_window(tmp_path: Path, library: Library, scaled: Callable[[int], int]) -> None:
    turns = TURNS if scaled(TURNS) == TURNS else max(30, scaled(TURNS // 2))
    home, copied = tmp_path / "conversations", tmp_path / "copied"
    home.mkdir()
    copied.mkdir()
    provider = Reciting(answer, summary)
    with ExitStack() as stack:
        talk, store = open_talk(stack, home, library, provider)
        seen = []
        for number in range(turns):
            events = events_of(talk.say(question(number)))
            assert isinstance(events[-1], TurnFinished)
            seen += [event.message.id for event in events if isinstance(event, Compacted)]

        assert len(provider.requests) == turns
        assert max(map(tokens_of, provider.requests)) <= WINDOW - RESERVE
        assert max(map(tokens_of, provider.summaries)) <= WINDOW
        asked = [message.text for request in provider.requests for message in request.messages[-1:]]
        assert all(question(number) in text for number, text in enumerate(asked))
        assert any("<message user 20" in text for text in asked)

        stored = messages_of(store.entries(talk.session_id))
        assert [message.role for message in stored.values()].count("user") == turns
        assert [message.role for message in stored.values()].count("assistant") == turns
        assert [id_ for id_, message in stored.items() if compaction_of(message)] == seen
        assert len(seen) > turns // TURNS_PER_COMPACTION

    for name in ("sessions.db", "messages.db"):
        copy(home / name, copied / name)
    again = Reciting(answer, summary)
    with ExitStack() as stack:
        _, kept = open_talk(stack, copied, library, again)
        restarted, _ = open_talk(stack, copied, library, again, kept.sessions()[0])
        assert asyncio.run(restarted.measure()).request == asyncio.run(talk.measure()).request
        events_of(restarted.retry())
        assert again.requests == provider.requests[-1:]
