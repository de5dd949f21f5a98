"""What a chat begins with."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from tests.support.screens import a_usage, an_answer
from zkchat.cli.interactive_chat import Exchange, greeting, last_exchanges
from zkchat.core.choices import ContextUsage
from zkchat.core.events import Compacted, TextDelta, TurnFailed, TurnFinished
from zkchat.core.message import ChatMessage, CompactionPart, RequestContext, TextPart
from zkchat.core.prompt import ModelInfo
from zkchat.core.session import Session
from zkchat.repl.picker import ago

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODEL = ModelInfo(provider="ollama", id="qwen3:8b")
SLEEP = Session(
    id="s1", title="What is sleep?", created_at=NOW, updated_at=NOW - timedelta(hours=2, minutes=9), message_count=4
)


def greeted(session: Session | None = None, last: Session | None = None, **more: object) -> list[str]:
    known = {"vault": "garden", "notes": 1234, "model": MODEL, "now": NOW}
    return greeting(session=session, last=last, **(known | more))  # type: ignore[arg-type]


def test_a_new_user_sees_the_vault_the_model_and_how_to_get_help() -> None:
    assert greeted() == [
        "zkchat · garden · 1,234 notes · ollama:qwen3:8b",
        "Ask; [[ names a note, / a command. /help for help, Ctrl-D to leave.",
    ]
    assert greeted(notes=1)[0] == "zkchat · garden · 1 note · ollama:qwen3:8b"
    assert greeted(model=ModelInfo(provider="quote", id="", needs_notes=True))[0].endswith(
        "quote (no model: your notes are quoted)"
    )


def test_the_last_session_is_offered() -> None:
    assert greeted(last=SLEEP)[1] == "Last time, 2 hours ago: “What is sleep?”. To go on there: /resume s1"


def test_the_session_that_is_gone_on_in_is_named() -> None:
    assert greeted(session=SLEEP)[1] == "Going on in “What is sleep?”, 4 messages. /history shows them all."
    assert "untitled" in greeted(session=replace(SLEEP, title=""))[1]


def test_a_long_title_is_cut() -> None:
    assert f"“{'x' * 39}…”" in greeted(last=replace(SLEEP, title="x" * 200))[1]


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=-5), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=400), "400 days ago"),
    ],
)
def test_how_long_ago_that_was(past: timedelta, words: str) -> None:
    assert ago(past) == words


def asked(text: str) -> ChatMessage:
    return ChatMessage(id="u", role="user", parts=(TextPart(text=text),), created_at=NOW)


def marker(id_: str) -> ChatMessage:
    part = CompactionPart(number=1, summary="…", archived=("u",))
    return ChatMessage(id=id_, role="system", parts=(part,), created_at=NOW)


def exchanges_of(*messages: ChatMessage, in_force: tuple[str, ...] = ()) -> list[Exchange]:
    return last_exchanges(messages, in_force)[1]


def test_the_last_two_exchanges_are_shown_again_the_last_with_its_panel_and_no_bar() -> None:
    answer = an_answer("Rest.", request_context=RequestContext(usage=a_usage()))
    earlier, exchanges = last_exchanges(
        [asked("Hello?"), an_answer("Hello."), asked("First?"), an_answer("One."), asked("And sleep?"), answer], ()
    )
    assert earlier == 2
    assert exchanges == [
        Exchange(question="First?", events=[TextDelta(text="One.")]),
        Exchange(
            question="And sleep?",
            events=[TextDelta(text="Rest."), TurnFinished(message=answer, usage=ContextUsage())],
        ),
    ]


def test_a_long_exchange_before_the_last_is_only_counted() -> None:
    earlier, exchanges = last_exchanges(
        [asked("First?"), an_answer("One. " * 1000), asked("And?"), an_answer("Two.")], ()
    )
    assert earlier == 2
    assert [exchange.question for exchange in exchanges] == ["And?"]


def test_of_a_long_question_the_beginning_is_shown_again() -> None:
    (exchange,) = exchanges_of(asked("\n".join(f"line {number}" for number in range(2000))))
    assert exchange.question.splitlines() == [
        "line 0",
        "line 1",
        "line 2",
        "line 3",
        "line 4",
        "… and 1,995 more lines",
    ]


def test_an_answer_in_several_steps_ends_once() -> None:
    first, last = an_answer("Let me look. "), replace(an_answer("Found."), id="m2")
    result = ChatMessage(id="t", role="tool", created_at=NOW)
    (exchange,) = exchanges_of(asked("Sleep?"), first, result, last)
    assert [event.kind for event in exchange.events] == ["text", "text", "finished"]
    assert exchange.events[-1] == TurnFinished(message=last, usage=ContextUsage())


def test_an_unfinished_answer_is_shown_as_such() -> None:
    stopped = an_answer("Half of", status="unfinished")
    failed = an_answer("", status="error", error="The server went away.")
    assert exchanges_of(asked("?"), stopped)[0].events[-1] == TurnFailed(
        text="This answer was not finished.", hint="/retry asks again."
    )
    assert exchanges_of(asked("?"), failed)[0].events[-1] == TurnFailed(
        text="The server went away.", hint="/retry asks again."
    )


def test_a_compaction_after_the_question_is_marked_unless_it_was_taken_back() -> None:
    (exchange,) = exchanges_of(asked("?"), marker("c1"), marker("c2"), in_force=("c1",))
    assert exchange.events == [Compacted(message=marker("c1"))]
    assert last_exchanges([asked("?"), an_answer("!"), marker("c"), asked("a"), asked("b")], ())[0] == 2


def test_a_session_without_a_question_has_nothing_to_retell() -> None:
    assert last_exchanges([], ()) == (0, [])
    assert last_exchanges([an_answer("Imported."), marker("c")], ("c",)) == (1, [])
