"""Values and events of zkchat as updates of ACP: texts, links, tool calls, plans, usage."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, assert_never

from acp.helpers import (
    plan_entry,
    resource_link_block,
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
)
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    AvailableCommandsUpdate,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    SessionInfoUpdate,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    UsageUpdate,
    UserMessageChunk,
)

from zkchat.core import (
    AnswerReplaced,
    ChangesReviewed,
    Compacted,
    Compacting,
    ContextUsage,
    DocumentReference,
    Event,
    EvidenceFound,
    Goal,
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
    StepState,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UsageReported,
    Warned,
)
from zkchat.render import in_brief, phrases, sanitize_line, sanitize_text, short_reason

if TYPE_CHECKING:
    from acp.schema import PlanEntryStatus, ToolKind

    from zkchat.acp.reviewer import ClientChangeReviewer


_KINDS: Final[dict[str, "ToolKind"]] = {
    "read_document": "read",
    "read_attachment": "read",
    "add_tag": "edit",
    "append_daily": "edit",
    "create_document": "edit",
    "create_from_template": "edit",
    "edit_document": "edit",
    "edit_section": "edit",
    "set_property": "edit",
    "delete_document": "delete",
    "move_document": "move",
    "rename_document": "move",
    "remember": "think",
    "get_current_datetime": "other",
}
_SEARCHES: Final = ("find_", "list_", "resolve_", "search_", "recall")
_MAX_TITLE: Final = 100
MAX_OUTPUT_CHARS: Final = 2_000
"""Of a result that is shown again when a session is loaded."""


def kind_of(name: str) -> "ToolKind":
    return _KINDS.get(name, "search" if name.startswith(_SEARCHES) else "other")


def started(call_id: str, name: str, arguments: str, server: str = "") -> ToolCallStart:
    """`server` is the MCP server that the arguments are sent to; empty for one of zkchat's own tools."""
    return start_tool_call(
        call_id,
        phrases.tool_call(name, arguments, _MAX_TITLE, server),
        kind=kind_of(name),
        status="in_progress",
        raw_input=_raw(arguments),
    )


def finished(
    call_id: str, summary: str, *, failed: bool, locations: Sequence[ToolCallLocation] = ()
) -> ToolCallProgress:
    return update_tool_call(
        call_id,
        status="failed" if failed else "completed",
        content=[tool_content(text_block(phrases.tool_result(summary, failed=failed)))],
        locations=locations or None,
    )


def _raw(arguments: str) -> Any:
    """As the model wrote them, which may be no JSON."""
    try:
        return cleaned(json.loads(arguments or "{}"))
    except (ValueError, RecursionError):
        return sanitize_text(arguments)


def cleaned(value: Any) -> Any:
    """The same JSON without what acts on a terminal."""
    match value:
        case str():
            return sanitize_text(value)
        case list():
            return [cleaned(each) for each in value]
        case dict():
            return {sanitize_text(name): cleaned(each) for name, each in value.items()}
        case _:
            return value


Update = (
    AgentMessageChunk
    | AgentThoughtChunk
    | UserMessageChunk
    | ToolCallStart
    | ToolCallProgress
    | AgentPlanUpdate
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
)

MAX_LINKED: Final = 12
"""Sources of one answer that are linked below it."""
_STATES: Final[dict[StepState, "PlanEntryStatus"]] = {
    "open": "pending",
    "done": "completed",
    "blocked": "completed",
    "declined": "pending",
}


def text_chunk(text: str) -> AgentMessageChunk:
    """A piece of the answer, which may be Markdown."""
    return update_agent_message_text(sanitize_text(text))


def thought_chunk(text: str) -> AgentThoughtChunk:
    return update_agent_thought_text(sanitize_text(text))


def notice_chunk(text: str, hint: str = "") -> AgentMessageChunk:
    """A sentence of zkchat itself, as a block quotation that stands apart from the answer."""
    sentence = " ".join(sanitize_text(f"{text} {hint}").split())
    return update_agent_message_text(f"\n\n> {sentence}\n\n")


class NotePlaces:
    """Places of notes as clients open them: absolute paths and `file://` addresses."""

    def __init__(self, vault: Path) -> None:
        self._vault = vault

    def absolute(self, path: str) -> str:
        return str(self._vault / path)

    def location(self, reference: DocumentReference) -> ToolCallLocation | None:
        if not self._is_inside(reference):
            return None
        return ToolCallLocation(
            path=self.absolute(reference.relative_path or ""), line=reference.lines.first if reference.lines else None
        )

    def links(self, references: Sequence[DocumentReference]) -> Iterator[AgentMessageChunk]:
        """The sources of an answer: those that the list below an answer in the terminal names."""
        rows = in_brief(references, most=MAX_LINKED).rows
        shown = [reference for _, reference in rows if self._is_inside(reference)]
        for number, reference in enumerate(shown):
            # Where a client shows no links, nothing but blanks is left of them.
            yield update_agent_message_text(" " if number else "\n\n")
            yield update_agent_message(
                resource_link_block(
                    sanitize_line(reference.title or reference.wikilink),
                    self._address(reference),
                    mime_type="text/markdown",
                    title=sanitize_line(reference.wikilink),
                    description=short_reason(reference),
                )
            )

    def _address(self, reference: DocumentReference) -> str:
        """The file, with the lines in the form that editors write: `#L3-L5`."""
        address = (self._vault / (reference.relative_path or "")).as_uri()
        lines = reference.lines
        if lines is None:
            return address
        return f"{address}#L{lines.first}" + (f"-L{lines.last}" if lines.last > lines.first else "")

    def _is_inside(self, reference: DocumentReference) -> bool:
        """Whether it is a document of the vault: a session from elsewhere may name any path."""
        path = reference.relative_path
        return bool(path) and not Path(path or "").is_absolute() and ".." not in Path(path or "").parts


def plan_of(goal: Goal, running: int = 0) -> AgentPlanUpdate:
    """The checklist of a goal; `running` is the number of the step that is worked on, from 1."""
    return update_plan(
        plan_entry(
            sanitize_line(f"{step.text} ({step.state}: {step.reason})" if step.reason else step.text),
            status="in_progress" if number == running else _STATES[step.state],
        )
        for number, step in enumerate(goal.steps, start=1)
    )


def usage_of(usage: ContextUsage) -> UsageUpdate:
    return UsageUpdate(session_update="usage_update", used=usage.total, size=usage.window)


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
                yield started(self._call_id(event.call_id), event.name, event.arguments, event.server)
            case ToolFinished():
                yield finished(
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
                yield text_chunk("\n\n```text\n" + "\n".join(phrases.lines_of(event, is_plain=True)) + "\n```\n")
            case _:
                assert_never(event)
