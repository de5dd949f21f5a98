"""The provider `openai`: models of OpenAI, and of any server that speaks its protocol."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from zkchat.core import ModelInfo, ModelListing, ModelProvider, ProviderError, ProviderStatus, without_password
from zkchat.models.errors import Endpoint
from zkchat.models.openai_client import OPENAI, OpenAI, with_listed_facts
from zkchat.models.registry import (
    Choice,
    NamedModel,
    OfferedModel,
    ProviderContext,
    ProviderDescriptor,
    ServerKey,
    display_address,
    is_forwarded,
    is_loopback,
    is_small,
    may_run_here,
    ollama_address,
    services_with_key,
    size_in_name,
)
from zkchat.models.transport import ListedModel, fetch_list, within_seconds

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
            key_variable=self._key_variable(context),
            headers={
                header: context.variables[name] for header, name in _ACCOUNT.items() if context.variables.get(name)
            },
            settings=model.settings,
        )

    def _key_variable(self, context: ProviderContext) -> str:
        return str(self.settings(context)["api_key_env"])

    def key(self, context: ProviderContext) -> ServerKey:
        variable = self._key_variable(context)
        return server_key(context.variables.get(variable, ""), self.address(context), variable)

    def address(self, context: ProviderContext) -> str:
        """Empty for OpenAI itself, which may lie behind a proxy: whether it accepts connections says nothing."""
        return str(self.settings(context)["base_url"])

    def offered_models(self, context: ProviderContext) -> Sequence[OfferedModel]:
        base_url = self.address(context)
        if not base_url:
            return ()  # OpenAI itself offers hundreds, and `choose` knows which to take
        listed = _fetch(base_url, self.key(context).value, self._key_variable(context))
        return [OfferedModel(model.id, _is_small(model)) for model in listed]

    def choose(self, names: Sequence[str], context: ProviderContext) -> Choice | None:
        base_url = self.address(context)
        if base_url and names:
            return Choice(model=f"openai:{names[0]}", why=f"a server answers at {without_password(base_url)}")
        if not base_url and self.key(context).value:
            return Choice(model=f"openai:{DEFAULT_MODEL}", why="there is a key for OpenAI, to whom your notes are sent")
        return None

    def suggestion(self, context: ProviderContext, *, answers: bool, has_models: bool) -> str:
        """Names a service for which there is a key, where no server is set."""
        services = [] if self.address(context) else services_with_key(context.variables)
        if not services:
            return ""
        return f"There is a key for {services[0].name} in {services[0].key_variable}: `zkchat setup` can use it."

    async def list_models(self, context: ProviderContext) -> ModelListing:
        base_url, variable = self.address(context), self._key_variable(context)
        source, key = without_password(base_url) or "OpenAI", self.key(context).value
        host = urlsplit(base_url or OPENAI).hostname or ""
        if not base_url and not key:
            return ModelListing(source=source, host=host, problem=f"There is no key in the variable {variable}.")
        local = self.settings(context)["local"] is not False
        try:
            models = await list_models(base_url, api_key=key, key_variable=variable, local=local)
        except ProviderError as error:
            return ModelListing(source=source, host=host, problem=error.message, hint=error.hint)
        return ModelListing(source=source, host=host, models=tuple(models))

    def status(self, context: ProviderContext) -> ProviderStatus:
        has_key = bool(self.key(context).value)
        server = without_password(self.address(context)) or "OpenAI itself"
        text = f"{server}, {'a key is' if has_key else 'no key'} in ${self._key_variable(context)}"
        return ProviderStatus(subject="OpenAI", is_available=has_key, text=text)

    async def verify(self, model: ModelProvider, context: ProviderContext) -> None:
        if not self.address(context) and not self.key(context).value:
            raise ProviderError(
                f"There is no key for {model.info.name}.",
                hint=f"Put it into the variable {self._key_variable(context)}.",
            )
        assert isinstance(model, OpenAI)
        await model.verify()


PROVIDER: Final = OpenAIDescriptor(
    name="openai", usage="`openai:NAME`", library="httpx", address_setting="openai.base_url"
)


def server_key(key: str, base_url: str, variable: str) -> ServerKey:
    """The key goes where the settings say; over plain HTTP to another machine only with a warning."""
    if not key or not base_url.lower().startswith("http:") or is_loopback(base_url):
        return ServerKey(key)
    return ServerKey(
        key,
        f"The key in {variable} and your notes go to {display_address(base_url)} without TLS: anybody on the way "
        "can read them. Use an address with https:// if the server has one.",
    )


async def list_models(base_url: str, *, api_key: str, key_variable: str, local: bool = True) -> list[ModelInfo]:
    """The models of OpenAI, or of a server that speaks its protocol. Raises `ProviderError` if it does not answer."""
    address = base_url or OPENAI
    endpoint = _endpoint(address, api_key, key_variable)
    listed, forwarded = await asyncio.gather(
        within_seconds(lambda: _fetch(base_url, api_key, key_variable), endpoint),
        within_seconds(lambda: _forwarded(address, endpoint), endpoint),
    )

    def describe(model: ListedModel) -> ModelInfo:
        info = with_listed_facts(OpenAI(model.id, base_url=base_url, api_key=api_key).info, model.facts)
        is_here = may_run_here(address, model.id, local=local and model.id not in forwarded)
        return replace(info, on_this_machine=is_here, is_located=True)

    return [*map(describe, listed)]


def _fetch(base_url: str, api_key: str, key_variable: str) -> list[ListedModel]:
    address = base_url or OPENAI
    endpoint = _endpoint(address, api_key, key_variable)
    listed = fetch_list(f"{address.rstrip('/')}/models", endpoint, probe=not address.startswith(OPENAI))
    return [model for model in listed if model.id and (address != OPENAI or is_chat_model(model.id))]


def _endpoint(address: str, api_key: str, key_variable: str) -> Endpoint:
    return Endpoint(
        server="OpenAI" if address == OPENAI else "The server",
        model=display_address(address),
        if_unreachable="Check the network and `openai.base_url`.",
        if_key_refused=f"Put a valid key into the variable {key_variable}.",
        if_model_missing="Check `openai.base_url`, which most often ends in /v1.",
        key=api_key,
    )


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


def _is_small(model: ListedModel) -> bool:
    """By its number of parameters, as llama.cpp lists it, else as its name tells it."""
    meta = model.facts.get("meta")
    size = meta.get("n_params") if isinstance(meta, dict) else None
    return is_small(size if isinstance(size, int) else size_in_name(model.id))
