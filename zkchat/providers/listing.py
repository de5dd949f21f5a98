"""What there is to talk to: the models that servers offer, and those in files. Asked quickly; nothing is loaded."""

import asyncio
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from pydantic import BaseModel, ConfigDict

from zkchat.errors import ConfigError, ProviderError
from zkchat.model.prompt import ModelInfo
from zkchat.providers.descriptor import ModelSettings
from zkchat.providers.errors import Endpoint, Reply, map_error
from zkchat.providers.gguf import model_files, read_header
from zkchat.providers.locality import is_forwarded, is_loopback, may_run_here, ollama_address
from zkchat.providers.ollama import Ollama
from zkchat.providers.openai import OPENAI, OpenAI, with_listed_facts
from zkchat.providers.transport import TransportPolicy, display_address, is_reachable

SECONDS = 3.0
"""How long a server that is there may take to list its models."""
_QUICK = TransportPolicy(connect_timeout=0.3, first_chunk_timeout=SECONDS, chunk_timeout=SECONDS, max_retries=0)
_OF_OPENAI = ("gpt-", "chatgpt-", "o1", "o3", "o4")
_NO_TALK = ("audio", "embed", "image", "instruct", "realtime", "search", "transcribe", "tts")


class _Entry(BaseModel):
    """A model in the list of a server, of either kind."""

    model_config = ConfigDict(extra="allow")
    id: str = ""
    name: str = ""
    details: dict[str, object] = {}

    @property
    def is_forwarded(self) -> bool:
        return is_forwarded(self.model_extra)


class _List(BaseModel):
    data: tuple[_Entry, ...] = ()
    models: tuple[_Entry, ...] = ()


async def of_ollama(host: str, *, api_key: str = "", remote: bool = False) -> list[ModelInfo]:
    """The models of an Ollama server. Raises `ProviderError` where it does not answer as one."""
    settings = ModelSettings(remote=remote)

    async def looked_up(name: str) -> ModelInfo:
        model = Ollama(name, host=host, api_key=api_key, settings=settings, policy=_QUICK)
        with suppress(ProviderError):  # one that is just being removed, say: the others still count
            await model.connect()
        return model.info

    return list(await asyncio.gather(*map(looked_up, await names_of_ollama(host, api_key=api_key))))


async def names_of_ollama(host: str, *, api_key: str = "") -> list[str]:
    """The same by name only, the last changed first."""
    endpoint = Endpoint(
        server="Ollama",
        model=display_address(host),
        if_unreachable="Start it with `ollama serve`, or set `ollama.host`.",
        if_key_refused="Sign in with `ollama signin`, or put a valid key into the variable OLLAMA_API_KEY.",
        if_model_missing="Is it the right address?",
        key=api_key,
    )
    listed = await asyncio.to_thread(_list, f"{host.rstrip('/')}/api/tags", endpoint)
    return [entry.name for entry in listed.models if entry.name and not _only_embeds(entry)]


async def of_openai(base_url: str, *, api_key: str, key_variable: str, remote: bool = False) -> list[ModelInfo]:
    """The models of OpenAI, or of a server that speaks its protocol. Raises `ProviderError` if it does not answer."""
    address = base_url or OPENAI
    endpoint = Endpoint(
        server="OpenAI" if address == OPENAI else "The server",
        model=display_address(address),
        if_unreachable="Check the network and `openai.base_url`.",
        if_key_refused=f"Put a valid key into the variable {key_variable}.",
        if_model_missing="Check `openai.base_url`, which most often ends in /v1.",
        key=api_key,
    )
    listed = await asyncio.to_thread(_list, f"{address.rstrip('/')}/models", endpoint)
    entries = [entry for entry in listed.data if entry.id and (address != OPENAI or talks(entry.id))]
    elsewhere = await asyncio.to_thread(_forwarded, address, endpoint)

    def info(entry: _Entry) -> ModelInfo:
        known = with_listed_facts(OpenAI(entry.id, base_url=base_url, api_key=api_key).info, entry.model_extra or {})
        here = may_run_here(address, entry.id, remote=remote or entry.id in elsewhere)
        return known.model_copy(update={"on_this_machine": here, "is_located": True})

    return [info(entry) for entry in entries]


def _forwarded(address: str, endpoint: Endpoint) -> frozenset[str]:
    """The models that a server on this machine only forwards, if it is an Ollama, which alone can tell."""
    with suppress(ProviderError):
        if is_loopback(address):
            listed = _list(f"{ollama_address(address)}/api/tags", endpoint)
            return frozenset(entry.name for entry in listed.models if entry.is_forwarded)
    return frozenset()


def of_folder(cache: Path) -> list[ModelInfo]:
    """The models in files that zkchat keeps, and those that the user put there. What is no model is left out."""
    found = []
    for path in model_files(cache):
        with suppress(ConfigError):
            head = read_header(path)
            found.append(
                ModelInfo(
                    provider="local",
                    id=path.stem,
                    context_limit=head.window,
                    calls_tools=head.calls_tools,
                    on_this_machine=True,
                )
            )
    return found


def _only_embeds(entry: _Entry) -> bool:
    return "embed" in entry.name or "bert" in str(entry.details.get("family"))


def talks(name: str) -> bool:
    """Whether a model of OpenAI's own list, which holds all kinds, is one for conversations."""
    return name.startswith(_OF_OPENAI) and not any(kind in name for kind in _NO_TALK)


class _StayHere(HTTPRedirectHandler):
    """The key goes to the address that the user chose, and nowhere else."""

    def redirect_request(self, *_request: object) -> None:
        """None: what asks for it becomes an error."""


def _list(address: str, endpoint: Endpoint) -> _List:
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    no_proxy = [ProxyHandler({})] if is_loopback(address) else []
    try:
        # OpenAI itself is far away, and may lie behind a proxy: a quick knock at its door says nothing.
        if not address.startswith(OPENAI) and not is_reachable(address):
            raise ConnectionError
        with build_opener(_StayHere, *no_proxy).open(Request(address, headers=headers), timeout=SECONDS) as reply:  # noqa: S310
            return _List.model_validate_json(reply.read())
    except HTTPError as error:
        with error:
            said = Reply(status=error.code, text=error.read(1000).decode(errors="replace"))
        if error.code == 404:
            raise ProviderError(f"{endpoint.name} has no list of models.", hint=endpoint.if_model_missing) from None
        failure = map_error(error, said, endpoint)
    except (OSError, HTTPException, ValueError) as error:
        failure = map_error(error, None, endpoint)
    raise ProviderError(failure.text, hint=failure.hint)
