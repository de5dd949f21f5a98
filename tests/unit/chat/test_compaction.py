import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.conversations import Reciting, conversation_over, events_of, of_kind
from tests.support.sessions import SessionsInMemory
from tests.support.waiting import eventually_async
from zkchat.chat.context.assembly import SUMMARY
from zkchat.chat.context.strategies import CompactionPlan, Retention
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.conversation import Conversation
from zkchat.chat.core import Policy
from zkchat.chat.request import NOTHING_TO_SUMMARISE
from zkchat.core.errors import ExitCode, PromptTooLong, ProviderError, UsageError
from zkchat.core.events import Compacted, Event, ToolFinished, TurnFailed, TurnFinished, Warned
from zkchat.core.message import CompactionPart, ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, ModelRequest, ToolRequested
from zkchat.core.session import MessageEntry
from zkchat.core.session_history import compaction_of, thread_of
from zkchat.core.values import to_json, to_plain
from zkchat.index.library import Library

LONG = "The cat sleeps on the warm stove, and the old dog waits beside it for the evening. "


NOTES = {"Cats.md": "# Cats\n\nCats purr.\n", "Dogs.md": "# Dogs\n\n" + LONG * 30, "Long.md": LONG * 400}

WINDOW = 2304
"""Small, so that few turns fill it."""


def wordy(number: int) -> str:
    return f"Answer {number}: " + LONG * 12


def told(talk: Conversation, turns: int, first: int = 0) -> list[Event]:
    return [
        event for n in range(first, first + turns) for event in events_of(talk.say(f"Question {n} about [[Cats]]?"))
    ]


def sizes(provider: Reciting) -> list[int]:
    return [sum(Estimate().count(message.text) for message in request.messages) for request in provider.requests]


def parts(talk: Conversation) -> list[CompactionPart]:
    return [part for message in talk.messages if (part := compaction_of(message))]


def test_over_budget_older_messages_are_summarised_and_recent_ones_kept(
    library: Library, store: SessionsInMemory
) -> None:
    provider = Reciting(wordy, window=WINDOW)
    talk = conversation_over(library, store, provider)
    assert not of_kind(told(talk, 2), Compacted)
    compacted = []
    for number in range(2, 14):
        now = of_kind(told(talk, 1, first=number), Compacted)
        if not now:
            before, after = (request.messages for request in provider.requests[-2:])
            assert after[: len(before)] == before, "the beginning stays the same between compactions"
        compacted += now
    assert len(compacted) >= 2
    assert all(size <= WINDOW - 512 for size in sizes(provider))
    last = provider.requests[-1].messages
    assert "They talked about cats." in last[0].text
    assert "- [[Cats]] is Cats.md" in last[0].text
    assert sum("Question 13 " in message.text for message in last) == 1
    assert "Question 12 " in last[-3].text
    assert len(thread_of(store.rows["s1"])) == 28 + len(compacted)
    part = parts(talk)[0]
    assert (part.made_by, part.number) == ("reciting:x", 1)
    assert part.tokens_after < part.tokens_before
    assert "[earlier summary]\nThey talked about cats." in provider.summaries[1].messages[1].text


def fails(_: ModelRequest) -> str:
    raise ProviderError("The server is down.")


class Slow(Reciting):
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        async with aclosing(super().stream(request)) as chunks:
            async for chunk in chunks:
                if self.summaries and self.summaries[-1] is request:
                    await asyncio.sleep(60)
                yield chunk


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        (None, "took more than 0.01 seconds"),
        (fails, "The server is down."),
        (lambda _: "   ", "it is empty"),
        (lambda _: LONG * 200, "and there is room for"),
        (lambda _: "Sie haben über die Katzen gesprochen, und es ist nicht klar, was der Hund will.", "language"),
    ],
    ids=["too slow", "error", "empty", "too long", "other language"],
)
def test_an_unusable_summary_is_replaced_by_one_made_from_the_messages(
    library: Library, store: SessionsInMemory, summary: Callable[[ModelRequest], str] | None, why: str
) -> None:
    provider = Reciting(wordy, summary, window=WINDOW) if summary else Slow(wordy, window=WINDOW)
    talk = conversation_over(library, store, provider, policy=Policy(timeout=300.0 if summary else 0.01))
    events = told(talk, 8)
    assert isinstance(events[-1], TurnFinished)
    assert why in of_kind(events, Warned)[0].text
    assert all(size <= WINDOW - 512 for size in sizes(provider))
    part = parts(talk)[0]
    assert part.made_by == ""
    assert "cat" in part.summary
    assert len(talk.messages) == 16 + len(parts(talk))


def test_a_compaction_that_is_stopped_loses_nothing_and_the_next_one_works(
    library: Library, store: SessionsInMemory
) -> None:
    slow = Slow(wordy, window=WINDOW)
    talk = conversation_over(library, store, slow)

    async def stop_at_the_first_summary() -> int:
        for number in range(20):

            async def say(text: str = f"Question {number}?") -> None:
                async for _ in talk.say(text):
                    pass

            task = asyncio.create_task(say())
            await eventually_async(lambda task=task: task.done() or slow.summaries)  # type: ignore[misc]
            if slow.summaries:
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                return number
            await task
        raise AssertionError("no compaction was due")

    stopped = asyncio.run(stop_at_the_first_summary())
    assert parts(talk) == []
    assert talk.messages[-1].text == f"Question {stopped}?"
    session = store.get("s1")
    again = conversation_over(library, store, Reciting(wordy, window=WINDOW), session=session)
    events = events_of(again.retry())
    assert of_kind(events, Compacted)
    assert isinstance(events[-1], TurnFinished)


def test_without_auto_compaction_a_full_window_stops_the_turn_with_the_ways_out(
    library: Library, store: SessionsInMemory
) -> None:
    talk = conversation_over(library, store, Reciting(wordy, window=WINDOW), policy=Policy(auto=False))
    failed = of_kind(told(talk, 8), TurnFailed)[0]
    assert "The context is full" in failed.text
    assert failed.exit_code == ExitCode.USAGE
    assert "/compact" in failed.hint
    assert "max_tokens" in failed.hint
    assert parts(talk) == []
    assert of_kind(events_of(talk.compact()), Compacted)
    assert isinstance(events_of(talk.say("And now?"))[-1], TurnFinished)


class Reader:
    """Somebody at the terminal, with settled opinions."""

    def __init__(self, *, agrees: bool = True, edited: str = "") -> None:
        self._agrees = agrees
        self._edited = edited

    async def agrees(self, plan: CompactionPlan, tokens: int) -> bool:
        assert plan.archived
        assert tokens
        return self._agrees

    async def edits(self, summary: str) -> str:
        return self._edited and summary + self._edited


def test_the_user_may_say_no_and_edit_the_summary(library: Library, store: SessionsInMemory) -> None:
    policy = Policy(review=True, confirm=True)
    talk = conversation_over(
        library, store, Reciting(wordy, window=WINDOW), policy=policy, reviewer=Reader(agrees=False)
    )
    assert of_kind(told(talk, 8), TurnFailed)
    assert parts(talk) == []
    provider, reviewer = Reciting(wordy, window=WINDOW), Reader(edited=" And the budget is 12 €.")
    talk = conversation_over(library, SessionsInMemory(), provider, policy=policy, reviewer=reviewer)
    told(talk, 7)
    assert parts(talk)[0].summary == "They talked about cats. And the budget is 12 €."
    assert "the budget is 12 €" in provider.requests[-1].messages[0].text
    provider = Reciting(wordy, window=WINDOW)
    talk = conversation_over(library, SessionsInMemory(), provider, policy=Policy(review=True), reviewer=Reader())
    told(talk, 7)
    assert parts(talk)[0].summary == "They talked about cats.", "an empty one would lose what was said"


def compacted(library: Library, store: SessionsInMemory, **more: Any) -> tuple[Conversation, Reciting, list[Event]]:
    provider = Reciting()
    talk = conversation_over(library, store, provider)
    told(talk, 6)
    return talk, provider, events_of(talk.compact(**more))


def test_the_user_can_compact_at_any_time_and_say_what_matters(library: Library, store: SessionsInMemory) -> None:
    talk, provider, events = compacted(library, store, focus="the budget", keep=2)
    assert of_kind(events, Compacted)
    assert "Pay most attention to: the budget." in provider.summaries[0].messages[1].text
    assert parts(talk)[0].focus == "the budget"
    assert [message.text for message in talk.window.live][-1] == "Answer 6."
    assert len(talk.window.live) == 2
    assert len(talk.history.archived) == 10
    assert talk.clear() is not None  # without a summary
    prompt = requested(talk, provider)
    assert [message.role for message in prompt] == ["system", "user"]
    assert "talked about cats" not in prompt[0].text
    events_of(talk.retry())
    assert [message.text.splitlines()[0] for message in provider.requests[-1].messages[1:]] == ["Well?"]


def test_a_preview_changes_nothing_and_little_is_not_summarised(library: Library, store: SessionsInMemory) -> None:
    talk = conversation_over(library, store, Reciting())
    for number in range(4):
        events_of(talk.say(f"Hello {number}?"))
    assert [event.text for event in of_kind(events_of(talk.compact(keep=4)), Warned)] == [NOTHING_TO_SUMMARISE]
    assert asyncio.run(talk.preview(keep=4)) is None
    told(talk, 6)
    preview = asyncio.run(talk.preview())
    assert preview is not None
    assert preview.part.summary == "They talked about cats."
    assert [*preview.plan.archived] == [message.id for message in talk.messages[:14]]
    assert parts(talk) == []
    assert of_kind(events_of(talk.compact(keep=4, strategy="discard")), Compacted)


def test_a_summary_that_is_longer_than_what_was_said_is_not_used(library: Library, store: SessionsInMemory) -> None:
    talk = conversation_over(library, store, Reciting(summary=lambda _: "They talked about cats. " * 40))
    told(talk, 6)
    preview = asyncio.run(talk.preview(keep=2))
    assert preview is not None
    assert "and there is room for" in preview.trouble


@pytest.mark.parametrize("is_edited", [False, True])
def test_a_question_that_is_asked_again_or_changed_keeps_the_compaction(
    library: Library, store: SessionsInMemory, is_edited: bool
) -> None:
    talk, provider, _ = compacted(library, store, keep=2)
    question = talk.history.last_question
    assert question is not None
    events_of(talk.say("What else?", replaces=question.id) if is_edited else talk.retry())
    request = provider.requests[-1].messages
    assert "They talked about cats." in request[0].text
    assert [message.text.splitlines()[0] for message in request[1:]] == [
        "What else?" if is_edited else "Question 5 about [[Cats]]?"
    ]
    reopened = conversation_over(library, store, provider, session=store.get("s1"))
    assert len(reopened.history.archived) == 10
    assert len(provider.summaries) == 1
    assert reopened.uncompact()
    assert len(reopened.window.live) == 12
    assert reopened.uncompact() is None
    assert requested(reopened, provider)[1].text.startswith("Question 0 ")


def requested(talk: Conversation, provider: Reciting) -> Any:
    events_of(talk.say("Well?"))
    return provider.requests[-1].messages


@pytest.mark.parametrize("way", ["pinned", "important"])
def test_a_pinned_or_important_message_is_kept_word_for_word(
    library: Library, store: SessionsInMemory, way: str
) -> None:
    provider = Reciting(lambda number: f"Answer {number}: " + LONG * 6, window=WINDOW)
    talk = conversation_over(library, store, provider)
    told(talk, 1)
    first = talk.messages[0].id
    talk.pin(first) if way == "pinned" else talk.prioritise(first, 9)
    told(talk, 12, first=1)
    assert parts(talk)
    assert any(message.text.startswith("Question 0 ") for message in provider.requests[-1].messages)
    with pytest.raises(UsageError, match="no message"):
        talk.pin("nowhere")


@pytest.mark.parametrize("strategy", ["discard", "hybrid"])
def test_other_strategies_keep_within_the_window_too(library: Library, store: SessionsInMemory, strategy: Any) -> None:
    provider = Reciting(wordy, window=WINDOW)
    talk = conversation_over(library, store, provider, policy=Policy(strategy=strategy, keep=Retention()))
    told(talk, 8)
    assert parts(talk)
    assert {part.strategy for part in parts(talk)} == {strategy}
    assert all(size <= WINDOW - 512 for size in sizes(provider))
    assert bool(provider.summaries) is (strategy == "hybrid")


def test_a_question_asked_again_leaves_the_first_answer_on_its_branch(
    library: Library, store: SessionsInMemory
) -> None:
    provider = Reciting()
    talk = conversation_over(library, store, provider)
    told(talk, 2)
    assert isinstance(events_of(talk.retry())[-1], TurnFinished)
    assert [message.text for message in talk.messages][-1] == "Answer 3."
    assert (len(talk.messages), len(talk.history.messages)) == (4, 5)
    assert provider.requests[-1] == provider.requests[-2]
    talk.branch(talk.messages[1].id)
    assert len(talk.messages) == 2
    talk.branch(None)
    assert talk.messages == []
    assert isinstance(events_of(talk.retry())[-1], TurnFailed)


class Reading(Reciting):
    """A model that reads one page after the other before it answers."""

    def __init__(self, pages: int, **more: Any) -> None:
        super().__init__(wordy, calls_tools=True, **more)
        self._pages = pages

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        read = sum(message.role == "tool" for message in request.messages)
        if request.messages[0].text != SUMMARY and request.tools and read < self._pages:
            self.requests.append(request)
            arguments = f'{{"relative_path": "Long.md", "offset": {1000 * len(self.requests)}}}'
            yield ToolRequested(call=ToolCallPart(call_id=f"c{read}", name="read_document", arguments=arguments))
            yield Finish(reason="tool_calls")
            return
        async with aclosing(super().stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk


def test_room_is_made_between_the_rounds_of_a_tool_loop(library: Library, store: SessionsInMemory) -> None:
    provider = Reading(5, window=6000)
    talk = conversation_over(library, store, provider)
    events = [event for n in range(4) for event in events_of(talk.say(f"Question {n}?"))]
    assert of_kind(events, Compacted)
    assert not of_kind(events, TurnFailed)
    started = [type(event) for event in events]
    assert ToolFinished in started[: started.index(Compacted)]
    for request in provider.requests:
        tools = sum(Estimate().count(to_json(to_plain(tool))) for tool in request.tools)
        assert tools + sum(Estimate().count(message.text) for message in request.messages) <= 6000 - 512
        calls = {call.call_id for message in request.messages for call in message.tool_calls}
        assert {message.tool_call_id for message in request.messages if message.role == "tool"} == calls


class Pickier(Reciting):
    """A model whose server counts more tokens than we do, and refuses what it cannot take."""

    def __init__(self, ratio: float) -> None:
        super().__init__(wordy, window=WINDOW)
        self._ratio = ratio
        self.refused = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        tokens = self._ratio * sum(Estimate().count(message.text) for message in request.messages)
        if tokens > request.window:
            self.refused += 1
            raise PromptTooLong("The prompt is longer than it can take.")
        async with aclosing(super().stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk


def test_a_prompt_that_the_server_finds_too_long_is_made_shorter(library: Library, store: SessionsInMemory) -> None:
    provider = Pickier(1.5)
    talk = conversation_over(library, store, provider)
    events = told(talk, 8)
    assert provider.refused
    assert not of_kind(events, TurnFailed)
    assert any("counts more tokens than expected" in warning.text for warning in of_kind(events, Warned))
    assert len(talk.messages) == 16 + len(parts(talk))


def test_turns_that_are_withheld_can_be_compacted_again_and_again(library: Library, store: SessionsInMemory) -> None:
    told(conversation_over(library, store, Reciting(wordy)), 6)
    ((session, entries),) = store.rows.items()
    local = [replace(message, local=True) for message in thread_of(entries)]
    store.append(session, [MessageEntry(message=message) for message in local])
    talk = conversation_over(library, store, Reciting(wordy), session=store.get(session))
    assert of_kind(events_of(talk.compact(keep=4)), Compacted)
    assert of_kind(events_of(talk.compact(keep=2)), Compacted)
    assert [part.summary for part in parts(talk)] == ["", ""]
    assert [event.text for event in of_kind(events_of(talk.compact(keep=2)), Warned)] == [NOTHING_TO_SUMMARISE]
