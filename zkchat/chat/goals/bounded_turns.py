"""The turns of a goal run: its bounds, what it has spent of them, and turns that end where one is reached."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from zkchat.chat.conversation import Conversation
from zkchat.chat.event_stream import Emit
from zkchat.errors import ExitCode
from zkchat.model.choices import DEFAULT_GOAL_MINUTES, DEFAULT_GOAL_STEPS, DEFAULT_GOAL_TOKENS
from zkchat.model.events import Event, PromptReady, ToolFinished, TurnFailed, TurnFinished
from zkchat.model.message import Brief, ChatMessage
from zkchat.model.thread import compaction_of

MAX_MINUTES: Final = 365 * 24 * 60
"""More is no bound, and more than a clock can count."""


class GoalBounds(Struct, frozen=True, kw_only=True):
    steps: int = DEFAULT_GOAL_STEPS
    """Of the plan; what the model plans beyond them is left out."""
    tokens: int = DEFAULT_GOAL_TOKENS
    """Of all requests and answers together."""
    minutes: float = DEFAULT_GOAL_MINUTES

    @property
    def time(self) -> timedelta:
        return timedelta(minutes=min(self.minutes, MAX_MINUTES))

    def reason_to_stop(self, *, tokens: int, elapsed: timedelta, next_request: int = 0) -> str:
        """Why a run that used so much may not make a request of so many tokens, as a sentence; empty where it may."""
        if elapsed >= self.time:
            return f"The time is up: {self.minutes:g} minutes."
        if tokens + next_request > self.tokens:
            used = f"{tokens:,} of {self.tokens:,} tokens are used"
            needs = (
                f", and the next request takes about {next_request:,}" if next_request and tokens < self.tokens else ""
            )
            return f"The tokens are used up: {used}{needs}."
        return ""


class Spending:
    """Time and tokens since it was made."""

    def __init__(self, messages: Callable[[], Mapping[str, ChatMessage]], now: Callable[[], datetime]) -> None:
        """`messages` are those of the session, by id: what is there already is not counted."""
        self._messages = messages
        self._known = frozenset(messages())
        self._now = now
        self._began = now()
        self._paused = timedelta()

    @property
    def tokens(self) -> int:
        """Of all requests and answers, as the model's server counted them, else as we did."""
        return sum(_tokens(message) for id_, message in self._messages().items() if id_ not in self._known)

    @property
    def time(self) -> timedelta:
        return self._now() - self._began - self._paused

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While the user is asked: nobody is hurried by a bound."""
        began = self._now()
        try:
            yield
        finally:
            self._paused += self._now() - began


def _tokens(message: ChatMessage) -> int:
    if part := compaction_of(message):
        # The request for a summary held what it replaced; its own usage is not kept.
        return max(0, part.tokens_before - part.tokens_after) if part.made_by else 0
    if message.role != "assistant" or message.request_context is None:
        return 0
    if message.usage and message.usage.prompt_tokens:
        return message.usage.prompt_tokens + message.usage.completion_tokens
    usage = message.request_context.usage
    answer = message.token_count + message.tool_tokens + message.thinking_tokens
    return (usage.total if usage else 0) + answer


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
        usage, tokenizer = self._conversation.usage, self._conversation.tokenizer
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
