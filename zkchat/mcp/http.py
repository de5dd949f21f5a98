"""The transport over HTTP: on this machine only, for whoever has the token, whatever a web page tries."""

import asyncio
import errno
import signal
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from zkchat.core import UsageError
from zkchat.mcp.tokens import AccessToken

ADDRESS: Final = "127.0.0.1"
PATH: Final = "/mcp"
MAX_CONNECTIONS: Final = 200
"""Of those that have shown the token."""
MAX_STRANGERS: Final = 200
"""Connections that have not shown it yet."""
SECONDS_FOR_TOKEN: Final = 5
"""How long a connection may be open without a request that carries the token."""
END_SECONDS: Final = 2
"""How long requests that are under way may take after the end was asked for."""
_NAMES: Final = (ADDRESS, "localhost")


def listen(port: int) -> socket.socket:
    """A socket that only programs on this machine reach. Raises `UsageError` where the port cannot be had."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
        listening.listen()
    except OSError as error:
        listening.close()
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used: {(error.strerror or '').lower()}"
        raise UsageError(
            f"The port {port} {why}.", hint="Choose another one with --port, or let the system choose with --port 0."
        ) from None
    return listening


def address_of(listening: socket.socket) -> str:
    return f"http://{ADDRESS}:{_port(listening)}{PATH}"


def serve(
    server: Server[Any], listening: socket.socket, token: AccessToken, seconds_for_token: int = SECONDS_FOR_TOKEN
) -> None:
    """Serve until SIGINT or SIGTERM, which then takes its usual course."""
    port = _port(listening)
    security = TransportSecuritySettings(
        allowed_hosts=[*_hosts(port)], allowed_origins=[f"http://{name}:*" for name in _NAMES]
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=4_000_000,
        max_sessions=100,
        transport_security=security,
    )
    config = uvicorn.Config(
        Gate(app, token, port),
        http=Connection,
        log_config=None,
        access_log=False,
        ws="none",
        lifespan="on",
        server_header=False,
        limit_concurrency=MAX_STRANGERS + MAX_CONNECTIONS,
        backlog=MAX_STRANGERS // 2,  # at most two such batches come between a connection and its first words
        timeout_keep_alive=seconds_for_token,
        timeout_graceful_shutdown=END_SECONDS,
    )
    serving = _UntilSignal(config)
    asyncio.run(serving.serve(sockets=[listening]))
    if serving.ended_by is not None:
        signal.raise_signal(serving.ended_by)


class _UntilSignal(uvicorn.Server):
    """Ends in order at a signal, which is left to be raised again once no event loop runs."""

    ended_by: int | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.ended_by = sig
        super().handle_exit(sig, frame)


class Connection(H11Protocol):
    """One that is closed where no request with the token comes in time, or too many newer ones wait for theirs."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit = self.loop.call_later(self.timeout_keep_alive, self._abort)
        self.app_state = {**self.app_state, "admit": self._limit.cancel}
        strangers = [one for one in self.connections if isinstance(one, Connection) and not one._limit.cancelled()]
        if len(strangers) > MAX_STRANGERS:
            min(strangers, key=lambda one: one._limit.when())._abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._limit.cancel()
        super().connection_lost(exc)

    def _abort(self) -> None:
        self.connections.discard(self)
        self.transport.abort()


class Gate:
    """Lets requests pass that name this machine, come from no web page of another one, and carry the token."""

    def __init__(self, app: ASGIApp, token: AccessToken, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = frozenset(host.encode() for host in _hosts(port))
        self._names = " and ".join(_hosts(port))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http":
            if refusal := self._refusal(scope["headers"]):
                app = refusal
            else:
                scope["state"]["admit"]()
        await app(scope, receive, send)

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> Response | None:
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        hosts, origins = given.get(b"host", []), given.get(b"origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return PlainTextResponse(f"This server answers to {self._names} only.", status_code=421)
        if not all(map(_is_here, origins)):
            return PlainTextResponse("Pages of other sites are not served.", status_code=403)
        (authorization,) = given.get(b"authorization", []) if len(given.get(b"authorization", [])) == 1 else [b""]
        scheme, _, token = authorization.partition(b" ")
        if scheme.lower() != b"bearer" or not self._token.matches(token.strip()):
            return PlainTextResponse(
                "The token is missing or wrong.", status_code=401, headers={"WWW-Authenticate": 'Bearer realm="zkchat"'}
            )
        return None


def _is_here(origin: bytes) -> bool:
    """Whether a page that sent a request came from this machine."""
    scheme, _, rest = origin.partition(b"://")
    name, _, port = rest.partition(b":")
    return (
        scheme in {b"http", b"https"} and name.lower().decode(errors="replace") in _NAMES and (port or b"0").isdigit()
    )


def _hosts(port: int) -> Iterable[str]:
    return (f"{name}:{port}" for name in _NAMES)


def _port(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])
