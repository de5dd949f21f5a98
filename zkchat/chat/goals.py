"""A goal run: the plan, its steps as turns of the conversation, and the result, within bounds.

The state of a goal is an entry of the session after each step, so that a run that was stopped, or killed, goes on from
the first open step.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.chat.agents import split_address
from zkchat.chat.change_settlement import calls_with_results
from zkchat.chat.conversation import Conversation
from zkchat.chat.core import Emit, event_stream
from zkchat.chat.goal_plan import (
    ASK_FOR_RESULT,
    StepAnswer,
    parse_answer,
    parse_plan,
    plan_brief,
    result_brief,
    step_brief,
    without_answer,
    without_mark,
)
from zkchat.chat.question import Question
from zkchat.chat.tools.readings import is_from_web
from zkchat.core import (
    DECIDED,
    DEFAULT_GOAL_MINUTES,
    DEFAULT_GOAL_STEPS,
    DEFAULT_GOAL_TOKENS,
    Brief,
    ChangesReviewed,
    ChatMessage,
    Event,
    ExitCode,
    Goal,
    GoalCheck,
    GoalEnded,
    GoalPlanned,
    PromptReady,
    ReviewTime,
    StepFinished,
    StepStarted,
    ToolCallPart,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    UsageError,
    Warned,
    counted,
    spent,
    turn_of,
)


class GoalBounds(Struct, frozen=True, kw_only=True):
    steps: int = DEFAULT_GOAL_STEPS
    """Of the plan; what the model plans beyond them is left out."""
    tokens: int = DEFAULT_GOAL_TOKENS
    """Of all requests and answers together."""
    minutes: float = DEFAULT_GOAL_MINUTES

    @property
    def time(self) -> timedelta:
        return timedelta(minutes=min(self.minutes, 365 * 24 * 60))  # more is no bound, and more than a clock can count

    def reason_to_stop(self, *, tokens: int, elapsed: timedelta, next_request: int = 0) -> str:
        """Why a run that used so much may not make a request of so many tokens, as a sentence; empty where it may."""
        if elapsed >= self.time:
            return f"The time is up: {self.minutes:g} minutes."
        if tokens + next_request > self.tokens:
            used = f"{tokens:,} of {self.tokens:,} tokens are used"
            needs = f", and the next request takes about {next_request:,}" if tokens < self.tokens else ""
            return f"The token limit is reached: {used}{needs}."
        return ""


@dataclass
class Stopped(Exception):
    """The run ends before its goal is reached."""

    reason: str
    exit_code: int = ExitCode.NO_ANSWER


class BoundedTurns:
    """Runs turns of a conversation within bounds, from what is there when it is made."""

    def __init__(self, conversation: Conversation, bounds: GoalBounds, now: Callable[[], datetime]) -> None:
        self._conversation = conversation
        self._bounds = bounds
        self._now = now
        self._known = frozenset(conversation.history.messages)
        self._began = now()
        self._paused = timedelta()
        self._request = 0
        """Tokens of the last request."""

    @property
    def tokens(self) -> int:
        """Of all requests and answers so far."""
        messages = self._conversation.history.messages
        usages = (spent(message) for id_, message in messages.items() if id_ not in self._known)
        return sum(usage.prompt_tokens + usage.completion_tokens for usage in usages if usage)

    @property
    def time(self) -> timedelta:
        return self._now() - self._began - self._paused

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While the user is asked: nobody is hurried by a bound."""
        began = self._now()
        try:
            yield
        finally:
            self._paused += self._now() - began

    async def run(self, text: str, brief: Brief, emit: Emit) -> ChatMessage:
        """A turn of the conversation, up to its answer. Raises `Stopped` where a bound or an error ends it."""
        usage, tokenizer = self._conversation.usage, self._conversation.tokenizer
        self._request = (usage.total if usage else 0) + tokenizer.count(f"{brief.text} {text}")
        self._heed_bounds()
        answer: ChatMessage | None = None
        async with aclosing(self._conversation.say_briefed(text, brief)) as events:
            while (event := await self._next(events)) is not None:
                await emit(event)
                match event:
                    case PromptReady():
                        self._request = event.usage.total
                    case ToolFinished():
                        self._heed_bounds()
                    case TurnFailed():
                        raise Stopped(event.text, event.exit_code)
                    case TurnFinished():
                        answer = event.message
                    case _ if self.time >= self._bounds.time:
                        raise self._time_is_up()
        if answer is None:
            raise Stopped("No answer came.")
        return answer

    async def _next(self, events: AsyncGenerator[Event, None]) -> Event | None:
        """The next event, if it comes in time."""
        waiting = asyncio.timeout(max(0.0, (self._bounds.time - self.time).total_seconds()))
        try:
            async with waiting:
                return await anext(events, None)
        except TimeoutError:
            if not waiting.expired():
                raise
            raise self._time_is_up() from None

    def _time_is_up(self) -> Stopped:
        return Stopped(self._bounds.reason_to_stop(tokens=0, elapsed=self._bounds.time))

    def _heed_bounds(self) -> None:
        if reason := self._bounds.reason_to_stop(tokens=self.tokens, elapsed=self.time, next_request=self._request):
            raise Stopped(reason)


INTERRUPTED: Final = "It was interrupted."


class PlanReviewer(Protocol):
    async def review(self, steps: Sequence[str], most: int) -> Sequence[str] | None:
        """Ask the user whether this plan is worked on: the steps as the user wants them, or None to stop."""


class GoalRun(Struct, kw_only=True):
    """Works on one goal of a conversation at a time."""

    conversation: Conversation
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    bounds: GoalBounds = field(default_factory=GoalBounds)
    plan_reviewer: PlanReviewer | None = None
    check: Callable[[Goal], GoalCheck] = lambda _: GoalCheck()
    """Compares the results of a goal with the notes."""
    review: ReviewTime | None = None
    """When the user reviews what the model proposes to change; None for when the goal says."""
    way_back: Callable[[str], str] = lambda _: ""
    """How to go on with a goal that was stopped, given the session."""

    @property
    def goal(self) -> Goal | None:
        """The last goal of the session."""
        return self.conversation.history.goal

    def start(self, text: str) -> AsyncGenerator[Event, None]:
        """The events of working on a new goal. Raises `UsageError` where the model cannot."""
        self._require_model()
        goal = text.strip()
        if not goal:
            raise UsageError("There is no goal.", hint='Give one: zkchat ask --goal "List what I wrote about sleep"')
        return event_stream(partial(self._run, Goal(id=self.new_id(), text=goal)))

    def resume(self) -> AsyncGenerator[Event, None]:
        """The events of going on with the goal of the session. Raises `UsageError` where none is left to go on with."""
        self._require_model()
        goal = self.goal
        if goal is None:
            raise UsageError("There is no goal in this session.", hint='Start one: zkchat ask --goal "…", or /goal …')
        if not goal.can_go_on:
            raise UsageError("The goal of this session is finished.", hint="/goal … starts another one.")
        return event_stream(partial(self._run, goal))

    def _require_model(self) -> None:
        model = self.conversation.model
        if model.needs_notes:
            raise UsageError(
                f"{model.shown} only quotes notes, and cannot work on a goal.",
                hint="Choose another model: /model in a chat, --model NAME in a shell. `zkchat models` lists them.",
            )

    async def _run(self, goal: Goal, emit: Emit) -> None:
        work = _Work(self, goal.running(self.review))
        with work.changes.deferred(goal.writes):
            try:
                try:
                    await work.run(emit)
                except Stopped as stopped:
                    work.exit_code = stopped.exit_code
                    await work.end(emit, stopped.reason)
            except BaseException:
                # The calls that staged it are in the session.
                cut_short = "The run was interrupted; the changes are proposed again when it continues."
                self.conversation.writing.drop(cut_short)
                work.keep(state="stopped", reason=INTERRUPTED)
                raise
        await emit(self._ended(work.goal, work.exit_code))

    def ending(self, exit_code: int) -> GoalEnded | None:
        """The end of a run that was interrupted, and could emit nothing more."""
        return self._ended(self.goal, exit_code) if self.goal else None

    def _ended(self, goal: Goal, exit_code: int) -> GoalEnded:
        session_id, result = self.conversation.session_id, self._visible(goal.result_id)
        summaries = self.summaries(goal)
        found = [said for step, said in zip(goal.steps, summaries, strict=True) if step.state == "done" and said]
        review = "You can still review its changes. " if goal.awaits_review else ""
        hint = f"{review}{self.way_back(session_id)}".strip()
        return GoalEnded(
            goal=goal,
            result=parse_answer(result.text).text if result else "\n\n".join(found if goal.is_finished else ()),
            summaries=tuple(summaries),
            check=self.check(goal),
            session_id=session_id,
            hint=hint if goal.can_go_on else "",
            exit_code=exit_code,
        )

    def summaries(self, goal: Goal) -> list[str]:
        """What came of each step, as far as the model may know; empty for those that are open."""
        answers = [self._visible(step.message_id) for step in goal.steps]
        return [
            (step.reason or parse_answer(answer.text).summary) if answer else ""
            for step, answer in zip(goal.steps, answers, strict=True)
        ]

    def _visible(self, message_id: str) -> ChatMessage | None:
        """A message of the session, unless it rests on notes that the model may not know."""
        is_hidden = message_id in self.conversation.hidden_messages
        return None if is_hidden else self.conversation.history.messages.get(message_id)


class _Work:
    """One run of one goal."""

    def __init__(self, run: GoalRun, goal: Goal) -> None:
        self._run = run
        self._talk = run.conversation
        self.goal = goal
        self._before = goal
        """The goal as it was when this run began: its bounds are its own."""
        self._turns = BoundedTurns(self._talk, run.bounds, run.now)
        self.exit_code: int = ExitCode.OK
        self.changes = GoalChanges(self._talk)
        self._may_write_already = self._talk.writing.is_on

    async def run(self, emit: Emit) -> None:
        if self.goal.writes and not self._may_write_already:
            model = self._talk.model.shown
            no_tools = f"This goal may change notes, but {model} cannot: none will be changed."
            again = "The model may propose changes to notes, as when the goal was started."
            await emit(Warned(text=again if self._talk.writing.is_on else no_tools))
        self.goal = replace(self.goal, writes=self.goal.writes or self._talk.writing.is_on)
        await self._keep(emit)
        if not self.goal.steps:
            await self._plan(emit)
        else:  # go on with the plan that there is, and with what was proposed and nobody decided on
            if self.goal.plan_id in self._talk.hidden_messages:
                model = self._talk.model.shown
                raise Stopped(f"The plan uses private notes, and {model} is not on this machine.", ExitCode.USAGE)
            await emit(GoalPlanned(goal=self.goal))
            if not self.goal.settled:
                await self._review_plan(emit)
            if warning := await self.changes.stage_again(self.goal):
                await emit(warning)
        while (number := self.goal.next_step) is not None:
            await self._step(number, emit)
        await self._result(emit)
        await self.end(emit)

    async def end(self, emit: Emit, reason: str = "") -> None:
        """Have what is proposed reviewed, whether or not the goal is reached, and store the goal."""
        if warning := self.keep(state="stopped" if reason else "done", reason=reason):
            await emit(warning)
        await self._settle(emit)

    async def _settle(self, emit: Emit) -> bool:
        """Have what is proposed reviewed; whether the user wants nothing more of the run."""
        self._run.check(self.goal)  # before anything is written
        with self._turns.paused():
            self.goal, reviewed = self.changes.settle(self.goal)
        if reviewed or self.goal.writes:
            await self._keep(emit)
        if reviewed is None:
            return False
        await emit(reviewed)
        self.exit_code = self.exit_code or reviewed.exit_code
        return reviewed.stops

    def keep(self, **changes: object) -> Warned | None:
        spent = {
            "tokens": self._before.tokens + self._turns.tokens,
            "seconds": self._before.seconds + self._turns.time.total_seconds(),
        }
        self.goal = replace(self.goal, **changes, **spent)
        return self._talk.keep_goal(self.goal)

    async def _keep(self, emit: Emit) -> None:
        if warning := self.keep():
            await emit(warning)

    @property
    def _room(self) -> int:
        """Characters of earlier results that go with a request."""
        return int(0.1 * 4 * self._talk.requests.budget.window)  # a tenth of the window

    async def _plan(self, emit: Emit) -> None:
        bounds, model = self._run.bounds, self._talk.model
        plan_id, steps = "", tuple[str, ...]()
        if not model.needs_evidence:
            brief = plan_brief(bounds.steps, writes=self._talk.writing.is_on)
            answer = await self._turns.run(self.goal.text, brief, without_answer(emit))
            plan = parse_plan(answer.text, bounds.steps)
            plan_id, steps = answer.id, plan.steps
            if plan.left_out:
                text = (
                    f"The plan has {bounds.steps + plan.left_out} steps, more than the limit of "
                    f"{counted(bounds.steps, 'step')}: the last {plan.left_out} are left out."
                )
                await emit(Warned(text=text, hint="--steps N allows more."))
        whole = " ".join(self.goal.text.split())
        if not steps and 1 < len(clauses := Question.parse(whole).clauses) <= bounds.steps:
            steps = clauses
        elif not steps:
            what = "is too small to make a plan" if model.needs_evidence else "made no plan that can be read"
            await emit(Warned(text=f"{model.shown} {what}: the goal is worked on in one step."))
            steps = (whole,)
        self.goal = self.goal.with_plan(steps, plan_id)
        await emit(GoalPlanned(goal=self.goal))
        await self._review_plan(emit)
        await self._keep(emit)

    async def _review_plan(self, emit: Emit) -> None:
        reviewer = self._run.plan_reviewer
        while reviewer is not None:
            before = tuple(step.text for step in self.goal.steps)
            with self._turns.paused():
                after = await reviewer.review(before, self._run.bounds.steps)
            if after is None:
                raise Stopped("It was stopped before its first step.")
            if tuple(after) == before:
                return
            self.goal = self.goal.with_plan(tuple(after), "")
            await emit(GoalPlanned(goal=self.goal))

    async def _step(self, number: int, emit: Emit) -> None:
        step, total = self.goal.steps[number - 1], len(self.goal.steps)
        await emit(StepStarted(number=number, total=total, text=step.text))
        brief = Brief(text="")  # a small model would only repeat it
        if not self._talk.model.needs_evidence:
            summaries = self._run.summaries(self.goal)
            brief = step_brief(self.goal, number, summaries, room=self._room, writes=self._talk.writing.is_on)
        answer = await self._turns.run(self._message(step.text), brief, without_mark(emit))
        said = parse_answer(answer.text)
        if answer.abstained:
            said = StepAnswer("blocked", "your notes say nothing about this", answer.text, answer.text)
        reason = said.summary or "no answer came" if said.state == "blocked" else ""
        self.goal = self.goal.with_step(number, said.state, message_id=answer.id, reason=reason)
        await self._keep(emit)
        is_stopped = self.goal.review == "step" and await self._settle(emit)
        if is_stopped:
            self.goal = self.goal.with_declined(number, "you declined its changes")
            await self._keep(emit)
        settled = self.goal.steps[number - 1]
        await emit(StepFinished(number=number, total=total, text=step.text, state=settled.state, reason=settled.reason))
        if is_stopped:
            raise Stopped("It was stopped when its changes were reviewed.")

    def _message(self, step: str) -> str:
        """What a step's message says. A plan of one step is the goal as it was typed."""
        name, _ = split_address(self.goal.text)
        if len(self.goal.steps) == 1 and not self.goal.plan_id:
            return self.goal.text
        return f"@{name} {step}" if name is not None and self._talk.profiles.is_agent(name) else step

    async def _result(self, emit: Emit) -> None:
        done = [step for step in self.goal.steps if step.state == "done"]
        if not done:
            raise Stopped("No step could be done.")
        if self.goal.result_id:
            return  # only its changes were left to be reviewed
        if len(self.goal.steps) == 1:
            self.goal = replace(self.goal, result_id=done[0].message_id)
            return
        if self._talk.model.needs_evidence:
            return  # it would lose what the steps have found
        brief = result_brief(self.goal, self._run.summaries(self.goal), room=2 * self._room)
        answer = await self._turns.run(ASK_FOR_RESULT, brief, without_mark(emit, is_step=False))
        self.goal = replace(self.goal, result_id=answer.id)


class GoalChanges:
    """What one goal run does with the changes to notes that its model proposes."""

    def __init__(self, conversation: Conversation) -> None:
        self._talk = conversation
        self._proposals = conversation.writing.proposals
        self._undecided: set[str] = set()
        """Answers whose changes were to be reviewed in this run, and nobody could: they are staged no longer."""

    @contextmanager
    def deferred(self, wanted: bool) -> Iterator[None]:
        """Let what is staged grow over the turns of a run.

        The model may propose changes in one that is to, and afterwards only if it might before.
        """
        if self._proposals is None:
            yield
            return
        before = self._proposals.is_on
        if wanted and not before:
            self._talk.writing.allow(True)
        self._proposals.is_deferred = True
        try:
            yield
        finally:
            self._proposals.is_deferred = False
            if self._proposals.is_on and not before:
                self._talk.writing.allow(False)

    def settle(self, goal: Goal) -> tuple[Goal, ChangesReviewed | None]:
        """Have all that is staged reviewed as one change set; the goal notes which steps were decided on."""
        for reason in self._reasons_to_ask(goal):
            assert self._proposals is not None
            self._proposals.ask_because(reason)
        reviewed = self._talk.writing.settle(command="goal")
        if reviewed is None:
            return (goal.all_reviewed(self._undecided) if self._talk.writing.is_on else goal), None
        if reviewed.decision in DECIDED:
            goal = goal.all_reviewed(self._undecided)
        else:
            self._undecided |= {step.message_id for step in goal.steps if step.is_settled and not step.reviewed}
        return goal.with_decision(reviewed.decision), reviewed

    async def stage_again(self, goal: Goal) -> Warned | None:
        """Make the calls again that staged what nobody decided on before the run was stopped."""
        if not self._talk.writing.is_on:
            return None
        open_steps = [step for step in goal.steps if step.is_settled and not step.reviewed]
        calls = [call for step in open_steps for call in self._calls(step.message_id)]
        results = [(call, await self._talk.requests.planner.tools.call(call)) for call in calls]
        if not results:
            return None
        refused = [outcome.text for _, outcome in results if outcome.failed]
        text = f"Proposed again, because not yet reviewed: {counted(len(results) - len(refused), 'change')}."
        if refused:
            reason, _, _ = refused[0].partition("\n")
            text += f" {counted(len(refused), 'change')} could not be proposed again. {reason}"
        return Warned(text=text)

    def _calls(self, answer_id: str) -> list[ToolCallPart]:
        """The calls of the turn of an answer that proposed changes, and were not refused."""
        assert self._proposals is not None
        messages = self._talk.history.messages
        turn = turn_of(messages[answer_id], messages) if answer_id in messages else []
        names, answered = self._proposals.tool_names, calls_with_results(turn)
        return [call for call, result in answered if call.name in names and not result.failed]

    def _reasons_to_ask(self, goal: Goal) -> Iterator[str]:
        """A clipping that was first read in the run calls for a question: nobody was there between its steps."""
        if not self._talk.writing.is_on:
            return
        before: set[str] = set()
        during: dict[str, None] = {}
        is_begun = False
        for message in self._talk.messages:
            is_begun = is_begun or (message.role == "user" and message.brief is not None and message.text == goal.text)
            given = [each.relative_path for each in message.references if each.relative_path and each.was_given]
            (during.update(dict.fromkeys(given)) if is_begun else before.update(given))
        for path in during:
            if path not in before and is_from_web(self._talk.library, path):
                yield f"The text of {path}, from the web, may have led the model to do this."
