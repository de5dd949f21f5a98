"""The consumers of a turn's events. For pipes and plain terminals, text; for scripts, JSON; `screen` draws."""

import json
import math
import re
from typing import Final, Protocol, TextIO, assert_never

from zkchat.model.events import (
    Compacted,
    Compacting,
    Event,
    LinksResolved,
    PromptReady,
    ReferenceFound,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UsageReported,
    Warned,
)
from zkchat.model.message import ChatMessage, ContextUsage, DocumentReference, TokenUsage, Value
from zkchat.render import phrases
from zkchat.render.sanitize import error_lines, never_fail_to_encode, shown

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Presenter(Protocol):
    def show(self, event: Event) -> None: ...

    def tick(self) -> None:
        """Another second is over. Who shows how long the user waits, shows it now."""
        ...

    def close(self) -> None:
        """Nothing more will come, also when the turn was broken off."""
        ...


class _Output:
    """A stream whose reader may go away, and which knows whether a line has been begun."""

    def __init__(self, stream: TextIO) -> None:
        never_fail_to_encode(stream)
        self._stream = stream
        self._is_open = True
        self._is_in_line = False

    def write(self, text: str) -> None:
        if not self._is_open or not text:
            return
        self._is_in_line = not text.endswith("\n")
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            self._is_open = False

    def line(self, text: str) -> None:
        self.write(f"{text}\n")

    def end_line(self) -> None:
        if self._is_in_line:
            self.write("\n")


class PlainPresenter:
    """The answer on standard output as the model wrote it, the rest on standard error, without boxes or colour.

    With `details`, for a person: tool calls, references and context. Without, for a pipe: warnings and errors only, and
    what a model says before it has used its tools is held back, since it may be asked again and say better.
    """

    def __init__(self, stdout: TextIO, stderr: TextIO, *, details: bool = False, references_shown: int = 10) -> None:
        self._answer = _Output(stdout)
        self._beside = _Output(stderr)
        self._details = details
        self._references_shown = references_shown
        self._calls: dict[str, str] = {}
        self._held: list[str] | None = None
        self._prompts = 0

    def show(self, event: Event) -> None:
        match event:
            case PromptReady():
                self._prompted(event)
            case TextDelta():
                self._write(shown(event.text))
            case ToolStarted():
                self._release()
                self._calls[event.call_id] = phrases.tool_call(event.name, event.arguments)
            case ToolFinished():
                call = self._calls.pop(event.call_id, phrases.tool_call(event.name, ""))
                self._detail(f"{call}: {phrases.tool_result(event.summary, failed=event.failed)}")
            case Compacting():
                self._detail(phrases.making_room(event.messages, event.tokens))
            case Compacted():
                self._detail(phrases.compaction(event.message))
            case Warned():
                self._say(phrases.warning(event.text, event.hint))
            case TurnFinished() | TurnFailed():
                self._ended(event)
            case LinksResolved() | ThinkingDelta() | ReferenceFound() | UsageReported():
                pass
            case _:
                assert_never(event)

    def tick(self) -> None:
        """A line that changes is nothing for a pipe or a screen reader."""

    def close(self) -> None:
        self._release()
        self._answer.end_line()

    def _prompted(self, event: PromptReady) -> None:
        self._prompts += 1
        if self._prompts == 1 and event.usage.tools and not self._details:
            self._held = []

    def _write(self, text: str) -> None:
        if self._prompts > 1:
            self._held = None  # here comes the better answer
        if self._held is None:
            self._answer.write(text)
        else:
            self._held.append(text)

    def _release(self) -> None:
        held, self._held = self._held, None
        self._answer.write("".join(held or ()))

    def _say(self, text: str) -> None:
        self._answer.end_line()
        self._beside.line(text)

    def _detail(self, text: str) -> None:
        if self._details:
            self._say(text)

    def _ended(self, event: TurnFinished | TurnFailed) -> None:
        self._release()
        self._prompts = 0
        if isinstance(event, TurnFailed):
            self._say(error_lines(event.text, event.hint).rstrip("\n"))
        else:
            self._finished(event)

    def _finished(self, event: TurnFinished) -> None:
        self._answer.end_line()
        if self._details:
            self._beside.line("")
        for line in phrases.reference_lines(event.message.references, most=self._references_shown):
            self._detail(line)
        self._detail(phrases.context_line(event.usage))


class JsonPresenter:
    """One JSON object, printed when the turn is over; printable ASCII only, valid whatever the notes and models say."""

    def __init__(self, stdout: TextIO) -> None:
        self._output = _Output(stdout)
        self._text: list[str] = []
        self._references: list[DocumentReference] = []
        self._context_usage: ContextUsage | None = None
        self._reported: TokenUsage | None = None
        self._message: ChatMessage | None = None
        self._warnings: list[Warned] = []
        self._failure: TurnFailed | None = None

    def show(self, event: Event) -> None:
        match event:
            case TextDelta():
                self._text.append(event.text)
            case LinksResolved():
                self._references.extend(event.references)
            case ReferenceFound():
                self._references.append(event.reference)
            case PromptReady():
                self._context_usage = event.usage
            case UsageReported():
                self._reported = event.usage
            case Warned():
                self._warnings.append(event)
            case TurnFinished():
                self._message, self._context_usage = event.message, event.usage
            case TurnFailed():
                self._message, self._failure = event.message, event
            case ThinkingDelta() | ToolStarted() | ToolFinished() | Compacting() | Compacted():
                pass
            case _:
                assert_never(event)

    def tick(self) -> None:
        """Everything is printed at the end."""

    def close(self) -> None:
        self._output.line(json.dumps(self._whole(), indent=2, allow_nan=False))

    def _whole(self) -> Json:
        message = self._message
        whole: dict[str, Json] = {
            "answer": _text(message.text if message else "".join(self._text)),
            "references": [_plain(reference) for reference in (message.references if message else self._references)],
            "usage": {
                "context": _plain(self._context_usage),
                "reported": _plain((message.usage if message else None) or self._reported),
            },
            "context": _plain(message.request_context if message else None),
            "session": _text(message.session_id) if message else None,
            "message": _text(message.id) if message else None,
            "model": _text(f"{message.provider}:{message.model}".strip(":")) if message else None,
            "status": message.status if message else "error",
            "warnings": [{"text": _text(warning.text), "hint": _text(warning.hint)} for warning in self._warnings],
        }
        if self._failure:
            failure = self._failure
            whole["error"] = {
                "text": _text(failure.text),
                "hint": _text(failure.hint),
                "exit_code": failure.exit_code,
            }
        return whole


def _plain(value: Value | None) -> Json:
    return None if value is None else _valid(value.model_dump(mode="json"))


def _valid(value: Json) -> Json:
    """The value without what JSON cannot say: numbers that are none, halves of characters."""
    match value:
        case dict():
            return {_text(key): _valid(item) for key, item in value.items()}
        case list():
            return [_valid(item) for item in value]
        case str():
            return _text(value)
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _text(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)
