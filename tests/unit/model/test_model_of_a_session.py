"""Which model a session has, by its entries."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.core.choices import ContextUsage
from zkchat.core.message import ChatMessage, RequestContext, TextPart
from zkchat.core.session import AgentEntry, Entry, EntryBody, MessageEntry, ModelEntry
from zkchat.core.session_history import History

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RECORD = RequestContext(usage=ContextUsage(window=4096))


def history(*bodies: EntryBody) -> History:
    return History(
        Entry(session_id="s", sequence=number, at=NOON, body=body) for number, body in enumerate(bodies, start=1)
    )


def answer(id_: str, model: str, text: str = "Seven.", **more: Any) -> MessageEntry:
    provider, _, name = model.partition(":")
    fields: dict[str, Any] = {"role": "assistant", "request_context": RECORD, "created_at": NOON, **more}
    parts = (TextPart(text=text),) if text else ()
    return MessageEntry(message=ChatMessage(id=id_, provider=provider, model=name, parts=parts, **fields))


def entry(name: str, model: str = "") -> ModelEntry:
    return ModelEntry(name=name, model=model or name, window=8192, on_this_machine=True)


def name_of(*bodies: EntryBody) -> str:
    model = history(*bodies).model
    return model.name if model else ""


def test_without_an_entry_the_last_answer_says_it_with_its_window() -> None:
    model = history(answer("a", "ollama:m"), answer("b", "quote")).model
    assert model == ModelEntry(name="quote", model="quote", window=4096)


def test_an_entry_keeps_the_name_that_the_user_gave_the_model() -> None:
    assert name_of(entry("careful", "ollama:m"), answer("a", "ollama:m")) == "careful"
    assert name_of(entry("careful", "ollama:m"), answer("a", "ollama:n")) == "ollama:n"


@pytest.mark.parametrize(
    "late",
    [
        answer("a", "ollama:n"),  # it was stored before, and is stored again
        answer("b", "ollama:n", text=""),
        answer("b", "ollama:n", request_context=None),
        answer("b", "ollama:n", role="user"),
        answer("b", ""),
    ],
)
def test_what_is_no_new_answer_of_zkchats_own_changes_nothing(late: MessageEntry) -> None:
    assert name_of(answer("a", "ollama:n"), entry("ollama:m"), late) == "ollama:m"


def test_an_agent_is_newer_until_a_model_answers() -> None:
    bodies: list[EntryBody] = [entry("ollama:m"), AgentEntry(name="quick")]
    assert history(*bodies).is_agent_newer
    assert not history(*bodies, answer("a", "ollama:n")).is_agent_newer
    assert not history(*bodies, entry("ollama:n")).is_agent_newer


BODIES = st.lists(
    st.one_of(
        st.builds(entry, st.sampled_from(["careful", "quick"]), st.sampled_from(["ollama:m", "ollama:n"])),
        st.builds(answer, st.sampled_from("abcdef"), st.sampled_from(["ollama:m", "ollama:n", "quote"])),
        st.builds(ModelEntry),
        st.builds(AgentEntry, name=st.just("quick")),
    )
)


@given(bodies=BODIES)
def test_the_model_is_that_of_the_last_new_answer_whatever_came_before(bodies: list[EntryBody]) -> None:
    found = history(*bodies, answer("last", "openai:x"))
    assert found.model
    assert found.model.model == "openai:x"
    assert not found.is_agent_newer
