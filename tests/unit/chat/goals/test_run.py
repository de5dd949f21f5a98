"""A goal run over a conversation: its requests, its interruptions, and the changes that it proposes."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.changes import Answering, AppendingVault, no, yes
from tests.support.conversations import conversation_over, events_of
from tests.support.memories import MemoriesInMemory
from tests.support.sessions import NOON, SessionsInMemory
from tests.support.waiting import until
from zkchat.chat.context.selection import Relevance
from zkchat.chat.conversation import Conversation
from zkchat.chat.core import Policy
from zkchat.chat.goal_plan import GoalChecker
from zkchat.chat.goals import BoundedTurns, GoalBounds, GoalRun
from zkchat.chat.memory import Memory
from zkchat.core.events import ChangesReviewed, Event, Goal, GoalEnded, StepFinished, StepStarted, TextDelta, Warned
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, ModelInfo, ModelRequest, TextChunk, ToolRequested
from zkchat.core.session import GoalEntry
from zkchat.index.library import Library
from zkchat.writing.proposals import Proposals

NOTES = {
    "Sleep.md": "# Sleep\n\nAdults need seven to nine hours.\n",
    "Secret.md": "---\nzkchat: local\n---\nThe code is 4711.\n",
    "Clip.md": "---\nsource: https://example.org/x\n---\nBuy now.\n",
}
PLAN = "1. Read.\n2. Append.\n3. Tell."
Call = tuple[str, str]


class Playing:
    """A model that gives one answer after the other: a text, or a call of a tool by name and arguments."""

    def __init__(self, *answers: str | Call, on_this_machine: bool = True, call_id: str = "", **info: Any) -> None:
        fields = {"context_limit": 8000, "calls_tools": True, **info}
        self.info = ModelInfo(provider="playing", id="x", on_this_machine=on_this_machine, **fields)
        self.requests: list[ModelRequest] = []
        self._answers = [*answers]
        self._call_id = call_id

    async def connect(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, tuple):
            name, arguments = answer
            call_id = self._call_id or f"c{len(self.requests)}"
            yield ToolRequested(call=ToolCallPart(call_id=call_id, name=name, arguments=arguments))
            yield Finish(reason="tool_calls")
            return
        for word in answer.split(" "):
            yield TextChunk(text=f"{word} ")
        yield Finish()

    def asked(self, number: int) -> str:
        """The last message of a request, as the model got it."""
        return self.requests[number].messages[-1].text


def append(text: str) -> Call:
    return "append", f'{{"text": "{text}"}}'


def read(path: str) -> Call:
    return "read_document", f'{{"relative_path": "{path}"}}'


def goal_run(talk: Conversation, library: Library, **more: Any) -> GoalRun:
    ids = count(1)
    fields = {"now": lambda: NOON, "new_id": lambda: f"g{next(ids)}", "check": GoalChecker(talk, library).check, **more}
    return GoalRun(conversation=talk, **fields)


def goal_of(talk: Conversation) -> Goal:
    goal = talk.history.goal
    assert goal
    return goal


def states(talk: Conversation) -> list[str]:
    return [step.state for step in goal_of(talk).steps]


def resumed(library: Library, store: SessionsInMemory, model: Playing, **more: Any) -> Conversation:
    (session,) = store.sessions()
    return conversation_over(library, store, model, session=session, **more)


def test_each_request_tells_the_step_and_what_came_of_the_steps_before_it(library: Library) -> None:
    model = Playing(PLAN, "Adults need seven to nine hours.\nDONE: seven to nine", "BLOCKED: no tool", "Told.", "All.")
    events_of(goal_run(conversation_over(library, None, model), library).start("Learn about sleep"))
    assert model.asked(0).endswith("\n\nLearn about sleep")
    assert "numbered list of at most 12 steps" in model.asked(0)
    assert model.requests[0].tools == () != model.requests[1].tools
    third = model.asked(3)
    assert "[x] 1. Read.\n    result: seven to nine\n[-] 2. Append.\n    blocked: no tool\n[ ] 3. Tell. (now)" in third
    assert third.endswith("Step 3:\n\nTell.")
    assert "What came of the steps" in model.asked(4)
    assert model.requests[4].tools == ()
    # What was told beside one message is not sent with the next.
    assert not any("(now)" in message.text for message in model.requests[3].messages[:-1])


def test_a_run_that_is_closed_inside_a_step_keeps_its_part_and_begins_the_step_again(library: Library) -> None:
    store = SessionsInMemory()
    talk = conversation_over(library, store, Playing(PLAN, "One.", "Half of the"))

    def is_inside(event: Event) -> bool:
        return isinstance(event, TextDelta) and event.text.strip() == "of"

    until(goal_run(talk, library).start("Do it"), is_inside)
    assert states(talk) == ["done", "open", "open"]
    last = talk.history.last
    assert last is not None
    assert (last.text, last.status) == ("Half of ", "unfinished")
    assert (goal_of(talk).state, goal_of(talk).reason) == ("stopped", "It was interrupted.")
    spent = goal_of(talk).tokens
    again = resumed(library, store, Playing("Two.", "Three.", "All."))
    events = events_of(goal_run(again, library, bounds=GoalBounds(tokens=4 * spent)).resume())  # which begin anew
    assert [event.number for event in events if isinstance(event, StepStarted)] == [2, 3]
    assert goal_of(again).state == "done"
    assert goal_of(again).tokens > 2 * spent > 0, "the whole is counted"


def test_after_a_crash_the_last_stored_state_counts(library: Library) -> None:
    """Whatever entry is the last one on disk, a resumed run ends with all steps done."""
    whole = SessionsInMemory()
    talk = conversation_over(library, whole, Playing(PLAN, "One.", "Two.", "Three.", "All."))
    events_of(goal_run(talk, library).start("Do it"))
    entries = whole.entries(talk.session_id)
    places = [place for place, entry in enumerate(entries, start=1) if isinstance(entry.body, GoalEntry)]
    assert len(places) >= 5
    for place in places[:-1]:
        store = SessionsInMemory()
        store.append(store.create().id, [entry.body for entry in entries[:place]])
        again = resumed(
            library, store, Playing(*["1. Read.\n2. Append.\n3. Tell."][: place == places[0]], *["Said."] * 4)
        )
        events_of(goal_run(again, library).resume())
        assert (states(again), goal_of(again).state) == (["done"] * 3, "done")


def test_a_model_that_is_silent_is_stopped_in_time(library: Library) -> None:
    class Silent(Playing):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
            if self._answers:
                async for chunk in super().stream(request):
                    yield chunk
            else:
                await asyncio.Event().wait()

    run = goal_run(conversation_over(library, None, Silent(PLAN)), library, bounds=GoalBounds(minutes=0.002))

    async def play() -> list[Event]:
        async with asyncio.timeout(20):
            return [event async for event in run.start("Do it")]

    ended = asyncio.run(play())[-1]
    assert isinstance(ended, GoalEnded)
    assert ended.goal.reason == "The time is up: 0.002 minutes."


def test_a_model_that_is_too_small_to_plan_answers_the_questions_of_a_goal_one_by_one(library: Library) -> None:
    model = Playing("Seven to nine hours.", "Naps last 20 minutes.", calls_tools=False, needs_evidence=True)
    talk = conversation_over(library, None, model)
    events = events_of(goal_run(talk, library).start("Find out how many hours adults need, and how long a nap is"))
    ended = events[-1]
    assert [request.messages[-1].text.rpartition("Question: ")[2] for request in model.requests] == [
        "Find out how many hours adults need",
        "how long a nap is",
    ]
    assert isinstance(ended, GoalEnded)
    assert ended.goal.state == "done"
    assert ended.result.index("Seven") < ended.result.index("Naps")
    talk = conversation_over(library, None, Playing("Seven hours.", calls_tools=False, needs_evidence=True))
    events = events_of(goal_run(talk, library).start("How many hours do adults need?"))
    assert any(isinstance(event, Warned) and "too small to make a plan" in event.text for event in events)
    assert states(talk) == ["done"]


def test_a_plan_that_rests_on_local_notes_is_not_sent_elsewhere(library: Library, store: SessionsInMemory) -> None:
    talk = conversation_over(library, store, Playing("1. Type 4711.\n2. Tell.", "One."))
    until(goal_run(talk, library).start("Use [[Secret]]"), lambda event: isinstance(event, StepFinished))
    elsewhere = Playing("Two.", "All.", on_this_machine=False)
    ended = events_of(goal_run(resumed(library, store, elsewhere), library).resume())[-1]
    assert isinstance(ended, GoalEnded)
    assert "uses private notes" in ended.goal.reason
    assert elsewhere.requests == []


def test_a_long_run_fits_into_a_small_window(library: Library) -> None:
    plan = "".join(f"{number}. Find out {'what there is ' * 20}on {number}.\n" for number in range(1, 5))
    answers = [f"{'Adults need sleep and rest. ' * 40}\nDONE: {'a long result ' * 40}" for _ in range(4)]
    model = Playing(plan, *answers, "All.", context_limit=2048, calls_tools=False)
    talk = conversation_over(library, None, model, policy=Policy(strategy="discard"))
    ended = events_of(goal_run(talk, library, bounds=GoalBounds(tokens=10**6)).start("Learn"))[-1]
    assert isinstance(ended, GoalEnded)
    assert (ended.goal.state, ended.goal.reason) == ("done", "")
    assert states(talk) == ["done"] * 4


def test_the_time_that_the_user_takes_is_not_the_time_of_the_run(library: Library) -> None:
    seconds = count()
    hours = [0]

    class Slow:
        async def review(self, steps: Sequence[str], _most: int) -> Sequence[str]:
            hours[0] += 1
            return steps

    talk = conversation_over(library, None, Playing(PLAN, "One.", "Two.", "Three.", "All."))
    run = goal_run(
        talk, library, plan_reviewer=Slow(), now=lambda: NOON + timedelta(hours=hours[0], seconds=next(seconds))
    )
    events_of(run.start("Do it"))
    assert goal_of(talk).state == "done"
    assert goal_of(talk).seconds < 600
    turns = BoundedTurns(talk, GoalBounds(), lambda: NOON + timedelta(hours=hours[0]))
    for _ in range(2):
        with turns.paused():
            hours[0] += 1
    assert not turns.time


def writing(
    library: Library, store: SessionsInMemory | None, vault: AppendingVault, reviewer: Answering | None, *answers: Any
) -> Conversation:
    model = Playing(*answers)
    if store and store.sessions():
        return resumed(library, store, model, proposals=vault.proposing(reviewer))
    return conversation_over(library, store, model, proposals=vault.proposing(reviewer))


WRITES: Sequence[Any] = (PLAN, append("one"), "One.", append("two"), "Two.", "Three.", "All.")


def reviews(events: list[Event]) -> list[ChangesReviewed]:
    return [event for event in events if isinstance(event, ChangesReviewed)]


def test_what_a_run_proposes_is_one_change_set_reviewed_at_its_end(library: Library) -> None:
    vault, reviewer = AppendingVault(), Answering(yes)
    talk = writing(library, None, vault, reviewer, *WRITES)
    events = events_of(goal_run(talk, library).start("Write"))
    assert len(reviewer.asked) == len(vault.store.journal) == 1
    assert vault.store.files["Sleep.md"] == b"# Sleep\none\ntwo\n"
    (review,) = reviews(events)
    assert events.index(review) == len(events) - 2
    origin = vault.store.journal[0].origin
    assert (origin.command, origin.session_id, origin.message_id) == ("goal", talk.session_id, talk.messages[-1].id)
    assert talk.writing.proposals is not None
    assert not talk.writing.proposals.is_deferred
    assert not any(isinstance(event, Warned) for event in events), "the plan is made without tools all the same"


def test_or_after_each_step(library: Library) -> None:
    vault, store = AppendingVault(), SessionsInMemory()
    talk = writing(library, store, vault, Answering(yes, no), *WRITES)
    steps = count(1)

    def is_third(event: Event) -> bool:
        return isinstance(event, StepStarted) and next(steps) == 3

    events = until(goal_run(talk, library, review="step").start("Write"), is_third)
    assert [review.decision for review in reviews(events)] == ["applied", "declined"]
    assert vault.store.files["Sleep.md"] == b"# Sleep\none\n"
    again = writing(library, store, vault, Answering(), "Three.", "All.")
    assert reviews(events_of(goal_run(again, library).resume())) == [], "what was decided on is not proposed again"
    assert vault.store.files["Sleep.md"] == b"# Sleep\none\n"


def test_a_bound_has_what_is_proposed_so_far_reviewed(library: Library) -> None:
    vault, reviewer = AppendingVault(), Answering(yes)
    talk = writing(library, None, vault, reviewer, *WRITES[:4], "BLOCKED: no", "BLOCKED: no")
    ticks = count()
    bounds = GoalBounds(minutes=40 / 60)
    run = goal_run(talk, library, bounds=bounds, now=lambda: NOON + timedelta(seconds=next(ticks)))
    events = events_of(run.start("Write"))
    assert (goal_of(talk).state, goal_of(talk).reason) == ("stopped", "The time is up: 0.666667 minutes.")
    assert goal_of(talk).settled < 3
    assert isinstance(events[-1], GoalEnded)
    assert any(events[-1].summaries)
    assert events[-1].result == "", "what came of some steps is not the result"
    assert [review.decision for review in reviews(events)] == ["applied"]


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_nobody_decided_on_before_a_stop_is_proposed_again(library: Library, is_killed: bool) -> None:
    vault, store = AppendingVault(), SessionsInMemory()
    model = Playing(PLAN, ("append", "{}"), *WRITES[1:], call_id="0")
    talk = conversation_over(library, store, model, proposals=vault.proposing(Answering()))
    steps = count(1)

    def is_second(event: Event) -> bool:
        return isinstance(event, StepFinished) and next(steps) == 2

    until(goal_run(talk, library).start("Write"), is_second)
    assert talk.writing.proposals is not None
    assert not talk.writing.proposals.is_deferred
    assert vault.store.files["Sleep.md"] == b"# Sleep\n"
    if is_killed:  # then neither the drop nor the stop is on disk
        (rows,) = store.rows.values()
        del rows[-2:]
    reviewer = Answering(yes)
    again = writing(library, store, vault, reviewer, "Three.", "All.")
    events = events_of(goal_run(again, library).resume())
    warnings = [event.text for event in events if isinstance(event, Warned)]
    assert "Proposed again, because not yet reviewed: 2 changes." in warnings
    assert vault.store.files["Sleep.md"] == b"# Sleep\none\ntwo\n"


def test_a_clipping_that_was_read_in_an_earlier_step_calls_for_a_question(library: Library) -> None:
    vault, reviewer = AppendingVault(), Answering(no)
    answers = (PLAN, read("Clip.md"), "Read.", append("bought"), "Two.", "Three.", "All.")
    talk = writing(library, None, vault, reviewer, *answers)
    assert isinstance(talk.writing.proposals, Proposals)
    talk.writing.proposals.always.add("")
    events_of(goal_run(talk, library).start("Write"))
    assert reviewer.remarks == ["The text of Clip.md, from the web, may have led the model to do this."]
    assert vault.store.files["Sleep.md"] == b"# Sleep\n"


def test_what_the_run_wrote_itself_does_not_speak_for_it(own_library: Library, tmp_path: Path) -> None:
    talk = conversation_over(
        own_library, None, Playing(PLAN, read("Sleep.md"), "Everybody should nap daily.", "Two.", "Three.", "All.")
    )
    run = goal_run(talk, own_library, review="step")
    seen: list[Event] = []

    async def play() -> None:
        async for event in run.start("Write"):
            seen.append(event)
            if isinstance(event, StepStarted) and event.number == 2:
                (tmp_path / "vault" / "Sleep.md").write_text("Everybody should nap daily.\n")

    asyncio.run(play())
    ended = seen[-1]
    assert isinstance(ended, GoalEnded)
    assert ended.check.steps[0].unsupported == ("Everybody should nap daily.",)


def test_the_words_of_the_model_are_not_learned_as_those_of_the_user(library: Library) -> None:
    model = Playing("1. I prefer tea to coffee in the morning.", "Noted.")
    talk = conversation_over(library, None, model, memory=Memory(MemoriesInMemory(), Relevance(), lambda: NOON))
    events_of(goal_run(talk, library).start("Plan my day"))
    assert talk.worth_keeping(talk.messages) == []


def test_the_marks_of_the_protocol_are_stored_and_not_shown(library: Library) -> None:
    answers = ["Two notes.\nDONE: two notes", "BLOCKED: no tool", "DONE: told", "All.\nDONE"]
    talk = conversation_over(library, None, Playing(PLAN, *answers))
    events = events_of(goal_run(talk, library).start("Do it"))
    seen = [event.text.strip() for event in events if isinstance(event, TextDelta)]
    assert seen == ["Two", "notes.", "told", "All."]
    assert [message.text.strip() for message in talk.messages if message.role == "assistant"][1:] == answers
    assert goal_run(talk, library).summaries(goal_of(talk)) == ["two notes", "no tool", "told"]


def test_whatever_ends_a_run_nothing_of_it_stays_staged(library: Library) -> None:
    def fail(_goal: Goal) -> Any:
        raise RuntimeError("broken")

    talk = writing(library, None, AppendingVault(), Answering(), *WRITES)
    with pytest.raises(RuntimeError):
        events_of(goal_run(talk, library, check=fail, review="step").start("Write"))
    assert isinstance(talk.writing.proposals, Proposals)
    assert not talk.writing.proposals.staged
    assert not talk.writing.proposals.is_deferred
    assert goal_of(talk).state == "stopped"


@pytest.mark.parametrize("minutes", [10.0**300, float("inf")])
def test_a_bound_beyond_any_clock_is_none(minutes: float) -> None:
    assert GoalBounds(minutes=minutes).reason_to_stop(tokens=0, elapsed=timedelta(days=300)) == ""
