import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from tests.support.conversations import answer_of, conversation_over, events_of, of_kind, scripted, stored
from tests.support.libraries import library_of
from tests.support.sessions import SessionsInMemory
from tests.support.waiting import eventually_async
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.conversation import Conversation
from zkchat.chat.tool_loop import CUT, REPEATED
from zkchat.core.choices import TokenUsage
from zkchat.core.errors import ExitCode, StorageFull
from zkchat.core.events import (
    Event,
    LinksResolved,
    PromptReady,
    ReferenceFound,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UsageReported,
    Warned,
)
from zkchat.core.message import EvidencePart, FilePart, ToolResultPart
from zkchat.index.library import Library
from zkchat.models.quote import Quote

NOTES = {
    "Sleep.md": "# Sleep\n\nAdults need seven hours.\n\n## Naps\n\nTwenty minutes at most.\n",
    "Coffee.md": "# Coffee\n\nGrind late.\n",
    "Long.md": "# Long\n\n" + "A long sentence about nothing in particular. " * 2000,
}


def say(talk: Conversation, text: str) -> list[Event]:
    return events_of(talk.say(text))


def test_the_events_of_a_turn_come_in_order(library: Library, store: SessionsInMemory) -> None:
    answers: list[list[dict[str, Any]]] = [
        [{"thinking": "hm"}, {"tool": "find_excerpts", "arguments": {"query": "hours adults"}}],
        [{"text": "Seven."}, {"finish": "stop", "usage": {"prompt_tokens": 7}}],
    ]
    events = say(conversation_over(library, store, scripted(answers)), "How long, says [[Sleep]]?")
    assert [(message.role, message.priority, message.status) for message in stored(store)] == [
        ("user", 5, "complete"),
        ("assistant", 5, "complete"),
        ("tool", 3, "complete"),
        ("assistant", 5, "complete"),
    ]
    assert len({message.session_id for message in stored(store)}) == 1
    assert [type(event) for event in events if not isinstance(event, ReferenceFound)] == [
        LinksResolved,
        PromptReady,
        ThinkingDelta,
        ToolStarted,
        ToolFinished,
        TextDelta,
        UsageReported,
        TurnFinished,
    ]
    assert answer_of(events).usage == TokenUsage(prompt_tokens=7)


def test_a_linked_section_goes_into_the_request_and_the_beginning_of_a_long_note(
    library: Library, store: SessionsInMemory
) -> None:
    provider = scripted([[{"text": "ok"}]])
    say(conversation_over(library, store, provider), "Compare [[Sleep#Naps]] with [[Long]] and [[Nowhere]].")
    user = stored(store)[0]
    files = user.parts_of(FilePart)
    assert [(part.name, bool(part.extent)) for part in files] == [("Sleep.md#Naps", False), ("Long.md", True)]
    (request,) = provider.requests
    sent = request.messages[-1].text
    assert f'<document path="Long.md" part="{files[1].extent}">' in sent
    assert "Twenty minutes at most." in sent
    assert "Adults need" not in sent
    assert "read_document gives the text" in sent
    assert "[[Nowhere]]: there is no such note" in sent
    assert sum("Compare" in message.text for message in request.messages) == 1


def test_a_passage_that_stands_in_a_linked_note_is_not_sent_twice(library: Library, store: SessionsInMemory) -> None:
    provider = scripted([[{"text": "Seven."}]] * 2, calls_tools=False)
    talk = conversation_over(library, store, provider)
    for link in ("[[Sleep]]", "[[Coffee]]"):
        say(talk, f"How many hours do adults need, says {link}?")
    assert not provider.requests[0].evidence
    assert provider.requests[1].evidence
    assert any(isinstance(part, EvidencePart) for part in stored(store)[2].parts)


LONG_SLEEP = """---
tags: [sleep]
---
# Rest

Most adults need seven to nine hours. The need for sleep differs from person to person.

## Bedroom

The best temperature for sleep is around 18 °C.

The temperature for guests is 21 °C.

## Light and sleep

Sleep, sleep, sleep: daylight within an hour of getting up sets the inner clock of your sleep.

## 睡眠

- 午睡最多二十分钟。
- 晚上九点以后不喝咖啡。
"""


@pytest.fixture(scope="module")
def bedroom(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with library_of(tmp_path_factory.mktemp("bedroom"), {"Rest.md": LONG_SLEEP, **NOTES}) as library:
        yield library


FIND_SLEEP = {"tool": "find_excerpts", "arguments": {"query": "sleep 睡眠", "limit": 10}}
READ_REST = {"tool": "read_document", "arguments": {"relative_path": "Rest"}}


@pytest.mark.parametrize(
    ("calls", "answer", "place"),
    [
        ([FIND_SLEEP], "Adults should get 7–9 hours, says [[Rest]].", ("", 6, 6)),
        ([], "Light within an hour of getting up sets the inner clock.", ("Light and sleep", 16, 16)),
        ([FIND_SLEEP, READ_REST], "The best temperature for them is 21 °C.", ("Bedroom", 12, 12)),
        ([READ_REST], "Go out within an hour of getting up, for daylight.", ("Light and sleep", 16, 16)),
        ([FIND_SLEEP], "午睡不要超过二十分钟。", ("睡眠", 20, 21)),
    ],
)
def test_a_reference_is_to_the_passage_that_the_answer_uses(
    bedroom: Library, store: SessionsInMemory, calls: list[dict[str, object]], answer: str, place: tuple[str, int, int]
) -> None:
    talk = conversation_over(bedroom, store, scripted([*([call] for call in calls), [{"text": answer}]]))
    message = answer_of(say(talk, "How do I sleep well?" if calls else "What does [[Rest]] say of light?"))
    (row,) = (row for row in message.references if row.relative_path == "Rest.md")
    assert row.lines
    assert (row.anchor, row.lines.first, row.lines.last) == place
    assert stored(store)[-1].references == message.references


def test_a_failing_model_leaves_the_question_and_what_arrived(library: Library, store: SessionsInMemory) -> None:
    provider = scripted([[{"text": "It is"}, {"error": "Gone.", "hint": "Wait."}], [{"text": "Back."}]])
    talk = conversation_over(library, store, provider)
    events = say(talk, "What is it?")
    failed = events[-1]
    assert isinstance(failed, TurnFailed)
    assert (failed.text, failed.hint, failed.exit_code) == ("Gone.", "Wait.", ExitCode.MODEL)
    assert [(message.text, message.status) for message in stored(store)] == [
        ("What is it?", "complete"),
        ("It is", "unfinished"),
    ]
    assert answer_of(say(talk, "Again?")).text == "Back."
    silent = SessionsInMemory()
    say(conversation_over(library, silent, scripted([[{"error": "Gone."}]])), "What is it?")
    assert [(message.status, message.error) for message in stored(silent)][-1] == ("error", "Gone.")
    cut = SessionsInMemory()  # whose stream has no end
    events = say(conversation_over(library, cut, scripted([[{"text": "half"}]], cut=True)), "Well?")
    assert isinstance(events[-1], TurnFailed)
    assert "cut off" in events[-1].text
    assert stored(cut)[-1].status == "unfinished"


@pytest.mark.parametrize("leave", ["close", "cancel"])
def test_a_stopped_answer_is_kept_as_unfinished(library: Library, store: SessionsInMemory, leave: str) -> None:
    talk = conversation_over(library, store, scripted([[{"text": "one"}, {"text": " two"}, {"delay": 30}]]))

    async def listen(heard: Callable[[Event], None]) -> None:
        async with aclosing(talk.say("Count!")) as events:
            async for event in events:
                heard(event)
                if leave == "close" and event == TextDelta(text=" two"):
                    return

    async def stop() -> None:
        heard: list[Event] = []
        task = asyncio.create_task(listen(heard.append))
        await eventually_async(lambda: task.done() or TextDelta(text=" two") in heard)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(stop())
    assert [(message.text, message.status, message.error) for message in stored(store)][-1] == (
        "one two",
        "unfinished",
        "Stopped.",
    )


def test_a_repeated_call_is_not_run_again(library: Library, store: SessionsInMemory) -> None:
    call = {"tool": "find_excerpts", "arguments": {"query": "adults"}}
    provider = scripted([[call, call], [{"text": "ok"}]])
    events = say(conversation_over(library, store, provider), "Again!")
    assert [event.summary for event in of_kind(events, ToolFinished)] == ["1 passage", "same as before"]
    assert provider.requests[-1].messages[-1].text == REPEATED
    assert answer_of(events).references[0].hits == 1


def test_results_of_tools_are_bounded_by_the_room_that_is_left(library: Library, store: SessionsInMemory) -> None:
    pages = [{"tool": "read_document", "arguments": {"relative_path": "Long.md", "offset": n * 8000}} for n in range(3)]
    provider = scripted([pages, [{"text": "ok"}]], context_limit=4000)
    events = say(conversation_over(library, store, provider), "Read!")
    results = [part for message in stored(store) for part in message.parts_of(ToolResultPart)]
    assert all(part.text.endswith("no room for more.)") for part in results)
    sizes = [len(part.text) for part in results]
    assert sizes[1] == pytest.approx(sizes[0] / 2, rel=0.1)  # of what is left, half
    given = [f"cut to {Estimate().count(part.text.removesuffix(CUT)):,} tokens" for part in results]
    summaries = [event.summary for event in of_kind(events, ToolFinished)]
    assert [summary.rpartition(", ")[2] for summary in summaries] == given
    assert "8,000 of " in summaries[0]
    last = provider.requests[-1]
    assert sum(Estimate().count(message.text) for message in last.messages) < 4000 - 512


def test_without_an_index_a_model_still_answers_and_quote_says_why_not(
    library: Library, store: SessionsInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StorageFull("No room for the index.")

    monkeypatch.setattr(library, "refresh", full)
    events = say(conversation_over(library, store, scripted([[{"text": "hi"}]])), "Hello [[Sleep]]")
    assert "Links and search do not work right now. No room for the index." in of_kind(events, Warned)[0].text
    assert answer_of(events).text == "hi"
    (failed,) = say(conversation_over(library, SessionsInMemory(), Quote()), "Hello")
    assert isinstance(failed, TurnFailed)


def test_what_is_wrong_with_a_note_is_told_once(own_library: Library, store: SessionsInMemory, tmp_path: Path) -> None:
    talk = conversation_over(own_library, store, scripted([[{"text": "a"}], [{"text": "b"}]]))
    (tmp_path / "vault" / "Odd.md").write_bytes(b"caf\xe9")
    assert "Odd.md" in of_kind(say(talk, "One?"), Warned)[0].text
    (tmp_path / "vault" / "Odd.md").write_bytes(b"caf\xe9!")
    assert of_kind(say(talk, "Two?"), Warned) == []


def test_strictly_only_what_the_notes_say_is_answered(library: Library, store: SessionsInMemory) -> None:
    provider = scripted([[{"text": "Seven hours, says [[Sleep]]."}]], calls_tools=True)
    talk = conversation_over(library, store, provider, strict=True)
    assert answer_of(say(talk, "How many hours of sleep do adults need?")).text.startswith("Seven")
    (request,) = provider.requests
    assert request.tools == ()
    assert request.evidence
    assert "Answer only from the text inside <evidence>" in request.messages[0].text
    silent = answer_of(say(talk, "Who painted the Sistine Chapel?"))
    assert silent.abstained
    assert silent.text == "Your notes say nothing about “painted, Sistine, Chapel”.\n"
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("text", "priority"),
    [
        ("How many hours do adults sleep?", 5),
        ("What went wrong here?\n\n" + "12:00 INFO a step of the nightly run is done\n" * 300, 4),
        ("What went wrong here?\n\n" + "12:00 INFO a step of the nightly run is done\n" * 50, 5),
    ],
)
def test_a_message_that_is_mostly_pasted_is_less_important(
    library: Library, store: SessionsInMemory, text: str, priority: int
) -> None:
    say(conversation_over(library, store, scripted([[{"text": "ok"}]], context_limit=32_768)), text)
    assert next(message for message in reversed(stored(store)) if message.role == "user").priority == priority
