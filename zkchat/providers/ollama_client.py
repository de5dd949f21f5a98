"""Models of an Ollama server, on its own interface: the OpenAI-like one ignores the size of the window."""

import json
import secrets
from base64 import b64decode
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from zkchat.model.parts import ToolCallPart
from zkchat.model.prompt import (
    Finish,
    FinishReason,
    ModelChunk,
    ModelInfo,
    ModelRequest,
    PromptMessage,
    ThinkingChunk,
    ToolRequested,
    ToolSpec,
)
from zkchat.model.usage import TokenUsage
from zkchat.providers.descriptor import DEFAULT_MODEL_SETTINGS, ModelSettings
from zkchat.providers.embedding_conventions import is_only_for_embedding
from zkchat.providers.errors import Endpoint, Reply
from zkchat.providers.libraries import load
from zkchat.providers.locality import display_address, is_forwarded, may_run_here
from zkchat.providers.response_limits import END_OF_LINE, NO_COMPRESSION, limit_response
from zkchat.providers.small_models import adapt_to_size, size_in_name
from zkchat.providers.thinking import ThinkingSplitter, finish_chunks
from zkchat.providers.transport import (
    DEFAULT_POLICY,
    ServerModel,
    TransportPolicy,
    arguments_object,
    client_settings,
    drain,
    replace_surrogates,
    truncation_warning,
)
from zkchat.providers.vision import estimated_rule, with_vision

if TYPE_CHECKING:
    import httpx
    import ollama


class Ollama(ServerModel["ollama.AsyncClient"]):
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
        self._host = host
        endpoint = Endpoint(
            server=f"Ollama at {display_address(host)}",
            model=model,
            if_unreachable="Start it with `ollama serve`, or set `ollama.host`; `zkchat doctor` shows what answers.",
            if_key_refused="Sign in with `ollama signin`, or put a valid key into the variable OLLAMA_API_KEY.",
            if_model_missing=f"Fetch it with `ollama pull {model}`; `ollama list` shows what is there.",
            key=api_key.strip(),
        )
        self._may_run_here = may_run_here(host, model, local=settings.local)
        self._is_forwarded = False
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
        super().__init__(info, endpoint=endpoint, settings=settings, policy=policy)

    def _client(self) -> "ollama.AsyncClient":
        load("ollama")
        import ollama

        return ollama.AsyncClient(
            host=self._host,
            headers=NO_COMPRESSION | ({"Authorization": f"Bearer {self._endpoint.key}"} if self._endpoint.key else {}),
            timeout=(self._policy.connect_timeout, None, None, None),
            event_hooks={
                "request": [_refuse_to_truncate],
                "response": [limit_response(END_OF_LINE), self._read_forwarding],
            },
            **client_settings(self._host),
        )

    async def _learn(self, client: "ollama.AsyncClient") -> AsyncGenerator[ModelInfo, None]:
        async with client:
            model = await client.show(self._model)
        window, tools = self._settings.context_limit, self._settings.calls_tools
        can = model.capabilities or ()
        self.only_embeds = is_only_for_embedding(can)
        self._thinks = "thinking" in can
        info = replace(
            self._info,
            context_limit=_window(model) if window is None else window,
            calls_tools="tools" in can if tools is None else tools,
            on_this_machine=self._may_run_here and not self._is_forwarded,
            is_located=True,
        )
        facts = model.modelinfo or {}
        rule = estimated_rule(self._model, facts)
        info = with_vision(info, declared=self._settings.sees_images, capabilities=can, rule=rule)
        size = facts.get("general.parameter_count") or size_in_name(self._model)
        yield adapt_to_size(info, size, self._settings)

    async def _read_forwarding(self, response: "httpx.Response") -> None:
        """Read what the client library drops from the answer of `/api/show`."""
        if response.request.url.path.endswith("/api/show") and response.is_success:
            await response.aread()
            self._is_forwarded = is_forwarded(response.json())

    async def _ask(self, client: "ollama.AsyncClient", request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        async with client:
            parts = await client.chat(
                model=self._model,
                messages=[_message(message) for message in request.messages],
                tools=[_tool(spec) for spec in request.tools],
                options=self._options_for(request),
                stream=True,
            )
            splitter = ThinkingSplitter()
            called, last = False, None
            async with aclosing(cast("AsyncGenerator[ollama.ChatResponse, None]", parts)) as arriving:
                async for part in arriving:
                    for chunk in _chunks(part.message, splitter):
                        called = called or isinstance(chunk, ToolRequested)
                        yield chunk
                    if part.done:
                        last = part
                        await drain(arriving)
            for held in splitter.end():
                yield held
            if last:
                for chunk in finish_chunks(splitter, self._finish(last, request, called=called)):
                    yield chunk

    def _options_for(self, request: ModelRequest) -> dict[str, object]:
        sampling = self._sampling(request)
        asked = {"temperature": sampling.temperature, "num_predict": sampling.max_tokens}
        wanted = {name: value for name, value in asked.items() if value is not None}
        return {**self._settings.options, **wanted, "num_ctx": request.window}

    def _finish(self, part: "ollama.ChatResponse", request: ModelRequest, *, called: bool) -> Finish:
        usage = _usage(part)
        reason: FinishReason = "length" if part.done_reason == "length" else "tool_calls" if called else "stop"
        return Finish(reason=reason, usage=usage, warning=truncation_warning(request, usage, self._endpoint))

    @staticmethod
    def reply_of(error: Exception) -> Reply | None:
        load("ollama")
        import ollama

        if not isinstance(error, ollama.ResponseError):
            return None
        # The client keeps status and text; the headers are only on the exception it comes from.
        response: httpx.Response | None = getattr(error.__context__, "response", None)
        retry_after = response.headers.get("retry-after", "") if response else ""
        return Reply(status=error.status_code, text=str(error.error), retry_after=retry_after)


async def _refuse_to_truncate(request: "httpx.Request") -> None:
    """Have a prompt that is too long refused, and not robbed of its beginning; the client has no argument for that."""
    import httpx

    if request.url.path.endswith("/api/chat"):
        body = json.loads(request.content) | {"truncate": False, "shift": False}
        whole = httpx.Request(request.method, request.url, json=body)
        request.stream = whole.stream
        request.headers["Content-Length"] = whole.headers["Content-Length"]


def _window(model: "ollama.ShowResponse") -> int | None:
    """The window that the model's file asks for, else the one it was trained with."""
    for line in (model.parameters or "").splitlines():
        name, _, value = line.partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return int(value)
    sizes = [size for key, size in (model.modelinfo or {}).items() if key.endswith(".context_length")]
    return next((size for size in sizes if isinstance(size, int)), None)


def _message(message: PromptMessage) -> dict[str, object]:
    return {
        "role": message.role,
        "content": replace_surrogates(message.text),
        "tool_calls": [
            {"function": {"name": call.name, "arguments": arguments_object(call)}} for call in message.tool_calls
        ],
        "tool_name": message.tool_name,
        # As bytes: of a text the client would ask whether a file of that name exists, and send that.
        "images": [b64decode(image.data) for image in message.images if image.data],
    }


def _tool(spec: ToolSpec) -> dict[str, object]:
    properties = {name: _property(schema) for name, schema in spec.parameters.get("properties", {}).items()}
    return replace(spec, parameters={**spec.parameters, "properties": properties}).definition


def _property(schema: Mapping[str, object]) -> dict[str, object]:
    """With its types in one list: the client drops alternatives, and with them the type of what is optional."""
    alternatives = schema.get("anyOf")
    if not isinstance(alternatives, list):
        return dict(schema)
    types = [alternative["type"] for alternative in alternatives if isinstance(alternative.get("type"), str)]
    return {**schema, "type": types}


def _usage(part: "ollama.ChatResponse") -> TokenUsage | None:
    if part.prompt_eval_count is None:
        return None
    return TokenUsage(prompt_tokens=part.prompt_eval_count, completion_tokens=part.eval_count or 0)


def _chunks(message: "ollama.Message", splitter: ThinkingSplitter) -> Iterator[ModelChunk]:
    if message.thinking:
        yield ThinkingChunk(text=message.thinking)
    if message.content:
        yield from splitter.feed(message.content)
    for call in message.tool_calls or ():
        arguments = json.dumps(dict(call.function.arguments), ensure_ascii=False)
        yield ToolRequested(
            call=ToolCallPart(call_id=f"call-{secrets.token_hex(4)}", name=call.function.name, arguments=arguments)
        )
