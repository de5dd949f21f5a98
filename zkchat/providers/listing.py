"""Fetches the list of models of a server, of OpenAI's protocol or Ollama's."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct, field

from zkchat.errors import ProviderError
from zkchat.model.values import from_plain
from zkchat.providers.errors import Endpoint, invalid_answer
from zkchat.providers.json_requests import JsonRequests, RequestFailed
from zkchat.providers.transport import TransportPolicy
from zkchat.subprocesses import DaemonThreads

MAX_LIST_BYTES = 20_000_000
"""Of a list; what is longer is none, and may have no end."""
LIST_TIMEOUT = 3.0
"""Seconds that a server which accepts connections may take to list its models."""
LIST_SECONDS = 2.0
"""Seconds that all of it may take where a user waits: looking up the address, connecting, the list itself."""
DESCRIBE_SECONDS = 1.0
"""Seconds that a server may take to describe the models of its list; without, they are listed by name."""
PROBE_SECONDS = 0.3
"""Seconds that a server may take to accept a connection."""
QUICK = TransportPolicy(
    connect_timeout=PROBE_SECONDS, first_chunk_timeout=LIST_TIMEOUT, chunk_timeout=LIST_TIMEOUT, max_retries=0
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


class _Lists(Struct, frozen=True, kw_only=True):
    """A list as it is sent."""

    data: tuple[dict[str, Any], ...] = ()
    """Of OpenAI's protocol."""
    models: tuple[dict[str, Any], ...] = ()
    """Of Ollama's."""


T = TypeVar("T")


async def within_seconds(fetch: Callable[[], T], endpoint: Endpoint, seconds: float = LIST_SECONDS) -> T:
    """Run `fetch` on a thread that nobody waits for any longer than that. Raises `ProviderError` then."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.wrap_future(DaemonThreads().submit(fetch))
    except TimeoutError:
        raise ProviderError(
            f"{endpoint.name} did not answer within {seconds:g} seconds.", hint=endpoint.if_unreachable
        ) from None


def fetch_list(address: str, endpoint: Endpoint, *, probe: bool = True) -> list[ListedModel]:
    """Fetch the list at that address; with `probe`, it has to accept a connection quickly. Raises `ProviderError`."""
    connect_timeout = PROBE_SECONDS if probe else LIST_TIMEOUT
    try:
        requests = JsonRequests(endpoint, connect_timeout=connect_timeout, max_bytes=MAX_LIST_BYTES)
        lists = from_plain(_Lists, requests.ask(address, None, LIST_TIMEOUT))
        return [from_plain(ListedModel, {**entry, "facts": entry}) for entry in (*lists.data, *lists.models)]
    except RequestFailed as failed:
        if failed.status == 404:
            raise ProviderError(f"{endpoint.name} has no list of models.", hint=endpoint.if_model_missing) from None
        raise failed.failure.error from None
    except ValueError:
        raise invalid_answer(endpoint).error from None
