"""Goals that a model works towards in steps: the plan, what became of each step, and the check of the result."""

from collections.abc import Collection
from typing import Final, Literal

from msgspec.structs import replace

from zkchat.model.change import Decision
from zkchat.model.choices import ReviewTime
from zkchat.model.values import Value

StepState = Literal["open", "done", "blocked", "declined"]
"""`declined`: the user stopped the run when the changes of the step were reviewed; it is done again when it goes on."""
GoalState = Literal["running", "done", "stopped"]
DECIDED: Final[frozenset[Decision]] = frozenset({"applied", "declined"})
"""The decisions after which nobody is asked again."""


class GoalStep(Value, frozen=True, kw_only=True):
    text: str
    state: StepState = "open"
    reason: str = ""
    """Why it is blocked or declined."""
    message_id: str = ""
    """The answer that did it."""
    reviewed: bool = False
    """Whether the user has decided on the changes that it proposed, if any."""

    @property
    def is_settled(self) -> bool:
        return self.state in {"done", "blocked"}


class Goal(Value, frozen=True, kw_only=True):
    """A goal as a session keeps it; the last entry of an id counts."""

    id: str
    text: str
    """As the user typed it."""
    steps: tuple[GoalStep, ...] = ()
    """Empty until there is a plan."""
    state: GoalState = "running"
    reason: str = ""
    """Why it stopped, as a sentence."""
    plan_id: str = ""
    """The answer that holds the plan."""
    result_id: str = ""
    """The answer that holds the result."""
    tokens: int = 0
    """Of all requests and answers so far."""
    seconds: float = 0.0
    writes: bool = False
    """Whether the model may propose changes of notes, also when the run goes on."""
    review: ReviewTime = "end"
    decisions: tuple[Decision, ...] = ()
    """What became of the changes that were proposed, by review."""

    @property
    def next_step(self) -> int | None:
        """The number, from 1, of the first step that is to be done."""
        return next((number for number, step in enumerate(self.steps, start=1) if not step.is_settled), None)

    @property
    def settled(self) -> int:
        """How many steps are done or blocked."""
        return sum(step.is_settled for step in self.steps)

    @property
    def is_finished(self) -> bool:
        return self.state == "done"

    @property
    def awaits_review(self) -> bool:
        """Whether it is finished, and nobody has decided on the changes that it may have proposed."""
        return self.is_finished and self.writes and any(step.is_settled and not step.reviewed for step in self.steps)

    @property
    def can_go_on(self) -> bool:
        return not self.is_finished or self.awaits_review

    def with_plan(self, steps: tuple[str, ...], plan_id: str) -> "Goal":
        return replace(self, steps=tuple(GoalStep(text=text) for text in steps), plan_id=plan_id or self.plan_id)

    def with_step(self, number: int, state: StepState, *, message_id: str = "", reason: str = "") -> "Goal":
        """The goal after a step, by its number from 1, was settled."""
        before = self.steps[number - 1]
        # A step that is done again has its changes reviewed again.
        decisions = self.decisions[:-1] if before.state == "declined" else self.decisions
        after = replace(before, state=state, message_id=message_id, reason=reason, reviewed=False)
        steps = (*self.steps[: number - 1], after, *self.steps[number:])
        return replace(self, steps=steps, decisions=decisions)

    def with_declined(self, number: int, reason: str) -> "Goal":
        """The goal after the user stopped it when the changes of this step, by its number from 1, were reviewed."""
        before = self.steps[number - 1]
        after = replace(before, state="declined", reason=reason, reviewed=True)
        return replace(self, steps=(*self.steps[: number - 1], after, *self.steps[number:]))

    def all_reviewed(self, apart_from: Collection[str] = ()) -> "Goal":
        """The goal once the changes that its settled steps proposed are decided on, but for those of some answers."""
        steps = tuple(
            replace(step, reviewed=True) if step.is_settled and step.message_id not in apart_from else step
            for step in self.steps
        )
        return replace(self, steps=steps)

    def with_decision(self, decision: Decision) -> "Goal":
        """The goal after another review of what it proposed."""
        return replace(self, decisions=(*self.decisions, decision))

    def running(self, review: ReviewTime | None) -> "Goal":
        """The goal as a run begins, or goes on: what nobody could decide on is proposed again."""
        decided = tuple(each for each in self.decisions if each in DECIDED)
        changes = {"state": "running", "reason": "", "review": review or self.review, "decisions": decided}
        return replace(self, **changes)


class Support(Value, frozen=True, kw_only=True):
    """A sentence of an answer that stands in a note."""

    text: str
    path: str
    line: int
    exact: bool
    """Word for word, and not only nearly."""


class AnswerSupport(Value, frozen=True, kw_only=True):
    """Which sentences of an answer stand in notes."""

    supported: tuple[Support, ...] = ()
    unsupported: tuple[str, ...] = ()


class GoalCheck(Value, frozen=True, kw_only=True):
    """The results of a goal compared with the notes that the model was given."""

    steps: tuple[AnswerSupport, ...] = ()
    """One for each step of the plan; empty for a step without a result."""
    result: AnswerSupport = AnswerSupport()
