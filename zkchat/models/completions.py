"""Chat completions of OpenAI's protocol: conversion of messages and tools, and parsing of streamed answers."""

import json
import secrets
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.core import (
    Finish,
    FinishReason,
    ImageDetail,
    ModelChunk,
    ModelRequest,
    PromptMessage,
    ProviderError,
    TextChunk,
    ThinkingChunk,
    TokenUsage,
    ToolCallPart,
    ToolRequested,
    ToolSpec,
    from_plain,
)
from zkchat.models.errors import BadReply, Endpoint, said_in
from zkchat.models.transport import arguments_object, replace_surrogates, truncation_warning

OPENING = "<think>"
CLOSING = "</think>"
UNCLOSED = "The model did not say where its thinking ends, so all of it is shown as the answer."
MAX_LEADING_SPACE = 10_000
"""Characters of white space before an answer that are buffered."""


class ThinkingSplitter:
    """Splits a streamed answer, wherever it was cut, into `<think>…</think>` and the rest.

    Tags count only before the answer has begun: later the answer may be about them.
    """

    def __init__(self) -> None:
        self._state: Literal["before", "thinking", "after", "answer"] = "before"
        self._held = ""
        """What may still turn out to be a tag."""
        self._open: list[str] = []
        """What was thought since the tag that opened it."""

    @property
    def unclosed(self) -> str:
        """What was thought, if nothing said where the thinking ends: the answer may be a part of it."""
        return "".join(self._open) if self._state == "thinking" else ""

    def feed(self, text: str) -> Iterator[TextChunk | ThinkingChunk]:
        self._held += text
        while self._held and self._state != "answer":
            state = self._state
            if state == "thinking":
                yield from self._think()
            else:
                self._begin()
            if self._state == state:
                return
        yield from self.end()

    def end(self) -> Iterator[TextChunk | ThinkingChunk]:
        """What was held back, once nothing more can come to complete a tag."""
        held, self._held = self._held, ""
        if held and self._state == "thinking":
            yield self._thought(held)
        elif held:
            yield TextChunk(text=held)

    def _begin(self) -> None:
        """Only white space so far: does this begin with thinking, or with the answer?"""
        beginning = self._held.lstrip()
        if len(self._held) - len(beginning) > MAX_LEADING_SPACE:
            self._state = "answer"
            return
        if beginning.startswith(OPENING):
            self._held = beginning.removeprefix(OPENING)
            self._state = "thinking"
            self._open.clear()
            return
        if self._state == "after":  # the blank lines between the thinking and the answer
            self._held = beginning
        if not OPENING.startswith(beginning):
            self._state = "answer"

    def _think(self) -> Iterator[ThinkingChunk]:
        thought, closed, rest = self._held.partition(CLOSING)
        if closed:
            self._held = rest
            self._state = "after"
        else:
            kept = len(thought) - _tag_begun(thought)
            thought, self._held = thought[:kept], thought[kept:]
        if thought:
            yield self._thought(thought)

    def _thought(self, text: str) -> ThinkingChunk:
        self._open.append(text)
        return ThinkingChunk(text=text)


def finish_chunks(splitter: ThinkingSplitter, finish: Finish) -> Iterator[TextChunk | Finish]:
    """The end of an answer. One that is nothing but thinking without an end is shown: what is asked for is in it."""
    if finish.reason == "stop" and (thought := splitter.unclosed):
        yield TextChunk(text=thought)
        finish = replace(finish, warning=f"{UNCLOSED} {finish.warning}".strip())
    yield finish


def _tag_begun(text: str) -> int:
    """How many of the last characters may be the beginning of the closing tag."""
    return next((size for size in range(len(CLOSING) - 1, 0, -1) if text.endswith(CLOSING[:size])), 0)


MAX_ARGUMENT_CHARS = 100_000
"""Of one call; more is left out."""
MAX_CALLS = 100_000
"""Of one answer; more are left out."""


def message_param(message: PromptMessage, detail: ImageDetail = "high") -> dict[str, object]:
    text = replace_surrogates(message.text)
    match message.role:
        case "user" if images := [*_images(message, detail)]:
            return {"role": "user", "content": [{"type": "text", "text": text}, *images]}
        case "assistant" if message.tool_calls:
            calls = [_call(call) for call in message.tool_calls]
            return {"role": "assistant", "content": text or None, "tool_calls": calls}
        case "tool":
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
        case role:
            return {"role": role, "content": text}


def _images(message: PromptMessage, detail: ImageDetail) -> Iterator[dict[str, object]]:
    for image in message.images:
        if image.data:
            url = f"data:{image.media_type};base64,{image.data}"
            yield {"type": "image_url", "image_url": {"url": url, "detail": detail}}


def _call(call: ToolCallPart) -> dict[str, object]:
    arguments = json.dumps(arguments_object(call), ensure_ascii=False)
    return {"type": "function", "id": call.call_id, "function": {"name": call.name, "arguments": arguments}}


def tool_param(spec: ToolSpec) -> dict[str, Any]:
    return spec.definition


class _Function(Struct):
    name: str | None = None
    arguments: str | None = None


class _CallDelta(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: object = None
    """What DeepSeek, llama.cpp and vLLM call the thinking."""
    reasoning: object = None
    """What OpenRouter and newer ones call it."""
    tool_calls: Sequence[_CallDelta] | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Details(Struct):
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


class _Event(Struct):
    """One event of a stream, as far as it is used."""

    choices: Sequence[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


class _PartialCall(Struct):
    """A tool call that is still arriving."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, arguments: str) -> None:
        """Append to the arguments, up to the limit."""
        if self.length <= MAX_ARGUMENT_CHARS:
            self.arguments.append(arguments)
            self.length += len(arguments)

    def requested(self) -> ToolRequested:
        call_id = self.id or f"call-{secrets.token_hex(4)}"
        arguments = "".join(self.arguments) or "{}"
        return ToolRequested(call=ToolCallPart(call_id=call_id, name=self.name, arguments=arguments))


class StreamedAnswer:
    """Assembles a streamed answer from its parts."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._splitter = ThinkingSplitter()
        self._calls: list[_PartialCall] = []
        self._call_at: dict[int | None, _PartialCall] = {}
        self._reason = ""
        self._usage: TokenUsage | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing more is to come, even if the server forgets to say so."""
        return bool(self._reason and self._usage)

    def chunks(self, data: bytes) -> Iterator[ModelChunk]:
        """What one event says. Raises `ValueError` for what is none, and `BadReply` for an error."""
        event = from_plain(_Event, json.loads(data))
        if event.error:
            code = event.error.get("code") if isinstance(event.error, dict) else None
            raise BadReply(code if isinstance(code, int) else 0, said_in(event.error))
        self._usage = _counts(event.usage) if event.usage else self._usage
        for choice in event.choices or ():
            self._reason = choice.finish_reason or self._reason
            delta = choice.delta or _Delta()
            thinking = delta.reasoning_content or delta.reasoning
            if thinking and isinstance(thinking, str):
                yield ThinkingChunk(text=thinking)
            if text := delta.content or delta.refusal:
                yield from self._splitter.feed(text)
            for call in delta.tool_calls or ():
                self._add(call)

    def end(self, request: ModelRequest) -> Iterator[ModelChunk]:
        """The chunks that end an answer. One that was cut has no `Finish`, and its tool calls do not count."""
        yield from self._splitter.end()
        if not self._reason:
            return
        if self._reason == "content_filter":
            raise ProviderError(f"A filter of {self._endpoint.name} stopped the answer.", hint="Ask in other words.")
        for call in self._calls:
            yield call.requested()
        reason: FinishReason = "length" if self._reason == "length" else "tool_calls" if self._calls else "stop"
        warning = truncation_warning(request, self._usage, self._endpoint)
        yield from finish_chunks(self._splitter, Finish(reason=reason, usage=self._usage, warning=warning))

    def _add(self, delta: _CallDelta) -> None:
        """Add a delta to its call. Some servers give all calls the same index, and only the ids differ."""
        call = self._call_at.get(delta.index)
        if call is None or (delta.id and call.id and delta.id != call.id):
            call = self._call_at[delta.index] = _PartialCall()
            if len(self._calls) < MAX_CALLS:
                self._calls.append(call)
        call.id = call.id or delta.id or ""
        if delta.function:
            call.name = call.name or delta.function.name or ""
            call.add(delta.function.arguments or "")


def _counts(usage: _Usage) -> TokenUsage:
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return TokenUsage(
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
        thinking_tokens=(completion and completion.reasoning_tokens) or 0,
        cached_tokens=(prompt and prompt.cached_tokens) or 0,
    )
