"""One JSON object for scripts."""

import io
import json
import math
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.evidence import passage
from tests.support.screens import a_usage, an_answer
from zkchat.core.choices import TokenUsage
from zkchat.core.events import (
    AnswerReplaced,
    Compacted,
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
from zkchat.core.message import DocumentReference, RequestContext, RequestItem
from zkchat.core.values import to_plain
from zkchat.render.presenters.text import JsonPresenter

SLEEP = DocumentReference(wikilink="[[Sleep]]", relative_path="Sleep.md", cited=True)


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
    assert list(whole) == [
        "answer",
        "remarks",
        "abstained",
        "references",
        "passages",
        "nearest",
        "doubtful",
        "searched_for",
        "usage",
        "context",
        "session",
        "message",
        "model",
        "status",
        "changes",
        "warnings",
    ]
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
    assert whole["usage"] == {
        "context": None,
        "reported": to_plain(TokenUsage(completion_tokens=3)),
    }
    assert whole["status"] == "error"
    assert whole["message"] is None
    assert whole["error"] == {"text": "The model went away.", "hint": "Try again.", "exit_code": 6}


def test_a_turn_that_was_broken_off_is_an_object_too() -> None:
    assert parsed()["status"] == "error"


def test_numbers_that_are_none_and_halves_of_characters_are_valid_json() -> None:
    odd = replace(SLEEP, score=math.nan, snippet="half \ud800", title="\x1b[31m")
    whole = parsed(TurnFinished(message=an_answer("\udfff\x1b]0;x\x07", odd), usage=a_usage(threshold=math.inf)))
    assert whole["references"][0]["score"] is None
    assert whole["references"][0]["snippet"] == "half \ufffd"
    assert whole["answer"] == "\ufffd\x1b]0;x\x07"
    assert whole["usage"]["context"]["threshold"] is None


def test_only_printable_ascii_is_written_and_one_newline_ends_it() -> None:
    text = printed(TurnFinished(message=an_answer("\x9b31m \u202e 日本\x7f"), usage=a_usage()))
    assert set(text) <= {chr(code) for code in range(0x20, 0x7F)} | {"\n"}
    assert text.endswith("}\n")
