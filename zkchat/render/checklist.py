"""The checklist of a goal run as lines: the plan, each step as it begins and ends, and the check at the end."""

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from zkchat.model.events import GoalEnded, GoalEvent, GoalPlanned, StepFinished, StepStarted
from zkchat.model.goal import AnswerSupport, Goal, StepState
from zkchat.model.note import line_place
from zkchat.model.text import counted, shorten
from zkchat.render.sanitize import sanitize_line

MAX_QUOTES: Final = 3
"""Sentences of one result that are listed; the JSON has all."""
_MAX_SENTENCE: Final = 160
_BOXES: Final[dict[StepState, str]] = {"open": "☐", "done": "☑", "blocked": "☒", "declined": "☒"}


def lines_of(event: GoalEvent, *, is_plain: bool = False) -> list[str]:
    """What an event of a goal run shows, sanitized. Plain: words in the place of boxes."""
    match event:
        case GoalPlanned():
            lines = ["Plan", *checklist_lines(event.goal, is_plain=is_plain)]
        case StepStarted():
            lines = [f"Step {event.number} of {event.total}: {event.text}"]
        case StepFinished():
            lines = [_step_line(event.number, event.text, event.state, event.reason, is_plain=is_plain)]
        case GoalEnded():
            lines = [*_end_lines(event, is_plain=is_plain)]
        case _:
            assert_never(event)
    return [*map(_sanitized, lines)]


def checklist_lines(goal: Goal, *, is_plain: bool = False) -> list[str]:
    """One line for each step of the plan."""
    return [
        _sanitized(_step_line(number, step.text, step.state, step.reason, is_plain=is_plain))
        for number, step in enumerate(goal.steps, start=1)
    ]


def _sanitized(line: str) -> str:
    text = line.lstrip(" ")
    return " " * (len(line) - len(text)) + sanitize_line(text)


def _step_line(number: int, text: str, state: StepState, reason: str, *, is_plain: bool) -> str:
    box = f"{state}:" if is_plain else _BOXES[state]
    return f"{box} {number}. {text}" + (f" — {shorten(reason, _MAX_SENTENCE)}" if reason else "")


def _end_lines(event: GoalEnded, *, is_plain: bool) -> Iterator[str]:
    goal = event.goal
    is_begun = any(step.state != "open" for step in goal.steps)
    if is_begun:
        yield "Check against your notes"
    for number, (step, support) in enumerate(zip(goal.steps, _padded(event), strict=True), start=1):
        if not is_begun:
            break
        yield _step_line(number, step.text, step.state, step.reason, is_plain=is_plain)
        if step.state == "done":
            yield from _support_lines(support)
        else:
            yield "   no result"
    if event.result and len(goal.steps) > 1:
        yield "Result"
        yield from _support_lines(event.check.result)
    yield end_sentence(goal)
    if event.hint:
        yield event.hint


def _padded(event: GoalEnded) -> Sequence[AnswerSupport]:
    checked = event.check.steps
    return [*checked, *[AnswerSupport()] * (len(event.goal.steps) - len(checked))][: len(event.goal.steps)]


def _support_lines(support: AnswerSupport) -> Iterator[str]:
    total = len(support.supported) + len(support.unsupported)
    if not total:
        yield "   states nothing that could be compared with your notes"
        return
    yield f"   {len(support.supported)} of {counted(total, 'sentence')} found in your notes"
    for each in support.supported[:MAX_QUOTES]:
        how = "word for word" if each.exact else "nearly"
        yield f"   “{shorten(each.text, _MAX_SENTENCE)}” {line_place(each.path, each.line)}, {how}"
    for sentence in support.unsupported[:MAX_QUOTES]:
        yield f"   not found: “{shorten(sentence, _MAX_SENTENCE)}”"


def end_sentence(goal: Goal) -> str:
    """How the run ended, what it took, and how to go on."""
    blocked = sum(step.state == "blocked" for step in goal.steps)
    took = f"{goal.settled} of {counted(len(goal.steps), 'step')}, {goal.tokens:,} tokens, {goal.seconds:,.0f} s"
    changes = changes_sentence(goal)
    if goal.is_finished:
        outcome = f"; {changes[0].lower()}{changes[1:-1]}" if changes else ""
        return "Finished" + (f", {blocked} of its steps blocked" if blocked else "") + f"{outcome} ({took})."
    return f"Stopped: {' '.join(filter(None, [goal.reason, changes]))} ({took})"


def changes_sentence(goal: Goal) -> str:
    """What of the proposed changes was not applied, as a sentence; empty where all of it was, or there was none."""
    found = goal.decisions
    if "kept" in found:
        return "Its changes were not applied."
    if "declined" not in found:
        return ""
    return "Some of its changes were declined." if "applied" in found else "Its changes were declined."
