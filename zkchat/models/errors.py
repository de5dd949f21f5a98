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

_ASK_AGAIN = "Ask again, or see `zkchat config doctor`."
_DOCTOR = "`zkchat config doctor` shows what is set up."
_TOO_LONG = ("context length", "context size", "context window", "context_length", "prompt is too long")


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
    """Map what was raised while a server was asked: a reply, else by the exception, its causes, and the members of
    groups among them."""
    if isinstance(error, BadReply):
        return _map_reply(error, endpoint)
    chain: list[BaseException] = [error]
    for each in chain:
        inner = each.exceptions if isinstance(each, BaseExceptionGroup) else ()
        chain += [one for one in (each.__cause__ or each.__context__, *inner) if one is not None and one not in chain]
    names = {kind.__name__ for each in chain for kind in type(each).__mro__}
    rule = next(rule for rule in _RULES if not names.isdisjoint(rule[0].split()))
    text = rule[1].format(name=endpoint.name, server=endpoint.server)
    return Failure(text=text, hint=rule[2] or endpoint.if_unreachable, transient=rule[3])


def map_client_error(error: Exception, endpoint: Endpoint) -> Failure:
    """Map a failure to create a client: clients read the variables that name proxies and certificates."""
    if isinstance(error, ImportError):
        return Failure(
            text=f"The proxy set for {endpoint.server} is of a kind that zkchat cannot use, such as SOCKS.",
            hint="Name an HTTP proxy in the variables HTTPS_PROXY and HTTP_PROXY, and unset ALL_PROXY.",
        )
    if isinstance(error, OSError):
        return Failure(
            text=f"The certificates for checking {endpoint.server} cannot be read.",
            hint="Check the variables SSL_CERT_FILE and SSL_CERT_DIR.",
        )
    return Failure(
        text=_MALFORMED.format(name=endpoint.name),
        hint="Check the variables HTTPS_PROXY, HTTP_PROXY and ALL_PROXY; `zkchat config doctor` shows what is set up.",
    )


def invalid_answer(endpoint: Endpoint) -> Failure:
    """The failure for a reply that is neither an error nor an answer."""
    return Failure(text=_NO_ANSWER.format(name=endpoint.name), hint=_WHICH_ADDRESS)


def _map_reply(reply: BadReply, endpoint: Endpoint) -> Failure:
    name, said = endpoint.name, reply.text
    for sent in (endpoint.key, *endpoint.headers.values()):  # which it may repeat
        said = said.replace(sent, "…") if len(sent) > 3 else said  # less is a word
    said = " ".join(said.split())[:MAX_QUOTED_CHARS] or "it gave no reason."
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
            text, hint = f"{name} refuses more requests (429): {said}", "Look at the plan and limits of your account."
        case 429:
            text, hint = f"{name} refuses more requests for now (429): {said}", "Wait a little and ask again."
            transient = True
        case status if status >= 500:
            text, hint = f"{name} failed ({status}): {said}", "Check the server's log, or ask again later."
        case status if status >= 400:
            text, hint = f"{name} did not accept the request ({status}): {said}", _DOCTOR
        case status if status >= 300:
            text = f"{name} redirects to another address ({status}), and zkchat does not send your notes there."
            hint = "Put the right address into the settings."
        case _:
            text, hint = f"{name} broke off the answer: {said}", _ASK_AGAIN
    wait = _seconds(reply.retry_after) if transient else None
    return Failure(
        text=text, hint=f"Ask again in {wait:,.0f} seconds." if wait else hint, transient=transient, retry_after=wait
    )


def _seconds(retry_after: str) -> float | None:
    """Parse a `Retry-After` header: seconds or a date."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # no date, or one without a zone
        return None


_BROKE_OFF = "{name} closed the connection."
_MALFORMED = "The request to {name} cannot be sent: the address, the key or the proxy is not well formed."
_NO_ANSWER = "{name} sent a reply that zkchat cannot read."
_WHICH_ADDRESS = f"Is it the right address? {_ASK_AGAIN}"

# Names of exceptions, what is said of one, and whether to try again; the first that is met in the chain counts. By
# name, because to import the HTTP library takes longer than all the rest. Without a hint, that of a server to start.
_RULES: tuple[tuple[str, str, str, bool], ...] = (
    (
        "ResponseTooLarge",
        "{name} sent a reply that is too long and was cut off.",
        f"What came before is kept. {_ASK_AGAIN}",
        False,
    ),
    (
        "SSLCertVerificationError",
        "The certificate of {server} is not trusted.",
        "Check the address, or set SSL_CERT_FILE to the file of your own certificate authority.",
        False,
    ),
    ("LocalProtocolError UnsupportedProtocol InvalidURL UnicodeEncodeError OverflowError", _MALFORMED, _DOCTOR, False),
    ("ConnectTimeout PoolTimeout", "{name} does not accept a connection.", "", False),
    ("ReadError WriteError CloseError RemoteProtocolError EndOfStream", _BROKE_OFF, _ASK_AGAIN, True),
    ("NetworkError ProxyError ConnectionError", "{name} cannot be reached.", "", True),
    ("TimeoutException TimeoutError", "{name} took too long to answer.", _ASK_AGAIN, False),
    (
        "ValueError LookupError TypeError AttributeError RecursionError DecodingError StreamError",
        _NO_ANSWER,
        _WHICH_ADDRESS,
        False,
    ),
    ("TransportError OSError", _BROKE_OFF, _ASK_AGAIN, True),
    ("HTTPError RequestError CookieConflict", "{name} cannot be asked.", _DOCTOR, False),
    ("Exception", "The request to {name} failed.", _DOCTOR, False),
)
