"""What servers offer and answer as values of ours, and what goes wrong with them as sentences."""

import json
import os
import re
import ssl
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from math import isfinite
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx2
import mcp_types as types
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR
from pydantic import ValidationError

from zkchat.core import PromptArgument, ServerAnswer, ServerPrompt, ServerResource, ServerTool

T = TypeVar("T", bound=BaseException)

MAX_ITEMS: Final = 256
"""Of tools, of resources, of prompts, of arguments, and of resources that an answer names."""

_MAX_ANSWER: Final = 400_000
_MAX_DESCRIPTION: Final = 4_000
_MAX_NAME: Final = 256
_MAX_URI: Final = 2_000
_MAX_SCHEMA: Final = 64_000
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Without what JSON allows in a text and databases do not: NUL and halves of surrogate pairs."""
    return _UNSTORABLE.sub("", text)


def cleaned(value: object) -> Any:
    """The same for every text in a JSON value, and without numbers that JSON has not: Python reads NaN and Infinity,
    and no model's server takes a request with one."""
    match value:
        case float() if not isfinite(value):
            return None
        case str():
            return clean(value)
        case list():
            return [cleaned(item) for item in value]
        case dict():
            return {clean(key): cleaned(item) for key, item in value.items()}
        case _:
            return value


def one_line(text: str, length: int) -> str:
    """A text of a server on one line, of at most so many characters."""
    line = " ".join(clean(text[: 10 * length]).split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def tools_of(server: str, tools: Iterable[types.Tool]) -> Iterator[ServerTool]:
    for tool in tools:
        parameters = cleaned(tool.input_schema)
        if _is_name(tool.name) and len(json.dumps(parameters)) <= _MAX_SCHEMA:
            hints = tool.annotations
            yield ServerTool(
                server=server,
                name=tool.name,
                description=_description(tool.description or tool.title),
                parameters=parameters,
                is_read_only=bool(hints and hints.read_only_hint),
            )


def resources_of(server: str, resources: Iterable[types.Resource]) -> Iterator[ServerResource]:
    for resource in resources:
        if 0 < len(resource.uri) <= _MAX_URI and resource.uri.isprintable():
            yield ServerResource(
                server=server,
                uri=resource.uri,
                name=one_line(resource.title or resource.name, _MAX_NAME),
                description=_description(resource.description),
                media_type=one_line(resource.mime_type or "", _MAX_NAME),
            )


def prompts_of(server: str, prompts: Iterable[types.Prompt]) -> Iterator[ServerPrompt]:
    for prompt in prompts:
        if _is_name(prompt.name):
            yield ServerPrompt(
                server=server,
                name=prompt.name,
                description=_description(prompt.description or prompt.title),
                arguments=tuple(
                    PromptArgument(
                        name=each.name, description=_description(each.description), is_required=bool(each.required)
                    )
                    for each in (prompt.arguments or ())[:MAX_ITEMS]
                    if _is_name(each.name)
                ),
            )


def answer_of_tool(result: types.CallToolResult) -> ServerAnswer:
    texts = [_text_of(block) for block in result.content]
    if not any(isinstance(block, types.TextContent | types.EmbeddedResource) for block in result.content):
        structured = result.structured_content
        texts += [] if structured is None else [json.dumps(structured, ensure_ascii=False, indent=1)]
    return _answer(texts, _uris_of(result.content), failed=bool(result.is_error))


def answer_of_resource(result: types.ReadResourceResult) -> ServerAnswer:
    return _answer(map(_embedded, result.contents), (content.uri for content in result.contents))


def answer_of_prompt(result: types.GetPromptResult) -> ServerAnswer:
    """The messages below each other; those in the assistant's name say so, because all go to the model as one text."""
    contents = [message.content for message in result.messages]
    texts = (
        _text_of(message.content) if message.role == "user" else f"(assistant) {_text_of(message.content)}"
        for message in result.messages
    )
    return _answer(texts, _uris_of(contents))


def _text_of(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent():
            return _left_out("image", block.mime_type)
        case types.AudioContent():
            return _left_out("audio", block.mime_type)
        case types.ResourceLink():
            name = one_line(block.title or block.name, _MAX_NAME)
            return f"[resource {name}: {one_line(block.uri, _MAX_URI)}]"
        case types.EmbeddedResource():
            return _embedded(block.resource)


def _embedded(content: types.TextResourceContents | types.BlobResourceContents) -> str:
    match content:
        case types.TextResourceContents():
            return content.text
        case types.BlobResourceContents():
            return _left_out("file", content.mime_type or "", one_line(content.uri, _MAX_URI))


def _left_out(kind: str, media_type: str, name: str = "") -> str:
    return f"[{' '.join(filter(None, (kind, one_line(media_type, _MAX_NAME), name)))}, not included]"


def _uris_of(blocks: Iterable[types.ContentBlock]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, types.ResourceLink | types.EmbeddedResource):
            yield block.uri if isinstance(block, types.ResourceLink) else block.resource.uri


def _answer(texts: Iterable[str], uris: Iterable[str], *, failed: bool = False) -> ServerAnswer:
    text = clean("\n\n".join(filter(None, texts)))
    if len(text) > _MAX_ANSWER:
        text = f"{text[:_MAX_ANSWER]}\n\n[{len(text) - _MAX_ANSWER:,} more characters, not included]"
    named = dict.fromkeys(clean(uri) for uri in uris if 0 < len(uri) <= _MAX_URI)
    return ServerAnswer(text=text, uris=tuple(named)[:MAX_ITEMS], failed=failed)


def _description(text: str | None) -> str:
    return clean((text or "")[:_MAX_DESCRIPTION])


def _is_name(name: str) -> bool:
    return 0 < len(name) <= _MAX_NAME and name.isprintable() and name.strip() == name


def arguments_for(arguments: Mapping[str, object]) -> dict[str, Any]:
    """Arguments as they may be sent: text that UTF-8 can hold."""
    return {clean(key): cleaned(value) for key, value in arguments.items()}


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
            first = cause.errors(include_url=False, include_input=False, include_context=False)[0]
            place = "".join(f"{part}." for part in first["loc"])[:-1]
            told = f"{place}: {first['msg']}" if place else first["msg"]
            return f"sent what the protocol does not allow: {_shortened(told)}"
        case OSError():
            return f"failed: {_shortened(cause.strerror or str(cause))}"
        case _:
            return f"failed: {_message(cause)}"


def _describe_protocol(error: MCPError) -> str:
    if is_closing(error) or (error.code == CONNECTION_CLOSED and error.message.startswith("SSE stream")):
        return "closed the connection"
    if error.code == PARSE_ERROR and error.message.startswith(UNREADABLE):
        return "sent an answer that cannot be read: it is not a message of the protocol, or nested too deeply"
    return f"answered with an error: {_shortened(error.message)}"


def _describe_http(error: httpx2.HTTPError | httpx2.InvalidURL, address: str) -> str:
    unreachable = f"cannot be reached at {without_secrets(address)}"
    match error:
        case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
            return "cannot be reached: its `url` in the settings is not valid"
        case httpx2.LocalProtocolError():  # its message shows the header
            return "cannot be reached: its `headers` in the settings are not valid"
        case httpx2.ConnectError() if _causes(error, ssl.SSLError) or "SSL" in str(error) or "certif" in str(error):
            return f"{unreachable}: the connection is not secure ({_message(error)})"
        case httpx2.ConnectError() | httpx2.TimeoutException() | httpx2.ProxyError():
            found = next((each for each in _causes(error, OSError) if each.errno), None)
            if found is None or found.errno is None:
                return f"{unreachable}: {_message(error)}"
            # Below zero, it is that of a name that is not known.
            return f"{unreachable}: {os.strerror(found.errno) if found.errno > 0 else found.strerror}"
        case _:
            return f"closed the connection ({_message(error)})"


def describe_status(code: int, address: str) -> str:
    """The fault that an HTTP status stands for."""
    try:
        status = f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        status = str(code)
    if code in (401, 403, 407):
        return f"refused access ({status}): check its `headers` in the settings"
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


def _causes(error: BaseException, kind: type[T]) -> list[T]:
    """Those of this kind among an exception, its causes, and the members of groups among them."""
    causes: list[BaseException] = [error]
    for cause in causes:
        members = cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()
        inner = (cause.__cause__, cause.__context__, *members)
        causes += [one for one in inner if one is not None and one not in causes]
    return [each for each in causes if isinstance(each, kind)]


def _message(error: BaseException) -> str:
    return _shortened(str(error) or type(error).__name__)


def _shortened(text: str) -> str:
    return one_line(text, _MESSAGE_LENGTH).rstrip(".")
