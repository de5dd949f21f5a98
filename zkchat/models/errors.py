"""Maps exceptions of HTTP libraries and replies of servers to sentences for the user."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from msgspec import Struct

from zkchat.core import PromptTooLong, ProviderError

MAX_QUOTED_CHARS = 300
"""Characters of a server's own message that are repeated."""
MAX_ERROR_BYTES = 4_000
"""Of the body of an error that are read."""

_ASK_AGAIN = "Ask again, or see `zkchat doctor`."
_DOCTOR = "`zkchat doctor` shows what is set up."
_TOO_LONG = ("context length", "context size", "context window", "context_length")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A server and model as messages name them, with hints for the most common failures."""

    server: str
    model: str
    if_unreachable: str
    if_key_refused: str
    if_model_missing: str
    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent along with every request to a model."""

    @property
    def name(self) -> str:
        return f"{self.server} ({self.model})"


class BadReply(Exception):
    """A server refused a request, or broke off its answer with an error."""

    def __init__(self, status: int, text: str, retry_after: str = "") -> None:
        super().__init__(status)  # not the text, which may repeat the key
        self.status = status
        """HTTP status; below 100 if the error came in the middle of an answer."""
        self.text = text
        self.retry_after = retry_after


class ResponseTooLarge(ValueError):
    """The response exceeds the limits."""


def reason_in(content: bytes) -> str:
    """The reason in the body of an error, wherever that server puts it; empty for a page of HTML."""
    text = content[:MAX_ERROR_BYTES].decode(errors="replace")
    with suppress(ValueError, RecursionError):
        return said_in(json.loads(text))
    return "" if text.lstrip().startswith("<") else text


def said_in(body: object) -> str:
    """The same in JSON."""
    if isinstance(body, Mapping):
        return said_in(body.get("message") or body.get("error") or body.get("detail") or json.dumps(dict(body)))
    return str(body or "")


class Failure(Struct, frozen=True, kw_only=True):
    """What went wrong, for the user, and what it means for a retry."""

    text: str
    hint: str
    transient: bool = False
    """Whether a retry of the same request may succeed."""
    retry_after: float | None = None
    """Seconds that the server asks to wait before a retry."""
    too_long: bool = False
    """Whether the prompt exceeds the context window."""

    @property
    def error(self) -> ProviderError:
        return (PromptTooLong if self.too_long else ProviderError)(self.text, hint=self.hint)


def map_error(error: Exception, endpoint: Endpoint) -> Failure:
    """Map what was raised while a server was asked."""
    return _map_reply(error, endpoint) if isinstance(error, BadReply) else _map_exception(error, endpoint)


def map_client_error(error: Exception, endpoint: Endpoint) -> Failure:
    """Map a failure to create a client: clients read the variables that name proxies and certificates."""
    if isinstance(error, ImportError):
        return Failure(
            text=f"{endpoint.server} would be asked through a proxy of a kind that zkchat cannot use, such as SOCKS.",
            hint="Name an HTTP proxy in the variables HTTPS_PROXY and HTTP_PROXY, and unset ALL_PROXY.",
        )
    if isinstance(error, OSError):
        return Failure(
            text=f"The certificates to know {endpoint.server} by cannot be read.",
            hint="Check the variables SSL_CERT_FILE and SSL_CERT_DIR.",
        )
    return Failure(
        text=f"The request to {endpoint.name} cannot be sent: the address, the key or the proxy is not well formed.",
        hint="Check the variables HTTPS_PROXY, HTTP_PROXY and ALL_PROXY; `zkchat doctor` shows what else is set up.",
    )


def invalid_answer(endpoint: Endpoint) -> Failure:
    """The failure for a reply that is neither an error nor an answer."""
    return _NO_ANSWER(endpoint)


def _map_reply(reply: BadReply, endpoint: Endpoint) -> Failure:
    name, said = endpoint.name, _quoted(reply.text, endpoint)
    transient = reply.status >= 500
    match reply.status:
        case 401 | 403 as status:
            text, hint = f"{name} refused the key ({status}).", endpoint.if_key_refused
        case 404:
            text, hint = f"{endpoint.server} has no model '{endpoint.model}' (404).", endpoint.if_model_missing
        case _ if any(words in reply.text.lower() for words in _TOO_LONG):
            text = f"The prompt is longer than {name} can take: {said}"
            hint = "Set `context.max_tokens` to the window that the server really has."
            return Failure(text=text, hint=hint, too_long=True)
        case 429 if "quota" in reply.text.lower():
            text, hint = f"{name} takes no more requests (429): {said}", "Look at the plan and limits of your account."
        case 429:
            text, hint = f"{name} takes no more requests for now (429): {said}", "Wait a little and ask again."
            transient = True
        case status if status >= 500:
            text, hint = f"{name} failed ({status}): {said}", "Look into the server's log, or ask again later."
        case status if status >= 400:
            text, hint = f"{name} did not accept the request ({status}): {said}", _DOCTOR
        case status if status >= 300:
            text = f"{name} points to another address ({status}), and zkchat sends your notes nowhere else."
            hint = "Put the right address into the settings."
        case _:
            text, hint = f"{name} broke off: {said}", _ASK_AGAIN
    wait = _seconds(reply.retry_after) if transient else None
    return Failure(
        text=text, hint=f"Ask again in {wait:,.0f} seconds." if wait else hint, transient=transient, retry_after=wait
    )


def _quoted(text: str, endpoint: Endpoint) -> str:
    """A server's message in one line, without the key, which some repeat."""
    line = " ".join((text.replace(endpoint.key, "…") if endpoint.key else text).split())
    return line[:MAX_QUOTED_CHARS] or "it gave no reason."


def _seconds(retry_after: str) -> float | None:
    """Parse a `Retry-After` header: seconds or a date."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # no date, or one without a zone
        return None


class _Rule(Struct, frozen=True):
    """Maps exceptions by class name; the first rule that matches counts."""

    names: frozenset[str]
    text: str
    hint: str
    transient: bool = False

    def __call__(self, endpoint: Endpoint) -> Failure:
        text = self.text.format(name=endpoint.name, server=endpoint.server)
        return Failure(text=text, hint=self.hint or endpoint.if_unreachable, transient=self.transient)


# By name: to import the HTTP library takes longer than all the rest.
_CHAIN_RULES = (
    _Rule(
        frozenset({"ResponseTooLarge"}),
        "{name} sent more at once than an answer can hold.",
        f"What came before is kept. {_ASK_AGAIN}",
    ),
    _Rule(
        frozenset({"SSLCertVerificationError"}),
        "The certificate of {server} is not trusted.",
        "Check the address, or name your own authority in the variable SSL_CERT_FILE.",
    ),
    _Rule(
        frozenset({"LocalProtocolError", "UnsupportedProtocol", "InvalidURL", "UnicodeEncodeError", "OverflowError"}),
        "The request to {name} cannot be sent: the address, the key or the proxy is not well formed.",
        _DOCTOR,
    ),
    _Rule(frozenset({"ConnectTimeout", "PoolTimeout"}), "{name} does not accept a connection.", ""),
    _Rule(
        frozenset({"ReadError", "WriteError", "CloseError", "RemoteProtocolError", "EndOfStream"}),
        "{name} broke off the connection.",
        _ASK_AGAIN,
        transient=True,
    ),
    _Rule(
        frozenset({"NetworkError", "ProxyError", "ConnectionError"}), "{name} cannot be reached.", "", transient=True
    ),
    _Rule(frozenset({"TimeoutException", "TimeoutError"}), "{name} took too long.", _ASK_AGAIN),
)
_NO_ANSWER = _Rule(
    frozenset({"ValueError", "LookupError", "TypeError", "AttributeError", "RecursionError"})
    | {"DecodingError", "StreamError"},
    "{name} sent something that is no answer.",
    f"Is it the right address? {_ASK_AGAIN}",
)
_LAST_RULES = (
    _NO_ANSWER,
    _Rule(
        frozenset({"TransportError", "OSError"}),
        "{name} broke off the connection.",
        _ASK_AGAIN,
        transient=True,
    ),
    _Rule(frozenset({"HTTPError", "RequestError", "CookieConflict"}), "{name} cannot be asked.", _DOCTOR),
)


def _map_exception(error: Exception, endpoint: Endpoint) -> Failure:
    last, chain = _names(error), frozenset().union(*map(_names, _chain(error)))
    for rule in _CHAIN_RULES:
        if rule.names & chain:
            return rule(endpoint)
    for rule in _LAST_RULES:
        if rule.names & last:
            return rule(endpoint)
    return Failure(text=f"The request to {endpoint.name} failed.", hint=_DOCTOR)


def _names(error: BaseException) -> frozenset[str]:
    return frozenset(cls.__name__ for cls in type(error).__mro__)


def _chain(error: BaseException) -> list[BaseException]:
    """An exception, its causes, and the members of exception groups."""
    chain: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop(0)
        if each is None or each in chain:
            continue
        chain.append(each)
        inner = each.exceptions if isinstance(each, BaseExceptionGroup) else ()
        waiting += [each.__cause__ or each.__context__, *inner]
    return chain
