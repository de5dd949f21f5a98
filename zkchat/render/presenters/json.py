"""A turn as one JSON object, for scripts."""

import json
import math
import re
from typing import Final, TextIO, assert_never

from zkchat.model import events
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
        self._found = events.EvidenceFound(evidence=())
        self._context_usage: ContextUsage | None = None
        self._context: RequestContext | None = None
        self._reported: TokenUsage | None = None
        self._message: ChatMessage | None = None
        self._warnings: list[events.Warned] = []
        self._changes: events.ChangesReviewed | None = None
        self._failure: events.TurnFailed | None = None

    def show(self, event: events.Event) -> None:
        match event:
            case events.TextDelta():
                self._text.append(event.text)
            case events.Remarked():
                self._remarks += [event.text] * (not event.is_heading)
            case events.LinksResolved() | events.ReferenceFound():
                found = event.references if isinstance(event, events.LinksResolved) else [event.reference]
                self._references.extend(found)
            case events.EvidenceFound():
                self._found = event
            case events.PromptReady():
                self._context_usage, self._context = event.usage, event.context
            case events.UsageReported():
                self._reported = event.usage
            case events.Warned():
                self._warnings.append(event)
            case events.TurnFinished():
                self._message, self._context_usage = event.message, event.usage
            case events.TurnFailed():
                self._message, self._failure = event.message, event
            case events.ChangesReviewed():
                self._changes = event
            case events.AnswerReplaced():
                self._text.clear()
                self._remarks.clear()
            case events.ThinkingDelta() | events.ToolStarted() | events.ToolFinished() | events.Notice():
                pass
            case events.GoalPlanned() | events.StepStarted() | events.StepFinished() | events.GoalEnded():
                pass  # a goal run has a document of its own
            case _:
                assert_never(event)

    def tick(self, activity: str = "") -> None:
        """Everything is printed at the end."""

    def close(self) -> None:
        self._output.line(json.dumps(json_value(self._document()), indent=2, allow_nan=False))

    def _document(self) -> Json:
        message, failure = self._message, self._failure
        document: dict[str, Json] = {
            "answer": message.text if message else "".join(self._text),
            "remarks": [*self._remarks],
            "abstained": message.abstained if message else False,
            "references": [_plain(reference) for reference in (message.references if message else self._references)],
            "passages": [_passage(found) for found in self._found.evidence],
            "nearest": [_passage(found) for found in self._found.nearest],
            "doubtful": self._found.is_doubtful,
            "searched_for": [*self._found.searched_for],
            "usage": {
                "context": _plain(self._context_usage),
                "reported": _plain((message.usage if message else None) or self._reported),
            },
            "context": _plain((message.request_context if message else None) or self._context),
            "session": message.session_id if message else None,
            "message": message.id if message else None,
            "model": f"{message.provider}:{message.model}".strip(":") if message else None,
            "status": message.status if message else "error",
            "changes": changes_value(self._changes),
            "warnings": [{"text": warning.text, "hint": warning.hint} for warning in self._warnings],
        }
        if failure:
            document["error"] = {"text": failure.text, "hint": failure.hint, "exit_code": failure.exit_code}
        return document


def changes_value(reviewed: events.ChangesReviewed | None) -> Json:
    if reviewed is None:
        return None
    return {
        "decision": reviewed.decision,
        "title": reviewed.title,
        "paths": [*reviewed.paths],
        "edited": reviewed.edited,
        "record": reviewed.record,
        "reason": reviewed.reason,
        "diff": reviewed.diff,
    }


def _passage(found: Evidence) -> Json:
    return {
        "path": found.relative_path,
        "title": found.title,
        "heading": found.heading,
        "lines": _plain(found.lines),
        "text": found.text,
        "score": found.score,
        "linked": found.linked,
        "date": found.date.isoformat() if found.date else None,
        "outdated_by": found.outdated_by,
    }


def _plain(value: Value | None) -> Json:
    return None if value is None else to_plain(value)


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
