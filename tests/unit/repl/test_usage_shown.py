"""The figure in the bar, between one answer and the next: what the next request will hold before its question."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.screens import a_usage
from tests.support.sessions import SessionsInMemory
from zkchat.chat.conversation import Conversation
from zkchat.core.choices import ContextUsage
from zkchat.core.message import RequestItem
from zkchat.index.library import Library
from zkchat.models.quote import Quote
from zkchat.repl.prompt import status_line, status_of

NOTES = {"Cats.md": "# Cats\n\nThey sleep a lot.\n"}


def measured(talk: Conversation) -> ContextUsage:
    """What `zkchat context stats` shows."""
    return asyncio.run(talk.measure()).usage


def shown(talk: Conversation) -> ContextUsage:
    usage = talk.usage
    assert usage is not None
    return usage


def talk_about_cats(talk: Conversation) -> None:
    for number in range(6):
        events_of(talk.say(f"Question {number} about [[Cats]]? " + "And why is it so? " * 20))


def test_after_every_change_the_figure_is_that_of_the_next_request(library: Library, store: SessionsInMemory) -> None:
    talk = conversation_over(library, store, Reciting())
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
    resumed = conversation_over(library, store, Reciting(), session=store.get("s1"))
    assert not resumed.is_measurable, "the figure waits for the tokenizer"
    resumed.load_tokenizer()
    assert resumed.is_measurable
    quoting = conversation_over(library, SessionsInMemory(), Quote())
    events_of(quoting.say("What do cats do?"))
    bars = [status_of(each, 100, vault="garden", session=None) for each in (talk, quoting)]
    assert ["context" in bar for bar in bars] == [True, False]


STATUS: dict[str, Any] = {
    "vault": "garden",
    "model": "ollama:qwen3:8b",
    "session": "What is sleep?",
    "usage": a_usage(),
}


def test_it_shows_vault_model_session_context_and_what_goes_on() -> None:
    busy: dict[str, Any] = {
        "vault": "garden",
        "model": "quote",
        "activity": "indexing 3 / 40",
        "usage": a_usage(estimated=True),
    }
    assert status_line(100, **STATUS) == "garden · ollama:qwen3:8b · What is sleep? · context 41 % of 8,192"
    assert status_line(100, **busy) == "garden · quote · new session · context ≈ 41 % of 8,192 · indexing 3 / 40"
    assert status_line(80, vault="x" * 30, model="y" * 31) == f"{'x' * 30} · {'y' * 29}… · new session"
    assert "context" not in status_line(80, vault="v", model="m", usage=a_usage(window=0))


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (60, "ollama:qwen3:8b · What is sleep? · context 41 % of 8,192"),
        (50, "ollama:qwen3:8b · context 41 % of 8,192"),
        (30, "context 41 % of 8,192"),
        (12, "context 41…"),
        (0, ""),
    ],
)
def test_on_a_narrow_screen_what_matters_least_goes(width: int, line: str) -> None:
    assert status_line(width, **STATUS) == line


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60), st.text(max_size=30), st.integers(0, 250))
def test_it_is_one_line_that_fits(vault: str, model: str, session: str, activity: str, width: int) -> None:
    line = status_line(width, vault=vault, model=model, session=session, activity=activity, usage=a_usage())
    assert get_cwidth(line) <= width
    assert "\n" not in line
