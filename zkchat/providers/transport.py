"""What the wires of all servers have in common: patience, retries, and checks of what goes out and comes back."""

import asyncio
import json
import random
import re
import ssl
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Generic, TypedDict, TypeVar
from urllib.parse import urlsplit

from zkchat.errors import ProviderError
from zkchat.model.context import TokenUsage
from zkchat.model.message import ToolCallPart
from zkchat.model.prompt import ModelChunk, ModelInfo, ModelRequest
from zkchat.providers.declared import Declared
from zkchat.providers.errors import Endpoint, Reply, Trouble, explain, no_answer, unusable
from zkchat.providers.locality import is_loopback
from zkchat.providers.small_models import Measure, measure

T = TypeVar("T")

_PARTING = 1.0
"""Seconds that a server may take to end a stream after its last word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a server may take, in seconds, and how often it is asked again."""

    connect: float = 5.0
    first: float = 120.0
    """Until the first word arrives."""
    between: float = 60.0
    """From one word to the next."""
    retries: int = 3
    backoff: float = 0.5
    """The pause before the first retry; it doubles with each."""
    longest_pause: float = 30.0
    """A server that wants to be left alone for longer is not asked again."""

    def pause(self, attempt: int, trouble: Trouble) -> float | None:
        """Seconds until the next attempt; None if there shall be none."""
        if attempt >= self.retries or not trouble.passing:
            return None
        jitter = random.uniform(0.5, 1.0)  # noqa: S311  # spreads those who retry; no secret hangs on it
        pause = self.backoff * 2**attempt * jitter if trouble.wait is None else trouble.wait
        return pause if pause <= self.longest_pause else None


DEFAULT_PATIENCE = Patience()


async def patiently(
    ask: Callable[[], AsyncGenerator[T, None]],
    *,
    endpoint: Endpoint,
    reply_of: Callable[[Exception], Reply | None],
    patience: Patience,
) -> AsyncGenerator[T, None]:
    """What `ask` yields, if it comes in time; `ask` is called again only while nothing has come.

    Whatever goes wrong is raised as a `ProviderError`, without the foreign exception: that one may hold the key.
    """
    for attempt in count():
        allowed = patience.first
        arrived = False
        try:
            async with aclosing(ask()) as items:
                while (item := await _next(items, allowed)) is not None:
                    allowed, arrived = patience.between, True
                    yield item
            if arrived:
                return
            trouble = no_answer(endpoint)  # such as a page to log in on
        except ProviderError:
            raise
        except TimeoutError:
            trouble = Trouble(
                text=f"{endpoint.name} sent nothing for {allowed:g} seconds.",
                hint=f"It may be busy{'' if arrived else ', or still loading the model'}: ask again.",
            )
        except Exception as error:  # noqa: BLE001  # a client library may raise anything on what a server sends
            trouble = explain(error, reply_of(error), endpoint)
        pause = None if arrived else patience.pause(attempt, trouble)
        if pause is None:
            raise trouble.error
        await asyncio.sleep(pause)


async def _next(items: AsyncGenerator[T, None], seconds: float) -> T | None:
    async with asyncio.timeout(seconds):
        return await anext(items, None)


async def read_out(parts: AsyncIterator[object]) -> None:
    """Let the stream of a complete answer come to its end: one that is broken off is closed at any odd time later."""
    with suppress(Exception):  # whatever comes now, the answer is there
        async with asyncio.timeout(_PARTING):
            async for _ in parts:
                pass


Client = TypeVar("Client")


class ServerModel(ABC, Generic[Client]):
    """A model behind a server. How to talk to it is what the kinds of servers differ in."""

    def __init__(self, info: ModelInfo, *, endpoint: Endpoint, declared: Declared, patience: Patience) -> None:
        self._info = info
        self._endpoint = endpoint
        self._declared = declared
        self._patience = patience
        self._connected = False
        self._thinks = False
        """Whether it may think before it answers, for which a small model's measure would leave no room."""

    @property
    def info(self) -> ModelInfo:
        """What is known so far: what only the server knows comes with `connect`."""
        return self._info

    async def connect(self) -> None:
        """Learn what the server knows of the model. It is asked once, or until it has said where the model runs."""
        if self._connected:
            return
        quick = replace(self._patience, first=self._patience.connect)
        answers = self._asked(self._learn, quick)
        async with aclosing(answers):
            self._info = await anext(answers)
        self._connected = self._info.is_located

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        return self._asked(lambda client: self._ask(client, request), self._patience)

    def _asked(self, ask: Callable[[Client], AsyncGenerator[T, None]], patience: Patience) -> AsyncGenerator[T, None]:
        # The client is made outside the generators, so that the time its import takes is not taken for the server's.
        return patiently(
            lambda: ask(self._usable_client()), endpoint=self._endpoint, reply_of=self.reply_of, patience=patience
        )

    def _usable_client(self) -> Client:
        try:
            return self._client()
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001  # a client library may raise anything on odd variables
            raise unusable(error, self._endpoint).error from None

    def _measure(self, request: ModelRequest) -> Measure:
        sober = self._info.needs_evidence and not self._thinks
        return measure(request, self._declared, sober=sober)

    @abstractmethod
    def _client(self) -> Client: ...

    @abstractmethod
    def _learn(self, client: Client) -> AsyncGenerator[ModelInfo, None]:
        """What is known of the model, once."""

    @abstractmethod
    def _ask(self, client: Client, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]: ...

    @staticmethod
    @abstractmethod
    def reply_of(error: Exception) -> Reply | None:
        """What the server said, if it is that which this exception is about."""


class ClientSettings(TypedDict):
    """Of the HTTP clients below the client libraries."""

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


def shown(address: str) -> str:
    """An address without the password that may stand in it."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def sendable(text: str) -> str:
    """Text without lone surrogates, which have no UTF-8 form: a note may hold one."""
    return text.encode("utf-8", "replace").decode()


def arguments_of(call: ToolCallPart) -> dict[str, object]:
    """A call's arguments as the object that servers insist on, even when the model wrote no JSON."""
    try:
        arguments = json.loads(call.arguments or "{}", parse_constant=str)  # NaN is no JSON for most servers
        if isinstance(arguments, dict):
            return dict(json.loads(sendable(json.dumps(arguments, ensure_ascii=False))))
    except (ValueError, RecursionError):
        pass
    return {"not_json": sendable(call.arguments)}


_LETTER_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


def least_tokens(request: ModelRequest) -> int:
    """So many tokens the messages have for any tokenizer: none joins words, or makes Chinese four times shorter."""
    return sum(
        max(len(message.text.split()), len(_LETTER_WITHOUT_SPACES.findall(message.text)) // 4)
        for message in request.messages
    )


def truncation(request: ModelRequest, usage: TokenUsage | None, endpoint: Endpoint) -> str:
    """A warning if the server says that it read less than was sent; empty if all is well, or nothing is known."""
    read = usage.prompt_tokens + usage.cached_tokens if usage else 0
    least = least_tokens(request)
    if not read or read >= least:
        return ""
    return (
        f"{endpoint.name} read only {read:,} tokens of a prompt of {least:,} or more: it did not see everything. "
        "Set `context.max_tokens` to the window that the server really has."
    )
