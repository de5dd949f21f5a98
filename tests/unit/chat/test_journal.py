import asyncio

from tests.support.sessions import NOON, SessionsInMemory
from zkchat.chat.journal import FLUSH_AFTER, Draft, Journal
from zkchat.model.message import ChatMessage, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from zkchat.model.session import DraftEntry, MessageEntry, TitleEntry


def journal(store: SessionsInMemory, *, begun: bool = True) -> Journal:
    made = Journal(store, None, lambda: NOON)
    if begun:
        made.begin()
    return made


def answer(id_: str = "a1", **more: object) -> ChatMessage:
    return ChatMessage.model_validate({"id": id_, "role": "assistant", "created_at": NOON, **more})


def test_a_session_is_created_when_its_first_turn_begins() -> None:
    store = SessionsInMemory()
    unused = journal(store, begun=False)
    assert store.rows == {}
    assert unused.session_id == ""
    unused.begin()
    unused.begin()
    assert list(store.rows) == [unused.session_id]


def test_a_full_disk_keeps_the_entry_in_memory_and_warns() -> None:
    store = SessionsInMemory()
    kept = journal(store)
    store.full = True
    warning = kept.append(TitleEntry(title="x"))
    assert warning is not None
    assert "not saved. The disk is full." in warning.text
    assert [entry.body for entry in kept.history.entries] == [TitleEntry(title="x")]


def test_a_disk_that_is_full_from_the_start_still_lets_the_conversation_go_on() -> None:
    store = SessionsInMemory()
    store.full = True
    kept = journal(store, begun=False)
    assert kept.begin() is not None
    warning = kept.append(MessageEntry(message=answer()))
    assert warning is not None
    assert warning.text.endswith("The disk is full.")  # the reason, and not that there is no session
    assert [message.id for message in kept.history.thread] == ["a1"]


def test_a_piece_of_an_arriving_answer_is_on_disk_soon_after() -> None:
    store = SessionsInMemory()
    kept = journal(store)

    async def arrive() -> None:
        draft = Draft(kept, answer(provider="p", model="m"))
        draft.add(text="Seven ")
        draft.add(text="hours", thinking="hm")
        await asyncio.sleep(FLUSH_AFTER * 1.5)
        draft.add(text=", they say")

    asyncio.run(arrive())
    assert [entry.body for entry in store.rows[kept.session_id]] == [
        DraftEntry(message_id="a1", text="Seven hours", thinking="hm", provider="p", model="m")
    ]


def test_a_finished_draft_has_everything_and_writes_nothing_more() -> None:
    store = SessionsInMemory()
    kept = journal(store)

    async def arrive() -> ChatMessage:
        draft = Draft(kept, answer())
        draft.add(thinking="hm")
        draft.add(text="yes")
        finished = draft.finished()
        await asyncio.sleep(FLUSH_AFTER * 1.5)
        return finished

    assert asyncio.run(arrive()).parts == (ThinkingPart(text="hm"), TextPart(text="yes"))
    assert store.rows[kept.session_id] == []


def test_on_resume_a_half_answer_becomes_an_unfinished_message() -> None:
    store = SessionsInMemory()
    crashed = journal(store)
    crashed.append(DraftEntry(message_id="a1", text="half "), DraftEntry(message_id="a1", text="an answer"))
    resumed = Journal(store, crashed.session, lambda: NOON)
    assert resumed.close_what_a_crash_left_open(lambda: "new") is None
    (message,) = resumed.history.thread
    assert (message.text, message.status) == ("half an answer", "unfinished")
    assert isinstance(store.rows[crashed.session_id][-1].body, MessageEntry)


def test_on_resume_an_unanswered_tool_call_gets_a_failed_result() -> None:
    store = SessionsInMemory()
    crashed = journal(store)
    call = ToolCallPart(call_id="c1", name="read_document", arguments="{}")
    crashed.append(MessageEntry(message=answer(parts=(call,))))
    resumed = Journal(store, crashed.session, lambda: NOON)
    resumed.close_what_a_crash_left_open(lambda: "new")
    last = resumed.history.thread[-1]
    assert (last.id, last.parent_id, last.role) == ("new", "a1", "tool")
    assert [(part.call_id, part.failed) for part in last.parts if isinstance(part, ToolResultPart)] == [("c1", True)]


def test_on_resume_a_session_in_order_is_left_alone() -> None:
    store = SessionsInMemory()
    whole = journal(store)
    whole.append(MessageEntry(message=answer(parts=(TextPart(text="yes"),))))
    before = list(store.rows[whole.session_id])
    Journal(store, whole.session, lambda: NOON).close_what_a_crash_left_open(lambda: "new")
    assert store.rows[whole.session_id] == before
