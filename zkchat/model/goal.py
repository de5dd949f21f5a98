"""Goals that a model works towards in steps: the plan, what became of each step, and the check of the result."""

from typing import Final, Literal

from zkchat.model.message import Value

DEFAULT_STEPS: Final = 12
DEFAULT_TOKENS: Final = 200_000
DEFAULT_MINUTES: Final = 30

StepState = Literal["open", "done", "blocked"]
GoalState = Literal["running", "done", "stopped"]


class GoalStep(Value):
    text: str
    state: StepState = "open"
    reason: str = ""
    """Why it is blocked."""
    message_id: str = ""
    """The answer that did it."""
    reviewed: bool = False
    """Whether the user has decided on the changes that it proposed, if any."""


class Goal(Value):
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

    @property
    def next_step(self) -> int | None:
        """The number, from 1, of the first step that is open."""
        return next((number for number, step in enumerate(self.steps, start=1) if step.state == "open"), None)

    @property
    def settled(self) -> int:
        """How many steps are done or blocked."""
        return sum(step.state != "open" for step in self.steps)

    @property
    def is_finished(self) -> bool:
        return self.state == "done"

    def with_plan(self, steps: tuple[str, ...], plan_id: str) -> "Goal":
        return self.model_copy(
            update={"steps": tuple(GoalStep(text=text) for text in steps), "plan_id": plan_id or self.plan_id}
        )

    def with_step(self, number: int, state: StepState, *, message_id: str = "", reason: str = "") -> "Goal":
        """The goal after a step, by its number from 1, was settled."""
        before = self.steps[number - 1]
        after = before.model_copy(update={"state": state, "message_id": message_id, "reason": reason})
        return self.model_copy(update={"steps": (*self.steps[: number - 1], after, *self.steps[number:])})

    def all_reviewed(self) -> "Goal":
        """The goal once the changes that its settled steps proposed are decided on."""
        steps = tuple(
            step if step.state == "open" else step.model_copy(update={"reviewed": True}) for step in self.steps
        )
        return self.model_copy(update={"steps": steps})


class Support(Value):
    """A sentence of an answer that stands in a note."""

    text: str
    path: str
    line: int
    exact: bool
    """Word for word, and not only nearly."""


class AnswerSupport(Value):
    """Which sentences of an answer stand in notes."""

    supported: tuple[Support, ...] = ()
    unsupported: tuple[str, ...] = ()


class GoalCheck(Value):
    """The results of a goal compared with the notes that the model was given."""

    steps: tuple[AnswerSupport, ...] = ()
    """One for each step of the plan; empty for a step without a result."""
    result: AnswerSupport = AnswerSupport()
