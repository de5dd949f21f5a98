"""Transport shared by all servers: timeouts, retries with back-off, and checks of what is sent and received."""

import asyncio
import json
import random
import ssl
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from itertools import count
from typing import Generic, TypedDict, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from zkchat.errors import ProviderError
from zkchat.model.parts import ToolCallPart
from zkchat.model.patterns import lazy_pattern
from zkchat.model.prompt import ModelChunk, ModelInfo, ModelRequest
from zkchat.model.usage import TokenUsage
from zkchat.providers.descriptor import ModelSettings
from zkchat.providers.errors import Endpoint, Failure, Reply, invalid_answer, map_client_error, map_error
from zkchat.providers.locality import is_loopback
from zkchat.providers.small_models import Sampling, sampling_for

T = TypeVar("T")

DRAIN_TIMEOUT = 1.0
"""Seconds that a server may take to end a stream after the answer is complete."""


class TransportPolicy(Struct, frozen=True, kw_only=True):
    """Timeouts in seconds, and how a request is retried."""

    connect_timeout: float = 5.0
    first_chunk_timeout: float = 120.0
    """Until the answer begins: the server may still be loading the model."""
    chunk_timeout: float = 60.0
    """From one chunk to the next."""
    max_retries: int = 3
    backoff: float = 0.5
    """Seconds before the first retry; doubled with each."""
    max_backoff: float = 30.0
    """A server that asks for a longer wait is not retried."""

    def retry_delay(self, attempt: int, failure: Failure) -> float | None:
        """Seconds until the next attempt; None if there is to be none."""
        if attempt >= self.max_retries or not failure.transient:
            return None
        jitter = random.uniform(0.5, 1.0)  # noqa: S311  # spreads retries; not security-relevant
        delay = self.backoff * 2**attempt * jitter if failure.retry_after is None else failure.retry_after
        return delay if delay <= self.max_backoff else None


DEFAULT_POLICY = TransportPolicy()


async def stream_with_retries(
    ask: Callable[[], AsyncGenerator[T, None]],
    *,
    endpoint: Endpoint,
    reply_of: Callable[[Exception], Reply | None],
    policy: TransportPolicy,
) -> AsyncGenerator[T, None]:
    """Yield what `ask` yields, within the timeouts. `ask` is retried only as long as nothing has arrived.

    Every failure is raised as a `ProviderError`, without the foreign exception, which may hold the key.
    """
    for attempt in count():
        timeout = policy.first_chunk_timeout
        arrived = False
        try:
            async with aclosing(ask()) as items:
                while (item := await _next(items, timeout)) is not None:
                    timeout, arrived = policy.chunk_timeout, True
                    yield item
            if arrived:
                return
            failure = invalid_answer(endpoint)  # such as a page to log in on
        except ProviderError:
            raise
        except TimeoutError:
            failure = Failure(
                text=f"{endpoint.name} sent nothing for {timeout:g} seconds.",
                hint=f"It may be busy{'' if arrived else ', or still loading the model'}: ask again.",
            )
        except Exception as error:  # noqa: BLE001  # a client library may raise anything on what a server sends
            failure = map_error(error, reply_of(error), endpoint)
        delay = None if arrived else policy.retry_delay(attempt, failure)
        if delay is None:
            raise failure.error
        await asyncio.sleep(delay)


async def _next(items: AsyncGenerator[T, None], seconds: float) -> T | None:
    async with asyncio.timeout(seconds):
        return await anext(items, None)


async def drain(parts: AsyncIterator[object]) -> None:
    """Read the stream of a complete answer to its end: one that is abandoned is closed at any odd time later."""
    with suppress(Exception):  # whatever comes now, the answer is there
        async with asyncio.timeout(DRAIN_TIMEOUT):
            async for _ in parts:
                pass


Client = TypeVar("Client")


class ServerModel(ABC, Generic[Client]):
    """A model behind a server; subclasses speak the protocol of one kind of server."""

    def __init__(
        self, info: ModelInfo, *, endpoint: Endpoint, settings: ModelSettings, policy: TransportPolicy
    ) -> None:
        self._info = info
        self._endpoint = endpoint
        self._settings = settings
        self._policy = policy
        self._connected = False
        self._thinks = False
        """Whether it may think before it answers, for which a small model's limit would leave no room."""

    @property
    def info(self) -> ModelInfo:
        """What is known so far; `connect` adds what only the server knows."""
        return self._info

    async def connect(self) -> None:
        """Ask the server about the model: once, or until it has said where the model runs."""
        if self._connected:
            return
        policy = replace(self._policy, first_chunk_timeout=self._policy.connect_timeout)
        answers = self._request(self._learn, policy)
        async with aclosing(answers):
            self._info = await anext(answers)
        self._connected = self._info.is_located

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        return self._request(lambda client: self._ask(client, request), self._policy)

    def _request(
        self, ask: Callable[[Client], AsyncGenerator[T, None]], policy: TransportPolicy
    ) -> AsyncGenerator[T, None]:
        # The client is made outside the generators, so that the time its import takes is not taken for the server's.
        return stream_with_retries(
            lambda: ask(self._usable_client()), endpoint=self._endpoint, reply_of=self.reply_of, policy=policy
        )

    def _usable_client(self) -> Client:
        try:
            return self._client()
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001  # a client library may raise anything on odd variables
            raise map_client_error(error, self._endpoint).error from None

    def _sampling(self, request: ModelRequest) -> Sampling:
        conservative = self._info.needs_evidence and not self._thinks
        return sampling_for(request, self._settings, conservative=conservative)

    @abstractmethod
    def _client(self) -> Client: ...

    @abstractmethod
    def _learn(self, client: Client) -> AsyncGenerator[ModelInfo, None]:
        """Yield what the server says of the model, once."""

    @abstractmethod
    def _ask(self, client: Client, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]: ...

    @staticmethod
    @abstractmethod
    def reply_of(error: Exception) -> Reply | None:
        """The server's reply, if the exception is about one."""


class ClientSettings(TypedDict):
    """Settings of the HTTP clients that the client libraries use."""

    follow_redirects: bool
    trust_env: bool
    verify: bool | ssl.SSLContext


def client_settings(address: str) -> ClientSettings:
    return ClientSettings(
        follow_redirects=False,  # notes go to the address that the user chose, and nowhere else
        trust_env=not is_loopback(address),  # no proxy stands between us and ourselves
        # Authorities take 30 ms to load, which plain HTTP does not need: without any, all of TLS would fail.
        verify=address.startswith("https:") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    )


def replace_surrogates(text: str) -> str:
    """Text without lone surrogates, which have no UTF-8 form: a note may hold one."""
    return text.encode("utf-8", "replace").decode()


def arguments_object(call: ToolCallPart) -> dict[str, object]:
    """Parse a call's arguments into the object that servers insist on, even if the model wrote no JSON."""
    try:
        arguments = json.loads(call.arguments or "{}")
        if isinstance(arguments, dict):
            written = replace_surrogates(json.dumps(arguments, ensure_ascii=False))
            # NaN and Infinity, which 1e999 is read as, are no JSON for most servers.
            return dict(json.loads(written, parse_constant=str))
    except (ValueError, RecursionError):
        pass
    return {"not_json": replace_surrogates(call.arguments)}


_LETTER_WITHOUT_SPACES = lazy_pattern(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


def min_tokens(request: ModelRequest) -> int:
    """Lower bound on the tokens of the messages: no tokenizer joins words, or merges four Chinese characters."""
    return sum(
        max(len(message.text.split()), len(_LETTER_WITHOUT_SPACES.findall(message.text)) // 4)
        for message in request.messages
    )


def truncation_warning(request: ModelRequest, usage: TokenUsage | None, endpoint: Endpoint) -> str:
    """Warn if the server reports fewer prompt tokens than were sent; empty otherwise, or if nothing is reported."""
    read = usage.prompt_tokens + usage.cached_tokens if usage else 0
    sent = min_tokens(request)
    if not read or read >= sent:
        return ""
    return (
        f"{endpoint.name} read only {read:,} tokens of a prompt of {sent:,} or more: it did not see everything. "
        "Set `context.max_tokens` to the window that the server really has."
    )
