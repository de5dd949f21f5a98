from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.core.choices import ContextUsage, Role
from zkchat.core.message import ChatMessage, CompactionPart, Condensed, RequestContext, Status, TextPart
from zkchat.core.session import (
    AgentEntry,
    DraftEntry,
    Entry,
    EntryBody,
    HeadEntry,
    MessageEntry,
    ModelEntry,
    PinEntry,
    PriorityEntry,
    RestoreEntry,
    TitleEntry,
)
from zkchat.core.session_history import History, branches_of, messages_of, thread_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entries(*bodies: EntryBody) -> list[Entry]:
    return [
        Entry(session_id="s", sequence=number, at=NOON + timedelta(seconds=number), body=body)
        for number, body in enumerate(bodies, start=1)
    ]


def said(
    id_: str, parent: str | None = None, text: str = "", role: Role = "user", status: Status = "complete"
) -> MessageEntry:
    parts = (TextPart(text=text or id_),)
    return MessageEntry(
        message=ChatMessage(id=id_, parent_id=parent, role=role, parts=parts, created_at=NOON, status=status)
    )


def draft(id_: str, text: str = "", thinking: str = "", parent: str | None = None) -> DraftEntry:
    return DraftEntry(message_id=id_, parent_id=parent, text=text, thinking=thinking, provider="p", model="m")


def ids(messages: list[ChatMessage]) -> list[str]:
    return [found.id for found in messages]


@pytest.mark.parametrize(
    ("talk", "thread"),
    [
        (entries(), []),
        (entries(said("m1"), TitleEntry(title="x"), said("m2", "m1"), said("m3", "m2")), ["m1", "m2", "m3"]),
        (entries(said("m1"), HeadEntry(message_id=None)), []),
        (entries(said("m2", "m1"), said("m3", "m2")), ["m2", "m3"]),
        (entries(said("m1"), HeadEntry(message_id="gone")), []),
        (entries(said("m1", "m2"), said("m2", "m1")), ["m1", "m2"]),
    ],
    ids=["empty", "from the first to the last", "begun anew", "parent lost", "head lost", "in a circle"],
)
def test_the_thread_runs_from_the_first_message_to_the_head(talk: list[Entry], thread: list[str]) -> None:
    assert ids(thread_of(talk)) == thread


def test_a_branch_leaves_the_messages_after_its_beginning() -> None:
    talk = entries(said("m1"), said("m2", "m1"), said("m3", "m2"), HeadEntry(message_id="m1"))
    assert ids(thread_of(talk)) == ["m1"]
    branched = [*talk, *entries(said("m4", "m1"), PinEntry(message_id="m3"))]
    assert ids(thread_of(branched)) == ["m1", "m4"]
    assert list(messages_of(branched)) == ["m1", "m2", "m3", "m4"]


def test_a_later_entry_of_a_message_takes_the_place_of_the_earlier_one_and_does_not_move_the_head() -> None:
    talk = entries(said("m1"), said("m2", "m1", "Ei", status="unfinished"), said("m3", "m2"))
    late = [*talk, *entries(said("m2", "m1", "Eight"))]
    assert History(late).head == "m3"
    assert [found.text for found in thread_of(late)] == ["m1", "Eight", "m3"]


def test_an_answer_that_is_still_arriving_is_the_head_and_unfinished() -> None:
    talk = entries(said("m1"), draft("m2", "Eight ", "hm ", "m1"), draft("m2", "hours", "hm", "m1"))
    (_, answer) = thread_of(talk)
    assert (answer.text, answer.thinking, answer.status, answer.role) == (
        "Eight hours",
        "hm hm",
        "unfinished",
        "assistant",
    )
    assert (answer.provider, answer.model, answer.session_id) == ("p", "m", "s")
    assert (answer.created_at, answer.finished_at) == (talk[1].at, talk[2].at)


def test_an_orphan_is_a_draft_whose_message_never_came() -> None:
    talk = entries(said("m1"), draft("m2", "Ei"), said("m2", "m1", "Ei"), draft("m2", "ght"), draft("m3", "half"))
    assert ids(History(talk).orphans) == ["m3"]
    assert messages_of(talk)["m2"].text == "Ei"  # a draft that comes after its message says nothing new


def test_a_thread_goes_on_over_a_message_that_damage_took_away() -> None:
    talk = entries(said("m1"), said("m2", "m1"), said("m3", "m2"), said("m4", "m3"))
    assert ids(thread_of(talk[:1] + talk[2:])) == ["m1", "m3", "m4"]
    assert ids(thread_of(talk[:2] + talk[3:])) == ["m1", "m2", "m4"]


def compaction(id_: str, parent: str, *archived: str, number: int = 1, short: str = "") -> MessageEntry:
    part = CompactionPart(
        number=number,
        summary=f"summary {number}",
        archived=archived,
        condensed=(Condensed(message_id=short, text="…"),) if short else (),
    )
    message = ChatMessage(
        id=id_, parent_id=parent, role="system", parts=(part,), created_at=NOON, context_type="summary"
    )
    return MessageEntry(message=message)


TALK = (said("a"), said("b", "a"), said("c", "b"))


def live(history: History) -> list[str]:
    return [message.id for message in history.window.live]


def test_a_compaction_archives_messages_and_takes_nothing_from_the_thread() -> None:
    history = History(entries(*TALK, compaction("k1", "c", "a", "b", short="c"), said("d", "k1")))
    assert live(history) == ["c", "d"]
    assert [*history.archived] == ["a", "b"]
    assert [message.id for message in history.thread] == ["a", "b", "c", "k1", "d"]
    assert history.window.summary is not None
    assert history.window.summary.summary == "summary 1"
    assert history.window.condensed == {("c", ""): "…"}


def test_a_restored_compaction_leaves_the_window_as_it_was_before() -> None:
    talk = entries(*TALK, compaction("k1", "c", "a"), said("d", "k1"), compaction("k2", "d", "b", "c", number=2))
    history = History(talk)
    history.extend(entries(RestoreEntry(compaction_id="k2")))
    assert live(history) == ["b", "c", "d"]
    assert history.window.summary is not None
    assert history.window.summary.number == 1
    history.extend(entries(RestoreEntry(compaction_id="k1")))
    assert live(history) == ["a", "b", "c", "d"]


def test_a_compaction_of_another_branch_does_not_count() -> None:
    history = History(entries(*TALK, compaction("k1", "c", "a", "b"), HeadEntry(message_id="b"), said("e", "b")))
    assert live(history) == ["a", "b", "e"]


def test_the_last_priority_of_a_message_counts_also_when_the_message_is_stored_again() -> None:
    history = History(entries(*TALK, PriorityEntry(message_id="b", priority=2)))
    history.extend(entries(PriorityEntry(message_id="b", priority=9), said("b", "a", "changed")))
    assert [(message.text, message.priority) for message in history.window.live] == [("a", 5), ("changed", 9), ("c", 5)]
    history.extend(entries(HeadEntry(message_id="b")))
    assert [message.priority for message in history.thread] == [5, 9]


def test_a_message_stored_again_or_late_stays_where_it_is() -> None:
    history = History(entries(*TALK, compaction("k1", "c", "a", "late")))
    assert live(history) == ["b", "c"]
    history.extend(entries(said("b", "a", "changed"), said("a", None, "also changed"), said("late", "k1")))
    assert [message.text for message in history.window.live] == ["changed", "c"]
    assert [*history.archived] == ["a", "late"]
    assert history.archived["a"].text == "also changed"


IDS = st.sampled_from("abcdefg")
PARENTS = st.one_of(st.none(), IDS, st.just("gone"))
BODIES: st.SearchStrategy[EntryBody] = st.one_of(
    st.builds(said, IDS, PARENTS, st.text(max_size=3)),
    st.builds(lambda id_, parent: DraftEntry(message_id=id_, parent_id=parent, text="+"), IDS, PARENTS),
    st.builds(lambda id_, parent, archived: compaction(id_, parent, *archived), IDS, IDS, st.lists(IDS, max_size=3)),
    st.builds(lambda id_: HeadEntry(message_id=id_), st.one_of(st.none(), IDS)),
    st.builds(lambda id_: RestoreEntry(compaction_id=id_), IDS),
    st.builds(lambda id_: PinEntry(message_id=id_), IDS),
    st.builds(lambda id_, priority: PriorityEntry(message_id=id_, priority=priority), IDS, st.integers(1, 10)),
    st.just(TitleEntry(title="x")),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(BODIES, max_size=14))
def test_entry_by_entry_gives_the_same_views_as_all_at_once(bodies: list[EntryBody]) -> None:
    stored = entries(*bodies)
    grown = History()
    for entry in stored:
        grown.extend([entry])
        _ = grown.window  # a view that was looked at must be kept up to date
    whole = History(stored)
    assert grown.thread == whole.thread == thread_of(stored)
    assert dict(grown.messages) == messages_of(stored)
    assert grown.window == whole.window
    assert {**grown.archived} == {**whole.archived}
    hidden = {*grown.archived}
    assert {message.id for message in grown.window.live} | hidden | {
        message.id for message in grown.thread if message.context_type == "summary"
    } == {message.id for message in grown.thread}


@settings(max_examples=100, deadline=None)
@given(st.lists(BODIES, max_size=14))
def test_every_message_is_on_a_branch_and_the_current_one_is_the_thread(bodies: list[EntryBody]) -> None:
    history = History(entries(*bodies))
    branches = branches_of(history)
    assert [branch.number for branch in branches] == [*range(1, len(branches) + 1)]
    heads = [branch.head for branch in branches]
    assert len({*heads}) == len(heads)
    assert {*heads} <= {*history.messages}
    assert {*heads} == {*history.messages} - {message.parent_id for message in history.messages.values()}
    current = [branch.head for branch in branches if branch.is_current]
    assert current in ([], [history.thread[-1].id] if history.thread else [])


def test_a_branch_is_told_by_what_no_other_has_whatever_else_it_parted_from() -> None:
    parents = {"q1": None, "a1": "q1", "q2": "a1", "a2": "q2", "q3": "a2", "q4": "a2", "q5": "a1"}
    branches = branches_of(History(entries(*(said(id_, parent) for id_, parent in parents.items()))))
    assert [(branch.first_words, branch.messages) for branch in branches] == [("q3", 5), ("q4", 5), ("q5", 3)]


RECORD = RequestContext(usage=ContextUsage(window=4096))


def history(*bodies: EntryBody) -> History:
    return History(entries(*bodies))


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


MODEL_BODIES = st.lists(
    st.one_of(
        st.builds(entry, st.sampled_from(["careful", "quick"]), st.sampled_from(["ollama:m", "ollama:n"])),
        st.builds(answer, st.sampled_from("abcdef"), st.sampled_from(["ollama:m", "ollama:n", "quote"])),
        st.builds(ModelEntry),
        st.builds(AgentEntry, name=st.just("quick")),
    )
)


@given(bodies=MODEL_BODIES)
def test_the_model_is_that_of_the_last_new_answer_whatever_came_before(bodies: list[EntryBody]) -> None:
    found = history(*bodies, answer("last", "openai:x"))
    assert found.model
    assert found.model.model == "openai:x"
    assert not found.is_agent_newer
