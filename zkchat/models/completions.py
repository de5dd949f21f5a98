"""Chat completions of OpenAI's protocol: conversion of messages and tools, and parsing of streamed answers."""

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct, field

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
from zkchat.models.registry import DEFAULT_MODEL_SETTINGS, ModelSettings
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
            if self._state == "thinking":
                thought, closed, rest = self._held.partition(CLOSING)
                if not closed:
                    begun = (size for size in range(len(CLOSING) - 1, 0, -1) if thought.endswith(CLOSING[:size]))
                    kept = len(thought) - next(begun, 0)
                    thought, rest = thought[:kept], thought[kept:]
                self._held = rest
                yield from self._thought(thought)
                if not closed:
                    return
                self._state = "after"
                continue
            beginning = self._held.lstrip()
            is_endless = len(self._held) - len(beginning) > MAX_LEADING_SPACE
            if beginning.startswith(OPENING) and not is_endless:
                self._state, self._held = "thinking", beginning.removeprefix(OPENING)
                self._open.clear()
                continue
            if self._state == "after":  # the blank lines between the thinking and the answer
                self._held = beginning
            if OPENING.startswith(beginning) and not is_endless:
                return
            self._state = "answer"
        yield from self.end()

    def end(self) -> Iterator[TextChunk | ThinkingChunk]:
        """What was held back, once nothing more can come to complete a tag."""
        held, self._held = self._held, ""
        if self._state == "thinking":
            yield from self._thought(held)
        elif held:
            yield TextChunk(text=held)

    def _thought(self, text: str) -> Iterator[ThinkingChunk]:
        if text:
            self._open.append(text)
            yield ThinkingChunk(text=text)

    def finish(
        self,
        reason: FinishReason,
        usage: TokenUsage | None,
        request: ModelRequest,
        endpoint: Endpoint,
        settings: ModelSettings,
    ) -> Iterator[TextChunk | Finish]:
        """The end of an answer. One that is only thinking without an end is shown: what is asked for is in it."""
        warning = truncation_warning(request, usage, endpoint)
        if reason == "stop" and (thought := self.unclosed):
            yield TextChunk(text=thought)
            warning = f"{UNCLOSED} {warning}".strip()
        yield Finish(reason=reason, usage=settings.priced(usage), warning=warning)


MAX_ARGUMENT_CHARS = 100_000
"""Of one call; more is left out."""
MAX_CALLS = 100_000
"""Of one answer; more are left out."""


class PartialCall(Struct):
    """A tool call that is still arriving."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, arguments: str) -> None:
        if self.length <= MAX_ARGUMENT_CHARS:
            self.arguments.append(arguments)
            self.length += len(arguments)

    @property
    def chunk(self) -> ToolRequested:
        call_id, arguments = self.id or f"call-{secrets.token_hex(4)}", "".join(self.arguments) or "{}"
        return ToolRequested(call=ToolCallPart(call_id=call_id, name=self.name, arguments=arguments))


def message_param(message: PromptMessage, detail: ImageDetail = "high") -> dict[str, object]:
    text = replace_surrogates(message.text)
    images = [
        {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}", "detail": detail}}
        for image in message.images
        if image.data
    ]
    match message.role:
        case "user" if images:
            return {"role": "user", "content": [{"type": "text", "text": text}, *images]}
        case "assistant" if message.tool_calls:
            calls = [
                {
                    "type": "function",
                    "id": call.call_id,
                    "function": {
                        "name": call.name,
                        "arguments": json.dumps(arguments_object(call), ensure_ascii=False),
                    },
                }
                for call in message.tool_calls
            ]
            return {"role": "assistant", "content": text or None, "tool_calls": calls}
        case "tool":
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
        case role:
            return {"role": role, "content": text}


def tools_param(request: ModelRequest) -> dict[str, object]:
    """The tools that may be called; or, where one has to be, the form of a call, which more servers see to."""
    if request.must_call:
        schema = {"name": "call", "schema": call_schema(request.tools)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {"tools": [spec.definition for spec in request.tools]} if request.tools else {}


def call_schema(tools: Iterable[ToolSpec]) -> dict[str, object]:
    """A call of one of the tools."""
    calls = [{"name": {"const": spec.name}, "arguments": spec.parameters} for spec in tools]
    return {"anyOf": [{"type": "object", "properties": each, "required": [*each]} for each in calls]}


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
    cost: Any = None
    """In dollars, as OpenRouter says it."""


class _Event(Struct):
    """One event of a stream, as far as it is used."""

    choices: Sequence[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


class StreamedAnswer:
    """Assembles a streamed answer from its parts."""

    def __init__(self, endpoint: Endpoint, settings: ModelSettings = DEFAULT_MODEL_SETTINGS) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._splitter = ThinkingSplitter()
        self._calls: list[PartialCall] = []
        self._call_at: dict[int | None, PartialCall] = {}
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
        if usage := event.usage:
            self._usage = TokenUsage(
                prompt_tokens=usage.prompt_tokens or 0,
                completion_tokens=usage.completion_tokens or 0,
                thinking_tokens=(usage.completion_tokens_details or _Details()).reasoning_tokens or 0,
                cached_tokens=(usage.prompt_tokens_details or _Details()).cached_tokens or 0,
                cost=float(usage.cost) if isinstance(usage.cost, int | float) and usage.cost >= 0 else None,
            )
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
            yield call.chunk
        reason: FinishReason = "length" if self._reason == "length" else "tool_calls" if self._calls else "stop"
        yield from self._splitter.finish(reason, self._usage, request, self._endpoint, self._settings)

    def _add(self, delta: _CallDelta) -> None:
        """Add a delta to its call. Some servers give all calls the same index, and only the ids differ."""
        call = self._call_at.get(delta.index)
        if call is None or (delta.id and call.id and delta.id != call.id):
            call = self._call_at[delta.index] = PartialCall()
            if len(self._calls) < MAX_CALLS:
                self._calls.append(call)
        call.id = call.id or delta.id or ""
        if delta.function:
            call.name = call.name or delta.function.name or ""
            call.add(delta.function.arguments or "")
