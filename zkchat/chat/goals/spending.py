"""What a goal run costs: time, and the tokens of its requests and answers."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

from zkchat.model.message import ChatMessage
from zkchat.model.thread import compaction_of


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
