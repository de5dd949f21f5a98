"""A model with tools that answers from nothing is handed what the notes say, and asked once more."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from tests.support.conversations import conversation_over, events_of
from tests.support.sessions import SessionsInMemory
from tests.support.waiting import eventually_async
from tests.support.world import GARDEN
from zkchat.chat.context.assembly import request_from
from zkchat.chat.conversation import Conversation
from zkchat.chat.core import Policy
from zkchat.chat.evidence_lookup import REASON, relevant_evidence
from zkchat.chat.question import Question
from zkchat.core.errors import ProviderError, StorageError
from zkchat.core.events import Event, PromptReady, ReferenceFound, TextDelta, TurnFailed, TurnFinished, Warned
from zkchat.core.message import ChatMessage, RequestItem, ToolCallPart
from zkchat.core.prompt import Finish, FinishReason, ModelChunk, ModelInfo, ModelRequest, TextChunk, ToolRequested
from zkchat.core.values import from_plain
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles

QUESTION = "How long does rye bread take?"
UNFOUNDED = "Bread usually takes about four hours."
FOUNDED = "Two days, says [[Rye bread]]."
NOTES = {
    "Rye bread.md": "# Rye bread\n\nRye bread takes two days from start to slice.\n",
    "Roof.md": "# Roof\n\nThe roof leaks above the north window.\n",
    "Letter.md": "# Letter\n\nThanks for the lovely evening.\n",
}


class Careless:
    """A model with tools that plays its answers: texts, calls of tools, errors, or None for an answer that hangs."""

    def __init__(self, *answers: str | ToolCallPart | ProviderError | None, **info: object) -> None:
        self.answers = [*answers]
        self.reason: FinishReason = "stop"
        self.requests: list[ModelRequest] = []
        facts = {"provider": "careless", "id": "x", "context_limit": 32_768, "calls_tools": True, **info}
        self.info = from_plain(ModelInfo, facts)

    async def connect(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        answer = self.answers.pop(0)
        match answer:
            case str():
                yield TextChunk(text=answer)
            case ToolCallPart():
                yield ToolRequested(call=answer)
            case ProviderError():
                raise answer
            case None:
                await asyncio.sleep(600)
        yield Finish(reason=self.reason)


def conversation(library: Library, model: Careless, *, look_again: bool = True, strict: bool = False) -> Conversation:
    return conversation_over(library, SessionsInMemory(), model, look_again=look_again, strict=strict)


def said(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def answer_of(events: Sequence[Event]) -> ChatMessage:
    last = events[-1]
    assert isinstance(last, TurnFinished)
    return last.message


def test_an_answer_from_nothing_is_followed_by_one_from_the_notes(library: Library) -> None:
    model = Careless(UNFOUNDED, FOUNDED)
    talk = conversation(library, model)
    events = events_of(talk.say(QUESTION))
    assert said(events) == UNFOUNDED + FOUNDED
    (warning,) = [event for event in events if isinstance(event, Warned)]
    assert "answered without looking into your notes" in warning.text
    answer = answer_of(events)
    assert answer.text == FOUNDED
    (row,) = answer.references
    assert (row.relative_path, row.via, row.cited, row.unverified) == ("Rye bread.md", "evidence", True, False)
    assert [event.reference.relative_path for event in events if isinstance(event, ReferenceFound)] == ["Rye bread.md"]
    first, second = model.requests
    assert "Rye bread takes two days" not in str(first.messages)
    assert "<evidence>\n- [[Rye bread]]: Rye bread takes two days from start to slice.\n</evidence>" in (
        second.messages[-1].text
    )
    assert second.messages[-1].role == "user"
    assert second.tools == first.tools


def test_the_first_answer_stays_in_the_session_on_a_branch_of_its_own(library: Library) -> None:
    talk = conversation(library, Careless(UNFOUNDED, FOUNDED))
    events_of(talk.say(QUESTION))
    assert [message.text for message in talk.messages] == [QUESTION, FOUNDED]
    (first,) = [message for message in talk.history.messages.values() if message.text == UNFOUNDED]
    assert (first.status, first.references, first.parent_id) == ("complete", (), talk.messages[0].id)


def test_both_records_say_what_was_sent_and_why(library: Library) -> None:
    model = Careless(UNFOUNDED, FOUNDED)
    talk = conversation(library, model)
    events_of(talk.say(QUESTION))
    answers = [message for message in talk.history.messages.values() if message.role == "assistant"]
    for message, request in zip(answers, model.requests, strict=True):
        assert message.request_context
        rebuilt = request_from(message.request_context, talk.history.messages, talk.history.contents)
        assert rebuilt.messages == request.messages
    first, second = (message.request_context for message in answers)
    assert first
    assert second
    assert not [item for item in first.items if item.type == "evidence"]
    (item,) = [item for item in second.items if item.type == "evidence"]
    assert (item.name, item.reason, item.this_turn_only) == ("Rye bread.md", REASON, True)


def test_from_then_on_the_model_is_handed_the_evidence_with_the_question(library: Library) -> None:
    model = Careless(UNFOUNDED, FOUNDED, "It leaks.", "You are welcome.")
    talk = conversation(library, model)
    events_of(talk.say(QUESTION))
    second = events_of(talk.say("Where does the roof leak?"))
    assert said(second) == "It leaks."
    assert "above the north window" in model.requests[2].messages[-1].text
    events_of(talk.say("Thanks!"))
    assert "<evidence>" not in model.requests[3].messages[-1].text


def test_it_happens_once_in_a_session_whoever_goes_on_with_it(library: Library) -> None:
    store = SessionsInMemory()
    first = conversation_over(library, store, Careless(UNFOUNDED, FOUNDED), look_again=True)
    events_of(first.say(QUESTION))
    for name in ("x", "y"):
        model = Careless("It leaks.", "Never asked for.", id=name)
        session = store.get(first.session_id)
        later = conversation_over(library, store, model, session=session, look_again=True)
        prompt = next(
            event for event in events_of(later.say("Where does the roof leak?")) if isinstance(event, PromptReady)
        )
        (request,) = model.requests
        assert "above the north window" in request.messages[-1].text
        assert not prompt.is_provisional


def test_a_second_request_that_failed_is_not_made_in_every_turn(library: Library) -> None:
    store = SessionsInMemory()
    first = conversation_over(library, store, Careless(UNFOUNDED, ProviderError("It is down.")), look_again=True)
    events_of(first.say(QUESTION))
    model = Careless("It leaks.", "Never asked for.")
    later = conversation_over(library, store, model, session=store.get(first.session_id), look_again=True)
    events_of(later.say("Where does the roof leak?"))
    assert len(model.requests) == 1


def test_it_happens_once_in_a_turn_whatever_comes_of_it(library: Library) -> None:
    model = Careless(UNFOUNDED, "I still say four hours.", "Never asked for.")
    events = events_of(conversation(library, model).say(QUESTION))
    assert answer_of(events).text == "I still say four hours."
    assert len(model.requests) == 2


def test_asked_again_the_model_may_use_its_tools(library: Library) -> None:
    call = ToolCallPart(call_id="c1", name="read_document", arguments='{"relative_path": "Roof.md"}')
    model = Careless(UNFOUNDED, call, FOUNDED)
    answer = answer_of(events_of(conversation(library, model).say(QUESTION)))
    assert [row.relative_path for row in answer.references] == ["Rye bread.md", "Roof.md"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Thanks!", "You are welcome."),
        ("Who was the first man on the moon?", "Neil Armstrong."),
        ("How long does [[Rye bread]] take?", "Two days."),
    ],
    ids=["small talk", "nothing in the notes", "a note that was given"],
)
def test_other_answers_are_left_as_they_are(library: Library, question: str, answer: str) -> None:
    model = Careless(answer, FOUNDED)
    events_of(conversation(library, model).say(question))
    assert len(model.requests) == 1


def test_a_question_that_comes_with_a_text_of_its_own_is_answered_from_that(library: Library) -> None:
    log = "\n".join(f"Step {number} of the bakery took {number} minutes." for number in range(100))
    for text, requests in ((f"{QUESTION}\n\n{log}", 1), (QUESTION, 2)):
        model = Careless(UNFOUNDED, FOUNDED)
        events_of(conversation(library, model).say(text))
        assert len(model.requests) == requests


def test_a_link_that_is_right_by_chance_is_no_look_into_the_notes(library: Library) -> None:
    model = Careless("As far as I know [[Rye bread]] takes a week.", FOUNDED)
    (row,) = answer_of(events_of(conversation(library, model).say(QUESTION))).references
    assert (row.via, row.unverified) == ("evidence", False)


def test_what_an_earlier_turn_brought_up_may_be_cited_without_looking_again(library: Library) -> None:
    model = Careless("Thank you for [[Rye bread]].", "It takes two days, says [[Rye bread]].", FOUNDED)
    talk = conversation(library, model)
    events_of(talk.say("I have just linked [[Rye bread]]; remember it."))
    events_of(talk.say(QUESTION))
    assert len(model.requests) == 2


def test_a_note_that_was_at_hand_earlier_may_be_cited_without_another_look(library: Library) -> None:
    store = SessionsInMemory()
    earlier = conversation_over(library, store, Careless(UNFOUNDED, FOUNDED), look_again=True)
    events_of(earlier.say(QUESTION))
    model = Careless("Two days from start to slice, says [[Rye bread]].", FOUNDED)
    session = store.get(earlier.session_id)
    later = conversation_over(library, store, model, session=session, look_again=True)
    assert answer_of(events_of(later.say("Rye bread: how many days, again?"))).references[0].cited
    assert len(model.requests) == 1


def test_a_model_that_has_used_its_tools_is_trusted(library: Library) -> None:
    call = ToolCallPart(call_id="c1", name="find_documents", arguments='{"query": "roof"}')
    model = Careless(call, "It leaks.", UNFOUNDED, FOUNDED)
    talk = conversation(library, model)
    events_of(talk.say("Where does the roof leak?"))
    assert answer_of(events_of(talk.say(QUESTION))).text == UNFOUNDED


@pytest.mark.parametrize("info", [{"calls_tools": False}, {"context_limit": 8192}], ids=["no tools", "small window"])
def test_models_that_get_their_evidence_at_once_are_asked_once(library: Library, info: dict[str, object]) -> None:
    assert asked_once(library, Careless(UNFOUNDED, FOUNDED, **info))


def asked_once(library: Library, model: Careless, *without: str, **more: bool) -> bool:
    """Whether a model without some tools is asked once."""
    talk = conversation(library, model, **more)
    for name in without:
        talk.drop(RequestItem(type="tool", name=name))
    events_of(talk.say(QUESTION))
    return len(model.requests) == 1


def test_who_takes_the_tools_away_or_switches_it_off_or_wants_strict_answers_is_left_alone(library: Library) -> None:
    tools = [tool.name for tool in conversation(library, Careless()).tools]
    assert asked_once(library, Careless(UNFOUNDED, FOUNDED), *tools)
    assert asked_once(library, Careless(UNFOUNDED, FOUNDED), look_again=False)
    assert asked_once(library, Careless(UNFOUNDED, FOUNDED), strict=True)
    assert not asked_once(library, Careless(UNFOUNDED, FOUNDED))


def test_an_answer_that_ran_out_of_room_is_no_reason_to_ask_again(library: Library) -> None:
    model = Careless(UNFOUNDED, FOUNDED)
    model.reason = "length"
    assert asked_once(library, model)


def test_where_the_second_request_fails_the_first_answer_is_the_answer(library: Library) -> None:
    model = Careless(UNFOUNDED, ProviderError("It is down.", hint="Wait."), "Later.")
    talk = conversation(library, model)
    events = events_of(talk.say(QUESTION))
    answer = answer_of(events)
    assert (answer.text, answer.status, answer.references) == (UNFOUNDED, "complete", ())
    assert "It could not be asked again. It is down." in [event.text for event in events if isinstance(event, Warned)]
    assert [message.text for message in talk.messages] == [QUESTION, UNFOUNDED]
    events_of(talk.say("And the roof?"))
    assert UNFOUNDED in [message.text for message in model.requests[-1].messages]


def test_a_second_answer_that_breaks_off_is_kept_as_any_other(library: Library) -> None:
    class Cut(Careless):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
            async with aclosing(super().stream(request)) as chunks:
                async for chunk in chunks:
                    if len(self.requests) == 2 and isinstance(chunk, Finish):
                        raise ProviderError("It was cut.")
                    yield chunk

    talk = conversation(library, Cut(UNFOUNDED, "Two da"))
    failed = events_of(talk.say(QUESTION))[-1]
    assert isinstance(failed, TurnFailed)
    assert [(message.text, message.status) for message in talk.messages[1:]] == [("Two da", "unfinished")]


def test_on_a_full_disk_it_is_done_in_memory(library: Library) -> None:
    store = SessionsInMemory()
    store.full = True
    talk = conversation_over(library, store, Careless(UNFOUNDED, FOUNDED), look_again=True)
    events = events_of(talk.say(QUESTION))
    assert answer_of(events).text == FOUNDED
    assert [message.text for message in talk.messages] == [QUESTION, FOUNDED]


def test_without_an_index_there_is_nothing_to_look_into(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise StorageError("The index is broken.")

    monkeypatch.setattr(Library, "search", broken)
    model = Careless(UNFOUNDED, FOUNDED)
    assert answer_of(events_of(conversation(library, model).say(QUESTION))).text == UNFOUNDED


def test_what_does_not_fit_a_second_time_is_left_at_the_first_answer(library: Library, tmp_path: Path) -> None:
    (tmp_path / "vault" / "Rye bread.md").write_text(f"Rye bread takes two days{' and a long night' * 1000}.\n")
    talk = conversation_over(
        library,
        SessionsInMemory(),
        Careless(UNFOUNDED, FOUNDED, context_limit=None),
        look_again=True,
        policy=Policy(auto=False),
        max_tokens=2048,
        tools=0.2,
        messages=0.6,
    )
    events = events_of(talk.say(f"{QUESTION} {'Tell me all of it. ' * 208}"))
    assert answer_of(events).text == UNFOUNDED
    assert any("It could not be asked again. The context is full" in getattr(event, "text", "") for event in events)


def test_a_model_elsewhere_is_not_handed_what_stays_here(library: Library, tmp_path: Path) -> None:
    (tmp_path / "vault" / "Rye bread.md").write_text(f"---\nzkchat: local\n---\n{NOTES['Rye bread.md']}")
    library.refresh()
    for is_here in (False, True):
        model = Careless(UNFOUNDED, FOUNDED, on_this_machine=is_here)
        events_of(conversation(library, model).say(QUESTION))
        assert ("takes two days" in str(model.requests)) is is_here


@pytest.mark.parametrize("kind", [Warned, ReferenceFound, PromptReady])
def test_who_goes_while_the_second_request_is_made_ready_keeps_the_first_answer(
    library: Library, kind: type[Event]
) -> None:
    talk = conversation(library, Careless(UNFOUNDED, FOUNDED))

    async def leave() -> None:
        async with aclosing(talk.say(QUESTION)) as events:
            seen: list[Event] = []
            async for event in events:
                seen.append(event)
                if isinstance(event, kind) and said(seen):
                    return

    asyncio.run(leave())
    assert [(message.text, message.references) for message in talk.messages[1:]] == [(UNFOUNDED, ())]


def test_who_stops_the_second_request_keeps_the_first_answer(library: Library) -> None:
    model = Careless(UNFOUNDED, None)
    talk = conversation(library, model)

    async def impatient() -> None:
        async def listen() -> None:
            async for _ in talk.say(QUESTION):
                pass

        task = asyncio.create_task(listen())
        await eventually_async(lambda: len(model.requests) == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(impatient())
    assert [message.text for message in talk.messages] == [QUESTION, UNFOUNDED]


EVERYDAY_TALK = (
    "Hello there, how are you doing today?",
    "Write a poem about love",
    "What's the capital of France?",
    "What is 2+2?",
    "Tell me a joke",
    "That makes sense",
    "Sounds good, let's do it",
    "Can you elaborate on the second point?",
    "Give me three examples",
    "Write that as an email to my boss",
    "What do you think about it?",
    "How many days are in a leap year?",
    "Nice weather today",
    "Who won the world cup in 1998?",
)


def test_of_the_garden_questions_are_looked_up_and_everyday_talk_is_not(tmp_path: Path) -> None:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        garden = Library.over(VaultFiles(GARDEN, exclude=(), max_note_bytes=1_000_000), index)
        garden.refresh()

        def is_looked_up(text: str) -> bool:
            return bool(relevant_evidence(garden, Question.parse(text), ()))

        asked = json.loads((GARDEN.parent / "garden-questions.json").read_text())
        questions = [each["question"] for each in asked if each.get("path")]
        assert len([*filter(is_looked_up, questions)]) >= 0.9 * len(questions)
        assert [*filter(is_looked_up, EVERYDAY_TALK)] == []
