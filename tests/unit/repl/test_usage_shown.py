"""The figure in the bar, between one answer and the next: what the next request will hold before its question."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.libraries import library_of
from tests.support.sessions import SessionsInMemory
from zkchat.chat.conversation import Conversation
from zkchat.core.choices import ContextUsage
from zkchat.core.events import TurnFinished
from zkchat.core.message import RequestItem
from zkchat.index.library import Library
from zkchat.models.quote import Quote
from zkchat.repl.prompt import status_of

CATS = {"Cats.md": "# Cats\n\nThey sleep a lot.\n"}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_of(tmp_path, CATS) as library:
        yield library


def measured(talk: Conversation) -> ContextUsage:
    """What `zkchat context stats` shows."""
    return asyncio.run(talk.measure()).usage


def shown(talk: Conversation) -> ContextUsage:
    usage = talk.usage
    assert usage is not None
    return usage


def talk_about_cats(talk: Conversation, turns: int = 6) -> None:
    for number in range(turns):
        events_of(talk.say(f"Question {number} about [[Cats]]? " + "And why is it so? " * 20))


def test_nothing_is_shown_before_anything_happened(library: Library) -> None:
    assert conversation_over(library, SessionsInMemory(), Reciting()).usage is None


def test_the_bar_below_an_answer_is_what_the_next_request_will_take(library: Library) -> None:
    provider = Reciting()
    talk = conversation_over(library, SessionsInMemory(), provider)
    *_, finished = events_of(talk.say("What do cats do?"))
    assert isinstance(finished, TurnFinished)
    assert finished.next_usage == talk.usage
    assert shown(talk).total > finished.usage.total  # the answer is in it now
    before = shown(talk).counted
    *_, following = events_of(talk.say("Why?"))
    assert isinstance(following, TurnFinished)
    assert 0 < following.usage.counted - before < 10  # the question


def test_after_every_change_the_figure_is_that_of_the_next_request(library: Library) -> None:
    talk = conversation_over(library, SessionsInMemory(), Reciting())
    talk_about_cats(talk)
    figures = [shown(talk).total]

    def changed() -> int:
        figures.append(shown(talk).total)
        assert shown(talk) == measured(talk)
        return figures[-1] - figures[-2]

    events_of(talk.compact(keep=2))
    assert changed() < -100
    talk.uncompact()
    assert changed() > 100
    assert figures[-1] == figures[0]
    talk.add(RequestItem(type="reference", name="Cats.md", include="manual"))
    assert changed() > 5
    talk.drop(RequestItem(type="reference", name="Cats.md", include="manual"))
    changed()
    assert figures[-1] == figures[0]
    head = talk.messages[-1].id
    talk.branch(talk.messages[1].id)
    assert changed() < -100
    talk.branch(head)
    assert changed() > 100
    talk.pin(talk.messages[0].id)
    talk.prioritise(talk.messages[0].id, 9)
    assert changed() == 0


def test_another_model_has_its_own_window_and_figure(library: Library) -> None:
    store = SessionsInMemory()
    talk_about_cats(conversation_over(library, store, Reciting()))
    other = conversation_over(library, store, Reciting(window=9000), session=store.get("s1"))
    assert shown(other).window == 9000
    assert shown(other) == measured(other)


def test_a_model_that_reads_only_the_question_carries_nothing_along(library: Library) -> None:
    talk = conversation_over(library, SessionsInMemory(), Quote())
    talk_about_cats(talk, 2)
    usage = shown(talk)
    assert usage.total == usage.system > 0


def test_the_figure_waits_for_the_tokenizer_before_it_is_measurable(library: Library) -> None:
    store = SessionsInMemory()
    talk_about_cats(conversation_over(library, store, Reciting()), 1)
    resumed = conversation_over(library, store, Reciting(), session=store.get("s1"))
    assert not resumed.is_measurable
    resumed.load_tokenizer()
    assert resumed.is_measurable


def test_the_bar_shows_the_context_of_a_model_and_none_without_one(library: Library) -> None:
    shown_by = {}
    for provider in (Reciting(), Quote()):
        talk = conversation_over(library, SessionsInMemory(), provider)
        events_of(talk.say("What do cats do?"))
        shown_by[provider.info.provider] = status_of(talk, vault="garden", session=None).usage
    assert shown_by.pop("quote") is None
    assert all(shown_by.values())
