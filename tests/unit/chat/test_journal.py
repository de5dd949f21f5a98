import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from tests.support.sessions import NOON, SessionsInMemory
from tests.support.waiting import eventually_async
from zkchat.chat.journal import FLUSH_AFTER, Asked, Draft, Journal
from zkchat.core.message import ChatMessage, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from zkchat.core.session import DraftEntry, EntryBody, ItemsEntry, MessageEntry, Session, TitleEntry, read_message


def journal(store: SessionsInMemory, session: Session | None = None, *, begun: bool = True) -> Journal:
    made = Journal(store, session, lambda: NOON, lambda: "new")
    if begun and session is None:
        made.ensure_session()
    return made


def ask(asked_in: Journal, text: str, id_: str, beside: Sequence[EntryBody] = ()) -> Asked:
    asked_in.new_id = lambda: id_
    return asked_in.ask(text, beside)


def answer(id_: str = "a1", **more: object) -> ChatMessage:
    return read_message({"id": id_, "role": "assistant", "created_at": NOON, **more})


def test_a_piece_of_an_arriving_answer_is_on_disk_soon_after_and_a_finished_one_is_written_no_more() -> None:
    store = SessionsInMemory()
    kept = journal(store)

    async def arrive() -> ChatMessage:
        draft = Draft(kept, answer(provider="p", model="m"))
        draft.add(text="Seven ")
        draft.add(text="hours", thinking="hm")
        await eventually_async(lambda: store.rows[kept.session_id])
        draft.add(text=", they say")
        finished = draft.finished()
        await asyncio.sleep(FLUSH_AFTER * 1.5)  # by then a draft that was not finished would have been written
        return finished

    assert asyncio.run(arrive()).parts == (ThinkingPart(text="hm", seconds=0.0), TextPart(text="Seven hours, they say"))
    assert [entry.body for entry in store.rows[kept.session_id]] == [
        DraftEntry(message_id="a1", text="Seven hours", thinking="hm", provider="p", model="m")
    ]


def test_on_resume_what_a_crash_left_open_is_closed_and_told(store: SessionsInMemory) -> None:
    crashed = journal(store)

    def resumed() -> tuple[Journal, list[str]]:
        again = journal(store, crashed.session)
        return again, [warning.text for warning in again.recover_from_crash()]

    ask(crashed, "one", "q1")
    assert resumed()[1] == ["The last question of this session has no answer."]
    half = [DraftEntry(message_id="a1", parent_id="q1", text=text) for text in ("half ", "an answer")]
    crashed.append(*half)
    again, _ = resumed()
    assert [(message.text, message.status) for message in again.history.thread] == [
        ("one", "complete"),
        ("half an answer", "unfinished"),
    ]
    assert isinstance(store.rows[crashed.session_id][-1].body, MessageEntry)
    call = ToolCallPart(call_id="c1", name="read_document", arguments="{}")
    crashed.append(MessageEntry(message=answer("a2", parent_id="a1", parts=(call,))))
    again, _ = resumed()
    last = again.history.thread[-1]
    assert (last.id, last.parent_id, last.role) == ("new", "a2", "tool")
    assert [(part.call_id, part.failed) for part in last.parts_of(ToolResultPart)] == [("c1", True)]
    before = [*store.rows[crashed.session_id]]
    assert resumed()[1] == []
    assert store.rows[crashed.session_id] == before


def test_a_question_is_stored_with_what_was_chosen_before_it_and_a_title(store: SessionsInMemory) -> None:
    kept = journal(store, begun=False)
    kept.keeps_local = lambda: True
    assert (store.rows, kept.session_id) == ({}, "")
    asked = ask(kept, "How  long\nis a night?", "q1", [ItemsEntry(private=True)])
    choice, title, message = (entry.body for entry in store.rows[kept.session_id])
    assert (choice, title) == (ItemsEntry(private=True), TitleEntry(title="How long is a night?"))
    assert isinstance(message, MessageEntry)
    assert message.message == replace(asked.message, local=True), "for something local was shown"
    assert (asked.message.session_id, asked.message.text) == (kept.session_id, "How  long\nis a night?")
    assert asked.warnings == ()
    ask(kept, "And a day?", "q2")
    assert [entry.body.kind for entry in store.rows[kept.session_id]] == ["items", "title", "message", "message"]


def test_what_a_full_disk_refused_is_stored_in_order_once_there_is_room_and_the_user_is_told() -> None:
    store = SessionsInMemory()
    kept = journal(store)
    ask(kept, "one", "q1")
    store.full = True
    (warning,) = ask(kept, "two", "q2").warnings
    assert "not saved" in warning.text
    kept.append(DraftEntry(message_id="a2", parent_id="q2", text="half"))
    kept.append(MessageEntry(message=answer("a2", parent_id="q2")))
    assert len(store.rows[kept.session_id]) == 2  # the title and the first question
    store.full = False
    (again,) = ask(kept, "three", "q3").warnings
    assert again.text == "Saving works again: all of this conversation is on disk."
    bodies = [entry.body for entry in store.rows[kept.session_id]]
    assert [body.message.id for body in bodies if isinstance(body, MessageEntry)] == ["q1", "q2", "a2", "q3"]
    assert [message.id for message in kept.history.thread] == ["q1", "q2", "a2", "q3"]
    assert kept.history.entries == store.rows[kept.session_id]


def test_a_session_that_could_not_be_begun_is_whole_at_the_end(store: SessionsInMemory) -> None:
    store.full = True
    kept = journal(store, begun=False)
    ask(kept, "one", "q1", [ItemsEntry(private=True)])
    kept.append(MessageEntry(message=answer("a1", parent_id="q1")))
    told = kept.save_rest()
    assert told is not None
    assert "not saved" in told.text
    store.full = False
    told = kept.save_rest()
    assert told is not None
    assert "Saving works again" in told.text
    assert kept.save_rest() is None
    read = journal(store, kept.session).history
    assert [(message.id, message.session_id) for message in read.thread] == [("q1", "s1"), ("a1", "s1")]
    assert read.is_private


def test_what_another_terminal_said_is_taken_in_and_told(store: SessionsInMemory) -> None:
    here = journal(store)
    ask(here, "one", "q1")
    there = journal(store, here.session)
    ask(there, "two", "q2")
    there.append(MessageEntry(message=answer("a2", parent_id="q2")))
    asked = ask(here, "three", "q3")
    assert [warning.text for warning in asked.warnings] == [
        "This session was continued in another terminal: 2 messages arrived. Your message comes after them."
    ]
    assert asked.message.parent_id == "a2"
    assert ask(here, "four", "q4").warnings == ()
    again = journal(store, here.session)
    assert [message.id for message in again.history.thread] == ["q1", "q2", "a2", "q3", "q4"]


def test_two_terminals_that_spoke_at_once_go_on_each_on_its_own_branch_and_say_so(store: SessionsInMemory) -> None:
    here = journal(store)
    ask(here, "one", "q1")
    there = journal(store, here.session)
    ask(there, "two", "q2")
    here.append(MessageEntry(message=answer("a1", parent_id="q1")))  # it arrives after the other's question
    there.append(MessageEntry(message=answer("a2", parent_id="q2")))
    asked = ask(here, "three", "q3")
    assert [warning.text for warning in asked.warnings] == [
        "This session was continued in another terminal: 2 messages arrived. Your question is in a branch of its own."
    ]
    assert asked.message.parent_id == "a1"
    assert [message.id for message in here.history.thread] == ["q1", "a1", "q3"]


def test_a_session_that_was_deleted_elsewhere_goes_on_as_a_new_one(store: SessionsInMemory) -> None:
    here = journal(store)
    ask(here, "one", "q1")
    store.delete(here.session_id)
    (warning,) = ask(here, "two", "q2").warnings
    assert "not saved" in warning.text
    here.append(MessageEntry(message=answer("a2", parent_id="q2")))
    assert [entry.body.message.id for entry in store.rows["s1"] if isinstance(entry.body, MessageEntry)] == ["q2", "a2"]


def test_who_opens_a_session_that_another_terminal_has_open_is_told_and_closes_nothing_of_it() -> None:
    store = SessionsInMemory()
    first = journal(store)
    first.append(DraftEntry(message_id="a1", text="half"))
    store.open_elsewhere.add(first.session_id)
    second = journal(store, first.session)
    (warning,) = second.recover_from_crash()
    assert warning.text == "This session is also open in another terminal; you can use both."
    assert len(store.rows[first.session_id]) == 1
