"""How much of what a model sends is taken: of an answer, of the calls of one step, and of one call."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from zkchat.errors import ProviderError
from zkchat.model.message import ToolCallPart
from zkchat.model.prompt import ModelChunk, TextChunk, ThinkingChunk
from zkchat.tools.registry import MAX_ARGUMENTS_CHARS

MOST_CALLS: Final = 32
"""Calls of one step that are run."""
LONGEST_NAME: Final = 100
_KEPT: Final = 200
"""Characters that stay of arguments which are too long to be read."""
_PIECE: Final = 4_000
"""Characters that are shown, and written down, at once: between two pieces the user may stop the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLimits:
    """What one answer may take. Thinking counts like text."""

    characters: int = 1_000_000
    time: timedelta = timedelta(hours=1)


DEFAULT_LIMITS: Final = AnswerLimits()


async def within(
    limits: AnswerLimits, answer: AsyncGenerator[ModelChunk, None], name: str, now: Callable[[], datetime]
) -> AsyncGenerator[ModelChunk, None]:
    """The answer in small pieces, between which it may be stopped; one that is too long ends in a `ProviderError`."""
    began = now()
    room = limits.characters
    async with aclosing(answer) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextChunk | ThinkingChunk):
                for piece in _pieces(chunk, room):
                    yield piece
                    await asyncio.sleep(0)
                room -= len(chunk.text)
            else:
                yield chunk
            if room < 0:
                raise _ended(name, f"at {limits.characters:,} characters", "max_answer_chars")
            if now() - began > limits.time:
                raise _ended(name, f"after {limits.time.total_seconds():,.0f} seconds", "max_answer_seconds")


def _pieces(chunk: TextChunk | ThinkingChunk, room: int) -> Iterator[ModelChunk]:
    if len(chunk.text) <= min(_PIECE, room):
        yield chunk
        return
    for start in range(0, min(len(chunk.text), room), _PIECE):
        yield chunk.model_copy(update={"text": chunk.text[start : min(start + _PIECE, room)]})


def _ended(name: str, where: str, setting: str) -> ProviderError:
    return ProviderError(
        f"The answer of {name} was ended {where}.", hint=f"What came is kept. The bound is limits.{setting}."
    )


def as_stored(call: ToolCallPart) -> ToolCallPart:
    """A call with no more of its name and arguments than is worth keeping and sending back."""
    too_long = len(call.arguments) > MAX_ARGUMENTS_CHARS
    if not too_long and len(call.name) <= LONGEST_NAME:
        return call
    kept = call.arguments[:_KEPT] if too_long else call.arguments
    return call.model_copy(update={"name": call.name[:LONGEST_NAME], "arguments": kept})
