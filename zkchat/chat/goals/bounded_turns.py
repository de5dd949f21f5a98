"""The turns of a goal run: each is a turn of the conversation that ends where a bound of the run is reached."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from zkchat.chat.conversation import Conversation
from zkchat.chat.event_stream import Emit
from zkchat.chat.goals.bounds import GoalBounds
from zkchat.chat.goals.spending import Spending
from zkchat.errors import ExitCode
from zkchat.model.events import Event, PromptReady, ToolFinished, TurnFailed, TurnFinished
from zkchat.model.message import Brief, ChatMessage


@dataclass
class Stopped(Exception):
    """The run ends before its goal is reached."""

    reason: str
    exit_code: int = ExitCode.NO_ANSWER


class BoundedTurns:
    """Runs turns of a conversation, within what is left of the bounds."""

    def __init__(self, conversation: Conversation, bounds: GoalBounds, spending: Spending) -> None:
        self._conversation = conversation
        self._bounds = bounds
        self._spending = spending
        self._request = 0
        """Tokens of the last request."""

    async def run(self, text: str, brief: Brief, emit: Emit) -> ChatMessage:
        """A turn of the conversation, up to its answer. Raises `Stopped` where a bound or an error ends it."""
        usage, tokenizer = self._conversation.usage, self._conversation.requests.tokenizer
        self._request = (usage.total if usage else 0) + tokenizer.count(f"{brief.text} {text}")
        self._heed_bounds()
        answer: ChatMessage | None = None
        async with aclosing(self._conversation.say_briefed(text, brief)) as events:
            while (event := await self._next(events)) is not None:
                await emit(event)
                match event:
                    case PromptReady():
                        self._request = event.usage.total
                    case ToolFinished():
                        self._heed_bounds()
                    case TurnFailed():
                        raise Stopped(event.text, event.exit_code)
                    case TurnFinished():
                        answer = event.message
                    case _:
                        self._heed_time()
        if answer is None:
            raise Stopped("The turn ended without an answer.")
        return answer

    async def _next(self, events: AsyncGenerator[Event, None]) -> Event | None:
        """The next event, if it comes in time."""
        left = (self._bounds.time - self._spending.time).total_seconds()
        waiting = asyncio.timeout(max(0.0, left))
        try:
            async with waiting:
                return await anext(events, None)
        except TimeoutError:
            if not waiting.expired():
                raise
            raise Stopped(self._bounds.reason_to_stop(tokens=0, elapsed=self._bounds.time)) from None

    def _heed_bounds(self) -> None:
        if reason := self._bounds.reason_to_stop(
            tokens=self._spending.tokens, elapsed=self._spending.time, next_request=self._request
        ):
            raise Stopped(reason)

    def _heed_time(self) -> None:
        if reason := self._bounds.reason_to_stop(tokens=0, elapsed=self._spending.time):
            raise Stopped(reason)
