import pytest
from msgspec.structs import replace

from tests.support.screens import an_answer
from tests.support.terminal_payloads import PAYLOADS
from zkchat.core.events import (
    AnswerSupport,
    Compacting,
    Goal,
    GoalCheck,
    GoalEnded,
    GoalEvent,
    GoalPlanned,
    ResourceRead,
    StepFinished,
    StepStarted,
    Support,
)
from zkchat.core.index import EmbeddingProgress
from zkchat.core.message import CompactionPart, Condensed
from zkchat.core.text import shorten
from zkchat.render import phrases
from zkchat.render.phrases import lines_of, vector_lines, vector_progress


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"query": "a=b", "limit": 4}', 'find "a=b" limit=4'),
        ("{}", "find"),
        ("[1, 2]", "find [1, 2]"),
        ('{"query": "sl', 'find {"query": "sl'),
        ("[" * 100_000, "find " + "[" * 54 + "…"),
        ('{"query": "\\u001b]0;title\\u0007"}', 'find "\\u001b]0;title\\u0007"'),
    ],
)
def test_a_tool_call_is_shown_whatever_the_model_wrote(arguments: str, expected: str) -> None:
    assert phrases.tool_call("find", arguments) == expected


@pytest.mark.parametrize(
    ("condensed", "effect"),
    [
        (
            (Condensed(message_id="a", call_id="1", text="…"), Condensed(message_id="a", call_id="2", text="…")),
            "1 message shortened",
        ),
        (
            tuple(Condensed(message_id=id_, text="…", lacks_documents=True) for id_ in "abc"),
            "documents of 3 messages left out or shortened",
        ),
        (
            (Condensed(message_id="a", text="…", is_earlier=True), Condensed(message_id="b", text="…")),
            "1 message shortened",
        ),
        ((), "summary shortened"),
    ],
)
def test_a_compaction_that_archived_nothing_says_what_it_did(condensed: tuple[Condensed, ...], effect: str) -> None:
    part = CompactionPart(number=1, summary="…", condensed=condensed, tokens_before=900, tokens_after=600)
    marker = replace(an_answer(), parts=(part,))
    assert phrases.compaction(marker) == f"Context compacted #1: {effect}, ~300 tokens freed"


@pytest.mark.parametrize(
    ("archived", "said"), [("a", "1 older message is now a summary"), ("ab", "2 older messages are now a summary")]
)
def test_a_compaction_says_how_many_messages_are_a_summary(archived: str, said: str) -> None:
    part = CompactionPart(number=1, summary="…", archived=tuple(archived), tokens_before=900, tokens_after=600)
    assert phrases.compacted(replace(an_answer(), parts=(part,))) == f"{said} (900 → 600 tokens)."


def test_making_room_without_archiving_is_not_called_summarising() -> None:
    assert phrases.notice(Compacting(messages=0, tokens=900)) == "Making room (900 tokens in the context) …"
    assert phrases.notice(Compacting(messages=1, tokens=900)).startswith("Summarising 1 older message (")


HALF = EmbeddingProgress(
    done=1_240, total=5_300, method="ollama:nomic-embed-text#ab12cd34", active_method="wordllama-l2-256-sif"
)


def test_the_bar_shows_what_is_not_done_yet() -> None:
    assert vector_progress(HALF) == "ready for search: 1,240 of 5,300 passages (nomic-embed-text)"
    away = vector_progress(replace(HALF, problem="It is away."))
    assert away == "ready for search: 1,240 of 5,300 passages (nomic-embed-text, waiting)"
    for nothing in (None, replace(HALF, done=5_300), replace(HALF, method="wordllama-l2-256-sif")):
        assert vector_progress(nothing) == ""


def test_a_report_says_what_the_search_uses_meanwhile() -> None:
    waiting = "ready for search: 1,240 of 5,300 passages (nomic-embed-text); until then zkchat uses the built-in model"
    assert vector_lines(HALF) == [waiting]
    assert vector_lines(replace(HALF, problem="It is away.")) == [waiting, "It is away."]
    done = replace(HALF, done=5_300, active_method=HALF.method)
    assert vector_lines(done) == ["ready for search: 5,300 of 5,300 passages (nomic-embed-text)"]
    assert vector_lines(None) == vector_lines(replace(HALF, method="wordllama-l2-256-sif")) == []


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


def test_long_sentences_of_a_goal_and_addresses_are_cut() -> None:
    support = AnswerSupport(
        supported=(Support(text="s" * 161, path="A.md", line=1, exact=False),), unsupported=("u" * 161,)
    )
    goal = Goal(id="g", text="x").with_plan(("One.",), "m").with_step(1, "done", message_id="m")
    lines = lines_of(GoalEnded(goal=replace(goal, state="done"), check=GoalCheck(steps=(support,))), is_plain=True)
    assert lines[3:5] == [f"   “{'s' * 159}…” A.md:1, nearly", f"   not found: “{'u' * 159}…”"]
    blocked = StepFinished(number=1, total=1, text="x", state="blocked", reason="r" * 161)
    assert lines_of(blocked, is_plain=True)[0].endswith(f"{'r' * 159}…")
    read = phrases.notice(ResourceRead(server="web", uri="a" * 61, characters=1))
    assert read.endswith(f" {'a' * 59}… (1 character)")


def test_only_the_first_sentences_of_a_long_check_are_listed() -> None:
    goal = Goal(id="g", text="x").with_plan(("One.",), "m").with_step(1, "done", message_id="m")
    goal = replace(goal, state="done")
    check = GoalCheck(steps=(AnswerSupport(unsupported=tuple(f"Sentence {number}." for number in range(9))),))
    lines = lines_of(GoalEnded(goal=goal, check=check), is_plain=True)
    assert lines[1:3] == ["done: 1. One.", "   0 of 9 sentences found in your notes"]
    assert sum("not found" in line for line in lines) == 3
    assert lines[-1] == "Finished (1 of 1 step, 0 tokens, 0 s)."


def test_what_just_fits_is_not_shortened() -> None:
    assert [shorten("abcd", length) for length in (5, 4, 3)] == ["abcd", "abcd", "ab…"]
