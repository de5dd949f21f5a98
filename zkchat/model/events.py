"""The events of a turn, as consumers get them while it runs. docs/events.md lists them."""

from zkchat.model.change import Decision
from zkchat.model.evidence import Evidence
from zkchat.model.goal import Goal, GoalCheck, StepState
from zkchat.model.message import ChatMessage
from zkchat.model.references import DocumentReference
from zkchat.model.request_context import RequestContext
from zkchat.model.usage import ContextUsage, TokenUsage
from zkchat.model.values import Tagged


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


class Compacting(Notice, frozen=True, kw_only=True, tag="compacting"):
    """The prompt is too full: so many messages leave it, and a summary of them is being made."""

    messages: int
    tokens: int


class Compacted(Notice, frozen=True, kw_only=True, tag="compacted"):
    """Older messages left the prompt; `message` marks the place."""

    message: ChatMessage


class ChangesReviewed(Notice, frozen=True, kw_only=True, tag="changes_reviewed"):
    """What became of the changes of notes that the answer proposed: `applied`, `declined`, `kept` (shown, and written
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
    before its question. `abstained` says that it is no answer: the notes hold nothing on this. `cut_off`: the model ran
    out of room."""

    message: ChatMessage
    usage: ContextUsage
    next_usage: ContextUsage | None = None
    abstained: bool = False
    cut_off: bool = False


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
