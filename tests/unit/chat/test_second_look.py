"""A model with tools that answers from nothing is handed what the notes say, and asked once more."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.conversations import Saying, answer_of, conversation_over, events_of, of_kind
from tests.support.sessions import SessionsInMemory
from tests.support.waiting import until
from tests.support.world import GARDEN
from zkchat.chat.context.assembly import request_from
from zkchat.chat.conversation import Conversation
from zkchat.chat.core import Policy
from zkchat.chat.evidence_lookup import relevant_evidence
from zkchat.chat.question import Question
from zkchat.chat.second_look import REASON
from zkchat.core.errors import ProviderError
from zkchat.core.events import Event, PromptReady, ReferenceFound, TextDelta, TurnFailed, Warned
from zkchat.core.message import RequestItem, ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, ModelRequest
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


def conversation(library: Library, model: Saying, *, look_again: bool = True, strict: bool = False) -> Conversation:
    return conversation_over(library, SessionsInMemory(), model, look_again=look_again, strict=strict)


def asked_once(library: Library, model: Saying, text: str = QUESTION, *without: str, **more: bool) -> bool:
    """Whether a model without some tools is asked once."""
    talk = conversation(library, model, **more)
    for name in without:
        talk.drop(RequestItem(type="tool", name=name))
    events_of(talk.say(text))
    return len(model.requests) == 1


def texts(talk: Conversation) -> list[str]:
    return [message.text for message in talk.messages]


def test_an_answer_from_nothing_is_followed_by_one_from_the_notes_and_stays_on_a_branch_of_its_own(
    library: Library,
) -> None:
    model = Saying(UNFOUNDED, FOUNDED)
    talk = conversation(library, model)
    events = events_of(talk.say(QUESTION))
    assert "".join(event.text for event in of_kind(events, TextDelta)) == UNFOUNDED + FOUNDED
    (warning,) = of_kind(events, Warned)
    assert "answered without reading your notes" in warning.text
    answer = answer_of(events)
    assert answer.text == FOUNDED
    (row,) = answer.references
    assert (row.relative_path, row.via, row.cited, row.unverified) == ("Rye bread.md", "evidence", True, False)
    assert [event.reference.relative_path for event in of_kind(events, ReferenceFound)] == ["Rye bread.md"]
    first, second = model.requests
    assert "Rye bread takes two days" not in str(first.messages)
    assert "<evidence>\n- [[Rye bread]]: Rye bread takes two days from start to slice.\n</evidence>" in (
        second.messages[-1].text
    )
    assert second.messages[-1].role == "user"
    assert second.tools == first.tools
    assert texts(talk) == [QUESTION, FOUNDED]
    answers = [each for each in talk.history.messages.values() if each.role == "assistant"]
    assert (answers[0].text, answers[0].status, answers[0].references) == (UNFOUNDED, "complete", ())
    assert answers[0].parent_id == answers[1].parent_id == talk.messages[0].id
    for message, request, items in zip(answers, model.requests, ([], [("Rye bread.md", REASON, True)]), strict=True):
        assert message.request_context
        rebuilt = request_from(message.request_context, talk.history.messages, talk.history.contents)
        assert rebuilt.messages == request.messages
        evidence = [item for item in message.request_context.items if item.type == "evidence"]
        assert [(item.name, item.reason, item.this_turn_only) for item in evidence] == items


def test_from_then_on_the_model_is_handed_the_evidence_with_the_question_whoever_goes_on(library: Library) -> None:
    store = SessionsInMemory()
    first = conversation_over(library, store, Saying(UNFOUNDED, FOUNDED), look_again=True)
    events_of(first.say(QUESTION))
    for name in ("x", "y"):
        model = Saying("It leaks.", "You are welcome.", id=name)
        later = conversation_over(library, store, model, session=store.get(first.session_id), look_again=True)
        (prompt,) = of_kind(events_of(later.say("Where does the roof leak?")), PromptReady)
        assert not prompt.is_provisional
        events_of(later.say("Thanks!"))
        about, thanks = (request.messages[-1].text for request in model.requests)
        assert "above the north window" in about
        assert "<evidence>" not in thanks


def test_it_happens_once_in_a_turn_and_then_tools_may_be_used(library: Library) -> None:
    model = Saying(UNFOUNDED, "I still say four hours.", "Never asked for.")
    assert answer_of(events_of(conversation(library, model).say(QUESTION))).text == "I still say four hours."
    assert len(model.requests) == 2
    call = ToolCallPart(call_id="c1", name="read_document", arguments='{"relative_path": "Roof.md"}')
    answer = answer_of(events_of(conversation(library, Saying(UNFOUNDED, call, FOUNDED)).say(QUESTION)))
    assert [row.relative_path for row in answer.references] == ["Rye bread.md", "Roof.md"]


LOG = "\n".join(f"Step {number} of the bakery took {number} minutes." for number in range(100))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Thanks!", "You are welcome."),
        ("Who was the first man on the moon?", "Neil Armstrong."),
        ("How long does [[Rye bread]] take?", "Two days."),
        (f"{QUESTION}\n\n{LOG}", UNFOUNDED),
    ],
    ids=["small talk", "nothing in the notes", "a note that was given", "a text of its own"],
)
def test_other_answers_are_left_as_they_are(library: Library, question: str, answer: str) -> None:
    assert asked_once(library, Saying(answer, FOUNDED), question)


def test_what_an_earlier_turn_brought_up_may_be_cited_without_looking_again(library: Library) -> None:
    model = Saying("Thank you for [[Rye bread]].", "It takes two days, says [[Rye bread]].", FOUNDED)
    talk = conversation(library, model)
    events_of(talk.say("I have just linked [[Rye bread]]; remember it."))
    events_of(talk.say(QUESTION))
    assert len(model.requests) == 2


def test_a_model_that_has_used_its_tools_is_trusted(library: Library) -> None:
    call = ToolCallPart(call_id="c1", name="find_documents", arguments='{"query": "roof"}')
    talk = conversation(library, Saying(call, "It leaks.", UNFOUNDED, FOUNDED))
    events_of(talk.say("Where does the roof leak?"))
    assert answer_of(events_of(talk.say(QUESTION))).text == UNFOUNDED


def test_who_takes_the_tools_away_or_switches_it_off_or_wants_strict_answers_is_left_alone(library: Library) -> None:
    tools = [tool.name for tool in conversation(library, Saying()).tools]
    assert asked_once(library, Saying(UNFOUNDED, FOUNDED), QUESTION, *tools)
    assert asked_once(library, Saying(UNFOUNDED, FOUNDED), look_again=False)
    assert asked_once(library, Saying(UNFOUNDED, FOUNDED), strict=True)
    assert asked_once(library, Saying(UNFOUNDED, FOUNDED, calls_tools=False))
    assert asked_once(library, Saying(UNFOUNDED, FOUNDED, context_limit=8192))  # it gets its evidence at once
    assert asked_once(library, Saying(UNFOUNDED, FOUNDED, reason="length"))
    assert not asked_once(library, Saying(UNFOUNDED, FOUNDED))


def test_where_the_second_request_fails_the_first_answer_is_the_answer_and_it_is_not_made_in_every_turn(
    library: Library, store: SessionsInMemory
) -> None:
    down = ProviderError("It is down.", hint="Wait.")
    talk = conversation_over(library, store, Saying(UNFOUNDED, down), look_again=True)
    events = events_of(talk.say(QUESTION))
    answer = answer_of(events)
    assert (answer.text, answer.status, answer.references) == (UNFOUNDED, "complete", ())
    assert "zkchat could not ask the model again. It is down." in [event.text for event in of_kind(events, Warned)]
    assert texts(talk) == [QUESTION, UNFOUNDED]
    model = Saying("It leaks.", "Never asked for.")
    later = conversation_over(library, store, model, session=store.get(talk.session_id), look_again=True)
    events_of(later.say("Where does the roof leak?"))
    (request,) = model.requests
    assert UNFOUNDED in [message.text for message in request.messages]


def test_a_second_answer_that_breaks_off_is_kept_as_any_other(library: Library) -> None:
    class Cut(Saying):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
            async with aclosing(super().stream(request)) as chunks:
                async for chunk in chunks:
                    if len(self.requests) == 2 and isinstance(chunk, Finish):
                        raise ProviderError("It was cut.")
                    yield chunk

    talk = conversation(library, Cut(UNFOUNDED, "Two da"))
    assert isinstance(events_of(talk.say(QUESTION))[-1], TurnFailed)
    assert [(message.text, message.status) for message in talk.messages[1:]] == [("Two da", "unfinished")]


def test_what_does_not_fit_a_second_time_is_left_at_the_first_answer(own_library: Library, tmp_path: Path) -> None:
    (tmp_path / "vault" / "Rye bread.md").write_text(f"Rye bread takes two days{' and a long night' * 1000}.\n")
    model = Saying(UNFOUNDED, FOUNDED, context_limit=None)
    shares: dict[str, Any] = {"max_tokens": 2048, "tools": 0.2, "messages": 0.6}
    talk = conversation_over(own_library, provider=model, look_again=True, policy=Policy(auto=False), **shares)
    events = events_of(talk.say(f"{QUESTION} {'Tell me all of it. ' * 208}"))
    assert answer_of(events).text == UNFOUNDED
    assert any("could not ask the model again. The context is full" in event.text for event in of_kind(events, Warned))


def test_a_model_elsewhere_is_not_handed_what_stays_here(own_library: Library, tmp_path: Path) -> None:
    (tmp_path / "vault" / "Rye bread.md").write_text(f"---\nzkchat: local\n---\n{NOTES['Rye bread.md']}")
    own_library.refresh()
    for is_here in (False, True):
        model = Saying(UNFOUNDED, FOUNDED, on_this_machine=is_here)
        events_of(conversation(own_library, model).say(QUESTION))
        assert ("takes two days" in str(model.requests)) is is_here


@pytest.mark.parametrize("kind", [Warned, PromptReady])
def test_who_goes_while_the_second_request_is_made_ready_keeps_the_first_answer(
    library: Library, kind: type[Event]
) -> None:
    talk = conversation(library, Saying(UNFOUNDED, FOUNDED))
    seen: list[Event] = []

    def is_after_the_first_answer(event: Event) -> bool:
        seen.append(event)
        return isinstance(event, kind) and bool(of_kind(seen, TextDelta))

    until(talk.say(QUESTION), is_after_the_first_answer)
    assert [(message.text, message.references) for message in talk.messages[1:]] == [(UNFOUNDED, ())]


EVERYDAY_TALK = (
    "Hello there, how are you doing today?",
    "Write a poem about love",
    "What's the capital of France?",
    "What is 2+2?",
    "Sounds good, let's do it",
    "Can you elaborate on the second point?",
    "Write that as an email to my boss",
    "How many days are in a leap year?",
    "Who won the world cup in 1998?",
)


def test_of_the_garden_questions_are_looked_up_and_everyday_talk_is_not(tmp_path: Path) -> None:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        garden = Library.over(VaultFiles(GARDEN, exclude=(), max_note_bytes=1_000_000), index)
        garden.refresh()

        def is_looked_up(text: str) -> bool:
            return bool(relevant_evidence(garden, Question.parse(text), ()))

        asked = json.loads((GARDEN.parent / "garden-questions.json").read_text())
        questions = [each["question"] for each in asked if each.get("path")][::4]
        assert len([*filter(is_looked_up, questions)]) >= 0.9 * len(questions)
        assert [*filter(is_looked_up, EVERYDAY_TALK)] == []
