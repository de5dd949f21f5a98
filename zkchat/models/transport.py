"""Transport shared by all servers: time-outs, retries, checks, and whether a server runs on this machine."""

import asyncio
import json
import random
import re
import ssl
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, aclosing
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.core import (
    ModelChunk,
    ModelInfo,
    ModelRequest,
    ProviderError,
    TokenUsage,
    ToolCallPart,
    debug,
    exchange,
    from_plain,
)
from zkchat.models.errors import (
    MAX_ERROR_BYTES,
    BadReply,
    Endpoint,
    Failure,
    ResponseTooLarge,
    invalid_answer,
    map_client_error,
    map_error,
    reason_in,
)
from zkchat.models.registry import PROBE_TIMEOUT, ModelSettings, is_loopback, may_run_here, sampling_for
from zkchat.subprocesses import DaemonThreads
from zkchat.version import __version__

if TYPE_CHECKING:
    import httpx


T = TypeVar("T")
Client = TypeVar("Client", bound=AbstractAsyncContextManager[Any])

MAX_LINE_BYTES: Final = 2_000_000
"""Of one line, which holds an event of a stream or all of a reply."""
MAX_RESPONSE_BYTES: Final = 256_000_000
_LINE_END: Final = re.compile(rb"[\r\n]")


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
    ask: Callable[[], AsyncGenerator[T, None]], *, endpoint: Endpoint, policy: TransportPolicy
) -> AsyncGenerator[T, None]:
    """Yield what `ask` yields, within the timeouts. `ask` is retried only as long as nothing has arrived.

    Every failure is raised as a `ProviderError`, without the foreign exception, which may hold the key.
    """
    for attempt in count():
        timeout = policy.first_chunk_timeout
        arrived = False
        try:
            async with aclosing(ask()) as items:
                while True:
                    async with asyncio.timeout(timeout):
                        item = await anext(items, None)
                    if item is None:
                        break
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
        except Exception as error:  # noqa: BLE001  # whatever a server sends ends here, as a sentence
            failure = map_error(error, endpoint)
        delay = None if arrived else policy.retry_delay(attempt, failure)
        debug("failure", text=failure.text, tried_again_in=delay)
        if delay is None:
            raise failure.error
        await asyncio.sleep(delay)


async def lines_of(
    client: "httpx.AsyncClient",
    method: str,
    url: str,
    body: Mapping[str, object] | None = None,
    *,
    max_bytes: int = MAX_LINE_BYTES,
) -> AsyncGenerator[bytes, None]:
    """The lines of a server's reply as they arrive, none longer than that. Raises `BadReply` where it refuses."""
    with exchange(method, url, client.headers, body) as told:
        async with client.stream(method, url, json=body) as response:
            told.reply(response.status_code, response.headers.get("content-type", ""))
            if response.headers.get("content-encoding", "identity") != "identity":
                raise ValueError("a response is compressed although that was declined")
            if not response.is_success:
                content = b""
                async for data in response.aiter_raw():
                    told.add(data)
                    content += data
                    if len(content) > MAX_ERROR_BYTES:
                        break
                raise BadReply(response.status_code, reason_in(content), response.headers.get("retry-after", ""))
            line, whole = bytearray(), 0
            async for data in response.aiter_raw():
                told.add(data)
                *ended, last = _LINE_END.split(data)
                for part in ended:
                    line += part
                    yield bytes(line)
                    line.clear()
                line += last
                whole += len(data)
                if len(line) > max_bytes or whole > MAX_RESPONSE_BYTES:
                    raise ResponseTooLarge
            yield bytes(line)


async def json_of(
    client: "httpx.AsyncClient",
    method: str,
    url: str,
    body: Mapping[str, object] | None = None,
    *,
    max_bytes: int = MAX_LINE_BYTES,
) -> Any:
    """A server's whole reply, as JSON."""
    return json.loads(b"".join([line async for line in lines_of(client, method, url, body, max_bytes=max_bytes)]))


def open_client(address: str, endpoint: Endpoint, connect_timeout: float) -> "httpx.AsyncClient":
    """A client for the server at that address. Raises `ProviderError` where the variables of the process forbid it."""
    import httpx

    headers = {"User-Agent": f"zkchat/{__version__}", "Accept-Encoding": "identity"}  # packed, it could be of any size
    headers |= endpoint.headers
    if endpoint.key and "authorization" not in map(str.lower, endpoint.headers):
        headers["Authorization"] = f"Bearer {endpoint.key}"
    timeout = httpx.Timeout(None, connect=connect_timeout)
    try:
        return httpx.AsyncClient(headers=headers, timeout=timeout, **client_settings(address))
    except Exception as error:  # noqa: BLE001  # it may raise anything on odd variables
        raise map_client_error(error, endpoint).error from None


class ServerModel(ABC, Generic[Client]):
    """A model behind a server; subclasses speak the protocol of one kind of server, by a client of their own."""

    provider: ClassVar[str]

    def __init__(
        self, model: str, address: str, *, endpoint: Endpoint, settings: ModelSettings, policy: TransportPolicy
    ) -> None:
        self._model = model
        self._address = address.rstrip("/")
        self._may_run_here = may_run_here(self._address, model, local=settings.local)
        self._info = ModelInfo(
            provider=self.provider,
            id=model,
            context_limit=settings.context_limit,
            is_limit_declared=settings.context_limit is not None,
            calls_tools=settings.calls_tools is not False,
            is_located=not self._may_run_here,
        )
        self._endpoint = endpoint
        self._settings = settings
        own = {
            "connect_timeout": settings.connect_timeout,
            "first_chunk_timeout": settings.timeout,
            "chunk_timeout": settings.chunk_timeout,
        }
        self._policy = replace(policy, **{name: seconds for name, seconds in own.items() if seconds is not None})
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
        self._info = await self.ask_once(self._learn, policy)
        self._connected = self._info.is_located

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        return self._request(lambda client: self._ask(client, request), self._policy)

    async def ask_once(self, ask: Callable[[Client], Awaitable[T]], policy: TransportPolicy) -> T:
        async def asked(client: Client) -> AsyncGenerator[T, None]:
            yield await ask(client)

        async with aclosing(self._request(asked, policy)) as answers:
            return await anext(answers)

    def _request(
        self, ask: Callable[[Client], AsyncGenerator[T, None]], policy: TransportPolicy
    ) -> AsyncGenerator[T, None]:
        async def asked(client: Client) -> AsyncGenerator[T, None]:
            async with client, aclosing(ask(client)) as items:
                async for item in items:
                    yield item

        # The client is made outside the generators, so that the time its import takes is not taken for the server's.
        return stream_with_retries(lambda: asked(self._client()), endpoint=self._endpoint, policy=policy)

    @abstractmethod
    def _client(self) -> Client:
        """A client for the server. Raises `ProviderError` where there can be none."""

    def _sampling(self, request: ModelRequest) -> tuple[float | None, int | None]:
        """Temperature and limit of an answer; None is the server's default."""
        conservative = self._info.needs_evidence and not self._thinks
        return sampling_for(request, self._settings, conservative=conservative)

    @abstractmethod
    async def _learn(self, client: Client) -> ModelInfo:
        """What the server says of the model."""

    @abstractmethod
    def _ask(self, client: Client, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]: ...


def client_settings(address: str) -> dict[str, Any]:
    """How the HTTP client deals with a server at that address."""
    # Authorities take 30 ms to load, which plain HTTP does not need: without any, all of TLS would fail.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if address.startswith("https:"):
        import httpx

        context = httpx.create_ssl_context()  # of the library, or that the variables of the process name
        context.load_default_certs()
    return {
        "follow_redirects": False,  # notes go to the address that the user chose, and nowhere else
        "trust_env": not is_loopback(address),  # no proxy stands between us and ourselves
        "verify": context,
    }


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


_LETTER_WITHOUT_SPACES: Final = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


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


class RequestFailed(Exception):
    """A request had no usable reply."""

    def __init__(self, failure: Failure, reply: BadReply | None = None) -> None:
        super().__init__(failure.text)
        self.failure = failure
        self.status = reply.status if reply else 0
        self.said = reply.text if reply else ""
        """What the server said, for decisions; `failure` has it for the user."""


class JsonRequests:
    """Asks one server. Every thread may use it, and `cancel` ends what the others wait for."""

    def __init__(self, endpoint: Endpoint, *, max_bytes: int) -> None:
        self._endpoint = endpoint
        self._max_bytes = max_bytes
        self._under_way: set[Future[Any]] = set()
        self._is_cancelled = False

    def ask(self, url: str, body: Mapping[str, object] | None, seconds: float, connect_timeout: float) -> Any:
        """The reply as JSON, after at most so many seconds; a body is posted. Raises `RequestFailed`."""

        async def fetched() -> Any:
            if self._is_cancelled:  # here, before a busy machine comes to `cancel` it below
                raise asyncio.CancelledError
            client = open_client(url, self._endpoint, connect_timeout)
            async with asyncio.timeout(seconds), client:
                return await json_of(client, "GET" if body is None else "POST", url, body, max_bytes=self._max_bytes)

        name = self._endpoint.name
        future = asyncio.run_coroutine_threadsafe(fetched(), _loop())
        self._under_way.add(future)
        try:
            if self._is_cancelled:
                future.cancel()
            return future.result()
        except CancelledError:
            failed = RequestFailed(Failure(text=f"The request to {name} was cancelled.", hint=""))
        except TimeoutError:
            hint = "It may be busy, or still loading the model."
            text = f"{name} did not answer within {seconds:g} seconds."
            failed = RequestFailed(Failure(text=text, hint=hint, transient=True))
        except BadReply as reply:
            failed = RequestFailed(map_error(reply, self._endpoint), reply)
        except ProviderError as error:
            failed = RequestFailed(Failure(text=error.message, hint=error.hint))
        except Exception as error:  # noqa: BLE001  # the library raises anything on what a server sends
            failure = map_error(error, self._endpoint)
            is_away = type(error).__name__ == "ConnectError"  # then it is of no use to ask again
            failed = RequestFailed(replace(failure, transient=failure.transient and not is_away))
        finally:
            self._under_way.discard(future)
        raise failed

    def cancel(self) -> None:
        """End the requests under way, and refuse any other."""
        self._is_cancelled = True
        for future in [*self._under_way]:
            future.cancel()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all these requests, on a thread of its own that ends with the process."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(DaemonThreads())
    threading.Thread(target=loop.run_forever, name="json-requests", daemon=True).start()
    return loop


MAX_LIST_BYTES = 20_000_000
"""Of a list; what is longer is none, and may have no end."""
LIST_TIMEOUT = 3.0
"""Seconds that a server which accepts connections may take to list its models."""
LIST_SECONDS = 2.0
"""Seconds that all of it may take where a user waits: looking up the address, connecting, the list itself."""
DESCRIBE_SECONDS = 1.0
"""Seconds that a server may take to describe the models of its list; without, they are listed by name."""
QUICK = TransportPolicy(
    connect_timeout=PROBE_TIMEOUT, first_chunk_timeout=LIST_TIMEOUT, chunk_timeout=LIST_TIMEOUT, max_retries=0
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


async def within_seconds(fetch: Callable[[], T], endpoint: Endpoint) -> T:
    """Run `fetch` on a thread that nobody waits for longer than `LIST_SECONDS`. Raises `ProviderError` then."""
    try:
        async with asyncio.timeout(LIST_SECONDS):
            return await asyncio.wrap_future(DaemonThreads().submit(fetch))
    except TimeoutError:
        raise ProviderError(
            f"{endpoint.name} did not answer within {LIST_SECONDS:g} seconds.", hint=endpoint.if_unreachable
        ) from None


def fetch_list(address: str, endpoint: Endpoint, *, probe: bool = True) -> list[ListedModel]:
    """Fetch the list at that address; with `probe`, it has to accept a connection quickly. Raises `ProviderError`."""
    connect_timeout = PROBE_TIMEOUT if probe else LIST_TIMEOUT
    try:
        requests = JsonRequests(endpoint, max_bytes=MAX_LIST_BYTES)
        lists = from_plain(_Lists, requests.ask(address, None, LIST_TIMEOUT, connect_timeout))
        return [from_plain(ListedModel, {**entry, "facts": entry}) for entry in (*lists.data, *lists.models)]
    except RequestFailed as failed:
        if failed.status == 404:
            raise ProviderError(f"{endpoint.name} has no list of models.", hint=endpoint.if_model_missing) from None
        raise failed.failure.error from None
    except ValueError:
        raise invalid_answer(endpoint).error from None
