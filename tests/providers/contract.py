"""What every provider promises, as checks that more than one suite uses."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from zkchat.core.errors import ProviderError
from zkchat.core.message import Evidence, LineRange, ToolCallPart
from zkchat.core.ports import ModelProvider
from zkchat.core.prompt import (
    Finish,
    ModelChunk,
    ModelRequest,
    PromptMessage,
    TextChunk,
    ThinkingChunk,
    ToolRequested,
    ToolSpec,
)

FIND = ToolSpec(
    name="find",
    description="Find notes.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


def call(number: int, arguments: str) -> ToolRequested:
    return ToolRequested(call=ToolCallPart(call_id=f"call-{number}", name="find", arguments=arguments))


PLAYS: dict[str, list[ModelChunk]] = {
    "tells": [*(TextChunk(text=word) for word in ("Sleep ", "is ", "für 眠り ", "🗝️, ", "they say.")), Finish()],
    "thinks": [ThinkingChunk(text="Hm. "), ThinkingChunk(text="Yes."), TextChunk(text="Seven hours."), Finish()],
    "calls": [
        TextChunk(text="Let me look."),
        call(1, '{"query": "sleep"}'),
        call(2, '{"query": "眠り", "limit": 3}'),
        Finish(reason="tool_calls"),
    ],
    "runs on": [TextChunk(text="And then, and then"), Finish(reason="length")],
    "breaks off": [TextChunk(text="Seven "), TextChunk(text="to")],
    "is silent": [Finish()],
}


def asking(text: str = "How long should one sleep?", *, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    evidence = Evidence(
        text="Seven to nine hours.",
        relative_path="Sleep.md",
        title="Sleep",
        wikilink="[[Sleep]]",
        lines=LineRange(first=1, last=1),
        score=1.0,
    )
    return ModelRequest(
        messages=(PromptMessage(role="system", text="Be brief."), PromptMessage(role="user", text=text)),
        evidence=(evidence,),
        tools=tools,
        window=2048,
        max_answer_tokens=8,
        temperature=0.0,
    )


ASKING_FOR_A_CALL = ModelRequest(
    messages=(
        PromptMessage(role="user", text="find dogs"),
        PromptMessage(
            role="assistant", tool_calls=(ToolCallPart(call_id="c1", name="find", arguments='{"query": "dogs"}'),)
        ),
        PromptMessage(role="tool", text="Found.", tool_call_id="c1", tool_name="find"),
        PromptMessage(role="assistant", text="Done."),
        PromptMessage(role="user", text="find cats"),
    ),
    tools=(FIND,),
    window=2048,
    max_answer_tokens=40,
    temperature=0.0,
)
"""Even a model that was not made for tools follows the example, and calls `find` with `cats`."""

SECONDS = 180
"""After which an answer is taken to hang."""


async def collect(stream: AsyncGenerator[ModelChunk, None]) -> list[ModelChunk]:
    async with asyncio.timeout(SECONDS), aclosing(stream):
        return [chunk async for chunk in stream]


def answer(provider: ModelProvider, request: ModelRequest | None = None) -> list[ModelChunk]:
    return asyncio.run(collect(provider.stream(request or asking())))


def failure(provider: ModelProvider, request: ModelRequest | None = None) -> tuple[list[ModelChunk], ProviderError]:
    """What arrived before it went wrong, and what was said of it."""
    arrived: list[ModelChunk] = []

    async def listen() -> None:
        async with asyncio.timeout(SECONDS), aclosing(provider.stream(request or asking())) as stream:
            async for chunk in stream:
                arrived.append(chunk)  # noqa: PERF401  # a comprehension would lose what came before the failure

    with pytest.raises(ProviderError) as caught:
        asyncio.run(listen())
    return arrived, caught.value


def text_of(chunks: list[ModelChunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


def thinking_of(chunks: list[ModelChunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, ThinkingChunk))


def calls_of(chunks: list[ModelChunk]) -> list[ToolCallPart]:
    return [chunk.call for chunk in chunks if isinstance(chunk, ToolRequested)]


def finish_of(chunks: list[ModelChunk]) -> Finish:
    """The one `Finish`, which is the last chunk."""
    finishes = [chunk for chunk in chunks if isinstance(chunk, Finish)]
    assert finishes == chunks[-1:]
    return finishes[0]


async def first_words(provider: ModelProvider) -> str:
    """Ask, and leave after the first piece."""
    async with aclosing(provider.stream(asking())) as stream:
        async for chunk in stream:
            if isinstance(chunk, TextChunk):
                return chunk.text
    raise AssertionError("no text came")
