"""HTTP on this machine, for whoever has the token, whatever a web page tries."""

import asyncio
import errno
import secrets
import signal
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from msgspec import Struct
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from zkchat.core import ConfigError, UsageError, lazy_pattern, read_bounded, write_atomically

MIN_CHARACTERS: Final = 16
_MAX_CHARACTERS: Final = 1_000
_FORM: Final = lazy_pattern(rf"[A-Za-z0-9._~+/=-]{{{MIN_CHARACTERS},{_MAX_CHARACTERS}}}")
"""What may follow `Bearer` in a header."""
ADDRESS: Final = "127.0.0.1"
MAX_CONNECTIONS: Final = 200
"""Of those that have shown the token."""
MAX_STRANGERS: Final = 200
"""Connections that have not shown it yet."""
SECONDS_FOR_TOKEN: Final = 5
"""How long a connection may be open without a request that carries the token."""
NAMES: Final = (ADDRESS, "localhost")
Headers = Mapping[bytes, Sequence[bytes]]


class AccessToken(Struct, frozen=True, kw_only=True):
    text: str
    is_new: bool = False
    """Whether it was made up just now."""
    file: Path | None = None

    def __repr__(self) -> str:
        """Without the token."""
        return f"{type(self).__name__}(file={self.file})"

    def matches(self, given: bytes) -> bool:
        """In a time that does not tell how much of it was right."""
        return secrets.compare_digest(self.text.encode(), given)


def access_token(file: Path | None, variables: Mapping[str, str], variable: str = "ZKCHAT_MCP_TOKEN") -> AccessToken:
    """The token of a file, which is made where there is none; else that of the variable; else a new one.

    Raises `ConfigError`, and `StorageError` where the file cannot be written.
    """
    text, where = variables.get(variable, "").strip(), f"${variable}"
    made = AccessToken(text=secrets.token_urlsafe(32), is_new=True, file=file)
    if file is not None:
        where = str(file)
        try:
            text = read_bounded(file, max_bytes=2 * _MAX_CHARACTERS).decode(errors="replace").strip()
            if file.stat().st_mode & 0o077:
                raise ConfigError(f"Others on this machine may read {file}.", hint=f"Protect it: chmod 600 {file}")
        except (FileNotFoundError, NotADirectoryError):
            write_atomically(file, f"{made.text}\n", mode=0o600)
            return made
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror}.", hint="Give another file.") from error
    elif not text:
        return made
    if not _FORM.fullmatch(text):
        raise ConfigError(
            f"{where} does not hold a usable access token.",
            hint=f"A token is {MIN_CHARACTERS} or more letters, digits and -._~+/= without spaces. Remove "
            f"{where}, and zkchat makes a token.",
        )
    return AccessToken(text=text, file=file)


def listen(port: int, host: str = ADDRESS) -> socket.socket:
    """A socket that only programs on this machine reach, unless told otherwise.

    Raises `UsageError` where the port or the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends each piece at once, and not 40 ms later together with the next.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
    except OSError as error:
        listening.close()
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used: {(error.strerror or '').lower()}"
        raise UsageError(
            f"The port {port} {why}.", hint="Choose another one with --port, or let the system choose with --port 0."
        ) from None
    return listening


def server_of(app: ASGIApp, seconds_for_token: int = SECONDS_FOR_TOKEN) -> "UntilSignal":
    config = uvicorn.Config(
        app,
        http=Connection,
        log_config=None,
        access_log=False,
        ws="none",
        lifespan="on",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MAX_STRANGERS + MAX_CONNECTIONS,
        backlog=MAX_STRANGERS // 2,  # at most two such batches come between a connection and its first words
        timeout_keep_alive=seconds_for_token,
        timeout_graceful_shutdown=2,
    )
    return UntilSignal(config)


def serve_app(app: ASGIApp, listening: socket.socket, seconds_for_token: int = SECONDS_FOR_TOKEN) -> None:
    """Serve until SIGINT or SIGTERM, which then takes its usual course."""
    serving = server_of(app, seconds_for_token)
    asyncio.run(serving.serve(sockets=[listening]))
    if serving.ended_by is not None:
        signal.raise_signal(serving.ended_by)


class UntilSignal(uvicorn.Server):
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

    wrong_host = 421

    def __init__(self, app: ASGIApp, token: AccessToken, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = frozenset(host.encode() for host in hosts_of(port))
        self._names = " and ".join(hosts_of(port))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http":
            given: dict[bytes, list[bytes]] = {}
            for name, value in scope["headers"]:
                given.setdefault(name.lower(), []).append(value)
            if refusal := self._refusal(scope, given):
                app = refusal
            else:
                scope["state"]["admit"]()
        await app(scope, receive, send)

    def _refusal(self, scope: Scope, given: Headers) -> ASGIApp | None:
        hosts = given.get(b"host", [])
        if len(hosts) != 1 or not self._is_host(hosts[0].lower()):
            return PlainTextResponse(f"This server only answers at {self._names}.", status_code=self.wrong_host)
        if not all(self._is_origin(origin, hosts[0].lower()) for origin in given.get(b"origin", [])):
            return PlainTextResponse("Requests from other sites are refused.", status_code=403)
        return None if self._is_known(scope, given) else self._unknown(scope)

    def _is_host(self, host: bytes) -> bool:
        return host in self._hosts

    def _is_origin(self, origin: bytes, host: bytes) -> bool:
        """Whether a page that sent a request to this host came from this machine."""
        del host
        scheme, _, rest = origin.partition(b"://")
        name, _, port = rest.partition(b":")
        is_here = name.lower().decode(errors="replace") in NAMES
        return scheme in {b"http", b"https"} and is_here and (port or b"0").isdigit()

    def _is_known(self, scope: Scope, given: Headers) -> bool:
        """Whether whoever sent a request has shown the token."""
        del scope
        (authorization,) = given.get(b"authorization", []) if len(given.get(b"authorization", [])) == 1 else [b""]
        scheme, _, token = authorization.partition(b" ")
        return scheme.lower() == b"bearer" and self._token.matches(token.strip())

    def _unknown(self, scope: Scope) -> ASGIApp:
        """What strangers are answered."""
        del scope
        return PlainTextResponse(
            "The token is missing or wrong.", status_code=401, headers={"WWW-Authenticate": 'Bearer realm="zkchat"'}
        )


def hosts_of(port: int) -> list[str]:
    return [f"{name}:{port}" for name in NAMES]


def port_of(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])
