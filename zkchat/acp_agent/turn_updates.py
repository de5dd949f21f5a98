"""The events of a turn, or of a goal run, as updates of the session."""

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, assert_never

from zkchat.acp_agent import tool_calls
from zkchat.acp_agent.updates import (
    NotePlaces,
    Update,
    notice_chunk,
    plan_of,
    text_chunk,
    thought_chunk,
    usage_of,
)
from zkchat.model.events import (
    AnswerReplaced,
    ChangesReviewed,
    Compacted,
    Compacting,
    Event,
    EvidenceFound,
    GoalEnded,
    GoalEvent,
    GoalPlanned,
    LinksResolved,
    Notice,
    PromptReady,
    ReferenceFound,
    Remarked,
    ResourceRead,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UsageReported,
    Warned,
)
from zkchat.model.goal import Goal
from zkchat.render import checklist, phrases
from zkchat.render.sanitize import sanitize_line

if TYPE_CHECKING:
    from acp.schema import ToolCallLocation

    from zkchat.acp_agent.reviewer import ClientChangeReviewer

REPLACED = "What stands above does not agree with your notes. The answer is what follows."
ASKED_AGAIN = "That was said without a look into your notes. Asked again, with what they say:"


class TurnUpdates:
    """Translates one stream of events. `failure` is how the last turn failed, where it did; `is_cut_off`: the model ran
    out of room in it."""

    _numbers = count(1)
    """Of all turns in this process: models call their calls alike in each turn."""

    def __init__(self, places: NotePlaces, reviewer: "ClientChangeReviewer") -> None:
        self._places = places
        self._reviewer = reviewer
        self._turn = next(self._numbers)
        self._locations: list[ToolCallLocation] = []
        self._goal: Goal | None = None
        self._said = False
        """Whether the model said something since its last request or call."""
        self.failure: TurnFailed | None = None
        self.is_cut_off = False

    def of(self, event: Event) -> Iterator[Update]:
        """The updates for an event, in order."""
        match event:
            case TextDelta():
                self._said = True
                yield text_chunk(event.text)
            case ThinkingDelta():
                yield thought_chunk(event.text)
            case Remarked():
                yield text_chunk(phrases.remark(event.text))
            case PromptReady():
                yield from self._begin_request()
            case AnswerReplaced():
                self._said = False
                yield notice_chunk(REPLACED)
            case ToolStarted() | ToolFinished() | ReferenceFound():
                yield from self._of_tools(event)
            case Warned():
                yield notice_chunk(event.text, event.hint)
            case ChangesReviewed():
                yield from self._reviewed(event)
            case Notice():
                assert isinstance(event, ResourceRead | Compacting | Compacted)
                yield thought_chunk(f"{phrases.notice(event)}\n")
            case TurnFinished():
                yield from self._finished(event)
            case TurnFailed():
                self.failure = event
            case GoalPlanned() | StepStarted() | StepFinished() | GoalEnded():
                yield from self._of_goal(event)
            case LinksResolved() | EvidenceFound() | UsageReported():
                pass
            case _:
                assert_never(event)

    def _begin_request(self) -> Iterator[Update]:
        """A further request after words without a call is for an answer that takes the place of the first."""
        if self._said:
            yield notice_chunk(ASKED_AGAIN)
        self._said = False

    def _of_tools(self, event: ToolStarted | ToolFinished | ReferenceFound) -> Iterator[Update]:
        match event:
            case ToolStarted():
                self._said = False
                self._locations = []
                yield tool_calls.started(self._call_id(event.call_id), event.name, event.arguments, event.server)
            case ToolFinished():
                yield tool_calls.finished(
                    self._call_id(event.call_id), event.summary, failed=event.failed, locations=self._locations
                )
                self._locations = []
            case ReferenceFound():
                if location := self._places.location(event.reference):
                    self._locations.append(location)
            case _:
                assert_never(event)

    def _call_id(self, call_id: str) -> str:
        return f"{self._turn}-{call_id}"

    def _finished(self, event: TurnFinished) -> Iterator[Update]:
        self._said, self.is_cut_off = False, event.cut_off
        yield from self._places.links(event.message.references)
        if (usage := event.next_usage or event.usage).window:
            yield usage_of(usage)

    def _reviewed(self, event: ChangesReviewed) -> Iterator[Update]:
        yield self._reviewer.settled(event)
        yield notice_chunk(phrases.reviewed(event, undo="/undo"))

    def _of_goal(self, event: GoalEvent) -> Iterator[Update]:
        match event:
            case GoalPlanned():
                self._goal = event.goal
                yield plan_of(event.goal)
            case StepStarted():
                if self._goal:
                    yield plan_of(self._goal, event.number)
                yield text_chunk(f"\n\n**Step {event.number} of {event.total}: {sanitize_line(event.text)}**\n\n")
            case StepFinished():
                if self._goal:
                    self._goal = self._goal.with_step(event.number, event.state, reason=event.reason)
                    yield plan_of(self._goal)
            case GoalEnded():
                yield plan_of(event.goal)
                yield text_chunk("\n\n```text\n" + "\n".join(checklist.lines_of(event, is_plain=True)) + "\n```\n")
            case _:
                assert_never(event)
