"""A turn or a goal run as plain text for pipes, and as one JSON object for scripts."""

import asyncio
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import chain, count, repeat
from typing import Final, TextIO

from zkchat.core import (
    AnswerSupport,
    ChatMessage,
    ContextUsage,
    DocumentReference,
    Event,
    Evidence,
    Goal,
    Json,
    RequestContext,
    TokenUsage,
    Value,
    events,
    to_plain,
)
from zkchat.render import phrases
from zkchat.render.sanitize import error_lines, never_fail_to_encode, sanitize_text

_TICK_SECONDS: Final = 0.5


class Presenter(ABC):
    """Shows the events of a turn."""

    @abstractmethod
    def show(self, event: Event) -> None: ...

    def tick(self, activity: str = "") -> None:  # noqa: B027 - a line that is redrawn is of no use in a pipe
        """Called twice per second, to update what shows how long the user waits, and for what in the background."""

    def close(self) -> None:  # noqa: B027
        """End the output, also of a turn that was cancelled."""


class OutputStream:
    """A stream whose reader may close it, and which knows whether it is inside a line."""

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


@asynccontextmanager
async def ticking(presenter: Presenter, activity: Callable[[], str] = str) -> AsyncIterator[None]:
    """Call `tick` of the presenter twice per second while the body runs."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            presenter.tick(activity())

    task = asyncio.create_task(tick())
    try:
        yield
    finally:
        task.cancel()


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class _Document(Presenter):
    """Prints one JSON object at the end, in ASCII and valid whatever notes and models contain."""

    def __init__(self, stdout: TextIO) -> None:
        self._output = OutputStream(stdout)
        self._changes: list[events.ChangesReviewed] = []
        self._warnings: list[events.Warned] = []
        self._failure: events.TurnFailed | None = None

    def show(self, event: events.Event) -> None:
        match event:
            case events.ChangesReviewed():
                self._changes.append(event)
            case events.Warned():
                self._warnings.append(event)
            case events.TurnFailed():
                self._failure = event
            case _:
                pass

    def close(self) -> None:
        warnings: list[Json] = [{"text": each.text, "hint": each.hint} for each in self._warnings]
        document = {**self._content(), "warnings": warnings}
        if failure := self._failure:
            document["error"] = {"text": failure.text, "hint": failure.hint, "exit_code": failure.exit_code}
        self._output.line(json.dumps(json_value(document), indent=2, allow_nan=False))

    def _content(self) -> dict[str, Json]:
        raise NotImplementedError


class JsonPresenter(_Document):
    """A turn."""

    def __init__(self, stdout: TextIO) -> None:
        super().__init__(stdout)
        self._text: list[str] = []
        self._remarks: list[str] = []
        self._references: list[DocumentReference] = []
        self._found = events.EvidenceFound(evidence=())
        self._context_usage: ContextUsage | None = None
        self._context: RequestContext | None = None
        self._reported: TokenUsage | None = None
        self._cost: float | None = None
        self._message: ChatMessage | None = None

    def show(self, event: events.Event) -> None:
        super().show(event)
        match event:
            case events.TextDelta():
                self._text.append(event.text)
            case events.Remarked():
                self._remarks += [event.text] * (not event.is_heading)
            case events.LinksResolved():
                self._references.extend(event.references)
            case events.ReferenceFound():
                self._references.append(event.reference)
            case events.EvidenceFound():
                self._found = event
            case events.PromptReady():
                self._context_usage, self._context = event.usage, event.context
            case events.UsageReported():
                self._reported = event.usage
            case events.TurnFinished():
                self._message, self._context_usage, self._cost = event.message, event.usage, event.cost
            case events.TurnFailed():
                self._message = event.message
            case events.AnswerReplaced():
                self._text.clear()
                self._remarks.clear()
            case _:
                pass

    def _content(self) -> dict[str, Json]:
        message = self._message
        return {
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
                "cost": self._cost,
            },
            "context": _plain((message.request_context if message else None) or self._context),
            "session": message.session_id if message else None,
            "message": message.id if message else None,
            "model": f"{message.provider}:{message.model}".strip(":") if message else None,
            "status": message.status if message else "error",
            "changes": changes_value(self._changes[-1]) if self._changes else None,
        }


def changes_value(reviewed: events.ChangesReviewed) -> Json:
    plain: dict[str, Json] = to_plain(reviewed)
    return {name: plain[name] for name in ("decision", "title", "paths", "edited", "record", "reason", "diff")}


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
            return {_SURROGATE.sub("\ufffd", key): json_value(item) for key, item in value.items()}
        case list():
            return [json_value(item) for item in value]
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


class GoalPipePresenter(Presenter):
    """Writes the result once the run ends, and the checklist, as it ticks, to standard error."""

    def __init__(self, results: TextIO, stderr: TextIO) -> None:
        self._result = OutputStream(results)
        self._errors = OutputStream(stderr)

    def show(self, event: events.Event) -> None:
        match event:
            case events.GoalPlanned() | events.StepStarted() | events.StepFinished() | events.GoalEnded():
                if isinstance(event, events.GoalEnded) and event.result:
                    self._result.line(sanitize_text(event.result))
                for line in phrases.lines_of(event, is_plain=True):
                    self._errors.line(line)
            case events.ChangesReviewed():
                self._errors.line(phrases.notice(event))
            case events.Warned():
                self._errors.line(phrases.warning(event.text, event.hint))
            case events.TurnFailed():
                self._errors.write(error_lines(event.text, event.hint))
            case _:
                pass  # what the model says and does on the way is in the session


class GoalJsonPresenter(_Document):
    """A goal run."""

    def __init__(self, stdout: TextIO) -> None:
        super().__init__(stdout)
        self._goal: Goal | None = None
        self._ended: events.GoalEnded | None = None
        self._model = ""

    def show(self, event: events.Event) -> None:
        super().show(event)
        match event:
            case events.GoalPlanned():
                self._goal = event.goal
            case events.GoalEnded():
                self._goal, self._ended = event.goal, event
            case events.TurnFinished():
                self._model = f"{event.message.provider}:{event.message.model}".strip(":")
            case _:
                pass

    def _content(self) -> dict[str, Json]:
        goal, ended = self._goal, self._ended or (events.GoalEnded(goal=self._goal) if self._goal else None)
        return {
            "goal": goal.text if goal else "",
            "state": goal.state if goal else "stopped",
            "reason": " ".join(filter(None, [goal.reason, phrases.changes_sentence(goal)])) if goal else "",
            "result": ended.result if ended else "",
            "steps": [*_steps(ended)] if ended else [],
            "check": _support(ended.check.result if ended else AnswerSupport()),
            "changes": [changes_value(each) for each in self._changes],
            "tokens": goal.tokens if goal else 0,
            "seconds": round(goal.seconds, 1) if goal else 0,
            "session": ended.session_id if ended else "",
            "model": self._model,
        }


def _steps(ended: events.GoalEnded) -> list[Json]:
    summaries, checked = chain(ended.summaries, repeat("")), chain(ended.check.steps, repeat(AnswerSupport()))
    return [
        {
            "number": number,
            "text": step.text,
            "state": step.state,
            "result": summary,
            "message": step.message_id or None,
            "check": _support(support),
        }
        for number, step, summary, support in zip(count(1), ended.goal.steps, summaries, checked, strict=False)
    ]


def _support(support: AnswerSupport) -> Json:
    return {
        "found": [
            {"text": each.text, "path": each.path, "line": each.line, "exact": each.exact} for each in support.supported
        ],
        "not_found": [*support.unsupported],
    }
