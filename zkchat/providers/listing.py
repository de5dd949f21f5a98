"""Fetches the list of models of a server, of OpenAI's protocol or Ollama's."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from http.client import HTTPException
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from msgspec import Struct, field

from zkchat.errors import ProviderError
from zkchat.model.values import from_json, from_plain
from zkchat.providers.errors import Endpoint, Reply, map_error
from zkchat.providers.json_requests import NoRedirects
from zkchat.providers.locality import is_forwarded, is_loopback, is_reachable
from zkchat.providers.transport import TransportPolicy

MAX_LIST_BYTES = 20_000_000
"""Of a list; what is longer is none, and may have no end."""
LIST_TIMEOUT = 3.0
"""Seconds that a server which accepts connections may take to list its models."""
LIST_SECONDS = 2.0
"""Seconds that all of it may take where a user waits: looking up the address, connecting, the list itself."""
DESCRIBE_SECONDS = 1.0
"""Seconds that a server may take to describe the models of its list; without, they are listed by name."""
QUICK = TransportPolicy(
    connect_timeout=0.3, first_chunk_timeout=LIST_TIMEOUT, chunk_timeout=LIST_TIMEOUT, max_retries=0
)
"""For questions about each model of a list."""


class ListedModel(Struct, frozen=True, kw_only=True):
    """A model in the list of a server, of either kind."""

    id: str = ""
    name: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    size: Any = 0
    """Bytes, in the lists of Ollama."""
    facts: dict[str, Any] = field(default_factory=dict)
    """All that the server says of it."""

    @property
    def is_forwarded(self) -> bool:
        return is_forwarded(self.facts)


class ModelList(Struct, frozen=True, kw_only=True):
    data: tuple[ListedModel, ...] = ()
    """Of OpenAI's protocol."""
    models: tuple[ListedModel, ...] = ()
    """Of Ollama's."""


class _Lists(Struct, frozen=True, kw_only=True):
    """The same as it is sent."""

    data: tuple[dict[str, Any], ...] = ()
    models: tuple[dict[str, Any], ...] = ()


T = TypeVar("T")


async def within_seconds(fetch: Callable[[], T], endpoint: Endpoint, seconds: float = LIST_SECONDS) -> T:
    """Run `fetch` on a thread that nobody waits for any longer than that. Raises `ProviderError` then."""
    future: Future[T] = Future()

    def run() -> None:
        with suppress(InvalidStateError):  # it was given up
            try:
                future.set_result(fetch())
            except Exception as error:  # noqa: BLE001  # handed to whoever waits
                future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.wrap_future(future)
    except TimeoutError:
        raise ProviderError(
            f"{endpoint.name} did not answer within {seconds:g} seconds.", hint=endpoint.if_unreachable
        ) from None


def fetch_list(address: str, endpoint: Endpoint, *, probe: bool = True) -> ModelList:
    """Fetch the list at that address; `probe` first whether it accepts a connection. Raises `ProviderError`."""
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    no_proxy = [ProxyHandler({})] if is_loopback(address) else []
    try:
        if probe and not is_reachable(address):
            raise ConnectionError
        request = Request(address, headers=headers)  # noqa: S310
        with build_opener(NoRedirects, *no_proxy).open(request, timeout=LIST_TIMEOUT) as reply:
            return _read(from_json(_bounded(reply.read(MAX_LIST_BYTES + 1))))
    except HTTPError as error:
        with error:
            said = Reply(status=error.code, text=error.read(1000).decode(errors="replace"))
        if error.code == 404:
            raise ProviderError(f"{endpoint.name} has no list of models.", hint=endpoint.if_model_missing) from None
        failure = map_error(error, said, endpoint)
    except (OSError, HTTPException, ValueError) as error:
        failure = map_error(error, None, endpoint)
    raise ProviderError(failure.text, hint=failure.hint)


def _bounded(content: bytes) -> bytes:
    if len(content) > MAX_LIST_BYTES:
        raise ValueError("It is longer than any list.")
    return content


def _read(plain: object) -> ModelList:
    lists = from_plain(_Lists, plain)
    return ModelList(data=tuple(map(_listed, lists.data)), models=tuple(map(_listed, lists.models)))


def _listed(entry: dict[str, Any]) -> ListedModel:
    return from_plain(ListedModel, {**entry, "facts": entry})
