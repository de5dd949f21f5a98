"""A conversation that lasts: one turn after the other, in a session on disk."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from zkchat.chat.turn import Turn
from zkchat.model.events import Event, Warned
from zkchat.model.message import ChatMessage
from zkchat.model.prompt import ModelInfo


class Conversation:
    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def resume(self) -> Warned | None:
        """Close what an earlier crash left open. To be called once, before the first turn of an old session."""
        return self._turn.journal.close_what_a_crash_left_open(self._turn.new_id)

    @property
    def model(self) -> ModelInfo:
        return self._turn.provider.info

    @property
    def session_id(self) -> str:
        return self._turn.journal.session_id

    @property
    def messages(self) -> list[ChatMessage]:
        return self._turn.journal.thread

    async def say(self, text: str) -> AsyncGenerator[Event, None]:
        """Send the user's words and yield what happens. Closing the iterator stops the answer and keeps its part."""
        async with aclosing(self._turn.run(text)) as events:
            async for event in events:
                yield event
