"""Requests with a JSON body and reply over a plain connection: bounded in time and size, and cancellable."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Lock, Timer
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from zkchat.providers.errors import (
    MAX_ERROR_BYTES,
    BadReply,
    Endpoint,
    Failure,
    ResponseTooLarge,
    invalid_answer,
    map_error,
    reason_in,
)
from zkchat.providers.locality import is_loopback
from zkchat.providers.transport import NO_COMPRESSION

_PIECE_BYTES: Final = 1 << 16


class RequestFailed(Exception):
    """A request had no usable reply."""

    def __init__(self, failure: Failure, status: int = 0, said: str = "") -> None:
        super().__init__(failure.text)
        self.failure = failure
        self.status = status
        """Of the reply; 0 if there was none."""
        self.said = said
        """What the server said, for decisions; `failure` has it for the user."""


class NoRedirects(HTTPRedirectHandler):
    """Keys and notes go to the address that the user chose, and nowhere else."""

    def redirect_request(self, *_request: object) -> None:
        """None: a redirect becomes an error."""


class JsonRequests:
    """Asks one server. Every thread may use it, and `cancel` ends what the others wait for."""

    def __init__(self, endpoint: Endpoint, *, connect_timeout: float, max_bytes: int) -> None:
        self._endpoint = endpoint
        self._connect_timeout = connect_timeout
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._open: set[_Connections] = set()
        self._is_cancelled = False

    def ask(self, url: str, body: Mapping[str, object] | None, seconds: float) -> Any:
        """The reply as JSON, after at most so many seconds; a body is posted. Raises `RequestFailed`."""
        headers = NO_COMPRESSION | {"Content-Type": "application/json", "Accept": "application/json"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        with self._connections(seconds) as connections:
            try:
                request = Request(url, data=data, headers=headers)  # noqa: S310  # http by the settings
                wait = min(seconds, self._connect_timeout)
                with connections.opener(url).open(request, timeout=wait) as reply:
                    return json.loads(self._read(reply))
            except Exception as error:  # noqa: BLE001  # the libraries raise anything on what a server sends
                failed = self._failure(error, seconds, is_late=connections.is_late)
        raise failed

    def cancel(self) -> None:
        """End the requests under way, and refuse any other."""
        with self._lock:
            self._is_cancelled = True
            under_way = [*self._open]
        for connections in under_way:
            connections.shut_down()

    @contextmanager
    def _connections(self, seconds: float) -> "Iterator[_Connections]":
        """Connections that are shut down when the time is up, at whatever the other side has come to."""
        connections = _Connections(seconds)
        with self._lock:
            if self._is_cancelled:
                raise RequestFailed(Failure(text=f"{self._endpoint.name} is not asked any more.", hint=""))
            self._open.add(connections)
        timer = Timer(seconds, connections.expire)
        timer.daemon = True
        timer.start()
        try:
            yield connections
        finally:
            timer.cancel()
            with self._lock:
                self._open.discard(connections)

    def _read(self, reply: HTTPResponse) -> bytes:
        if reply.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("a response is packed although that was declined")
        pieces: list[bytes] = []
        size = 0
        while piece := reply.read1(_PIECE_BYTES):
            pieces.append(piece)
            size += len(piece)
            if size > self._max_bytes:
                raise ResponseTooLarge
        return b"".join(pieces)

    def _failure(self, error: Exception, seconds: float, *, is_late: bool) -> RequestFailed:
        if isinstance(error, HTTPError) and not is_late:
            said = ""
            with error, suppress(OSError, HTTPException):
                said = reason_in(error.read(MAX_ERROR_BYTES))
            reply = BadReply(error.code, said, error.headers.get("retry-after", ""))
            return RequestFailed(map_error(reply, self._endpoint), error.code, said)
        if is_late:
            text = f"{self._endpoint.name} did not answer within {seconds:g} seconds."
            hint = "It may be busy, or still loading the model."
            return RequestFailed(Failure(text=text, hint=hint, transient=True))
        if isinstance(error, URLError) and isinstance(error.reason, Exception):
            error = error.reason
        if isinstance(error, TimeoutError):
            text, hint = f"{self._endpoint.name} does not accept a connection.", self._endpoint.if_unreachable
            return RequestFailed(Failure(text=text, hint=hint))
        if isinstance(error, (ConnectionRefusedError, socket.gaierror)):  # nobody is there: to ask again is of no use
            text, hint = f"{self._endpoint.name} cannot be reached.", self._endpoint.if_unreachable
            return RequestFailed(Failure(text=text, hint=hint))
        if isinstance(error, (ValueError, RecursionError)) and not isinstance(error, (ResponseTooLarge, OSError)):
            return RequestFailed(invalid_answer(self._endpoint))
        return RequestFailed(map_error(error, self._endpoint))


class _Connections:
    """The connections of one request, which may go through a proxy."""

    def __init__(self, seconds: float) -> None:
        self.is_late = False
        self._seconds = seconds
        self._made: list[HTTPConnection] = []

    def opener(self, url: str) -> OpenerDirector:
        no_proxy = [ProxyHandler({})] if is_loopback(url) else []
        return build_opener(NoRedirects, _Handler(self), *no_proxy)

    def expire(self) -> None:
        self.is_late = True
        self.shut_down()

    def shut_down(self) -> None:
        """Wake up whoever reads from or writes to them."""
        for connection in self._made:
            with suppress(OSError, AttributeError):  # not connected yet, or no more
                connection.sock.shutdown(socket.SHUT_RDWR)

    def add(self, connection: HTTPConnection) -> HTTPConnection:
        """Once it is connected it may wait for longer than connecting may take."""
        connect = connection.connect

        def connected() -> None:
            connect()
            connection.sock.settimeout(self._seconds)

        connection.connect = connected  # type: ignore[method-assign]
        self._made.append(connection)
        return connection


class _Handler(HTTPHandler, HTTPSHandler):
    """Opens the connections of one request."""

    def __init__(self, connections: _Connections) -> None:
        super().__init__()
        self._connections = connections

    def http_open(self, request: Request) -> HTTPResponse:
        return self.do_open(lambda host, **more: self._connections.add(HTTPConnection(host, **more)), request)

    def https_open(self, request: Request) -> HTTPResponse:
        return self.do_open(lambda host, **more: self._connections.add(HTTPSConnection(host, **more)), request)
