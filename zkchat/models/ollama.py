"""The provider `ollama`: models of an Ollama server."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Final
from urllib.parse import urlsplit

from zkchat.core import ModelInfo, ModelListing, ModelProvider, ProviderError, ProviderStatus, without_password
from zkchat.models.embedding_wires import convention_for, is_only_for_embedding
from zkchat.models.errors import Endpoint
from zkchat.models.ollama_client import Ollama
from zkchat.models.registry import (
    Choice,
    ModelSettings,
    NamedModel,
    OfferedModel,
    ProviderContext,
    ProviderDescriptor,
    ServerKey,
    display_address,
    is_forwarded,
    is_loopback,
    is_reachable,
    is_small,
    parse_size,
    size_in_name,
)
from zkchat.models.transport import DESCRIBE_SECONDS, QUICK, ListedModel, fetch_list, within_seconds

KEY_VARIABLE: Final = "OLLAMA_API_KEY"
SUGGESTED: Final = "qwen3:4b"
"""A model to fetch where there is none."""
_DOMAIN: Final = "ollama.com"
_MAX_NAMED: Final = 3
"""Other models that are named where one was chosen."""
_MIN_FILE_BYTES: Final = 10_000_000
"""Bytes below which an entry of the list is no file with weights, but forwarded."""


class OllamaDescriptor(ProviderDescriptor, frozen=True):
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        host, key = self.address(context), self.key(context).value
        return Ollama(model.id, host=host, api_key=key, settings=model.settings)

    def key(self, context: ProviderContext) -> ServerKey:
        key = context.variables.get(KEY_VARIABLE, "")
        return server_key(key, self.address(context), is_users_choice="ollama.host" in context.set_by_user)

    def address(self, context: ProviderContext) -> str:
        return str(self.settings(context)["host"])

    def offered_models(self, context: ProviderContext) -> Sequence[OfferedModel]:
        listed = fetch_models(self.address(context), api_key=self.key(context).value)
        return [OfferedModel(model.name, _is_small(model)) for model in listed]

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
        host, local = self.address(context), self.settings(context)["local"] is not False
        source, name = f"Ollama at {without_password(host)}", urlsplit(host).hostname or ""
        try:
            models, embedding = await list_models(host, api_key=self.key(context).value, local=local)
        except ProviderError as error:
            return ModelListing(source=source, host=name, problem=error.message, hint=error.hint)
        return ModelListing(source=source, host=name, models=tuple(models), embedding_models=tuple(embedding))

    def listed_ids(self, id_: str) -> Sequence[str]:
        return id_, f"{id_}:latest"  # as Ollama lists what has no tag

    def status(self, context: ProviderContext) -> ProviderStatus:
        host = self.address(context)
        is_there = is_reachable(host)
        text = f"{'answers' if is_there else 'does not answer'} at {without_password(host)}"
        return ProviderStatus(subject="Ollama", is_available=is_there, text=text)


PROVIDER: Final = OllamaDescriptor(name="ollama", usage="`ollama:NAME`", library="httpx", address_setting="ollama.host")


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


async def list_models(host: str, *, api_key: str = "", local: bool = True) -> tuple[list[ModelInfo], list[str]]:
    """The models of an Ollama server, and the names of those that only embed.

    Raises `ProviderError` where it does not answer as one.
    """

    async def describe(name: str) -> Ollama:
        settings = ModelSettings(local=local)
        model = Ollama(name, host=host, api_key=api_key, settings=settings, policy=QUICK)
        with suppress(ProviderError, TimeoutError):  # one that is just being removed, say: the others still count
            async with asyncio.timeout(DESCRIBE_SECONDS):
                await model.connect()
        return model

    listed = await within_seconds(lambda: _fetch_all(host, api_key), _endpoint(host, api_key))
    import_module("httpx")  # before the time of the server is measured
    described = await asyncio.gather(*(describe(model.name) for model in listed if not _only_embeds(model)))
    embedding = [model.name for model in listed if _only_embeds(model)]
    embedding += [model.info.id for model in described if model.only_embeds]
    return [model.info for model in described if not model.only_embeds], [
        f"ollama:{name.removesuffix(':latest')}" for name in embedding
    ]


def fetch_models(host: str, *, api_key: str = "") -> list[ListedModel]:
    """The models for conversations as its list has them, the last changed first."""
    return [model for model in _fetch_all(host, api_key) if not _only_embeds(model)]


def _fetch_all(host: str, api_key: str) -> list[ListedModel]:
    listed = fetch_list(f"{host.rstrip('/')}/api/tags", _endpoint(host, api_key))
    return [model for model in listed if model.name]


def _endpoint(host: str, api_key: str) -> Endpoint:
    return Endpoint(
        server="Ollama",
        model=display_address(host),
        if_unreachable="Start it with `ollama serve`, or set `ollama.host`.",
        if_key_refused=f"Sign in with `ollama signin`, or put a valid key into the variable {KEY_VARIABLE}.",
        if_model_missing="Is it the right address?",
        key=api_key,
    )


def _only_embeds(model: ListedModel) -> bool:
    """By what the list says of it; that of older servers has no more than its name and family."""
    can = model.facts.get("capabilities")
    if isinstance(can, list) and can:
        return is_only_for_embedding(can)
    is_known = bool(convention_for(model.name).pattern)
    return is_known or "embed" in model.name or "bert" in str(model.details.get("family"))


def _is_small(model: ListedModel) -> bool:
    """By its number of parameters, as the list or its name tells it, else by the size of its file."""
    size = parse_size(model.details.get("parameter_size")) or size_in_name(model.name)
    if size is None and isinstance(model.size, int) and model.size >= _MIN_FILE_BYTES and not is_forwarded(model.facts):
        size = model.size
    return is_small(size)
