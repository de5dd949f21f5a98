"""A question is on disk when it leaves the prompt: before the model is connected, before the notes are looked at."""

import asyncio
from contextlib import aclosing

import pytest

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.sessions import SessionsInMemory
from tests.support.waiting import eventually_async
from zkchat.chat.conversation import Conversation
from zkchat.core.errors import StorageError
from zkchat.core.events import TurnFailed, TurnFinished
from zkchat.core.message import FilePart
from zkchat.core.session import Entry, MessageEntry
from zkchat.core.session_history import messages_of
from zkchat.index.indexing.indexer import Refreshed
from zkchat.index.library import Library
from zkchat.models.quote import Quote

QUESTION = "How long is [[Sleep]]?"
NOTES = {"Sleep.md": "# Sleep\n\nSeven hours.\n"}


def texts(store: SessionsInMemory) -> list[str]:
    return [message.text for rows in store.rows.values() for message in messages_of(rows).values()]


def rows_of(store: SessionsInMemory) -> list[Entry]:
    (rows,) = store.rows.values()
    return rows


def test_it_is_stored_before_the_model_is_connected_and_the_notes_are_looked_at(
    library: Library, store: SessionsInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    class Watched(Quote):
        async def connect(self) -> None:
            seen.append(texts(store))

    def refresh(*_: object) -> Refreshed:
        seen.append(texts(store))
        raise StorageError("no index")

    monkeypatch.setattr(library, "refresh", refresh)
    events = conversation_over(library, store, Watched()).say(QUESTION)
    assert texts(store) == [QUESTION]
    assert isinstance(events_of(events)[-1], TurnFailed)
    assert seen == [[QUESTION], [QUESTION]]
    assert texts(store) == [QUESTION]  # and it stays


def test_what_is_stopped_while_it_connects_keeps_the_question(library: Library, store: SessionsInMemory) -> None:
    class Hanging(Reciting):
        hangs = False

        async def connect(self) -> None:
            self.hangs = True
            await asyncio.sleep(60)

    model = Hanging()

    async def stop(talk: Conversation) -> None:
        async def listen() -> None:
            async with aclosing(talk.say(QUESTION)) as events:
                async for _ in events:
                    pass

        task = asyncio.ensure_future(listen())
        await eventually_async(lambda: model.hangs)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(stop(conversation_over(library, store, model)))
    assert texts(store) == [QUESTION]


def test_the_notes_come_to_the_same_message_also_after_it_was_cut_off_and_it_counts_once(
    library: Library, store: SessionsInMemory
) -> None:
    conversation_over(library, store, Reciting()).say(QUESTION)  # and is cut off
    (session,) = store.sessions()
    again = conversation_over(library, store, Reciting(), session=session)
    assert isinstance(events_of(again.retry())[-1], TurnFinished)
    assert len(again.messages) == 2
    stored = [body.message for entry in rows_of(store) if isinstance(body := entry.body, MessageEntry)]
    typed, enriched, answer = stored
    assert (typed.id, typed.parts) == (enriched.id, enriched.parts[:1])
    assert [part.name for part in enriched.parts_of(FilePart)] == ["Sleep.md"]
    assert answer.parent_id == typed.id


def test_what_is_kept_at_the_prompt_is_not_stored_again_when_it_is_said(
    library: Library, store: SessionsInMemory
) -> None:
    talk = conversation_over(library, store, Reciting())
    talk.keep("one")
    assert texts(store) == ["one"]
    events_of(talk.say("one"))
    events_of(talk.say("one"))
    assert texts(store) == ["one", "Answer 1.", "one", "Answer 2."]


@pytest.mark.parametrize("is_kept", [True, False])
def test_an_edited_question_takes_the_place_of_the_first_one_and_that_stays_on_its_branch(
    library: Library, store: SessionsInMemory, is_kept: bool
) -> None:
    talk = conversation_over(library, store, Reciting())
    for text in ("one", "two"):
        events_of(talk.say(text))
    edited = talk.messages[2].id
    if is_kept:
        talk.keep("two!", replaces=edited)
    events_of(talk.say("two!", replaces=edited))
    assert [message.text for message in talk.messages] == ["one", "Answer 1.", "two!", "Answer 3."]
    assert [(branch.messages, branch.is_current) for branch in talk.branches()] == [(4, False), (4, True)]
