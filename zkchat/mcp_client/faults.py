"""What goes wrong with a server, as the end of a sentence about it."""

import os
import ssl
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR
from pydantic import ValidationError

from zkchat.mcp_client.contents import one_line

UNREADABLE: Final = "Failed to parse"
"""The SDK's word for an answer that it could not read."""
_MESSAGE_LENGTH: Final = 300
_STATUS_MESSAGES: Final = ("Server returned an error response", "Not Found", "Session terminated", "Redirect to ")


class ServerFault(Exception):
    """A server did not do its part; the message goes on after the server's name: `did not answer`."""


def is_closing(error: BaseException) -> bool:
    """Whether it is the SDK's word that a connection ended; servers use the same code for errors of theirs."""
    return isinstance(error, MCPError) and error.code == CONNECTION_CLOSED and error.message == "Connection closed"


def is_about_status(error: BaseException) -> bool:
    """Whether it is the SDK's word for an HTTP status, and not an error that the server wrote."""
    return isinstance(error, MCPError) and error.message.startswith(_STATUS_MESSAGES)


def describe(error: BaseException, address: str = "") -> str:
    """The fault that an exception stands for, however deep in groups its cause is."""
    cause = min(_leaves(error), key=_rank)
    match cause:
        case ServerFault():
            return str(cause)
        case MCPError():
            return _describe_protocol(cause)
        case httpx2.HTTPError() | httpx2.InvalidURL():
            return _describe_http(cause, address)
        case ValidationError():
            return f"sent what the protocol does not allow: {_first_mistake(cause)}"
        case OSError():
            return f"failed: {_shortened(cause.strerror or str(cause))}"
        case _:
            return f"failed: {_message(cause)}"


def _describe_protocol(error: MCPError) -> str:
    if is_closing(error) or (error.code == CONNECTION_CLOSED and error.message.startswith("SSE stream")):
        return "closed the connection"
    if error.code == PARSE_ERROR and error.message.startswith(UNREADABLE):
        return "sent an answer that cannot be read: it is no JSON of the protocol, or nested too deeply"
    return f"answered with an error: {_shortened(error.message)}"


def _describe_http(error: httpx2.HTTPError | httpx2.InvalidURL, address: str) -> str:
    unreachable = f"cannot be reached at {without_secrets(address)}"
    match error:
        case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
            return "cannot be reached: its `url` in the settings is not valid"
        case httpx2.LocalProtocolError():  # its message shows the header
            return "cannot be reached: its `headers` in the settings are not valid"
        case httpx2.ConnectError() if _is_about_tls(error):
            return f"{unreachable}: the connection is not secure ({_message(error)})"
        case httpx2.ConnectError() | httpx2.TimeoutException() | httpx2.ProxyError():
            return f"{unreachable}: {_system_error(error) or _message(error)}"
        case _:
            return f"closed the connection ({_message(error)})"


def describe_status(code: int, address: str) -> str:
    """The fault that an HTTP status stands for."""
    try:
        status = f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        status = str(code)
    if code in (401, 403, 407):
        return f"refuses us ({status}): check its `headers` in the settings"
    if code in (404, 405, 410):
        return f"is not at {without_secrets(address)} ({status}): check its `url` in the settings"
    return f"failed ({status})"


def without_secrets(address: str) -> str:
    """An address without user, password, query and fragment, which may hold keys."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "its address"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _rank(error: BaseException) -> int:
    """The smaller, the nearer to the cause: a closed connection is what everything else leads to."""
    if isinstance(error, MCPError):
        return 4 if is_closing(error) else 2
    ranks = ((ServerFault, 0), (httpx2.HTTPError, 1), (ValidationError, 2), (Exception, 3))
    return next((rank for kind, rank in ranks if isinstance(error, kind)), 5)


def _system_error(error: BaseException) -> str:
    """What the system says of a connection that could not be made, where its error is among the causes."""
    causes: list[BaseException] = [error]
    for cause in causes:
        inner = (
            cause.__cause__,
            cause.__context__,
            *(cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()),
        )
        causes += [one for one in inner if one is not None and one not in causes]
    found = next((one for one in causes if isinstance(one, OSError) and one.errno), None)
    if found is None or found.errno is None:
        return ""
    return os.strerror(found.errno) if found.errno > 0 else str(found.strerror)  # below: a name that is not known


def _is_about_tls(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return True
        seen = seen.__cause__ or seen.__context__
    return "SSL" in str(error) or "certificate" in str(error)


def _first_mistake(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return _shortened(f"{place}: {first['msg']}" if place else first["msg"])


def _message(error: BaseException) -> str:
    return _shortened(str(error) or type(error).__name__)


def _shortened(text: str) -> str:
    return one_line(text, _MESSAGE_LENGTH).rstrip(".")
