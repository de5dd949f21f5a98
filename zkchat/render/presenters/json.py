"""A turn as one JSON object, for scripts."""

import json
import math
import re
from typing import Final, TextIO, assert_never

from zkchat.model.events import (
    AnswerReplaced,
    ChangesReviewed,
    Event,
    EvidenceFound,
    GoalEnded,
    GoalPlanned,
    LinksResolved,
    Notice,
    PromptReady,
    ReferenceFound,
    Remarked,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UsageReported,
    Warned,
)
from zkchat.model.evidence import Evidence
from zkchat.model.message import ChatMessage
from zkchat.model.references import DocumentReference
from zkchat.model.request_context import RequestContext
from zkchat.model.usage import ContextUsage, TokenUsage
from zkchat.model.values import Json, Value, to_plain
from zkchat.render.presenters.base import OutputStream

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class JsonPresenter:
    """Prints one JSON object at the end of the turn, in ASCII and valid whatever notes and models contain."""

    def __init__(self, stdout: TextIO) -> None:
        self._output = OutputStream(stdout)
        self._text: list[str] = []
        self._remarks: list[str] = []
        self._references: list[DocumentReference] = []
        self._found = EvidenceFound(evidence=())
        self._context_usage: ContextUsage | None = None
        self._context: RequestContext | None = None
        self._reported: TokenUsage | None = None
        self._message: ChatMessage | None = None
        self._warnings: list[Warned] = []
        self._changes: ChangesReviewed | None = None
        self._failure: TurnFailed | None = None

    def show(self, event: Event) -> None:
        match event:
            case TextDelta():
                self._text.append(event.text)
            case Remarked():
                self._remarks += [event.text] * (not event.is_heading)
            case LinksResolved():
                self._references.extend(event.references)
            case ReferenceFound():
                self._references.append(event.reference)
            case EvidenceFound():
                self._found = event
            case PromptReady():
                self._context_usage, self._context = event.usage, event.context
            case UsageReported():
                self._reported = event.usage
            case Warned():
                self._warnings.append(event)
            case TurnFinished() | TurnFailed() | ChangesReviewed():
                self._take_end(event)
            case AnswerReplaced():
                self._text.clear()
                self._remarks.clear()
            case ThinkingDelta() | ToolStarted() | ToolFinished() | Notice():
                pass
            case GoalPlanned() | StepStarted() | StepFinished() | GoalEnded():
                pass  # a goal run has a document of its own
            case _:
                assert_never(event)

    def _take_end(self, event: TurnFinished | TurnFailed | ChangesReviewed) -> None:
        match event:
            case TurnFinished():
                self._message, self._context_usage = event.message, event.usage
            case TurnFailed():
                self._message, self._failure = event.message, event
            case ChangesReviewed():
                self._changes = event

    def tick(self, activity: str = "") -> None:
        """Everything is printed at the end."""

    def close(self) -> None:
        self._output.line(json.dumps(self._document(), indent=2, allow_nan=False))

    def _document(self) -> Json:
        message = self._message
        document: dict[str, Json] = {
            "answer": _text(message.text if message else "".join(self._text)),
            "remarks": [_text(remark) for remark in self._remarks],
            "abstained": message.abstained if message else False,
            "references": [_plain(reference) for reference in (message.references if message else self._references)],
            "passages": [_passage(found) for found in self._found.evidence],
            "nearest": [_passage(found) for found in self._found.nearest],
            "doubtful": self._found.is_doubtful,
            "searched_for": [_text(word) for word in self._found.searched_for],
            "usage": {
                "context": _plain(self._context_usage),
                "reported": _plain((message.usage if message else None) or self._reported),
            },
            "context": _plain((message.request_context if message else None) or self._context),
            "session": _text(message.session_id) if message else None,
            "message": _text(message.id) if message else None,
            "model": _text(f"{message.provider}:{message.model}".strip(":")) if message else None,
            "status": message.status if message else "error",
            "changes": changes_value(self._changes),
            "warnings": [{"text": _text(warning.text), "hint": _text(warning.hint)} for warning in self._warnings],
        }
        if self._failure:
            failure = self._failure
            document["error"] = {
                "text": _text(failure.text),
                "hint": _text(failure.hint),
                "exit_code": failure.exit_code,
            }
        return document


def changes_value(reviewed: ChangesReviewed | None) -> Json:
    if reviewed is None:
        return None
    return {
        "decision": reviewed.decision,
        "title": _text(reviewed.title),
        "paths": [_text(path) for path in reviewed.paths],
        "edited": reviewed.edited,
        "record": reviewed.record,
        "reason": _text(reviewed.reason),
        "diff": _text(reviewed.diff),
    }


def _passage(found: Evidence) -> Json:
    return {
        "path": _text(found.relative_path),
        "title": _text(found.title),
        "heading": _text(found.heading),
        "lines": _plain(found.lines),
        "text": _text(found.text),
        "score": json_value(found.score),
        "linked": found.linked,
        "date": found.date.isoformat() if found.date else None,
        "outdated_by": _text(found.outdated_by),
    }


def _plain(value: Value | None) -> Json:
    return None if value is None else json_value(to_plain(value))


def json_value(value: Json) -> Json:
    """Replace what JSON cannot express: NaN, infinities and lone surrogates."""
    match value:
        case dict():
            return {_text(key): json_value(item) for key, item in value.items()}
        case list():
            return [json_value(item) for item in value]
        case str():
            return _text(value)
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _text(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)
