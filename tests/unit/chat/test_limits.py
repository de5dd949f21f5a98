"""What a model may send: so much of an answer, so many calls, and no more of any than is worth keeping."""

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from tests.support.conversations import conversation_over, events_of, of_kind, scripted, stored
from tests.support.sessions import SessionsInMemory
from zkchat.chat.core import AnswerLimits
from zkchat.core.errors import ExitCode
from zkchat.core.events import TextDelta, ToolFinished, ToolStarted, TurnFailed, TurnFinished, Warned
from zkchat.core.message import ToolCallPart, ToolResultPart
from zkchat.core.prompt import ModelChunk, ModelRequest, TextChunk, ThinkingChunk
from zkchat.index.library import Library
from zkchat.models.scripted import Script, Scripted

NOTES = {"Sleep.md": "Adults need seven hours.\n"}


class Endless(Scripted):
    """Says or thinks the same word for ever, in chunks as large as they are asked for."""

    def __init__(self, chunk: ModelChunk) -> None:
        super().__init__(Script(answers=((),)))
        self._chunk = chunk

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        while True:
            yield self._chunk


@pytest.mark.parametrize(
    "chunk",
    [TextChunk(text="word "), TextChunk(text="x" * 10_000), ThinkingChunk(text="hm ")],
    ids=["words", "one chunk", "thoughts"],
)
def test_an_endless_answer_is_ended_and_what_came_is_kept(
    library: Library, store: SessionsInMemory, chunk: TextChunk | ThinkingChunk
) -> None:
    limits = AnswerLimits(characters=2_000)
    events = events_of(conversation_over(library, store, Endless(chunk), limits=limits).say("Go on!"))
    assert isinstance(events[-1], TurnFailed)
    assert events[-1].text == "The answer from scripted:scripted was cut off at 2,000 characters."
    assert ("limits.max_answer_chars" in events[-1].hint, events[-1].exit_code) == (True, ExitCode.MODEL)
    kept = stored(store)[-1]
    assert (len(kept.text + kept.thinking), kept.status) == (2_000, "unfinished")


def test_an_answer_that_takes_too_long_is_ended(library: Library, store: SessionsInMemory) -> None:
    limits = AnswerLimits(time=timedelta(seconds=-1))  # the clock of these tests stands still
    events = events_of(conversation_over(library, store, Endless(TextChunk(text="a ")), limits=limits).say("Go on!"))
    assert isinstance(events[-1], TurnFailed)
    assert "was cut off after" in events[-1].text
    assert stored(store)[-1].text == "a "


def test_a_large_chunk_is_handed_on_in_pieces(library: Library, store: SessionsInMemory) -> None:
    events = events_of(conversation_over(library, store, scripted([[{"text": "a" * 10_000}]])).say("Go on!"))
    pieces = [event.text for event in of_kind(events, TextDelta)]
    assert (max(map(len, pieces)), "".join(pieces)) == (4_000, "a" * 10_000)


def test_of_many_calls_at_once_some_are_run_and_the_model_is_told(library: Library, store: SessionsInMemory) -> None:
    calls = [{"tool": "find_excerpts", "arguments": {"query": f"sleep {n}"}} for n in range(40)]
    provider = scripted([calls, [{"text": "Seven."}]])
    events = events_of(conversation_over(library, store, provider).say("How long?"))
    assert isinstance(events[-1], TurnFinished)
    assert len(of_kind(events, ToolFinished)) == 32
    assert "look-ups at once; 8 were skipped" in " ".join(each.text for each in of_kind(events, Warned))
    asked, answered = provider.requests[-1].messages[-33:], stored(store)[-2]
    assert len(asked[0].tool_calls) == len(answered.parts) == 32
    assert "(8 more calls were not run: make at most 32 at once.)" in provider.requests[-1].messages[-1].text


def test_of_a_call_that_is_too_long_little_is_kept_and_sent_back(library: Library, store: SessionsInMemory) -> None:
    call = {"tool": "find_excerpts" * 1_000, "arguments": '{"query": "' + "a" * 64_000 + '"}'}
    provider = scripted([[call, {**call, "tool": "find_excerpts"}], [{"text": "Seven."}]])
    events = events_of(conversation_over(library, store, provider).say("How long?"))
    assert isinstance(events[-1], TurnFinished)
    parts = [part for message in stored(store) for part in message.parts]
    assert all(len(part.name + part.arguments) <= 300 for part in parts if isinstance(part, ToolCallPart))
    assert all(len(event.name + event.arguments) <= 300 for event in of_kind(events, ToolStarted))
    results = [part.text for part in parts if isinstance(part, ToolResultPart)]
    assert "There is no tool" in results[0]
    assert "longer than 64,000 characters" in results[1]
