"""The provider `anthropic`: Claude, by Anthropic's own SDK (extra `zkchat[anthropic]`)."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    ConfigError,
    Exchange,
    FinishReason,
    ImageRule,
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
    install_command,
    without_password,
)
from zkchat.models.completions import MAX_CALLS, PartialCall, ThinkingSplitter
from zkchat.models.errors import BadReply, Endpoint, ResponseTooLarge, map_client_error, said_in
from zkchat.models.registry import (
    DEFAULT_MODEL_SETTINGS,
    ModelSettings,
    NamedModel,
    ProviderContext,
    ProviderDescriptor,
    display_address,
)
from zkchat.models.transport import (
    DEFAULT_POLICY,
    LIST_TIMEOUT,
    MAX_LINE_BYTES,
    MAX_RESPONSE_BYTES,
    QUICK,
    ServerModel,
    TransportPolicy,
    arguments_object,
    client_settings,
    replace_surrogates,
)
from zkchat.version import __version__

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

T = TypeVar("T")
Block = dict[str, Any]
"""A part of a message, as the protocol has it."""

ANTHROPIC: Final = "https://api.anthropic.com"
MAX_ANSWER_TOKENS: Final = 16_000
"""Of an answer that nothing else limits: the protocol wants a limit."""
THINKING_TOKENS: Final = 4_000
"""Of these for thinking, where a model does not decide by itself."""
_IMAGES: Final = ImageRule(max_side=1568, max_patches=1568, multiplier=1.05)
_MAX_LISTED: Final = 100
_MAX_REMEMBERED: Final = 64
"""Calls whose thinking is kept to be sent back with their results."""
_CACHED: Final = {"cache_control": {"type": "ephemeral"}}
_NO_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")
_STATUS: Final = {"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500}
"""Of errors in the middle of an answer, by their type."""
_REASONS: Final[Mapping[str, FinishReason]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: dict[str, Any] | None = None


class _Facts(Struct):
    """What the server says of a model, as far as it is used."""

    id: str = ""
    max_input_tokens: int | None = None
    max_tokens: int | None = None
    capabilities: dict[str, Any] | None = None

    def can(self, *path: str) -> bool | None:
        """Whether it says that the model has a capability; None where it says nothing."""
        found: Any = self.capabilities
        for name in (*path, "supported"):
            found = found.get(name) if isinstance(found, dict) else None
        return found if isinstance(found, bool) else None


class Anthropic(ServerModel["AsyncAnthropic"]):
    provider = "anthropic"

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "",
        api_key: str = "",
        hints: tuple[str, str] = (
            "anthropic.base_url",
            "Put a valid key into the environment variable ANTHROPIC_API_KEY.",
        ),
        headers: Mapping[str, str] | None = None,
        settings: ModelSettings = DEFAULT_MODEL_SETTINGS,
        policy: TransportPolicy = DEFAULT_POLICY,
    ) -> None:
        """`settings.options` go into the body of every request: `top_p`, `thinking`, what the server knows.

        `hints`: the setting of the address, and what to do where the server refuses the key.
        """
        setting, if_key_refused = hints
        address = base_url.rstrip("/").removesuffix("/v1") or ANTHROPIC
        self._is_anthropic = address == ANTHROPIC
        endpoint = Endpoint(
            server="Anthropic" if self._is_anthropic else display_address(address),
            model=model,
            if_unreachable=f"Check the network and `{setting}`; `zkchat config doctor` shows what answers.",
            if_key_refused=if_key_refused,
            if_model_missing=f"`zkchat models` lists the available ones; check `{setting}`, too.",
            key=api_key.strip(),
            headers=headers or {},
        )
        self._facts = _Facts()
        self._thoughts: dict[str, list[Block]] = {}
        """By the id of a call, what was thought before it: the server wants it back with the result."""
        super().__init__(model, address, endpoint=endpoint, settings=settings, policy=policy)
        self._info = replace(self._info, sees_images=settings.sees_images is not False, image_rule=_IMAGES)

    async def _learn(self, client: "AsyncAnthropic") -> ModelInfo:
        """A server other than Anthropic's need not know the question."""
        try:
            facts = from_plain(_Facts, (await client.models.retrieve(self._model)).to_dict(mode="json"))
        except Exception as error:
            if self._is_anthropic or getattr(error, "status_code", 0) != 404:
                raise
            facts = _Facts()
        return self.knowing(facts)

    def knowing(self, facts: _Facts) -> ModelInfo:
        """What is known of it with what its server says."""
        self._facts, declared = facts, self._settings.sees_images
        return replace(
            self._info,
            context_limit=self._settings.context_limit or facts.max_input_tokens,
            sees_images=facts.can("image_input") is not False if declared is None else declared,
            on_this_machine=self._may_run_here,
            is_located=True,
        )

    def _request(
        self, ask: Callable[["AsyncAnthropic"], AsyncGenerator[T, None]], policy: TransportPolicy
    ) -> AsyncGenerator[T, None]:
        async def asked(client: "AsyncAnthropic") -> AsyncGenerator[T, None]:
            from anthropic import APIStatusError

            try:
                async with aclosing(ask(client)) as items:
                    async for item in items:
                        yield item
            except APIStatusError as error:
                status = error.status_code
                if status < 300:  # in the middle of an answer
                    inner = error.body.get("error") if isinstance(error.body, dict) else None
                    status = _STATUS.get(inner.get("type", ""), 0) if isinstance(inner, dict) else 0
                # The exception of the SDK holds the key.
                reply = BadReply(status, said_in(error.body), error.response.headers.get("retry-after", ""))
                raise reply from None

        return super()._request(asked, policy)

    def _client(self) -> "AsyncAnthropic":
        if self._is_anthropic and not self._endpoint.key:
            raise ProviderError(f"There is no key for Anthropic ({self._model}).", hint=self._endpoint.if_key_refused)
        try:
            import httpx2
            from anthropic import AsyncAnthropic

            timeout = httpx2.Timeout(None, connect=self._policy.connect_timeout)
            hooks: dict[str, list[Callable[..., Any]]] = {"request": [_tell], "response": [_limit]}
            return AsyncAnthropic(
                api_key=self._endpoint.key or "none",  # without one it would look for others
                base_url=self._address,
                timeout=timeout,
                max_retries=0,
                default_headers={
                    "User-Agent": f"zkchat/{__version__}",
                    "Accept-Encoding": "identity",
                    **self._endpoint.headers,
                },
                open_telemetry=False,
                http_client=httpx2.AsyncClient(timeout=timeout, event_hooks=hooks, **client_settings(self._address)),
            )
        except Exception as error:  # noqa: BLE001  # it may raise anything on odd variables
            raise map_client_error(error, self._endpoint).error from None

    async def _ask(self, client: "AsyncAnthropic", request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        answer = _Answer()
        async with await client.messages.create(**self._body(request), stream=True) as events:
            async for event in events:
                for chunk in answer.chunks(event.to_dict(mode="json")):
                    yield chunk
        for chunk in answer.end(self._endpoint, request, self._settings):
            if isinstance(chunk, ToolRequested):
                self._thoughts[chunk.call.call_id] = answer.thoughts
                while len(self._thoughts) > _MAX_REMEMBERED:
                    del self._thoughts[next(iter(self._thoughts))]
            yield chunk

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        thinking = self._thinking(request)
        system, messages = _messages(request.messages, self._thoughts if thinking else {})
        tools = [
            {"name": spec.name, "description": spec.description, "input_schema": {"type": "object", **spec.parameters}}
            for spec in request.tools
        ]
        wanted = {
            "system": system,
            "tools": tools,
            "tool_choice": {"type": "any"} if request.must_call and tools else None,
            "thinking": thinking,
        }
        # The SDK knows no temperature, and neither do its newer models: it is sent where the settings have one.
        temperature = self._settings.temperature
        extra = {**self._settings.options, **({} if temperature is None else {"temperature": temperature})}
        return {
            "model": self._model,
            "max_tokens": request.max_answer_tokens or extra.pop("max_tokens", None) or self._most_tokens,
            "messages": messages,
            **{name: value for name, value in wanted.items() if value is not None and value != []},
            "extra_body": extra,
        }

    @property
    def _most_tokens(self) -> int:
        return min(MAX_ANSWER_TOKENS, self._facts.max_tokens or MAX_ANSWER_TOKENS)

    def _thinking(self, request: ModelRequest) -> Block | None:
        """How it thinks: not where the answer is short or has to be a call, nor where its earlier thoughts are lost."""
        if request.max_answer_tokens or request.must_call or self._settings.temperature is not None:
            return None  # it takes no temperature then
        recent: set[str] = set()
        for message in request.messages:
            recent = set() if message.role == "user" else recent | {call.call_id for call in message.tool_calls}
        if not recent <= self._thoughts.keys():
            return None
        if self._facts.can("thinking", "types", "adaptive"):
            return {"type": "adaptive", "display": "summarized"}
        is_able = self._facts.can("thinking", "types", "enabled") and self._most_tokens > THINKING_TOKENS
        return {"type": "enabled", "budget_tokens": THINKING_TOKENS} if is_able else None


async def _tell(request: "httpx2.Request") -> None:
    content = request.content.decode(errors="replace")
    request.extensions["told"] = Exchange(request.method, str(request.url), request.headers, content)


async def _limit(response: "httpx2.Response") -> None:
    """Read no more of a response than an answer can hold."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ValueError("a response is compressed although that was declined")
    told = response.request.extensions["told"]
    told.reply(response.status_code, response.headers.get("content-type", ""))
    response.stream = _limited(response.stream, told)


def _limited(stream: Any, told: Exchange) -> Any:
    import httpx2

    class Limited(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            line, whole = 0, 0
            async for data in stream:
                told.add(data)
                whole += len(data)
                last = max(data.rfind(b"\n"), data.rfind(b"\r"))
                line = line + len(data) if last < 0 else len(data) - last - 1
                if line > MAX_LINE_BYTES or whole > MAX_RESPONSE_BYTES:
                    raise ResponseTooLarge
                yield data

        async def aclose(self) -> None:
            told.end()
            await stream.aclose()

    return Limited()


def _messages(prompt: Sequence[PromptMessage], thoughts: Mapping[str, list[Block]]) -> tuple[list[Block], list[Block]]:
    """The instructions, and the messages with what stands next to each other in one role joined.

    What stays the same from turn to turn is marked to be kept by the server: the instructions with the tools before
    them, and all messages up to the last.
    """
    begun = next((place for place, message in enumerate(prompt) if message.role != "system"), len(prompt))
    system = [block for message in prompt[:begun] for block in _text(message.text)]
    messages: list[Block] = []
    for message in prompt[begun:]:
        role, blocks = ("assistant" if message.role == "assistant" else "user"), _blocks(message, thoughts)
        if not messages and role == "assistant":
            messages.append({"role": "user", "content": _text("…")})
        if blocks and messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    for blocks in (system, messages[-1]["content"] if messages else []):
        if blocks:
            blocks[-1] = {**blocks[-1], **_CACHED}
    return system, messages or [{"role": "user", "content": _text("…")}]


def _blocks(message: PromptMessage, thoughts: Mapping[str, list[Block]]) -> list[Block]:
    match message.role:
        case "tool":
            content = _text(message.text)
            return [{"type": "tool_result", "tool_use_id": _id(message.tool_call_id), "content": content}]
        case "assistant":
            calls = [
                {"type": "tool_use", "id": _id(call.call_id), "name": call.name, "input": arguments_object(call)}
                for call in message.tool_calls
            ]
            thought = thoughts.get(message.tool_calls[0].call_id, []) if message.tool_calls else []
            return [*thought, *_text(message.text), *calls]
        case _:
            images = [
                {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}}
                for image in message.images
                if image.data
            ]
            return [*images, *_text(message.text)]


def _text(text: str) -> list[Block]:
    """None for a blank one, which the server refuses."""
    return [{"type": "text", "text": replace_surrogates(text)}] if text.strip() else []


def _id(call_id: str) -> str:
    """The id of a call that another model may have made."""
    return _NO_ID.sub("_", call_id) or "_"


class _Answer:
    """Assembles a streamed answer from its events."""

    def __init__(self) -> None:
        self.thoughts: list[Block] = []
        """As they are sent back."""
        self._splitter = ThinkingSplitter()  # for models of other servers
        self._calls: dict[int, PartialCall] = {}
        self._reason = ""
        self._usage = _Usage()

    def chunks(self, event: Mapping[str, Any]) -> Iterator[ModelChunk]:
        match event:
            case {"type": "message_start", "message": {"usage": usage}} | {"type": "message_delta", "usage": usage}:
                said = from_plain(_Usage, usage)
                for name in said.__struct_fields__:
                    if (value := getattr(said, name)) is not None:
                        setattr(self._usage, name, value)
                self._reason = (event.get("delta") or {}).get("stop_reason") or self._reason
            case {"type": "content_block_start", "index": int(index), "content_block": block} | {
                "type": "content_block_delta",
                "index": int(index),
                "delta": block,
            }:
                yield from self._added(index, block)

    def _added(self, index: int, block: Mapping[str, Any]) -> Iterator[ModelChunk]:
        """What begins a block, or goes on with it."""
        match block:
            case {"type": "text" | "text_delta", "text": str(text)} if text:
                yield from self._splitter.feed(text)
            case {"type": "thinking"}:
                self.thoughts.append({"type": "thinking", "thinking": "", "signature": ""})
                if thought := block.get("thinking"):
                    yield from self._thought(str(thought))
            case {"type": "redacted_thinking", "data": str(data)}:
                self.thoughts.append({"type": "redacted_thinking", "data": data})
            case {"type": "tool_use", "id": str(id_), "name": str(name)} if len(self._calls) < MAX_CALLS:
                self._calls[index] = PartialCall(id_, name)
            case {"type": "thinking_delta", "thinking": str(text)} if text:
                yield from self._thought(text)
            case {"type": "signature_delta", "signature": str(signature)} if self.thoughts:
                self.thoughts[-1]["signature"] = signature
            case {"type": "input_json_delta", "partial_json": str(text)} if call := self._calls.get(index):
                call.add(text)

    def _thought(self, text: str) -> Iterator[ThinkingChunk]:
        if self.thoughts and "thinking" in self.thoughts[-1]:
            self.thoughts[-1]["thinking"] += text
        yield ThinkingChunk(text=text)

    def end(self, endpoint: Endpoint, request: ModelRequest, settings: ModelSettings) -> Iterator[ModelChunk]:
        """The chunks that end an answer. One that was cut has no `Finish`, and its tool calls do not count."""
        yield from self._splitter.end()
        if not self._reason:
            return
        if self._reason == "refusal":
            raise ProviderError(f"A filter of {endpoint.name} stopped the answer.", hint="Ask in other words.")
        for call in self._calls.values():
            yield call.chunk
        said = self._usage
        cached = said.cache_read_input_tokens or 0
        usage = TokenUsage(
            prompt_tokens=(said.input_tokens or 0) + (said.cache_creation_input_tokens or 0) + cached,
            completion_tokens=said.output_tokens or 0,
            thinking_tokens=(said.output_tokens_details or {}).get("thinking_tokens") or 0,
            cached_tokens=cached,
        )
        yield from self._splitter.finish(_REASONS.get(self._reason, "stop"), usage, request, endpoint, settings)


class AnthropicDescriptor(ProviderDescriptor, frozen=True):
    def address(self, context: ProviderContext) -> str:
        return ""  # it offers no models by itself

    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        if not is_installed():
            raise ConfigError(
                "The package `anthropic` is not installed.", hint=f"Install it: {install_command('anthropic')}"
            )
        return self._model(model.id, context, settings=model.settings)

    def _model(
        self,
        id_: str,
        context: ProviderContext,
        *,
        settings: ModelSettings = DEFAULT_MODEL_SETTINGS,
        policy: TransportPolicy = DEFAULT_POLICY,
    ) -> Anthropic:
        return Anthropic(
            id_,
            base_url=self.server_address(context),
            api_key=self.key(context).value,
            hints=self.hints(context),
            headers=self.settings(context).get("headers"),
            settings=settings,
            policy=policy,
        )

    async def list_models(self, context: ProviderContext) -> ModelListing | None:
        """None where it is not set up."""
        base_url = self.server_address(context)
        if not is_installed() or not self.key(context).value:
            return None
        source, host = without_password(base_url) or "Anthropic", urlsplit(base_url or ANTHROPIC).hostname or ""
        local = ModelSettings(local=self.settings(context)["local"] is True)
        policy = replace(QUICK, connect_timeout=LIST_TIMEOUT)
        asked = self._model(display_address(base_url or ANTHROPIC), context, policy=policy)

        async def fetch(client: "AsyncAnthropic") -> list[_Facts]:
            page = await client.models.list(limit=_MAX_LISTED)
            return [from_plain(_Facts, each.to_dict(mode="json")) for each in page.data]

        try:
            listed = await asked.ask_once(fetch, policy)
        except ProviderError as error:
            return ModelListing(source=source, host=host, problem=error.message, hint=error.hint)
        models = [self._model(each.id, context, settings=local).knowing(each) for each in listed if each.id]
        return ModelListing(source=source, host=host, models=tuple(models))

    def status(self, context: ProviderContext) -> ProviderStatus | None:
        """None where there is no key: few have one."""
        if not self.key(context).value:
            return None
        server = without_password(self.server_address(context)) or "Anthropic itself"
        text = f"{server}, a key is in ${self.variable(context)}"
        if not is_installed():
            text += f"; the package `anthropic` is not installed. Install it: {install_command('anthropic')}"
        return ProviderStatus(subject="Anthropic", is_available=is_installed(), text=text)


def is_installed() -> bool:
    return find_spec("anthropic") is not None


PROVIDER: Final = AnthropicDescriptor(
    name="anthropic",
    usage="`anthropic:NAME`",
    library="anthropic",
    address_setting="anthropic.base_url",
    service=("api.anthropic.com", "ANTHROPIC_API_KEY"),
)
