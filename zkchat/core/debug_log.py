"""The debug log: requests, replies, what was chosen and why, with times, and without keys. Off until it is opened."""

import json
import os
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

if TYPE_CHECKING:  # every command opens this module, and few need the log
    from logging import Handler, LogRecord

    from zkchat.core.events import Event
    from zkchat.core.ports import ModelProvider
    from zkchat.core.prompt import ModelChunk, ModelRequest

HIDDEN: Final = "…"
MAX_BYTES: Final = 5_000_000
"""Of a file; then it is kept as `.1`, up to `.3`, and a new one begun."""
_BACKUPS: Final = 3
_MAX_TEXT: Final = 200_000
"""Characters of one entry."""
_MIN_KEY: Final = 4
"""What is shorter than this in a variable of a key is a word."""
_PLAIN_HEADERS: Final = frozenset({"accept", "accept-encoding", "content-length", "content-type", "host", "user-agent"})
"""All others may hold a key."""


_handler: "Handler | None" = None
_opened: Path | None = None
_secrets: tuple[str, ...] = ()


def open_debug_log(file: Path | None, keys: Iterable[str] = ()) -> None:
    """Keep a log in this file, or none. What is in `keys` never stands in it. Raises `OSError`."""
    global _handler, _opened, _secrets  # noqa: PLW0603  # as a logger of the standard library is global
    forms = {form for key in keys if len(key) >= _MIN_KEY for form in (key, json.dumps(key)[1:-1], quote(key, safe=""))}
    _secrets = tuple(sorted(forms, key=len, reverse=True))
    if file != _opened:
        if _handler:
            _handler.close()
        _handler, _opened = None, None
        if file is not None:
            _handler, _opened = _handler_of(file), file


def debug_log_file() -> Path | None:
    """Where a log is kept, if any is."""
    return _opened


def _handler_of(file: Path) -> "Handler":
    from logging.handlers import RotatingFileHandler

    class PrivateFile(RotatingFileHandler):
        """One that only its owner reads. What cannot be written is lost, without a word in the middle of an answer."""

        def _open(self) -> Any:
            descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            Path(self.baseFilename).chmod(0o600)
            return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")

        def handleError(self, record: "LogRecord") -> None:
            pass

    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return PrivateFile(file, maxBytes=MAX_BYTES, backupCount=_BACKUPS, encoding="utf-8")


def debug(kind: str, **facts: object) -> None:
    """Write an entry, where a log is kept."""
    if _handler is not None:
        from logging import makeLogRecord

        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"at": at, "kind": kind, **_without_keys(facts)}, ensure_ascii=False, default=str)
        _handler.handle(makeLogRecord({"msg": line}))


def _without_keys(value: Any) -> Any:
    """The same without known keys, and without what looks like one or is called so."""
    from zkchat.core.tool_server import hide_keys, names_a_secret

    match value:
        case str():
            for secret in _secrets:
                value = value.replace(secret, HIDDEN)
            rest = f"… ({len(value):,} characters)" if len(value) > _MAX_TEXT else ""
            return hide_keys(value[:_MAX_TEXT]) + rest
        case Mapping():
            named = {_without_keys(str(name)): each for name, each in value.items()}
            hidden = {name for name, each in named.items() if isinstance(each, str) and names_a_secret(name)}
            return {name: HIDDEN if name in hidden else _without_keys(each) for name, each in named.items()}
        case list() | tuple():
            return [_without_keys(each) for each in value]
    return value


def debug_event(event: "Event") -> None:
    """What a turn tells its user, with what was chosen and why; not the pieces of an answer, which is told whole."""
    if _handler is None:
        return
    from zkchat.core.events import TextDelta, ThinkingDelta
    from zkchat.core.values import to_plain

    if not isinstance(event, TextDelta | ThinkingDelta):
        debug("event", event=to_plain(event))


class Exchange:
    """A request to a server and its reply."""

    def __init__(self, method: str, url: str, headers: Mapping[str, str], body: object) -> None:
        self._url = url
        self._began = monotonic()
        self._kept: list[bytes] | None = None
        self._bytes = 0
        self.status = 0
        if _handler is not None:
            shown = {name: value if name.lower() in _PLAIN_HEADERS else HIDDEN for name, value in headers.items()}
            debug("request", method=method, url=url, headers=shown, body=body)

    def reply(self, status: int, content_type: str) -> None:
        """The reply begins. A stream is told by the answer that is made of it: its pieces may part a key."""
        self.status = status
        self._kept = None if "stream" in content_type or "ndjson" in content_type else []

    def add(self, data: bytes) -> None:
        self._bytes += len(data)
        if _handler is not None and self._kept is not None and self._bytes <= _MAX_TEXT:
            self._kept.append(data)

    def end(self, error: BaseException | None = None) -> None:
        said = b"".join(self._kept or ()).decode(errors="replace")
        debug(
            "reply",
            url=self._url,
            status=self.status,
            seconds=round(monotonic() - self._began, 3),
            bytes=self._bytes,
            **({"body": said} if said else {}),
            **({"ended_by": type(error).__name__} if error else {}),
        )


@contextmanager
def exchange(method: str, url: str, headers: Mapping[str, str], body: object) -> Iterator[Exchange]:
    told = Exchange(method, url, headers, body)
    try:
        yield told
    except BaseException as error:
        told.end(error)
        raise
    told.end()


def debug_answer(
    provider: "ModelProvider", request: "ModelRequest", chunks: "AsyncGenerator[ModelChunk, None]"
) -> "AsyncGenerator[ModelChunk, None]":
    """The same chunks; the answer that they are is told at its end, with the seconds to its first word."""
    return chunks if _handler is None else _told(provider, request, chunks)


async def _told(
    provider: "ModelProvider", request: "ModelRequest", chunks: "AsyncGenerator[ModelChunk, None]"
) -> "AsyncGenerator[ModelChunk, None]":
    from zkchat.core.prompt import Finish, TextChunk, ThinkingChunk, ToolRequested
    from zkchat.core.values import to_plain

    began, first = monotonic(), 0.0
    texts: dict[str, list[str]] = {"text": [], "thinking": []}
    told: list[object] = []
    model = provider.info
    debug("asking", model=model.name, on_this_machine=model.on_this_machine, window=request.window)
    if model.provider in {"local", "scripted", "quote"}:  # for which nothing goes through a server
        debug("request", model=model.name, messages=[to_plain(message) for message in request.messages])
    try:
        async with aclosing(chunks) as items:
            async for chunk in items:
                first = first or monotonic() - began
                match chunk:
                    case TextChunk(text=text):
                        texts["text"].append(text)
                    case ThinkingChunk(text=text):
                        texts["thinking"].append(text)
                    case ToolRequested() | Finish():
                        told.append(to_plain(chunk))
                    case _:
                        pass
                yield chunk
    finally:
        said = {name: "".join(parts) for name, parts in texts.items() if parts}
        seconds = {"first_word": round(first, 3), "all": round(monotonic() - began, 3)}
        debug("answer", model=model.name, **said, more=told, seconds=seconds)
