from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.core.message import ChatMessage, CompactionPart, Condensed, TextPart
from zkchat.core.session import (
    DraftEntry,
    Entry,
    EntryBody,
    HeadEntry,
    MessageEntry,
    PinEntry,
    PriorityEntry,
    RestoreEntry,
    TitleEntry,
)
from zkchat.core.session_history import History, branches_of, messages_of, thread_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entries(*bodies: EntryBody) -> list[Entry]:
    return [Entry(session_id="s", sequence=n, at=NOON, body=body) for n, body in enumerate(bodies, start=1)]


def said(id_: str, parent: str | None = None, text: str = "") -> MessageEntry:
    message = ChatMessage(id=id_, parent_id=parent, role="user", parts=(TextPart(text=text or id_),), created_at=NOON)
    return MessageEntry(message=message)


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


def test_a_message_stored_again_stays_where_it_is() -> None:
    history = History(entries(*TALK, compaction("k1", "c", "a")))
    assert live(history) == ["b", "c"]
    history.extend(entries(said("b", "a", "changed"), said("a", None, "also changed")))
    assert [message.text for message in history.window.live] == ["changed", "c"]
    assert history.archived["a"].text == "also changed"


def test_a_message_that_comes_after_the_compaction_that_archived_it_is_archived() -> None:
    history = History(entries(said("a"), compaction("k1", "a", "b")))
    assert live(history) == ["a"]
    history.extend(entries(said("b", "k1")))
    assert live(history) == ["a"]
    assert [*history.archived] == ["b"]


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


@settings(max_examples=300, deadline=None)
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


@settings(max_examples=200, deadline=None)
@given(st.lists(BODIES, max_size=14))
def test_every_message_is_on_a_branch_and_the_current_one_is_the_thread(bodies: list[EntryBody]) -> None:
    history = History(entries(*bodies))
    branches = branches_of(history)
    assert [branch.number for branch in branches] == [*range(1, len(branches) + 1)]
    heads = [branch.head for branch in branches]
    assert len({*heads}) == len(heads)
    assert {*heads} <= {*history.messages}
    parents = {message.parent_id for message in history.messages.values()}
    assert {*heads} == {*history.messages} - parents
    current = [branch.head for branch in branches if branch.is_current]
    assert current in ([], [history.thread[-1].id] if history.thread else [])
