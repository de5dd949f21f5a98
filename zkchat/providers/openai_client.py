"""Models of OpenAI, and of any server that speaks its protocol: llama.cpp, vLLM, LM Studio, OpenRouter…"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from http.client import NOT_IMPLEMENTED
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import replace

from zkchat.errors import ProviderError
from zkchat.model.prompt import ModelChunk, ModelInfo, ModelRequest, PromptMessage
from zkchat.providers.completions import StreamedAnswer, message_param, tool_param
from zkchat.providers.descriptor import DEFAULT_MODEL_SETTINGS, ModelSettings
from zkchat.providers.errors import Endpoint, Reply
from zkchat.providers.json_requests import said_in
from zkchat.providers.locality import display_address, is_forwarded, is_loopback, may_run_here, ollama_address
from zkchat.providers.response_limits import END_OF_EVENT, NO_COMPRESSION, limit_response
from zkchat.providers.small_models import adapt_to_size, size_in_name
from zkchat.providers.transport import (
    DEFAULT_POLICY,
    ServerModel,
    TransportPolicy,
    client_settings,
    drain,
)
from zkchat.providers.vision import estimated_rule, listed_capabilities, openai_vision, with_shown_vision, with_vision

if TYPE_CHECKING:
    import openai
    from openai.types import Model
    from openai.types.chat import ChatCompletionChunk

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


class OpenAI(ServerModel["openai.AsyncOpenAI"]):
    def __init__(
        self,
        model: str,
        *,
        base_url: str = "",
        api_key: str = "",
        key_variable: str = "OPENAI_API_KEY",
        settings: ModelSettings = DEFAULT_MODEL_SETTINGS,
        policy: TransportPolicy = DEFAULT_POLICY,
    ) -> None:
        """`settings.options` go into the body of every request: `top_p`, `reasoning_effort`, what the server knows."""
        self._model = model
        self._address = base_url or OPENAI
        self._is_openai = (urlsplit(self._address).hostname or "").endswith("api.openai.com")
        self._may_run_here = may_run_here(self._address, model, local=settings.local)
        endpoint = Endpoint(
            server="OpenAI" if self._is_openai else display_address(self._address),
            model=model,
            if_unreachable="Check the network and `openai.base_url`; `zkchat doctor` shows what answers.",
            if_key_refused=f"Put a valid key into the variable {key_variable}.",
            if_model_missing="Check the model's name, and `openai.base_url`, which most often ends in /v1.",
            key=api_key.strip(),
        )
        info = ModelInfo(
            provider="openai",
            id=model,
            context_limit=settings.context_limit or (_known_window(model) if self._is_openai else None),
            is_limit_declared=settings.context_limit is not None,
            calls_tools=settings.calls_tools is not False,
            is_located=not self._may_run_here,
            tokenizer=encoding_of(model) if self._is_openai else "",
        )
        known = openai_vision(model) if self._is_openai else None
        sees = known is not None if settings.sees_images is None else settings.sees_images
        info = replace(info, sees_images=sees, image_rule=known or estimated_rule(model, {}))
        super().__init__(info, endpoint=endpoint, settings=settings, policy=policy)
        self._listed: frozenset[str] = frozenset()
        self._shown: object = None
        """What an Ollama says of the model."""
        self._connected = self._is_openai  # whose list of models does not say more than we know
        self._thinks = self._is_openai and model.startswith(_REASONING)

    def _client(self) -> "openai.AsyncOpenAI":
        import openai

        if self._is_openai and not self._endpoint.key:
            raise ProviderError(f"There is no key for OpenAI ({self._model}).", hint=self._endpoint.if_key_refused)
        return openai.AsyncOpenAI(
            api_key=self._endpoint.key or "none",  # the client insists on one, local servers do not
            base_url=self._address,
            max_retries=0,
            timeout=openai.Timeout(None, connect=self._policy.connect_timeout),
            default_headers=NO_COMPRESSION,
            http_client=openai.DefaultAsyncHttpxClient(
                event_hooks={"response": [limit_response(END_OF_EVENT)]}, **client_settings(self._address)
            ),
        )

    async def _learn(self, client: "openai.AsyncOpenAI") -> AsyncGenerator[ModelInfo, None]:
        import openai

        async with client:
            try:
                models = (await client.models.list()).data
            except openai.NotFoundError:  # a server need not have a list
                models = []
            here = await self._located(client)
        self._listed = frozenset(model.id for model in models)
        info = replace(self._info, on_this_machine=here is True, is_located=here is not None)
        info = with_listed_facts(info, _facts(self._model, models), self._settings)
        yield with_shown_vision(info, self._shown, declared=self._settings.sees_images)

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

    async def _probe(self, client: "openai.AsyncOpenAI") -> AsyncGenerator[bool, None]:
        async with client:
            if self._is_openai:
                await client.models.retrieve(self._model)
                yield True
                return
            async with await self._begin(client, _GREETING) as arriving:
                async for _ in arriving:
                    yield True

    async def _located(self, client: "openai.AsyncOpenAI") -> bool | None:
        """Whether the model runs on this machine; None where an answer that could say so does not come.

        An Ollama is asked whether it forwards the model. Any other server has no such answer, and runs what it offers.
        """
        import openai

        if not self._may_run_here:
            return False
        try:
            async with asyncio.timeout(min(LOCATE_TIMEOUT, self._policy.connect_timeout / 2)):
                address = f"{ollama_address(self._address)}/api/show"
                facts = await client.post(address, body={"model": self._model}, cast_to=object)
        except openai.APIStatusError as error:
            return True if error.status_code < 500 or error.status_code == NOT_IMPLEMENTED else None
        except (openai.OpenAIError, TimeoutError, ValueError):
            return None
        self._shown = facts
        return not is_forwarded(facts)

    async def _ask(self, client: "openai.AsyncOpenAI", request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        async with client, await self._begin(client, request) as arriving:
            answer = StreamedAnswer(self._endpoint)
            parts = aiter(arriving)
            async for part in parts:
                for chunk in answer.chunks(part):
                    yield chunk
                if answer.complete:
                    await drain(parts)
            for chunk in answer.end(request):
                yield chunk

    async def _begin(
        self, client: "openai.AsyncOpenAI", request: ModelRequest
    ) -> "openai.AsyncStream[ChatCompletionChunk]":
        from openai import omit

        sampling = self._sampling(request)
        limit = omit if sampling.max_tokens is None else sampling.max_tokens
        return await client.chat.completions.create(
            model=self._model,
            messages=[message_param(message, request.image_detail) for message in request.messages],
            tools=[tool_param(spec) for spec in request.tools] or omit,
            temperature=omit if sampling.temperature is None or self._thinks else sampling.temperature,
            # OpenAI has given up the old name, and most of the others have not learnt the new one.
            max_completion_tokens=limit if self._is_openai else omit,
            max_tokens=omit if self._is_openai else limit,
            stream=True,
            stream_options={"include_usage": True},
            extra_body=self._settings.options,
        )

    @staticmethod
    def reply_of(error: Exception) -> Reply | None:
        import openai

        if isinstance(error, openai.APIStatusError):
            retry_after = error.response.headers.get("retry-after", "")
            return Reply(status=error.status_code, text=said_in(error.body), retry_after=retry_after)
        if type(error) is openai.APIError:  # in the middle of a stream, where some servers still give a status
            status = error.body.get("code") if isinstance(error.body, dict) else None
            return Reply(status=status if isinstance(status, int) else 0, text=said_in(error.body) or error.message)
        return None


def encoding_of(model: str) -> str:
    """The encoding of a model of OpenAI, fine-tuned or not; empty if it is unknown."""
    name = model.removeprefix("ft:")
    return next((encoding for beginning, encoding in _ENCODINGS.items() if name.startswith(beginning)), "")


def _known_window(model: str) -> int | None:
    return next((window for beginning, window in _WINDOWS.items() if model.startswith(beginning)), None)


def _facts(model: str, models: Sequence["Model"]) -> Mapping[str, object]:
    """What a list of models says of one. A server with one model answers with it, whatever name it is asked for."""
    entry = next((one for one in models if one.id == model), models[0] if len(models) == 1 else None)
    return (entry.model_extra or {}) if entry else {}


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
    can = ("vision",) if info.sees_images else listed_capabilities(facts)
    info = with_vision(info, declared=settings.sees_images, capabilities=can, rule=info.image_rule)
    return adapt_to_size(replace(info, context_limit=window), size, settings)
