"""The provider `ollama`: models of an Ollama server, on its own interface: the OpenAI-like one ignores the window."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    FinishReason,
    ModelChunk,
    ModelInfo,
    ModelListing,
    ModelProvider,
    ModelRequest,
    PromptMessage,
    ProviderError,
    ProviderStatus,
    ThinkingChunk,
    TokenUsage,
    ToolRequested,
    from_plain,
    without_password,
)
from zkchat.models.completions import PartialCall, ThinkingSplitter, call_schema
from zkchat.models.embedding_conventions import convention_for, is_only_for_embedding
from zkchat.models.errors import BadReply, Endpoint, said_in
from zkchat.models.openai import with_shown_vision
from zkchat.models.registry import (
    DEFAULT_MODEL_SETTINGS,
    Choice,
    ModelSettings,
    NamedModel,
    OfferedModel,
    ProviderContext,
    ProviderDescriptor,
    ServerKey,
    adapt_to_size,
    display_address,
    is_forwarded,
    is_loopback,
    is_reachable,
    is_tiny,
    parse_size,
    size_in_name,
)
from zkchat.models.transport import (
    DEFAULT_POLICY,
    DESCRIBE_SECONDS,
    QUICK,
    ListedModel,
    ServerModel,
    TransportPolicy,
    arguments_object,
    fetch_list,
    json_of,
    lines_of,
    open_client,
    replace_surrogates,
    within_seconds,
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


class Ollama(ServerModel["httpx.AsyncClient"]):
    provider = "ollama"

    def __init__(
        self,
        model: str,
        *,
        host: str,
        api_key: str = "",
        hints: tuple[str, str] = ("ollama.host", ""),
        headers: Mapping[str, str] | None = None,
        settings: ModelSettings = DEFAULT_MODEL_SETTINGS,
        policy: TransportPolicy = DEFAULT_POLICY,
    ) -> None:
        """`settings.options` are those of a model file: `top_p`, `num_gpu`, what the server knows."""
        endpoint = Endpoint(
            server=f"Ollama at {display_address(host)}",
            model=model,
            if_unreachable=f"Start it: `ollama serve`, or set `{hints[0]}`; `zkchat config doctor` shows what answers.",
            if_key_refused=hints[1] or _SIGN_IN,
            if_model_missing=f"Fetch it with `ollama pull {model}`; `ollama list` shows what is there.",
            key=api_key.strip(),
            headers=headers or {},
        )
        self.only_embeds = False
        """Whether it makes vectors and answers nothing, once its server has said so."""
        super().__init__(model, host, endpoint=endpoint, settings=settings, policy=policy)
        declared = {"calls_tools": settings.calls_tools is True, "sees_images": settings.sees_images is True}
        self._info = replace(self._info, **declared)

    def _client(self) -> "httpx.AsyncClient":
        return open_client(self._address, self._endpoint, self._policy.connect_timeout)

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
            "tools": [] if request.must_call else [spec.definition for spec in request.tools],
            "options": {**self._settings.options, **wanted, "num_ctx": request.window},
            **({"format": call_schema(request.tools)} if request.must_call else {}),
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
        for chunk in splitter.finish(reason, usage, request, self._endpoint, self._settings):
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
        yield PartialCall(name=call.function.name, arguments=[arguments]).chunk


KEY_VARIABLE: Final = "OLLAMA_API_KEY"
_SIGN_IN: Final = f"Sign in with `ollama signin`, or put a valid key into the variable {KEY_VARIABLE}."
SUGGESTED: Final = "qwen3:4b"
"""A model to fetch where there is none."""
_DOMAIN: Final = "ollama.com"
_MAX_NAMED: Final = 3
"""Other models that are named where one was chosen."""
_MIN_FILE_BYTES: Final = 10_000_000
"""Bytes below which an entry of the list is no file with weights, but forwarded."""


class OllamaDescriptor(ProviderDescriptor, frozen=True):
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        return Ollama(
            model.id,
            host=self.address(context),
            api_key=self.key(context).value,
            hints=self.hints(context),
            headers=self.settings(context).get("headers"),
            settings=model.settings,
        )

    def hints(self, context: ProviderContext) -> tuple[str, str]:
        setting, if_key_refused = ProviderDescriptor.hints(self, context)
        return setting, if_key_refused if "address_setting" in self.settings(context) else _SIGN_IN

    def key_variable(self, context: ProviderContext, base_url: str, variable: str) -> str:
        return variable or KEY_VARIABLE  # `server_key` says where it may go

    def key(self, context: ProviderContext) -> ServerKey:
        key = context.variables.get(self.variable(context), "")
        return server_key(key, self.address(context), is_users_choice="ollama.host" in context.set_by_user)

    def offered_models(self, context: ProviderContext) -> Sequence[OfferedModel]:
        listed = _fetch_all(self.address(context), self._endpoint(context))  # the last changed first
        return [OfferedModel(model.name, _is_tiny(model)) for model in listed if not _only_embeds(model)]

    def choose(self, names: Sequence[str], context: ProviderContext) -> Choice | None:
        if not names:
            return None
        first, *others = names
        also = f" and has {', '.join(others[:_MAX_NAMED])} too" if others else ""
        why = f"Ollama answers at {without_password(self.address(context))}{also}"
        return Choice(model=f"ollama:{first}", why=why)

    def suggestion(self, context: ProviderContext, *, answers: bool, has_models: bool) -> str:
        if has_models or not answers:
            return ""
        address = without_password(self.address(context))
        return f"Ollama answers at {address} and has no model yet: `ollama pull {SUGGESTED}` gets one."

    async def list_models(self, context: ProviderContext) -> ModelListing:
        host, endpoint = self.address(context), self._endpoint(context)
        settings = ModelSettings(local=self.settings(context)["local"] is not False)
        source, name = f"Ollama at {without_password(host)}", urlsplit(host).hostname or ""

        async def describe(id_: str) -> Ollama:
            key, headers = endpoint.key, endpoint.headers
            model = Ollama(id_, host=host, api_key=key, headers=headers, settings=settings, policy=QUICK)
            with suppress(ProviderError, TimeoutError):  # one that is just being removed, say: the others still count
                async with asyncio.timeout(DESCRIBE_SECONDS):
                    await model.connect()
            return model

        try:
            listed = await within_seconds(lambda: _fetch_all(host, endpoint), endpoint)
        except ProviderError as error:
            return ModelListing(source=source, host=name, problem=error.message, hint=error.hint)
        import_module("httpx")  # before the time of the server is measured
        described = await asyncio.gather(*(describe(model.name) for model in listed if not _only_embeds(model)))
        embedding = [model.name for model in listed if _only_embeds(model)]
        embedding += [model.info.id for model in described if model.only_embeds]
        return ModelListing(
            source=source,
            host=name,
            models=tuple(model.info for model in described if not model.only_embeds),
            embedding_models=tuple(f"ollama:{id_.removesuffix(':latest')}" for id_ in embedding),
        )

    def _endpoint(self, context: ProviderContext) -> Endpoint:
        """The server as its list of models is asked for."""
        setting, if_key_refused = self.hints(context)
        return Endpoint(
            server="Ollama",
            model=display_address(self.address(context)),
            if_unreachable=f"Start it with `ollama serve`, or set `{setting}`.",
            if_key_refused=if_key_refused,
            if_model_missing=f"Is `{setting}` the address of an Ollama server?",
            key=self.key(context).value,
            headers=self.settings(context).get("headers", {}),
        )

    def listed_ids(self, id_: str) -> Sequence[str]:
        return id_, f"{id_}:latest"  # as Ollama lists what has no tag

    def status(self, context: ProviderContext) -> ProviderStatus:
        host = self.address(context)
        is_there = is_reachable(host)
        text = f"{'answers' if is_there else 'does not answer'} at {without_password(host)}"
        return ProviderStatus(subject="Ollama", is_available=is_there, text=text)


PROVIDER: Final = OllamaDescriptor(
    name="ollama",
    usage="`ollama:NAME`",
    library="httpx",
    address_setting="ollama.host",
    service=("ollama.com", KEY_VARIABLE),
)


def server_key(key: str, host: str, *, is_users_choice: bool) -> ServerKey:
    """The key goes to Ollama itself, and to a server that the user's own settings name, over TLS or on this machine."""
    parts = urlsplit(host)
    name = parts.hostname or ""
    is_ollama = name == _DOMAIN or name.endswith(f".{_DOMAIN}")
    if not key or not (is_ollama or is_users_choice):
        return ServerKey()
    if parts.scheme == "https" or is_loopback(host):
        return ServerKey(key)
    return ServerKey(
        warning=f"The key in {KEY_VARIABLE} is not sent to {display_address(host)}: without TLS anybody on the way "
        "could read it. Use an address with https://."
    )


def _fetch_all(host: str, endpoint: Endpoint) -> list[ListedModel]:
    listed = fetch_list(f"{host.rstrip('/')}/api/tags", endpoint)
    return [model for model in listed if model.name]


def _only_embeds(model: ListedModel) -> bool:
    """By what the list says of it; that of older servers has no more than its name and family."""
    can = model.facts.get("capabilities")
    if isinstance(can, list) and can:
        return is_only_for_embedding(can)
    is_known = bool(convention_for(model.name).pattern)
    return is_known or "embed" in model.name or "bert" in str(model.details.get("family"))


def _is_tiny(model: ListedModel) -> bool:
    """By its number of parameters, as the list or its name tells it, else by the size of its file."""
    size = parse_size(model.details.get("parameter_size")) or size_in_name(model.name)
    if size is None and isinstance(model.size, int) and model.size >= _MIN_FILE_BYTES and not is_forwarded(model.facts):
        size = model.size
    return is_tiny(size)
