"""Requests and answers of the server: bodies, errors, and streams of events."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, Final

from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from zkchat.core import (
    ChatMessage,
    CompactionPart,
    ConfigError,
    NoteNotFound,
    ProviderError,
    SessionNotFound,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    UsageError,
    ZkchatError,
    events,
    shorten,
    to_plain,
)
from zkchat.hosting import cleaned

MAX_BODY_BYTES: Final = 4_000_000
Handler = Callable[[Request], Awaitable[Response]]
Plain = dict[str, Any]


class Busy(UsageError):
    """What was asked for has to wait for something else."""


_STATUSES: Final = (
    (Busy, HTTPStatus.CONFLICT),
    ((SessionNotFound, NoteNotFound), HTTPStatus.NOT_FOUND),
    ((UsageError, ConfigError), HTTPStatus.BAD_REQUEST),
    (ProviderError, HTTPStatus.BAD_GATEWAY),
)


def answered(handle: Handler) -> Handler:
    """Errors become answers that a user can read, with what to do about them."""

    @wraps(handle)
    async def call(request: Request) -> Response:
        try:
            return await handle(request)
        except ZkchatError as error:
            status = next(
                (code for kind, code in _STATUSES if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR
            )
            return error_answer(error, status)
        except (ClientDisconnect, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001 - the error boundary of this process
            # Without what it says, which may quote a note.
            return error_answer(ZkchatError(f"zkchat ran into an error ({type(error).__name__})."), 500)

    return call


def error_answer(error: ZkchatError, status: int) -> Response:
    """In the form of OpenAI's API, with the hint beside it."""
    kind = type(error).__name__
    told = {"message": error.message, "hint": error.hint, "type": kind, "code": None}
    # The question is stored, and what failed: a client that asks again by itself would store it again.
    return Json({"error": told}, status, headers={"x-should-retry": "false"})


class Json(JSONResponse):
    """Values of ours are as `--json` prints them; half a character, which the name of a file may hold, is replaced."""

    @staticmethod
    def render(content: Any) -> bytes:
        text = json.dumps(cleaned(to_plain(content)), ensure_ascii=False, separators=(",", ":"), default=str)
        return text.encode(errors="replace")


async def body_of(request: Request) -> Plain:
    """The JSON object that was sent. Raises `UsageError` for anything else."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise UsageError("Send JSON, with Content-Type: application/json.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise UsageError(f"The request is larger than {MAX_BODY_BYTES:,} bytes.")
    try:
        content = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UsageError("The request is not a JSON object.")
    return content


def text_in(content: Plain, name: str, *, required: bool = False) -> str:
    """A text of a request. Raises `UsageError` where it is none."""
    value = "" if content.get(name) is None else content[name]
    if not isinstance(value, str) or (required and not value.strip()):
        raise UsageError(f"{name} must be a text{'' if not required else ' that is not empty'}.")
    return value


class Stream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"

    def __init__(self, content: AsyncGenerator[bytes, None], ended: Callable[[], None] = lambda: None) -> None:
        """`ended` is called at the end, also of a stream whose client was gone before it began."""
        super().__init__(content, headers={"X-Accel-Buffering": "no"})
        self._content = content
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()
            await self._content.aclose()


def sent(content: Any) -> bytes:
    return b"data: " + Json.render(content) + b"\n\n"


class Outbox(Struct, frozen=True):
    """What threads put in, and one stream sends in order; None is its end."""

    queue: "asyncio.Queue[Any | None]"
    loop: asyncio.AbstractEventLoop

    @classmethod
    def here(cls) -> "Outbox":
        return cls(asyncio.Queue(), asyncio.get_running_loop())

    def put(self, content: Any | None) -> None:
        """From any thread. A server that has ended needs nothing more."""
        try:
            self.loop.call_soon_threadsafe(self.queue.put_nowait, content)
        except RuntimeError:
            return

    async def items(self) -> AsyncIterator[list[Any]]:
        """All that there is, as soon as there is some; an empty list where nothing came for a while."""
        while True:
            try:
                items = [await asyncio.wait_for(self.queue.get(), 15.0)]
            except TimeoutError:
                yield []
                continue
            while not self.queue.empty():
                items.append(self.queue.get_nowait())
            if None in items:
                yield items[: items.index(None)]
                return
            yield items


BEAT: Final = b": \n\n"


def plain_event(event: events.Event) -> Plain:
    """As docs/events.md says; messages are as `plain_message` shows them."""
    plain: Plain = to_plain(event)
    message = getattr(event, "message", None)
    return {**plain, "message": plain_message(message)} if isinstance(message, ChatMessage) else plain


_SHOWN_PARTS: Final = (TextPart, ThinkingPart, ToolCallPart, ToolResultPart, CompactionPart)


def plain_message(message: ChatMessage) -> Plain:
    """What a reader sees of a message: without what went along, and what tools returned in short."""
    plain: Plain = to_plain(message)
    context = message.request_context
    parts = [to_plain(part) for part in message.parts if isinstance(part, _SHOWN_PARTS)]
    for part in parts:
        if part["kind"] == "tool_result":
            part["text"] = shorten(part["text"], 2_000)
    return {
        **plain,
        "parts": parts,
        "request_context": None,
        "context_usage": to_plain(context.usage if context else None),
    }
