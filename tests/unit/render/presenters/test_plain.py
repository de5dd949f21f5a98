"""The answer for pipes and plain terminals."""

import io

from msgspec.structs import replace

from tests.support.screens import a_usage, an_answer
from zkchat.core.choices import TokenUsage
from zkchat.core.events import (
    AnswerReplaced,
    Compacted,
    Compacting,
    Event,
    LinksResolved,
    PromptReady,
    ReferenceFound,
    Remarked,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UsageReported,
    Warned,
)
from zkchat.core.message import CompactionPart, DocumentReference
from zkchat.render.presenters.plain import PlainPresenter
from zkchat.render.presenters.text import Presenter

SLEEP = DocumentReference(wikilink="[[Sleep]]", relative_path="Sleep.md", cited=True)
COMPACTED = replace(an_answer(), parts=(CompactionPart(number=1, summary="s", archived=("a",)),))
TURN: list[Event] = [
    LinksResolved(references=(SLEEP,)),
    PromptReady(message_id="u1", usage=a_usage()),
    Compacting(messages=1, tokens=900),
    Compacted(message=COMPACTED),
    ThinkingDelta(text="hmm"),
    ToolStarted(call_id="1", name="find", arguments='{"query": "sleep"}'),
    ToolFinished(call_id="1", name="find", summary="4 passages"),
    ReferenceFound(reference=SLEEP),
    TextDelta(text="**Sleep** "),
    TextDelta(text="well, [[Sleep|y]]."),
    UsageReported(usage=TokenUsage(prompt_tokens=9)),
    TurnFinished(message=an_answer("**Sleep** well, [[Sleep|y]].", SLEEP), usage=a_usage()),
]


def shown(events: list[Event], *, details: bool = False) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    presenter: Presenter = PlainPresenter(out, err, details=details)
    for event in events:
        presenter.show(event)
    presenter.close()
    return out.getvalue(), err.getvalue()


def test_a_pipe_gets_the_markdown_of_the_answer_and_nothing_else() -> None:
    assert shown(TURN) == ("**Sleep** well, [[Sleep|y]].\n", "")


def test_remarks_on_an_answer_are_beside_it() -> None:
    events: list[Event] = [
        Remarked(text="In doubt:"),
        TextDelta(text="> a\n"),
        Remarked(text="Else\x1b:"),
        TextDelta(text="> b"),
    ]
    for details in (False, True):
        assert shown(events, details=details) == ("> a\n> b\n", "In doubt:\nElse␛:\n")


def test_with_details_calls_references_and_context_are_plain_lines_beside_the_answer() -> None:
    out, err = shown(TURN, details=True)
    assert out == "**Sleep** well, [[Sleep|y]].\n"
    assert err.splitlines() == [
        "Summarising 1 older message (900 tokens in the context) …",
        "Context compacted #1: 1 message archived",
        'find "sleep": 4 passages',
        "",
        "1. [[Sleep]]  Sleep.md  cited, linked by you",
        "Context: 3,434 / 8,192 tokens (41 %)",
    ]


def test_warnings_and_errors_go_beside_the_answer_on_lines_of_their_own() -> None:
    events: list[Event] = [
        Warned(text="The index is old.", hint="Run zkchat index."),
        TextDelta(text="Half"),
        TurnFailed(text="The model went away.", hint="Try again.", exit_code=6),
    ]
    assert shown(events) == (
        "Half\n",
        "warning: The index is old.\n         Run zkchat index.\nzkchat: The model went away.\n        Try again.\n",
    )


class GoneReader(io.StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_went_away_is_no_error_and_the_rest_is_still_shown() -> None:
    err = io.StringIO()
    presenter = PlainPresenter(GoneReader(), err)
    presenter.show(TextDelta(text="one"))
    presenter.show(TextDelta(text="two"))
    presenter.show(Warned(text="Careful."))
    presenter.close()
    assert err.getvalue() == "warning: Careful.\n"


PROMPT = PromptReady(message_id="u1", usage=a_usage(), is_provisional=True)


def test_a_pipe_gets_what_is_said_before_a_tool_is_used_and_after() -> None:
    started = ToolStarted(call_id="c", name="read_document", arguments="{}")
    events: list[Event] = [PROMPT, TextDelta(text="Let me see. "), started, TextDelta(text="Two days.")]
    assert shown(events) == ("Let me see. Two days.\n", "")


def test_a_pipe_gets_the_better_of_two_answers() -> None:
    events: list[Event] = [
        PROMPT,
        TextDelta(text="Four hours."),
        PROMPT,
        TextDelta(text="Two "),
        TextDelta(text="days."),
    ]
    assert shown(events) == ("Two days.\n", "")


def test_a_pipe_gets_what_takes_the_place_of_a_contradicting_answer() -> None:
    replaced = AnswerReplaced(message_id="a1")
    events: list[Event] = [PROMPT, TextDelta(text="Four hours."), replaced, TextDelta(text="> Two days.")]
    assert shown(events) == ("> Two days.\n", "")


def test_a_pipe_gets_the_first_answer_where_no_other_comes() -> None:
    events: list[Event] = [
        PROMPT,
        TextDelta(text="Four hours."),
        PROMPT,
        TurnFinished(message=an_answer(), usage=a_usage()),
    ]
    assert shown(events) == ("Four hours.\n", "")
