"""Turns without an answer, which later requests leave out: the notes held nothing, or the model failed."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.sessions import SessionsInMemory
from zkchat.chat.context.assembly import request_from
from zkchat.chat.conversation import Conversation
from zkchat.chat.message_search import ConversationSearch
from zkchat.chat.request import ABSTAINED
from zkchat.chat.tool_loop import TOO_SMALL
from zkchat.core.errors import ProviderError
from zkchat.core.message import ChatMessage
from zkchat.core.prompt import ModelChunk, ModelRequest
from zkchat.core.reports import NOTHING
from zkchat.index.library import Library
from zkchat.sessions.store import SqliteMessageIndex

NOTES = {"Sleep.md": "# Sleep\n\nAdults need seven hours of sleep.\n", "Roof.md": "# Roof\n\nThe roof leaks in May.\n"}
SILENT = "Who won the chess tournament?"


class Small(Reciting):
    """Says "Answer N.", and is asked nothing without evidence unless it has tools."""

    def __init__(self, *, has_tools: bool = False) -> None:
        super().__init__(window=100_000, calls_tools=has_tools)
        self.info = replace(self.info, needs_evidence=not has_tools)


def say(talk: Conversation, text: str) -> ChatMessage:
    events_of(talk.say(text))
    return talk.messages[-1]


def after_silence(
    library: Library, store: SessionsInMemory, model: Small, search: ConversationSearch | None = None
) -> Conversation:
    """A conversation in which a small model answered one question, and had nothing to say on the next."""
    earlier = conversation_over(library, store, Small())
    assert say(earlier, "How many hours of sleep do adults need?").text == "Answer 1."
    assert say(earlier, SILENT).abstained
    return conversation_over(library, store, model, session=store.get(earlier.session_id), search=search)


def texts(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)


def test_a_small_model_is_not_sent_turns_in_which_there_was_nothing_and_the_record_says_why(library: Library) -> None:
    model = Small()
    talk = after_silence(library, SessionsInMemory(), model)
    answer = say(talk, "And why do adults need it?")
    (request,) = model.requests
    assert "Answer 1." in texts(request)
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]
    assert (answer.text, answer.abstained) == ("Answer 1.", False)
    context = answer.request_context
    assert context
    left = [left for left in context.left_out if left.why == "abstained"]
    question, silence = (talk.history.messages[each.item.name] for each in left)
    assert question.text == SILENT
    assert silence.text.startswith(NOTHING)
    assert {each.item.reason for each in left} == {ABSTAINED}
    assert talk.messages[2:4] == [question, silence]
    for sent in (request, request_from(context, talk.history.messages, talk.history.contents)):
        assert SILENT not in texts(sent)
        assert NOTHING.strip() not in texts(sent)

    large = Small(has_tools=True)
    say(after_silence(library, SessionsInMemory(), large), "When does the roof leak?")
    assert SILENT in texts(large.requests[0])
    assert NOTHING.strip() in texts(large.requests[0])
    assert TOO_SMALL not in texts(large.requests[0])


def test_a_pinned_question_is_sent_although_there_was_nothing(library: Library) -> None:
    model = Small()
    talk = after_silence(library, SessionsInMemory(), model)
    talk.pin(talk.messages[2].id)
    say(talk, "When does the roof leak?")
    assert SILENT in texts(model.requests[0])
    assert NOTHING.strip() not in texts(model.requests[0])


def compacted(library: Library, store: SessionsInMemory, search: ConversationSearch, model: Small) -> Conversation:
    """A conversation whose turn without an answer was archived with a summary of all of it."""
    talk = after_silence(library, store, model, search)
    say(talk, "When does the roof leak?")
    events_of(talk.compact(keep=1))
    assert SILENT in [message.text for message in talk.history.archived.values()]
    return talk


@pytest.fixture
def search(tmp_path: Path) -> Iterator[ConversationSearch]:
    with closing(SqliteMessageIndex(tmp_path / "messages.db")) as index:
        yield ConversationSearch(index)


@pytest.mark.parametrize("has_tools", [False, True])
def test_summaries_and_recall_for_a_small_model_say_nothing_of_such_turns(
    library: Library, search: ConversationSearch, has_tools: bool
) -> None:
    model = Small(has_tools=has_tools)
    talk = compacted(library, SessionsInMemory(), search, model)
    found = [message.text for message, _ in talk.requests.planner.find_archived("chess tournament", 5)]
    again = say(talk, "Tell me of the chess tournament and the hours of sleep.")
    assert again.request_context
    recalled = [item.name for item in again.request_context.items if item.type == "recall"]
    silence = {id_ for id_, message in talk.history.messages.items() if message.abstained or message.text == SILENT}
    assert (SILENT in found) is has_tools
    assert bool(silence.intersection(recalled)) is has_tools
    assert talk.window.summary
    summarised = texts(model.requests[1]) if has_tools else talk.window.summary.summary
    assert "sleep" in summarised
    assert ("chess" in summarised) is has_tools


class Refusing(Reciting):
    """Refuses every request in which something stands."""

    def __init__(self, refused: str) -> None:
        super().__init__()
        self.refused = refused

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        if any(self.refused in message.text for message in request.messages):
            raise ProviderError("The server does not accept the request.")
        async for chunk in super().stream(request):
            yield chunk


def test_a_refused_question_does_not_block_those_that_follow(library: Library) -> None:
    provider = Refusing("forbidden")
    talk = conversation_over(library, SessionsInMemory(), provider)
    events_of(talk.say("Something forbidden?"))
    events_of(talk.say("When does the roof leak?"))
    events_of(talk.say("And in winter?"))
    first, second = provider.requests
    assert [message.text.split("\n")[0] for message in first.messages if message.role == "user"] == [
        "When does the roof leak?"
    ]
    assert [message.role for message in second.messages if message.role != "system"] == ["user", "assistant", "user"]
    assert "Something forbidden?" in [message.text for message in talk.messages]
    context = talk.messages[-1].request_context
    assert context
    assert [(left.why, talk.history.messages[left.item.name].text) for left in context.left_out] == [
        ("unanswered", "Something forbidden?"),
        ("unanswered", ""),
    ]
