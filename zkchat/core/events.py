"""The events of a turn and of a goal run, as consumers get them. docs/events.md lists them."""

from collections.abc import Collection
from typing import Final, Literal

from msgspec.structs import replace

from zkchat.core.choices import CompactionStrategy, ContextUsage, Decision, ReviewTime, TokenUsage
from zkchat.core.message import ChatMessage, DocumentReference, Evidence, RequestContext
from zkchat.core.values import Tagged, Value

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
    """Whether the model may propose changes to notes, also when the run goes on."""
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


class LinksResolved(Tagged, frozen=True, kw_only=True, tag="links_resolved"):
    """The links of the user's message, looked up."""

    references: tuple[DocumentReference, ...]


class EvidenceFound(Tagged, frozen=True, kw_only=True, tag="evidence"):
    """The passages of notes that go along, best first; where none answers, those that come nearest, and the words that
    were looked for."""

    evidence: tuple[Evidence, ...]
    nearest: tuple[Evidence, ...] = ()
    is_doubtful: bool = False
    searched_for: tuple[str, ...] = ()


class PromptReady(Tagged, frozen=True, kw_only=True, tag="prompt_ready"):
    """The request is built and the user's message is on disk. `is_provisional`: another answer may replace the next.
    `context`: what it holds, and what was left out."""

    message_id: str
    usage: ContextUsage
    is_provisional: bool = False
    context: RequestContext | None = None


class TextDelta(Tagged, frozen=True, kw_only=True, tag="text"):
    """The next piece of the answer."""

    text: str


class Remarked(Tagged, frozen=True, kw_only=True, tag="remark"):
    """A sentence about the answer that is no part of it, such as that it is in doubt. It is not kept. `is_heading`: it
    only says where the next part is from."""

    text: str
    is_heading: bool = False


class ThinkingDelta(Tagged, frozen=True, kw_only=True, tag="thinking"):
    """The next piece of what the model thinks before it answers."""

    text: str


class ToolStarted(Tagged, frozen=True, kw_only=True, tag="tool_started"):
    """The model asked for a tool, which now runs."""

    call_id: str
    name: str
    arguments: str
    server: str = ""
    """The MCP server that the arguments are sent to; empty for one of zkchat's own tools."""


class ToolFinished(Tagged, frozen=True, kw_only=True, tag="tool_finished"):
    """The tool is done; `summary` says with what, in a few words."""

    call_id: str
    name: str
    summary: str
    failed: bool = False


class ReferenceFound(Tagged, frozen=True, kw_only=True, tag="reference"):
    """A document that a search or a tool brought up."""

    reference: DocumentReference


class UsageReported(Tagged, frozen=True, kw_only=True, tag="usage"):
    """What the model's server counted for one request."""

    usage: TokenUsage


class Notice(Tagged, frozen=True, kw_only=True):
    """An event that presenters show as a line beside the answer; `render.phrases.notice` words it."""


class ResourceRead(Notice, frozen=True, kw_only=True, tag="resource_read"):
    """What a message names as `@server:uri` was read from that MCP server, and so many characters of it go along."""

    server: str
    uri: str
    characters: int


class ContextFilling(Notice, frozen=True, kw_only=True, tag="context_filling"):
    """The request takes so much of the window, told once at 60 and once at 80 per cent, and again only after a
    compaction. Above `compacts_at` tokens older messages leave; 0 where they do not by themselves."""

    total: int
    window: int
    compacts_at: int = 0


class Compacting(Notice, frozen=True, kw_only=True, tag="compacting"):
    """The prompt is too full: so many messages leave it, and a summary of them is being made where the `strategy` makes
    one."""

    messages: int
    tokens: int
    strategy: CompactionStrategy = "summarize"


class Compacted(Notice, frozen=True, kw_only=True, tag="compacted"):
    """Older messages left the prompt; `message` marks the place."""

    message: ChatMessage


class ChangesReviewed(Notice, frozen=True, kw_only=True, tag="changes_reviewed"):
    """What became of the changes to notes that the answer proposed: `applied`, `declined`, `kept` (shown, and written
    nowhere; `reason` says why) or `dropped` with a turn that failed. `record` is their number in the journal, `diff`
    the patch, `exit_code` that of a command which was to apply them. `stops`: the user wants nothing more of what made
    the proposal."""

    message_id: str
    decision: Decision
    title: str
    paths: tuple[str, ...]
    edited: bool = False
    record: int | None = None
    reason: str = ""
    diff: str = ""
    exit_code: int = 0
    stops: bool = False


class Warned(Tagged, frozen=True, kw_only=True, tag="warning"):
    """Something is not as it should be, and the turn goes on."""

    text: str
    hint: str = ""


class AnswerReplaced(Tagged, frozen=True, kw_only=True, tag="replaced"):
    """The text so far contradicts the notes, and is kept as the message named here. What follows is the answer."""

    message_id: str


class TurnFinished(Tagged, frozen=True, kw_only=True, tag="finished"):
    """The answer is complete and on disk. `usage` is what its request took, `next_usage` what the next one will take
    before its question. `abstained` says that it is no answer: your notes say nothing about this. `cut_off`: the model
    ran out of room. `cost` is in dollars."""

    message: ChatMessage
    usage: ContextUsage
    next_usage: ContextUsage | None = None
    abstained: bool = False
    cut_off: bool = False
    cost: float | None = None


class TurnFailed(Tagged, frozen=True, kw_only=True, tag="failed"):
    """No whole answer. What had arrived is kept as an unfinished message."""

    text: str
    hint: str = ""
    exit_code: int = 1
    message: ChatMessage | None = None


class GoalPlanned(Tagged, frozen=True, kw_only=True, tag="goal_planned"):
    """The plan of a goal run, as it is proposed, was edited, or is gone on with."""

    goal: Goal


class StepStarted(Tagged, frozen=True, kw_only=True, tag="step_started"):
    """A step of a goal run begins; the events of its turn follow."""

    number: int
    total: int
    text: str


class StepFinished(Tagged, frozen=True, kw_only=True, tag="step_finished"):
    """A step of a goal run is `done`, or `blocked` or `declined` for a `reason`, and that is on disk."""

    number: int
    total: int
    text: str
    state: StepState
    reason: str = ""


class GoalEnded(Tagged, frozen=True, kw_only=True, tag="goal_ended"):
    """A goal run ended, with a result or a reason. `summaries` are what came of the steps, `check` where sentences of
    the results stand in notes, `hint` how to go on. A run that is closed emits none; its session has its
    state."""

    goal: Goal
    result: str = ""
    summaries: tuple[str, ...] = ()
    check: GoalCheck = GoalCheck()
    session_id: str = ""
    hint: str = ""
    exit_code: int = 0


GoalEvent = GoalPlanned | StepStarted | StepFinished | GoalEnded

Event = (
    LinksResolved
    | EvidenceFound
    | PromptReady
    | TextDelta
    | Remarked
    | ThinkingDelta
    | ToolStarted
    | ToolFinished
    | ReferenceFound
    | UsageReported
    | ResourceRead
    | ContextFilling
    | Compacting
    | Compacted
    | ChangesReviewed
    | Warned
    | AnswerReplaced
    | TurnFinished
    | TurnFailed
    | GoalPlanned
    | StepStarted
    | StepFinished
    | GoalEnded
)
