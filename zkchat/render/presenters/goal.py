"""A goal run for pipes and scripts: the result alone on standard output, or one JSON object."""

import json
from typing import TextIO

from zkchat.model import events
from zkchat.model.goal import AnswerSupport, Goal
from zkchat.model.values import Json
from zkchat.render import checklist, phrases
from zkchat.render.presenters.base import OutputStream
from zkchat.render.presenters.json import changes_value, json_value
from zkchat.render.sanitize import error_lines, sanitize_text


class GoalPipePresenter:
    """Writes the result once the run ends, and the checklist, as it ticks, to standard error."""

    def __init__(self, results: TextIO, stderr: TextIO) -> None:
        self._result = OutputStream(results)
        self._errors = OutputStream(stderr)

    def show(self, event: events.Event) -> None:
        match event:
            case events.GoalPlanned() | events.StepStarted() | events.StepFinished() | events.GoalEnded():
                if isinstance(event, events.GoalEnded) and event.result:
                    self._result.line(sanitize_text(event.result))
                for line in checklist.lines_of(event, is_plain=True):
                    self._errors.line(line)
            case events.ChangesReviewed():
                self._errors.line(phrases.notice(event))
            case events.Warned():
                self._errors.line(phrases.warning(event.text, event.hint))
            case events.TurnFailed():
                self._errors.write(error_lines(event.text, event.hint))
            case _:
                pass  # what the model says and does on the way is in the session

    def tick(self, activity: str = "") -> None:
        """A line that is redrawn is of no use in a pipe."""

    def close(self) -> None:
        pass


class GoalJsonPresenter:
    """Prints one JSON object at the end of the run, in ASCII."""

    def __init__(self, stdout: TextIO) -> None:
        self._output = OutputStream(stdout)
        self._goal: Goal | None = None
        self._ended: events.GoalEnded | None = None
        self._model = ""
        self._changes: list[events.ChangesReviewed] = []
        self._warnings: list[events.Warned] = []
        self._failure: events.TurnFailed | None = None

    def show(self, event: events.Event) -> None:
        match event:
            case events.GoalPlanned():
                self._goal = event.goal
            case events.GoalEnded():
                self._goal, self._ended = event.goal, event
            case events.TurnFinished():
                self._model = f"{event.message.provider}:{event.message.model}".strip(":")
            case events.ChangesReviewed():
                self._changes.append(event)
            case events.Warned():
                self._warnings.append(event)
            case events.TurnFailed():
                self._failure = event
            case _:
                pass

    def tick(self, activity: str = "") -> None:
        """Everything is printed at the end."""

    def close(self) -> None:
        self._output.line(json.dumps(json_value(self._document()), indent=2, allow_nan=False))

    def _document(self) -> Json:
        goal, ended = self._goal, self._ended or (events.GoalEnded(goal=self._goal) if self._goal else None)
        document: dict[str, Json] = {
            "goal": goal.text if goal else "",
            "state": goal.state if goal else "stopped",
            "reason": " ".join(filter(None, [goal.reason, checklist.changes_sentence(goal)])) if goal else "",
            "result": ended.result if ended else "",
            "steps": [*_steps(ended)] if ended else [],
            "check": _support(ended.check.result) if ended else _support(AnswerSupport()),
            "changes": [changes_value(each) for each in self._changes],
            "tokens": goal.tokens if goal else 0,
            "seconds": round(goal.seconds, 1) if goal else 0,
            "session": ended.session_id if ended else "",
            "model": self._model,
            "warnings": [{"text": each.text, "hint": each.hint} for each in self._warnings],
        }
        if failure := self._failure:
            document["error"] = {"text": failure.text, "hint": failure.hint, "exit_code": failure.exit_code}
        return document


def _steps(ended: events.GoalEnded) -> list[Json]:
    count = len(ended.goal.steps)
    summaries = [*ended.summaries, *[""] * count][:count]
    checked = [*ended.check.steps, *[AnswerSupport()] * count][:count]
    return [
        {
            "number": number,
            "text": step.text,
            "state": step.state,
            "result": summary,
            "message": step.message_id or None,
            "check": _support(support),
        }
        for number, (step, summary, support) in enumerate(
            zip(ended.goal.steps, summaries, checked, strict=True), start=1
        )
    ]


def _support(support: AnswerSupport) -> Json:
    return {
        "found": [
            {"text": each.text, "path": each.path, "line": each.line, "exact": each.exact} for each in support.supported
        ],
        "not_found": [*support.unsupported],
    }
