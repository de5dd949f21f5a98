"""The provider `openai`: models of OpenAI, and of any server that speaks its protocol: llama.cpp, vLLM, OpenRouter…"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from http.client import NOT_IMPLEMENTED
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    DEFAULT_RULE,
    ImageRule,
    ModelChunk,
    ModelInfo,
    ModelListing,
    ModelProvider,
    ModelRequest,
    PromptMessage,
    ProviderError,
    ProviderStatus,
    from_plain,
    without_password,
)
from zkchat.models.completions import StreamedAnswer, message_param, tools_param
from zkchat.models.errors import BadReply, Endpoint
from zkchat.models.registry import (
    DEFAULT_MODEL_SETTINGS,
    Choice,
    ModelSettings,
    NamedModel,
    OfferedModel,
    ProviderContext,
    ProviderDescriptor,
    adapt_to_size,
    display_address,
    is_forwarded,
    is_loopback,
    is_tiny,
    may_run_here,
    ollama_address,
    services_with_key,
    size_in_name,
)
from zkchat.models.transport import (
    DEFAULT_POLICY,
    ListedModel,
    ServerModel,
    TransportPolicy,
    fetch_list,
    json_of,
    lines_of,
    open_client,
    within_seconds,
)

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

_OPENAI_SIDE: Final = 2048
"""Pixels to which OpenAI reduces every image anyway."""


def _tiles(base: int, per_tile: int) -> ImageRule:
    return ImageRule(kind="tiles", max_side=_OPENAI_SIDE, base=base, per_tile=per_tile)


def _patches(multiplier: float, max_patches: int) -> ImageRule:
    return ImageRule(patch=32, max_side=_OPENAI_SIDE, multiplier=multiplier, max_patches=max_patches)


_BLIND: Final = ("gpt-3.5", "gpt-4-0", "gpt-4-1106", "gpt-4-32k", "o1-mini", "o1-preview", "o3-mini", "gpt-oss")
_OPENAI: Final[Mapping[str, ImageRule]] = {
    **dict.fromkeys(("gpt-5-mini", "gpt-5.1-codex-mini"), _patches(1.2, 1536)),
    "gpt-5-nano": _patches(1.5, 1536),
    "gpt-5.1": _tiles(70, 140),
    **dict.fromkeys(("gpt-5.2", "gpt-5.3"), _patches(1.2, 6144)),
    "gpt-5.": _patches(1.2, 2500),
    "gpt-5": _tiles(70, 140),
    "gpt-4.1-mini": _patches(1.62, 6144),
    "gpt-4.1-nano": _patches(2.46, 1536),
    "gpt-4o-mini": _tiles(2833, 5667),
    **dict.fromkeys(("gpt-4.1", "gpt-4.5", "gpt-4o", "chatgpt-4o", "gpt-4-turbo", "gpt-4-vision"), _tiles(85, 170)),
    "gpt-": _patches(1.2, 2500),
    "o4-mini": _patches(1.72, 1536),
    **dict.fromkeys(("o1", "o3"), _tiles(75, 150)),
    "computer-use": _tiles(65, 129),
}
"""By the beginning of the name, the longer ones first. The last of GPT is for models that come later."""

_ESTIMATES: Final[Mapping[str, ImageRule]] = {
    "gemma": ImageRule(kind="fixed", base=258),
    "llava": ImageRule(kind="fixed", base=2880),
    "bakllava": ImageRule(kind="fixed", base=576),
    "moondream": ImageRule(kind="fixed", base=729),
    "minicpm": ImageRule(kind="fixed", base=640),
    "qwen3": ImageRule(patch=32),
}
"""By the beginning of the architecture or of the name, where the server does not say how large a patch is."""


def openai_vision(model: str) -> ImageRule | None:
    """How a model of OpenAI, fine-tuned or not, counts images; None for one that does not see."""
    name = model.removeprefix("ft:")
    if name == "gpt-4" or name.startswith(_BLIND):
        return None
    return _by_beginning(_OPENAI, name)


def estimated_rule(model: str, facts: Mapping[str, object]) -> ImageRule:
    """How a model counts images, by the facts that Ollama tells of its file (`model_info`)."""
    numbers = {key.partition(".")[2]: value for key, value in facts.items() if isinstance(value, int)}
    if fixed := numbers.get("mm.tokens_per_image"):
        return ImageRule(kind="fixed", base=fixed + 2)
    patch = numbers.get("vision.patch_size")
    merged = numbers.get("vision.spatial_merge_size") or numbers.get("spatial_merge_size")
    if patch and merged:
        return ImageRule(patch=patch * merged)
    names = (str(facts.get("general.architecture", "")), model.rpartition("/")[2])
    known = (rule for name in names for beginning, rule in _ESTIMATES.items() if name.lower().startswith(beginning))
    return next(known, DEFAULT_RULE)


def with_shown_vision(info: ModelInfo, shown: object, *, declared: bool | None) -> ModelInfo:
    """Add whether a model sees: as the user declares it, else as an Ollama shows it; any other server shows nothing."""
    can = shown.get("capabilities") if isinstance(shown, Mapping) else None
    if not isinstance(shown, Mapping) or not isinstance(can, list):
        return info
    facts = shown.get("model_info")
    rule = estimated_rule(info.id, facts if isinstance(facts, Mapping) else {})
    return replace(info, sees_images="vision" in can if declared is None else declared, image_rule=rule)


OPENAI = "https://api.openai.com/v1"

_WINDOWS = {
    "gpt-5": 272_000,
    "gpt-4.1": 1_047_576,
    "gpt-4o": 128_000,
    "gpt-4-turbo": 128_000,
    "gpt-4": 8_192,
    "gpt-3.5": 16_385,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
}
"""What a prompt may hold, by the beginning of the name: OpenAI's own list does not say."""

_ENCODINGS = {
    **dict.fromkeys(("gpt-5", "gpt-4.5", "gpt-4.1", "gpt-4o", "chatgpt-4o", "o1", "o3", "o4"), "o200k_base"),
    **dict.fromkeys(("gpt-4", "gpt-3.5"), "cl100k_base"),
}
"""The token encoding by the beginning of the name, the longer ones first."""

LOCATE_TIMEOUT = 2.0
"""Seconds that a server on this machine may take to say whether it forwards a model."""
VERIFY_TIMEOUT = 20.0
"""Seconds that a server may take for the few words that prove that it answers."""
_REASONING = ("gpt-5", "o1", "o3", "o4")
"""OpenAI's models that refuse a temperature."""


_GREETING = ModelRequest(
    messages=(PromptMessage(role="user", text="Hello"),),
    window=2048,
    max_answer_tokens=16,  # the fewest that every service accepts as a limit
)


class _Models(Struct):
    data: tuple[dict[str, Any], ...]


class OpenAI(ServerModel["httpx.AsyncClient"]):
    provider = "openai"

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "",
        api_key: str = "",
        hints: tuple[str, str] = ("openai.base_url", "Put a valid key into the environment variable OPENAI_API_KEY."),
        headers: Mapping[str, str] | None = None,
        settings: ModelSettings = DEFAULT_MODEL_SETTINGS,
        policy: TransportPolicy = DEFAULT_POLICY,
    ) -> None:
        """`settings.options` go into the body of every request: `top_p`, `reasoning_effort`, what the server knows.

        `hints`: the setting of the address, and what to do where the server refuses the key.
        """
        setting, if_key_refused = hints
        address = base_url or OPENAI
        self._is_openai = (urlsplit(address).hostname or "").endswith("api.openai.com")
        endpoint = Endpoint(
            server="OpenAI" if self._is_openai else display_address(address),
            model=model,
            if_unreachable=f"Check the network and `{setting}`; `zkchat config doctor` shows what answers.",
            if_key_refused=if_key_refused,
            if_model_missing=f"Check the model's name, and `{setting}`, which most often ends in /v1.",
            key=api_key.strip(),
            headers=headers or {},
        )
        super().__init__(model, address, endpoint=endpoint, settings=settings, policy=policy)
        known = openai_vision(model) if self._is_openai else None
        self._info = replace(
            self._info,
            context_limit=settings.context_limit or (_by_beginning(_WINDOWS, model) if self._is_openai else None),
            sees_images=known is not None if settings.sees_images is None else settings.sees_images,
            image_rule=known or estimated_rule(model, {}),
            tokenizer=(_by_beginning(_ENCODINGS, model.removeprefix("ft:")) or "") if self._is_openai else "",
        )
        self._listed: frozenset[str] = frozenset()
        self._shown: object = None
        """What an Ollama says of the model."""
        self._connected = self._is_openai  # whose list of models does not say more than we know
        self._thinks = self._is_openai and model.startswith(_REASONING)

    def _client(self) -> "httpx.AsyncClient":
        if self._is_openai and not self._endpoint.key:
            raise ProviderError(f"There is no key for OpenAI ({self._model}).", hint=self._endpoint.if_key_refused)
        return open_client(self._address, self._endpoint, self._policy.connect_timeout)

    async def _learn(self, client: "httpx.AsyncClient") -> ModelInfo:
        try:
            models = from_plain(_Models, await json_of(client, "GET", f"{self._address}/models")).data
        except BadReply as reply:
            if reply.status != 404:  # a server need not have a list
                raise
            models = ()
        here = await self._located(client)
        self._listed = frozenset(str(model.get("id")) for model in models)
        info = replace(self._info, on_this_machine=here is True, is_located=here is not None)
        # A server with one model answers with it, whatever name it is asked for.
        alone = models[0] if len(models) == 1 else {}
        listed = next((one for one in models if one.get("id") == self._model), alone)
        info = with_listed_facts(info, listed, self._settings)
        return with_shown_vision(info, self._shown, declared=self._settings.sees_images)

    async def verify(self) -> None:
        """Check that the server has the model and takes the key. Raises `ProviderError`.

        OpenAI is asked for the model; a server on this machine that lists it is believed. All others are asked for a
        few words: their lists may be public, or without the model.
        """
        await self.connect()
        if self._model in self._listed and is_loopback(self._address):
            return
        policy = replace(self._policy, first_chunk_timeout=VERIFY_TIMEOUT, max_retries=0)
        async with aclosing(self._request(self._probe, policy)) as answers:
            await anext(answers)

    async def _probe(self, client: "httpx.AsyncClient") -> AsyncGenerator[object, None]:
        if self._is_openai:
            yield await json_of(client, "GET", f"{self._address}/models/{self._model}")
            return
        async with aclosing(self._events(client, _GREETING)) as events:
            async for data in events:
                yield [*StreamedAnswer(self._endpoint).chunks(data)]

    async def _located(self, client: "httpx.AsyncClient") -> bool | None:
        """Whether the model runs on this machine; None where an answer that could say so does not come.

        An Ollama is asked whether it forwards the model. Any other server has no such answer, and runs what it offers.
        """
        import httpx

        if not self._may_run_here:
            return False
        try:
            async with asyncio.timeout(min(LOCATE_TIMEOUT, self._policy.connect_timeout / 2)):
                address = f"{ollama_address(self._address)}/api/show"
                self._shown = await json_of(client, "POST", address, {"model": self._model})
        except BadReply as reply:
            return True if reply.status < 500 or reply.status == NOT_IMPLEMENTED else None
        except (httpx.HTTPError, TimeoutError, ValueError):
            return None
        return not is_forwarded(self._shown)

    async def _ask(self, client: "httpx.AsyncClient", request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        answer = StreamedAnswer(self._endpoint, self._settings)
        async with aclosing(self._events(client, request)) as events:
            async for data in events:
                for chunk in answer.chunks(data):
                    yield chunk
                if answer.complete:
                    break
        for chunk in answer.end(request):
            yield chunk

    async def _events(self, client: "httpx.AsyncClient", request: ModelRequest) -> AsyncGenerator[bytes, None]:
        """The data of each event of the answer."""
        url = f"{self._address}/chat/completions"
        async with aclosing(lines_of(client, "POST", url, self._body(request))) as lines:
            async for line in lines:
                name, _, data = line.partition(b":")
                if name == b"data" and data.strip() == b"[DONE]":
                    return
                if name == b"data":
                    yield data

    def _body(self, request: ModelRequest) -> dict[str, object]:
        temperature, max_tokens = self._sampling(request)
        # OpenAI has given up the old name, and most of the others have not learnt the new one.
        limit = "max_completion_tokens" if self._is_openai else "max_tokens"
        wanted = {**tools_param(request), "temperature": None if self._thinks else temperature, limit: max_tokens}
        return {
            "model": self._model,
            "messages": [message_param(message, request.image_detail) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            **{name: value for name, value in wanted.items() if value is not None},
            **self._settings.options,
        }


def _by_beginning(values: Mapping[str, T], name: str) -> T | None:
    return next((value for beginning, value in values.items() if name.startswith(beginning)), None)


def with_listed_facts(
    info: ModelInfo, facts: Mapping[str, object], settings: ModelSettings = DEFAULT_MODEL_SETTINGS
) -> ModelInfo:
    """Add what a server's list says of a model. Each kind of server has its own name for the window."""
    meta = facts.get("meta")
    of_llama_cpp = meta if isinstance(meta, Mapping) else {}
    sizes = (
        *(facts.get(name) for name in ("max_model_len", "context_length", "context_window")),
        of_llama_cpp.get("n_ctx"),
    )
    window = info.context_limit or next((size for size in sizes if isinstance(size, int)), None)
    size = of_llama_cpp.get("n_params") or size_in_name(info.id)
    declared = settings.sees_images
    # Each kind of server has its own words for it, and its own place.
    architecture, capabilities = facts.get("architecture"), facts.get("capabilities")
    modalities = architecture.get("input_modalities") if isinstance(architecture, Mapping) else None
    places = (modalities, facts.get("input_modalities"), capabilities)
    said = {word for place in places if isinstance(place, list) for word in place if isinstance(word, str)}
    declares = isinstance(capabilities, Mapping) and capabilities.get("vision") is True
    is_listed = declares or not said.isdisjoint({"image", "vision", "multimodal"})
    sees = info.sees_images or is_listed if declared is None else declared
    return adapt_to_size(replace(info, context_limit=window, sees_images=sees), size, settings)


DEFAULT_MODEL: Final = "gpt-5-mini"
_ACCOUNT: Final = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Headers that say whose account is charged, and the variables that hold them."""
_CHAT_MODELS: Final = ("gpt-", "chatgpt-", "o1", "o3", "o4")
_OTHER_KINDS: Final = ("audio", "embed", "image", "instruct", "realtime", "search", "transcribe", "tts")


class OpenAIDescriptor(ProviderDescriptor, frozen=True):
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        return OpenAI(
            model.id,
            base_url=self.address(context),
            api_key=self.key(context).value,
            hints=self.hints(context),
            headers=self._headers(context),
            settings=model.settings,
        )

    def _headers(self, context: ProviderContext) -> dict[str, str]:
        """Those of a model's own server, else those of the account."""
        account = {header: value for header, name in _ACCOUNT.items() if (value := context.variables.get(name))}
        return dict(self.settings(context).get("headers", account))

    def offered_models(self, context: ProviderContext) -> Sequence[OfferedModel]:
        base_url = self.address(context)
        if not base_url:
            return ()  # OpenAI itself offers hundreds, and `choose` knows which to take
        offered: list[OfferedModel] = []
        for model in _fetch(base_url, self._endpoint(context)):
            # By its number of parameters, as llama.cpp lists it, else as its name tells it.
            meta = model.facts.get("meta")
            size = meta.get("n_params") if isinstance(meta, dict) else None
            offered.append(OfferedModel(model.id, is_tiny(size if isinstance(size, int) else size_in_name(model.id))))
        return offered

    def choose(self, names: Sequence[str], context: ProviderContext) -> Choice | None:
        base_url = self.address(context)
        if base_url and names:
            return Choice(model=f"openai:{names[0]}", why=f"a server answers at {without_password(base_url)}")
        if not base_url and self.key(context).value:
            return Choice(model=f"openai:{DEFAULT_MODEL}", why="there is a key for OpenAI, and your notes go there")
        return None

    def suggestion(self, context: ProviderContext, *, answers: bool, has_models: bool) -> str:
        """Names a service for which there is a key, where no server is set."""
        services = [] if self.address(context) else services_with_key(context.variables)
        if not services:
            return ""
        return f"There is a key for {services[0].name} in {services[0].key_variable}: `zkchat setup` can use it."

    async def list_models(self, context: ProviderContext) -> ModelListing:
        base_url, endpoint = self.address(context), self._endpoint(context)
        source = without_password(base_url) or "OpenAI"
        host = urlsplit(base_url or OPENAI).hostname or ""
        if not base_url and not endpoint.key:
            problem = f"There is no key in the variable {self.variable(context)}."
            return ModelListing(source=source, host=host, problem=problem)
        address, local = base_url or OPENAI, self.settings(context)["local"] is not False
        try:
            listed, forwarded = await asyncio.gather(
                within_seconds(lambda: _fetch(base_url, endpoint), endpoint),
                within_seconds(lambda: _forwarded(address, endpoint), endpoint),
            )
        except ProviderError as error:
            return ModelListing(source=source, host=host, problem=error.message, hint=error.hint)

        def describe(model: ListedModel) -> ModelInfo:
            info = with_listed_facts(OpenAI(model.id, base_url=base_url, api_key=endpoint.key).info, model.facts)
            is_here = may_run_here(address, model.id, local=local and model.id not in forwarded)
            return replace(info, on_this_machine=is_here, is_located=True)

        return ModelListing(source=source, host=host, models=tuple(map(describe, listed)))

    def _endpoint(self, context: ProviderContext) -> Endpoint:
        """The server as its list of models is asked for."""
        setting, if_key_refused = self.hints(context)
        base_url = self.address(context)
        return Endpoint(
            server="The server" if base_url else "OpenAI",
            model=display_address(base_url or OPENAI),
            if_unreachable=f"Check the network and `{setting}`.",
            if_key_refused=if_key_refused,
            if_model_missing=f"Check `{setting}`, which most often ends in /v1.",
            key=self.key(context).value,
            headers=self._headers(context),
        )

    def status(self, context: ProviderContext) -> ProviderStatus:
        has_key = bool(self.key(context).value)
        server = without_password(self.address(context)) or "OpenAI itself"
        text = f"{server}, {'a key is' if has_key else 'no key'} in ${self.variable(context)}"
        return ProviderStatus(subject="OpenAI", is_available=has_key, text=text)

    async def verify(self, model: ModelProvider, context: ProviderContext) -> None:
        if not self.address(context) and not self.key(context).value:
            raise ProviderError(f"There is no key for {model.info.name}.", hint=self.hints(context)[1])
        assert isinstance(model, OpenAI)
        await model.verify()


PROVIDER: Final = OpenAIDescriptor(
    name="openai",
    usage="`openai:NAME`",
    library="httpx",
    address_setting="openai.base_url",
    service=("api.openai.com", "OPENAI_API_KEY"),
)


def _fetch(base_url: str, endpoint: Endpoint) -> list[ListedModel]:
    address = base_url or OPENAI
    listed = fetch_list(f"{address.rstrip('/')}/models", endpoint, probe=not address.startswith(OPENAI))
    return [model for model in listed if model.id and (address != OPENAI or is_chat_model(model.id))]


def _forwarded(address: str, endpoint: Endpoint) -> frozenset[str]:
    """The models that a server on this machine only forwards, if it is an Ollama, which alone says so."""
    with suppress(ProviderError):
        if is_loopback(address):
            listed = fetch_list(f"{ollama_address(address)}/api/tags", endpoint)
            return frozenset(model.name for model in listed if is_forwarded(model.facts))
    return frozenset()


def is_chat_model(name: str) -> bool:
    """Whether a model of OpenAI's own list, which holds all kinds, is one for conversations."""
    return name.startswith(_CHAT_MODELS) and not any(kind in name for kind in _OTHER_KINDS)
