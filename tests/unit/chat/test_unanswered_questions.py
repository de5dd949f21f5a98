"""A question that got no answer: kept in the history, and not sent along with the next one."""

from collections.abc import AsyncGenerator

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.sessions import SessionsInMemory
from zkchat.core.errors import ProviderError
from zkchat.core.prompt import ModelChunk, ModelRequest
from zkchat.index.library import Library

NOTES = {"Moss.md": "# Moss\n\nIt grows slowly.\n"}


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
    events_of(talk.say("How fast does moss grow?"))
    events_of(talk.say("And in winter?"))
    first, second = provider.requests
    assert [message.text.split("\n")[0] for message in first.messages if message.role == "user"] == [
        "How fast does moss grow?"
    ]
    assert [message.role for message in second.messages if message.role != "system"] == ["user", "assistant", "user"]
    assert "Something forbidden?" in [message.text for message in talk.messages]
    context = talk.messages[-1].request_context
    assert context
    assert [(left.why, talk.history.messages[left.item.name].text) for left in context.left_out] == [
        ("unanswered", "Something forbidden?"),
        ("unanswered", ""),
    ]
