"""Models of an Ollama server, on its own interface: the OpenAI-like one ignores the size of the window."""

import json
import secrets
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    Finish,
    FinishReason,
    ModelChunk,
    ModelInfo,
    ModelRequest,
    PromptMessage,
    ThinkingChunk,
    TokenUsage,
    ToolCallPart,
    ToolRequested,
    ToolSpec,
    from_plain,
)
from zkchat.models.completions import ThinkingSplitter, finish_chunks
from zkchat.models.embedding_wires import is_only_for_embedding
from zkchat.models.errors import BadReply, Endpoint, said_in
from zkchat.models.openai_client import with_shown_vision
from zkchat.models.registry import (
    DEFAULT_MODEL_SETTINGS,
    ModelSettings,
    adapt_to_size,
    display_address,
    is_forwarded,
    may_run_here,
    size_in_name,
)
from zkchat.models.transport import (
    DEFAULT_POLICY,
    ServerModel,
    TransportPolicy,
    arguments_object,
    json_of,
    lines_of,
    replace_surrogates,
    truncation_warning,
)

if TYPE_CHECKING:
    import httpx


class _Shown(Struct):
    """What the server says of a model, as far as it is used."""

    parameters: str | None = None
    model_info: dict[str, Any] | None = None
    capabilities: Sequence[str] | None = None


class _Function(Struct):
    name: str
    arguments: dict[str, Any]


class _Call(Struct):
    function: _Function


class _Message(Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: Sequence[_Call] | None = None


class _Part(Struct):
    """One line of an answer, as far as it is used."""

    message: _Message | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    error: Any = None


class Ollama(ServerModel):
    def __init__(
        self,
        model: str,
        *,
        host: str,
        api_key: str = "",
        settings: ModelSettings = DEFAULT_MODEL_SETTINGS,
        policy: TransportPolicy = DEFAULT_POLICY,
    ) -> None:
        """`settings.options` are those of a model file: `top_p`, `num_gpu`, what the server knows."""
        self._model = model
        endpoint = Endpoint(
            server=f"Ollama at {display_address(host)}",
            model=model,
            if_unreachable="Start it with `ollama serve`, or set `ollama.host`; `zkchat doctor` shows what answers.",
            if_key_refused="Sign in with `ollama signin`, or put a valid key into the variable OLLAMA_API_KEY.",
            if_model_missing=f"Fetch it with `ollama pull {model}`; `ollama list` shows what is there.",
            key=api_key.strip(),
        )
        self._may_run_here = may_run_here(host, model, local=settings.local)
        self.only_embeds = False
        """Whether it makes vectors and answers nothing, once its server has said so."""
        info = ModelInfo(
            provider="ollama",
            id=model,
            context_limit=settings.context_limit,
            is_limit_declared=settings.context_limit is not None,
            calls_tools=settings.calls_tools is True,
            sees_images=settings.sees_images is True,
            is_located=not self._may_run_here,
        )
        super().__init__(info, host, endpoint=endpoint, settings=settings, policy=policy)

    async def _learn(self, client: "httpx.AsyncClient") -> ModelInfo:
        shown = await json_of(client, "POST", f"{self._address}/api/show", {"model": self._model})
        model = from_plain(_Shown, shown)
        window, tools = self._settings.context_limit, self._settings.calls_tools
        can = model.capabilities or ()
        self.only_embeds = is_only_for_embedding(can)
        self._thinks = "thinking" in can
        info = replace(
            self._info,
            context_limit=_window(model) if window is None else window,
            calls_tools="tools" in can if tools is None else tools,
            on_this_machine=self._may_run_here and not is_forwarded(shown),
            is_located=True,
        )
        info = with_shown_vision(info, shown, declared=self._settings.sees_images)
        size = (model.model_info or {}).get("general.parameter_count") or size_in_name(self._model)
        return adapt_to_size(info, size, self._settings)

    async def _ask(self, client: "httpx.AsyncClient", request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        temperature, max_tokens = self._sampling(request)
        sampling = {"temperature": temperature, "num_predict": max_tokens}
        wanted = {name: value for name, value in sampling.items() if value is not None}
        body = {
            "model": self._model,
            "messages": [_message(message) for message in request.messages],
            "tools": [_tool(spec) for spec in request.tools],
            "options": {**self._settings.options, **wanted, "num_ctx": request.window},
            "stream": True,
            # A prompt that is too long is to be refused, and not robbed of its beginning.
            "truncate": False,
            "shift": False,
        }
        splitter = ThinkingSplitter()
        called, last = False, None
        async with aclosing(lines_of(client, "POST", f"{self._address}/api/chat", body)) as lines:
            async for line in lines:
                if not line.strip():
                    continue
                part = from_plain(_Part, json.loads(line))
                for chunk in _chunks(part, splitter):
                    called = called or isinstance(chunk, ToolRequested)
                    yield chunk
                if part.done:
                    last = part
                    break
        for held in splitter.end():
            yield held
        if not last:
            return
        usage = None
        if last.prompt_eval_count is not None:
            usage = TokenUsage(prompt_tokens=last.prompt_eval_count, completion_tokens=last.eval_count or 0)
        reason: FinishReason = "length" if last.done_reason == "length" else "tool_calls" if called else "stop"
        finish = Finish(reason=reason, usage=usage, warning=truncation_warning(request, usage, self._endpoint))
        for chunk in finish_chunks(splitter, finish):
            yield chunk


def _window(model: _Shown) -> int | None:
    """The window that the model's file asks for, else the one it was trained with."""
    for line in (model.parameters or "").splitlines():
        name, _, value = line.partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return int(value)
    sizes = [size for key, size in (model.model_info or {}).items() if key.endswith(".context_length")]
    return next((size for size in sizes if isinstance(size, int)), None)


def _message(message: PromptMessage) -> dict[str, object]:
    calls = [{"function": {"name": call.name, "arguments": arguments_object(call)}} for call in message.tool_calls]
    fields = {
        "content": replace_surrogates(message.text),
        "tool_calls": calls,
        "tool_name": message.tool_name,
        "images": [image.data for image in message.images if image.data],
    }
    return {"role": message.role, **{name: value for name, value in fields.items() if value}}


def _tool(spec: ToolSpec) -> dict[str, object]:
    """With the types of each property in one list: older servers know no `anyOf`, and drop what is optional."""
    properties = {**spec.parameters.get("properties", {})}
    for name, schema in properties.items():
        if isinstance(alternatives := schema.get("anyOf"), list):
            types = [alternative["type"] for alternative in alternatives if isinstance(alternative.get("type"), str)]
            properties[name] = {**{key: value for key, value in schema.items() if key != "anyOf"}, "type": types}
    return replace(spec, parameters={**spec.parameters, "properties": properties}).definition


def _chunks(part: _Part, splitter: ThinkingSplitter) -> Iterator[ModelChunk]:
    """What one line says. Raises `BadReply` for an error."""
    if part.error:
        raise BadReply(0, said_in(part.error))
    message = part.message or _Message()
    if message.thinking:
        yield ThinkingChunk(text=message.thinking)
    if message.content:
        yield from splitter.feed(message.content)
    for call in message.tool_calls or ():
        arguments = json.dumps(call.function.arguments, ensure_ascii=False)
        yield ToolRequested(
            call=ToolCallPart(call_id=f"call-{secrets.token_hex(4)}", name=call.function.name, arguments=arguments)
        )
