"""The provider `scripted`: a model that plays a file."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, field

from zkchat.core import (
    ConfigError,
    Finish,
    FinishReason,
    ModelChunk,
    ModelInfo,
    ModelProvider,
    ModelRequest,
    ProviderError,
    TextChunk,
    ThinkingChunk,
    TokenUsage,
    ToolCallPart,
    ToolRequested,
    from_json,
    from_plain,
    place_and_reason,
)
from zkchat.models.registry import NamedModel, ProviderContext, ProviderDescriptor


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing the model does; of the first six exactly one is given."""

    text: str | None = None
    thinking: str | None = None
    tool: str | None = None
    error: str | None = None
    delay: Annotated[float, Meta(ge=0, le=60)] | None = None
    finish: FinishReason | None = None
    arguments: dict[str, Any] | str = field(default_factory=dict)
    """Of a tool call; a string is passed on as it is, malformed or not."""
    hint: str = ""
    usage: TokenUsage | None = None


class Script(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    model: str = "scripted"
    context_limit: int | None = None
    calls_tools: bool = True
    sees_images: bool = False
    tokenizer: str = ""
    answers: tuple[tuple[Step, ...], ...]
    """One list of steps for each request, in order. An answer whose last step is no `finish` ends with `stop`."""
    cut: bool = False
    """Whether the last answer breaks off instead of finishing."""


def read_script(path: Path) -> Script:
    try:
        return from_plain(Script, from_json(path.read_bytes()))
    except OSError as error:
        raise ConfigError(f"The script '{path}' cannot be read: {error.strerror}.") from error
    except ValueError as error:
        place, why = place_and_reason(error)
        raise ConfigError(
            f"The script '{path}' is not valid{f' at {place}' if place else ''}: {why}.",
            hint="zkchat help scripted shows the format.",
        ) from error


class Scripted:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._next: int | None = None
        self.requests: list[ModelRequest] = []
        """Everything it was asked, for whoever wants to look."""

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(
            provider="scripted",
            id=self._script.model,
            context_limit=self._script.context_limit,
            calls_tools=self._script.calls_tools,
            sees_images=self._script.sees_images,
            on_this_machine=True,
            tokenizer=self._script.tokenizer,
        )

    async def connect(self) -> None:
        """Everything stands in the script."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        number = self._take_turn(request)
        steps = self._script.answers[number]
        usage = None
        for index, step in enumerate(steps):
            usage = step.usage or usage
            if step.delay is not None:
                await asyncio.sleep(step.delay)
            elif step.error is not None:
                raise ProviderError(step.error, hint=step.hint)
            elif step.finish is not None:
                yield Finish(reason=step.finish, usage=usage)
                return
            elif step.tool is not None:
                arguments = step.arguments if isinstance(step.arguments, str) else json.dumps(step.arguments)
                call_id = f"call-{number}-{index}"
                yield ToolRequested(call=ToolCallPart(call_id=call_id, name=step.tool, arguments=arguments))
            elif step.thinking is not None:
                yield ThinkingChunk(text=step.thinking)
            else:
                yield TextChunk(text=step.text or "")
        if not (self._script.cut and number == len(self._script.answers) - 1):
            called = any(step.tool for step in steps)
            yield Finish(reason="tool_calls" if called else "stop", usage=usage)

    def _take_turn(self, request: ModelRequest) -> int:
        """A resumed conversation goes on where its history ends, so that a script spans several processes."""
        if self._next is None:
            self._next = sum(message.role == "assistant" for message in request.messages)
        number, self._next = self._next, self._next + 1
        if number >= len(self._script.answers):
            raise ProviderError(
                f"The script of '{self._script.model}' has {len(self._script.answers)} answers, and all were given.",
                hint="Add another list to its `answers`.",
            )
        return number


class ScriptedDescriptor(ProviderDescriptor, frozen=True):
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        return Scripted(read_script(context.folder / model.id))


PROVIDER: Final = ScriptedDescriptor(
    name="scripted", usage="`scripted:FILE` (a prepared file, for tests)", in_process=True
)
