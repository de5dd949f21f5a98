"""An answer of a small model that contradicts the passages it was given is replaced by the passage."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.support.conversations import conversation_over, events_of
from tests.support.sessions import SessionsInMemory
from zkchat.chat.context.assembly import request_from
from zkchat.chat.conversation import Conversation
from zkchat.core.choices import TokenUsage
from zkchat.core.errors import ProviderError
from zkchat.core.events import AnswerReplaced, Event, PromptReady, TextDelta, TurnFailed, TurnFinished, Warned
from zkchat.core.message import ChatMessage, ToolCallPart
from zkchat.core.prompt import Finish, FinishReason, ModelChunk, ModelInfo, ModelRequest, TextChunk, ToolRequested
from zkchat.core.values import from_plain
from zkchat.index.library import Library

NOTES = {
    "Sync.md": "# Sync\n\n## Privacy\n\nObsidian Sync is end-to-end encrypted.\n",
    "Rye bread.md": "# Rye bread\n\nRye bread takes two days from start to slice.\n",
}
QUESTION = "Is Obsidian Sync end-to-end encrypted?"
WRONG = "Obsidian Sync is not end-to-end encrypted."
RIGHT = "Yes, Obsidian Sync is end-to-end encrypted."
INSTEAD = "> Obsidian Sync is end-to-end encrypted.\n\n— [[Sync]] › Privacy\n"


class Small:
    """A model that says what it is told, one answer after the other."""

    reason: FinishReason = "stop"

    def __init__(self, *answers: str | ToolCallPart, **info: object) -> None:
        known = {"provider": "small", "id": "x", "context_limit": 200_000, "calls_tools": False, **info}
        self.info = from_plain(ModelInfo, known)
        self.answers = [*answers]
        self.requests: list[ModelRequest] = []

    async def connect(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        answer = self.answers.pop(0)
        yield ToolRequested(call=answer) if isinstance(answer, ToolCallPart) else TextChunk(text=answer)
        yield Finish(reason=self.reason, usage=TokenUsage(prompt_tokens=100, completion_tokens=9))


def conversation(
    library: Library, model: Small, *, store: SessionsInMemory | None = None, wanted: bool = True, strict: bool = False
) -> Conversation:
    return conversation_over(library, store or SessionsInMemory(), model, check_answers=wanted, strict=strict)


def answer_of(events: Sequence[Event]) -> ChatMessage:
    last = events[-1]
    assert isinstance(last, TurnFinished)
    return last.message


def test_the_passage_is_the_answer_where_the_model_contradicts_it(library: Library) -> None:
    talk = conversation(library, Small(WRONG))
    events = events_of(talk.say(QUESTION))
    assert answer_of(events).text == INSTEAD
    assert talk.messages[-1].text == INSTEAD
    shown = [event for event in events if isinstance(event, TextDelta | Warned | AnswerReplaced)]
    first, warning, replaced, instead = shown
    assert isinstance(first, TextDelta)
    assert isinstance(warning, Warned)
    assert isinstance(replaced, AnswerReplaced)
    assert isinstance(instead, TextDelta)
    assert (first.text, instead.text) == (WRONG, INSTEAD)
    assert warning.text == f"small:x said “{WRONG}”, which contradicts [[Sync]] › Privacy."
    assert f"/branch {replaced.message_id}" in warning.hint
    assert "references.check_answers" in warning.hint


def test_the_words_of_the_model_stay_in_the_session_on_a_branch_of_their_own(library: Library) -> None:
    talk = conversation(library, Small(WRONG))
    events = events_of(talk.say(QUESTION))
    (replaced,) = [event for event in events if isinstance(event, AnswerReplaced)]
    kept = talk.history.messages[replaced.message_id]
    assert (kept.text, kept.status, kept.parent_id) == (WRONG, "complete", talk.messages[0].id)
    assert kept.usage == TokenUsage(prompt_tokens=100, completion_tokens=9)
    talk.branch(kept.id)
    assert [message.text for message in talk.messages] == [QUESTION, WRONG]


def test_the_answer_cites_the_note_and_records_its_request(library: Library) -> None:
    model = Small(WRONG)
    talk = conversation(library, model)
    answer = answer_of(events_of(talk.say(QUESTION)))
    (row,) = [row for row in answer.references if row.cited]
    assert (row.relative_path, row.unverified) == ("Sync.md", False)
    assert answer.request_context
    rebuilt = request_from(answer.request_context, talk.history.messages, talk.history.contents)
    assert rebuilt.messages == model.requests[0].messages


def test_the_next_question_is_sent_with_the_passage_and_not_with_what_was_wrong(library: Library) -> None:
    model = Small(WRONG, "Two days.")
    talk = conversation(library, model)
    events_of(talk.say(QUESTION))
    events_of(talk.say("How long does rye bread take?"))
    sent = [message.text for message in model.requests[1].messages]
    assert INSTEAD in sent
    assert WRONG not in sent


@pytest.mark.parametrize("answer", [RIGHT, "I do not know.", "Sync is a product of Obsidian."])
def test_other_answers_stay_as_they_are(library: Library, answer: str) -> None:
    events = events_of(conversation(library, Small(answer)).say(QUESTION))
    assert answer_of(events).text == answer
    assert not [event for event in events if isinstance(event, AnswerReplaced | Warned)]


@pytest.mark.parametrize(
    ("info", "strict", "is_checked"),
    [
        ({}, False, True),
        ({"calls_tools": True, "context_limit": 8192}, False, True),
        ({"needs_evidence": True}, False, True),
        ({"calls_tools": True}, False, False),
        ({"calls_tools": True}, True, True),
    ],
    ids=["no tools", "small window", "needs evidence", "large", "large, strict"],
)
def test_models_that_are_handed_passages_are_checked(
    library: Library, info: dict[str, object], strict: bool, is_checked: bool
) -> None:
    events = events_of(conversation(library, Small(WRONG, **info), strict=strict).say(QUESTION))
    assert answer_of(events).text == (INSTEAD if is_checked else WRONG)
    (ready,) = [event for event in events if isinstance(event, PromptReady)]
    assert ready.is_provisional is is_checked


def test_it_can_be_switched_off(library: Library) -> None:
    events = events_of(conversation(library, Small(WRONG), wanted=False).say(QUESTION))
    assert answer_of(events).text == WRONG
    assert not [event for event in events if isinstance(event, PromptReady) and event.is_provisional]


def test_a_model_that_has_read_more_by_itself_is_trusted(library: Library) -> None:
    call = ToolCallPart(call_id="c1", name="read_document", arguments='{"relative_path": "Sync.md"}')
    model = Small(call, WRONG, calls_tools=True, context_limit=8192)
    assert answer_of(events_of(conversation(library, model).say(QUESTION))).text == WRONG


def test_what_a_linked_note_says_outside_its_passages_is_no_contradiction(library: Library, tmp_path: Path) -> None:
    between = "".join(f"## Day {day}\n\n{'It is quiet. ' * 60}\n\n" for day in range(30))  # more than is looked through
    old = f"# Old\n\nRye bread is slow from start to slice.\n\n{between}## Anna\n\nShe waits 5 days.\n"
    (tmp_path / "vault" / "Old.md").write_text(old)
    library.refresh()
    model = Small("Rye bread takes 5 days.")
    talk = conversation(library, model)
    answer = answer_of(events_of(talk.say("How long does rye bread take from start to slice? [[Old]]")))
    (request,) = model.requests
    assert "She waits" not in " ".join(each.text for each in request.evidence)
    assert "Rye bread takes two days" in " ".join(each.text for each in request.evidence)
    assert answer.text == "Rye bread takes 5 days."


def test_an_answer_that_ran_out_of_room_is_checked_too(library: Library) -> None:
    model = Small(f"{WRONG} And")
    model.reason = "length"
    assert answer_of(events_of(conversation(library, model).say(QUESTION))).text == INSTEAD


def test_an_answer_that_breaks_off_is_kept_as_it_is(library: Library) -> None:
    class Cut(Small):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
            yield TextChunk(text=WRONG)
            raise ProviderError("It was cut.")

    talk = conversation(library, Cut())
    assert isinstance(events_of(talk.say(QUESTION))[-1], TurnFailed)
    assert [(message.text, message.status) for message in talk.messages[1:]] == [(WRONG, "unfinished")]


def test_on_a_full_disk_it_is_done_in_memory(library: Library) -> None:
    store = SessionsInMemory()
    store.full = True
    talk = conversation(library, Small(WRONG), store=store)
    assert answer_of(events_of(talk.say(QUESTION))).text == INSTEAD


def test_who_leaves_before_the_passage_is_shown_finds_it_in_the_session(library: Library) -> None:
    talk = conversation(library, Small(WRONG))

    async def leave() -> None:
        async with aclosing(talk.say(QUESTION)) as events:
            async for event in events:
                if isinstance(event, AnswerReplaced):
                    return

    asyncio.run(leave())
    assert [message.text for message in talk.messages] == [QUESTION, INSTEAD]
