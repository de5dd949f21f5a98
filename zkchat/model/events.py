"""The events of a turn, as consumers get them while it runs. docs/events.md lists them."""

from typing import Annotated, Literal

from pydantic import Field

from zkchat.model.change import Decision
from zkchat.model.goal import Goal, GoalCheck, StepState
from zkchat.model.message import (
    ChatMessage,
    ContextUsage,
    DocumentReference,
    Evidence,
    RequestContext,
    TokenUsage,
    Value,
)


class LinksResolved(Value):
    """The links of the user's message, looked up."""

    kind: Literal["links_resolved"] = "links_resolved"
    references: tuple[DocumentReference, ...]


class EvidenceFound(Value):
    """The passages of notes that go along, best first; where none answers, those that come nearest."""

    kind: Literal["evidence"] = "evidence"
    evidence: tuple[Evidence, ...]
    nearest: tuple[Evidence, ...] = ()
    is_doubtful: bool = False


class PromptReady(Value):
    """The request is built and the user's message is on disk. `is_provisional`: another answer may replace the next.
    `context`: what it holds, and what was left out."""

    kind: Literal["prompt_ready"] = "prompt_ready"
    message_id: str
    usage: ContextUsage
    is_provisional: bool = False
    context: RequestContext | None = None


class TextDelta(Value):
    """The next piece of the answer."""

    kind: Literal["text"] = "text"
    text: str


class Remarked(Value):
    """A sentence about the answer that is no part of it, such as that it is in doubt. It is not kept. `is_heading`: it
    only says where the next part is from."""

    kind: Literal["remark"] = "remark"
    text: str
    is_heading: bool = False


class ThinkingDelta(Value):
    """The next piece of what the model thinks before it answers."""

    kind: Literal["thinking"] = "thinking"
    text: str


class ToolStarted(Value):
    """The model asked for a tool, which now runs."""

    kind: Literal["tool_started"] = "tool_started"
    call_id: str
    name: str
    arguments: str
    server: str = ""
    """The MCP server that the arguments are sent to; empty for one of zkchat's own tools."""


class ToolFinished(Value):
    """The tool is done; `summary` says with what, in a few words."""

    kind: Literal["tool_finished"] = "tool_finished"
    call_id: str
    name: str
    summary: str
    failed: bool = False


class ReferenceFound(Value):
    """A document that a search or a tool brought up."""

    kind: Literal["reference"] = "reference"
    reference: DocumentReference


class UsageReported(Value):
    """What the model's server counted for one request."""

    kind: Literal["usage"] = "usage"
    usage: TokenUsage


class Notice(Value):
    """An event that presenters show as a line beside the answer; `render.phrases.notice` words it."""


class ResourceRead(Notice):
    """What a message names as `@server:uri` was read from that MCP server, and so many characters of it go along."""

    kind: Literal["resource_read"] = "resource_read"
    server: str
    uri: str
    characters: int


class Compacting(Notice):
    """The prompt is too full: so many messages leave it, and a summary of them is being made."""

    kind: Literal["compacting"] = "compacting"
    messages: int
    tokens: int


class Compacted(Notice):
    """Older messages left the prompt; `message` marks the place."""

    kind: Literal["compacted"] = "compacted"
    message: ChatMessage


class ChangesReviewed(Notice):
    """What became of the changes of notes that the answer proposed: `applied`, `declined`, `kept` (shown, and written
    nowhere; `reason` says why) or `dropped` with a turn that failed. `record` is their number in the journal, `diff`
    the patch, `exit_code` that of a command which was to apply them. `stops`: the user wants nothing more of what made
    the proposal."""

    kind: Literal["changes_reviewed"] = "changes_reviewed"
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


class Warned(Value):
    """Something is not as it should be, and the turn goes on."""

    kind: Literal["warning"] = "warning"
    text: str
    hint: str = ""


class AnswerReplaced(Value):
    """The text so far contradicts the notes, and is kept as the message named here. What follows is the answer."""

    kind: Literal["replaced"] = "replaced"
    message_id: str


class TurnFinished(Value):
    """The answer is complete and on disk. `usage` is what its request took, `next_usage` what the next one will take
    before its question. `abstained` says that it is no answer: the notes hold nothing on this. `cut_off`: the model ran
    out of room."""

    kind: Literal["finished"] = "finished"
    message: ChatMessage
    usage: ContextUsage
    next_usage: ContextUsage | None = None
    abstained: bool = False
    cut_off: bool = False


class TurnFailed(Value):
    """No whole answer. What had arrived is kept as an unfinished message."""

    kind: Literal["failed"] = "failed"
    text: str
    hint: str = ""
    exit_code: int = 1
    message: ChatMessage | None = None


class GoalPlanned(Value):
    """The plan of a goal run, as it is proposed, was edited, or is gone on with."""

    kind: Literal["goal_planned"] = "goal_planned"
    goal: Goal


class StepStarted(Value):
    """A step of a goal run begins; the events of its turn follow."""

    kind: Literal["step_started"] = "step_started"
    number: int
    total: int
    text: str


class StepFinished(Value):
    """A step of a goal run is `done`, or `blocked` or `declined` for a `reason`, and that is on disk."""

    kind: Literal["step_finished"] = "step_finished"
    number: int
    total: int
    text: str
    state: StepState
    reason: str = ""


class GoalEnded(Value):
    """A goal run ended, with a result or a reason. `summaries` are what came of the steps, `check` where sentences of
    the results stand in notes, `hint` how to go on. A run that is closed emits none; its session has its
    state."""

    kind: Literal["goal_ended"] = "goal_ended"
    goal: Goal
    result: str = ""
    summaries: tuple[str, ...] = ()
    check: GoalCheck = GoalCheck()
    session_id: str = ""
    hint: str = ""
    exit_code: int = 0


GoalEvent = GoalPlanned | StepStarted | StepFinished | GoalEnded

Event = Annotated[
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
    | GoalEnded,
    Field(discriminator="kind"),
]
