"""An answer of a small model that contradicts the passages it was given is replaced by the passage."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.support.conversations import Saying, answer_of, conversation_over, events_of, of_kind
from tests.support.sessions import SessionsInMemory
from tests.support.waiting import until
from zkchat.chat.context.assembly import request_from
from zkchat.chat.conversation import Conversation
from zkchat.core.choices import TokenUsage
from zkchat.core.errors import ProviderError
from zkchat.core.events import AnswerReplaced, PromptReady, TextDelta, TurnFailed, Warned
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import ModelChunk, ModelRequest, TextChunk
from zkchat.index.library import Library

NOTES = {
    "Sync.md": "# Sync\n\n## Privacy\n\nObsidian Sync is end-to-end encrypted.\n",
    "Rye bread.md": "# Rye bread\n\nRye bread takes two days from start to slice.\n",
}
QUESTION = "Is Obsidian Sync end-to-end encrypted?"
WRONG = "Obsidian Sync is not end-to-end encrypted."
INSTEAD = "> Obsidian Sync is end-to-end encrypted.\n\n— [[Sync]] › Privacy\n"
SMALL: dict[str, Any] = {"calls_tools": False, "context_limit": 200_000}


def conversation(library: Library, model: Saying, *, wanted: bool = True, strict: bool = False) -> Conversation:
    return conversation_over(library, SessionsInMemory(), model, check_answers=wanted, strict=strict)


def texts(talk: Conversation) -> list[str]:
    return [message.text for message in talk.messages]


def test_the_passage_is_the_answer_where_the_model_contradicts_it(library: Library) -> None:
    model = Saying(WRONG, "Two days.", **SMALL)
    talk = conversation(library, model)
    events = events_of(talk.say(QUESTION))
    answer = answer_of(events)
    assert (answer.text, talk.messages[-1].text) == (INSTEAD, INSTEAD)
    first, warning, replaced, instead = (
        event for event in events if isinstance(event, TextDelta | Warned | AnswerReplaced)
    )
    assert (first, instead) == (TextDelta(text=WRONG), TextDelta(text=INSTEAD))
    assert isinstance(warning, Warned)
    assert isinstance(replaced, AnswerReplaced)
    assert warning.text == f"saying:x said “{WRONG}”, which contradicts [[Sync]] › Privacy."
    assert warning.hint == "", "all of it was told"
    (row,) = [row for row in answer.references if row.cited]
    assert (row.relative_path, row.unverified) == ("Sync.md", False)
    assert answer.request_context
    rebuilt = request_from(answer.request_context, talk.history.messages, talk.history.contents)
    assert rebuilt.messages == model.requests[0].messages

    events_of(talk.say("How long does rye bread take?"))
    sent = [message.text for message in model.requests[1].messages]
    assert INSTEAD in sent
    assert WRONG not in sent

    kept = talk.history.messages[replaced.message_id]
    assert (kept.text, kept.status, kept.parent_id) == (WRONG, "complete", talk.messages[0].id)
    assert kept.usage == TokenUsage(prompt_tokens=100, completion_tokens=9)
    talk.branch(kept.id)
    assert texts(talk) == [QUESTION, WRONG], "the words of the model stay on a branch of their own"


@pytest.mark.parametrize(
    ("info", "settings", "is_checked"),
    [
        ({"calls_tools": False}, {"wanted": False}, False),
        ({"context_limit": 8192}, {}, True),
        ({"calls_tools": False, "needs_evidence": True}, {}, True),
        ({}, {}, False),
        ({}, {"strict": True}, True),
    ],
    ids=["switched off", "small window", "needs evidence", "large", "large, strict"],
)
def test_models_that_are_handed_passages_are_checked(
    library: Library, info: dict[str, Any], settings: dict[str, bool], is_checked: bool
) -> None:
    model = Saying(WRONG, **{"context_limit": 200_000, **info})
    events = events_of(conversation(library, model, **settings).say(QUESTION))
    assert answer_of(events).text == (INSTEAD if is_checked else WRONG)
    (ready,) = of_kind(events, PromptReady)
    assert ready.is_provisional is is_checked


def test_a_model_that_has_read_more_by_itself_is_trusted(library: Library) -> None:
    call = ToolCallPart(call_id="c1", name="read_document", arguments='{"relative_path": "Sync.md"}')
    model = Saying(call, WRONG, context_limit=8192)
    assert answer_of(events_of(conversation(library, model).say(QUESTION))).text == WRONG


def test_what_a_linked_note_says_outside_its_passages_is_no_contradiction(own_library: Library, tmp_path: Path) -> None:
    between = "".join(f"## Day {day}\n\n{'It is quiet. ' * 60}\n\n" for day in range(30))  # more than is looked through
    old = f"# Old\n\nRye bread is slow from start to slice.\n\n{between}## Anna\n\nShe waits 5 days.\n"
    (tmp_path / "vault" / "Old.md").write_text(old)
    own_library.refresh()
    model = Saying("Rye bread takes 5 days.", **SMALL)
    talk = conversation(own_library, model)
    answer = answer_of(events_of(talk.say("How long does rye bread take from start to slice? [[Old]]")))
    passages = " ".join(each.text for each in model.requests[0].evidence)
    assert "She waits" not in passages
    assert "Rye bread takes two days" in passages
    assert answer.text == "Rye bread takes 5 days."


def test_an_answer_that_ran_out_of_room_is_checked_and_one_that_breaks_off_is_kept(library: Library) -> None:
    model = Saying(f"{WRONG} And", reason="length", **SMALL)
    assert answer_of(events_of(conversation(library, model).say(QUESTION))).text == INSTEAD

    class Cut(Saying):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
            yield TextChunk(text=WRONG)
            raise ProviderError("It was cut.")

    talk = conversation(library, Cut(**SMALL))
    assert isinstance(events_of(talk.say(QUESTION))[-1], TurnFailed)
    assert [(message.text, message.status) for message in talk.messages[1:]] == [(WRONG, "unfinished")]


def test_who_leaves_before_the_passage_is_shown_finds_it_in_the_session(library: Library) -> None:
    talk = conversation(library, Saying(WRONG, **SMALL))
    until(talk.say(QUESTION), lambda event: isinstance(event, AnswerReplaced))
    assert texts(talk) == [QUESTION, INSTEAD]
