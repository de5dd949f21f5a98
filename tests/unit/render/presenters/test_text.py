"""A turn as plain text for pipes and plain terminals, and as one JSON object for scripts."""

import asyncio
import io
import json
import math
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.evidence import passage
from tests.support.screens import GoneReader, a_usage, an_answer
from zkchat.core.choices import TokenUsage
from zkchat.core.events import (
    AnswerReplaced,
    Compacted,
    Compacting,
    Event,
    EvidenceFound,
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
from zkchat.core.message import CompactionPart, DocumentReference, RequestContext, RequestItem
from zkchat.core.values import to_plain
from zkchat.render.presenters import text as base
from zkchat.render.presenters.plain import PlainPresenter
from zkchat.render.presenters.text import JsonPresenter, Presenter

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
        "1 older message is now a summary. /uncompact reverts it.",
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


def test_a_reader_that_went_away_is_no_error_and_the_rest_is_still_shown() -> None:
    err = io.StringIO()
    presenter = PlainPresenter(GoneReader(), err)
    presenter.show(TextDelta(text="one"))
    presenter.show(TextDelta(text="two"))
    presenter.show(Warned(text="Careful."))
    presenter.close()
    assert err.getvalue() == "warning: Careful.\n"


PROMPT = PromptReady(message_id="u1", usage=a_usage(), is_provisional=True)
FINISHED = TurnFinished(message=an_answer(), usage=a_usage())


@pytest.mark.parametrize(
    ("events", "printed"),
    [
        ([TextDelta(text="I look. "), TURN[5], TextDelta(text="Two.")], "I look. Two.\n"),  # before a tool and after
        ([TextDelta(text="Four."), PROMPT, TextDelta(text="Two "), TextDelta(text="days.")], "Two days.\n"),
        ([TextDelta(text="Four."), AnswerReplaced(message_id="a1"), TextDelta(text="> Two.")], "> Two.\n"),
        ([TextDelta(text="Four."), PROMPT, FINISHED], "Four.\n"),  # where no other comes
    ],
)
def test_a_pipe_gets_the_better_of_two_answers(events: list[Event], printed: str) -> None:
    assert shown([PROMPT, *events]) == (printed, "")


def printed(*events: Event) -> str:
    out = io.StringIO()
    presenter = JsonPresenter(out)
    for event in events:
        presenter.show(event)
    assert out.getvalue() == ""
    presenter.close()
    return out.getvalue()


def parsed(*events: Event) -> Any:
    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    return json.loads(printed(*events), parse_constant=refuse)


def test_remarks_on_an_answer_have_a_field_of_their_own() -> None:
    whole = parsed(Remarked(text="In doubt:"), TextDelta(text="> a"), Remarked(text="Elsewhere:", is_heading=True))
    assert (whole["answer"], whole["remarks"]) == ("> a", ["In doubt:"])
    replaced = parsed(Remarked(text="In doubt:"), AnswerReplaced(message_id="m"), TextDelta(text="> b"))
    assert (replaced["answer"], replaced["remarks"]) == ("> b", [])


def test_a_whole_turn_is_one_object() -> None:
    context = RequestContext(items=(RequestItem(type="rule", name="Tone", include="manual"),))
    message = an_answer("Hi.", SLEEP, request_context=context, usage=TokenUsage(prompt_tokens=7))
    whole = parsed(
        PromptReady(message_id="u1", usage=a_usage()),
        ThinkingDelta(text="hmm"),
        ToolStarted(call_id="1", name="find", arguments="{}"),
        ToolFinished(call_id="1", name="find", summary="1"),
        Compacted(message=an_answer()),
        Warned(text="Careful.", hint="Look."),
        TextDelta(text="Hi."),
        TurnFinished(message=message, usage=a_usage(messages=1)),
    )
    assert " ".join(whole) == (
        "answer remarks abstained references passages nearest doubtful searched_for usage context session message "
        "model status changes warnings"
    )
    assert whole["answer"] == "Hi."
    assert whole["references"][0]["relative_path"] == "Sleep.md"
    assert whole["usage"]["context"]["messages"] == 1
    assert whole["usage"]["context"]["total"] == 2931
    assert whole["usage"]["reported"]["prompt_tokens"] == 7
    assert whole["context"]["items"][0]["name"] == "Tone"
    assert (whole["session"], whole["message"], whole["model"]) == ("s1", "m1", "scripted:play")
    assert whole["status"] == "complete"
    assert whole["warnings"] == [{"text": "Careful.", "hint": "Look."}]


def test_the_passages_behind_an_answer_are_listed_with_their_places() -> None:
    found = passage("Seven\nhours. \ud800", heading="Adults", linked=True, score=math.inf)
    near = passage("Beds.", note="Beds", score=0.25)
    whole = parsed(EvidenceFound(evidence=(found,)), TurnFinished(message=an_answer("x"), usage=a_usage()))
    assert whole["passages"] == [
        {
            "path": "Sleep.md",
            "title": "Sleep",
            "heading": "Adults",
            "lines": {"first": 1, "last": 2},
            "text": "Seven\nhours. \ufffd",
            "score": None,
            "linked": True,
            "date": None,
            "outdated_by": "",
        }
    ]
    assert whole["nearest"] == []
    silent = parsed(EvidenceFound(evidence=(), nearest=(near,)))
    assert silent["passages"] == []
    assert [(each["path"], each["score"], each["linked"]) for each in silent["nearest"]] == [("Beds.md", 0.25, False)]


def test_a_failure_keeps_what_had_arrived_and_says_why() -> None:
    whole = parsed(
        LinksResolved(references=(SLEEP,)),
        ReferenceFound(reference=SLEEP),
        UsageReported(usage=TokenUsage(completion_tokens=3)),
        TextDelta(text="Half an "),
        TextDelta(text="answer"),
        TurnFailed(text="The model went away.", hint="Try again.", exit_code=6),
    )
    assert whole["answer"] == "Half an answer"
    assert len(whole["references"]) == 2
    assert whole["usage"] == {"context": None, "reported": to_plain(TokenUsage(completion_tokens=3)), "cost": None}
    assert whole["status"] == "error"
    assert whole["message"] is None
    assert whole["error"] == {"text": "The model went away.", "hint": "Try again.", "exit_code": 6}
    assert parsed()["status"] == "error", "a turn that was broken off is an object too"


def test_numbers_that_are_none_and_halves_of_characters_are_valid_json_in_printable_ascii() -> None:
    odd = replace(SLEEP, score=math.nan, snippet="half \ud800", title="\x1b[31m")
    answer = an_answer("\udfff\x1b]0;x\x07\x9b \u202e 日本\x7f", odd)
    finished = TurnFinished(message=answer, usage=a_usage(threshold=math.inf))
    whole, text = parsed(finished), printed(finished)
    assert whole["references"][0]["score"] is None
    assert whole["references"][0]["snippet"] == "half \ufffd"
    assert whole["answer"] == "\ufffd\x1b]0;x\x07\x9b \u202e 日本\x7f"
    assert whole["usage"]["context"]["threshold"] is None
    assert set(text) <= {chr(code) for code in range(0x20, 0x7F)} | {"\n"}
    assert text.endswith("}\n")


class CountingPresenter(Presenter):
    """Sets `enough` at its third tick."""

    def __init__(self) -> None:
        self.ticks = 0
        self.enough = asyncio.Event()

    def show(self, event: Event) -> None: ...

    def tick(self, activity: str = "") -> None:
        self.ticks += 1
        if self.ticks == 3:
            self.enough.set()

    def close(self) -> None: ...


def test_a_presenter_is_ticked_while_the_turn_runs_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_TICK_SECONDS", 0.001)

    async def turn() -> None:
        presenter = CountingPresenter()
        async with base.ticking(presenter):
            await presenter.enough.wait()
        (ticker,) = asyncio.all_tasks() - {asyncio.current_task()}
        with pytest.raises(asyncio.CancelledError):
            await ticker
        assert presenter.ticks == 3

    asyncio.run(turn())
