"""The checklist of a goal run: its words, and nothing in them that acts on the terminal."""

import pytest
from msgspec.structs import replace

from tests.support.terminal_payloads import PAYLOADS
from zkchat.core.events import (
    AnswerSupport,
    Goal,
    GoalCheck,
    GoalEnded,
    GoalEvent,
    GoalPlanned,
    StepFinished,
    StepStarted,
    Support,
)
from zkchat.render.phrases import MAX_QUOTES, lines_of


def events(text: str) -> list[GoalEvent]:
    """Every event, with the text wherever one stands."""
    goal = Goal(id="g", text=text).with_plan((text, text), "m").with_step(1, "done", message_id="m")
    goal = goal.with_step(2, "blocked", reason=text)
    support = AnswerSupport(supported=(Support(text=text, path=text, line=1, exact=True),), unsupported=(text,))
    check = GoalCheck(steps=(support, support), result=support)
    stopped = replace(goal, state="stopped", reason=text)
    return [
        GoalPlanned(goal=goal),
        StepStarted(number=1, total=2, text=text),
        StepFinished(number=2, total=2, text=text, state="blocked", reason=text),
        GoalEnded(goal=stopped, result=text, check=check, hint=text),
    ]


@pytest.mark.parametrize("is_plain", [True, False])
def test_no_text_of_a_model_or_a_note_acts_on_the_terminal(is_plain: bool) -> None:
    for payload in PAYLOADS:
        for event in events(f"before{payload}after"):
            for line in lines_of(event, is_plain=is_plain):
                assert line.isprintable(), (payload, line)


def test_only_the_first_sentences_of_a_long_check_are_listed() -> None:
    goal = Goal(id="g", text="x").with_plan(("One.",), "m").with_step(1, "done", message_id="m")
    goal = replace(goal, state="done")
    check = GoalCheck(steps=(AnswerSupport(unsupported=tuple(f"Sentence {number}." for number in range(9))),))
    lines = lines_of(GoalEnded(goal=goal, check=check), is_plain=True)
    assert lines[1:3] == ["done: 1. One.", "   0 of 9 sentences found in your notes"]
    assert sum("not found" in line for line in lines) == MAX_QUOTES
    assert lines[-1] == "Finished (1 of 1 step, 0 tokens, 0 s)."
