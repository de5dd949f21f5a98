from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from tests.support.screens import a_usage, an_answer
from zkchat.cli.interactive_chat import Exchange, greeting, last_exchanges
from zkchat.core.choices import ContextUsage
from zkchat.core.events import Compacted, TextDelta, TurnFinished
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
        "Ask; type [[ for a note, / for a command. /help for help, Ctrl-D to quit.",
    ]
    assert greeted(notes=1)[0] == "zkchat · garden · 1 note · ollama:qwen3:8b"
    assert greeted(model=ModelInfo(provider="quote", id="", needs_notes=True))[0].endswith(
        "quote (no model: your notes are quoted)"
    )


def test_the_session_that_is_gone_on_in_is_named_and_the_last_one_offered() -> None:
    assert greeted(last=SLEEP)[1] == "Last time, 2 hours ago: “What is sleep?”. To continue it: /resume s1"
    assert greeted(session=SLEEP)[1] == "Continuing “What is sleep?”, 4 messages. /history shows them all."
    assert f"“{'x' * 39}…”" in greeted(session=replace(SLEEP, title="x" * 41))[1]
    assert "untitled" in greeted(session=replace(SLEEP, title=""))[1]


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (timedelta(seconds=59), "just now"),
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


@pytest.mark.parametrize(("lines", "shown"), [(5, "1\n2\n3\n4\n5"), (7, "1\n2\n3\n4\n5\n… and 2 more lines")])
def test_of_a_long_question_the_beginning_is_shown_again(lines: int, shown: str) -> None:
    (exchange,) = exchanges_of(asked("\n".join(map(str, range(1, lines + 1)))))
    assert exchange.question == shown


def test_a_compaction_after_the_question_is_marked_unless_it_was_taken_back() -> None:
    (exchange,) = exchanges_of(asked("?"), marker("c1"), marker("c2"), in_force=("c1",))
    assert exchange.events == [Compacted(message=marker("c1"))]
    assert last_exchanges([asked("?"), an_answer("!"), marker("c"), asked("a"), asked("b")], ())[0] == 2
    for length, questions in ((2_994, ["First?", "And?"]), (2_995, ["And?"])):
        long = [asked("First?"), an_answer("x" * length), asked("And?"), an_answer("Two.")]
        assert [exchange.question for exchange in last_exchanges(long, ())[1]] == questions, "a long one is counted"
