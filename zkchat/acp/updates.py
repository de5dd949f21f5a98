"""Values and events of zkchat as updates of ACP: texts, links, tool calls, plans, usage."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from acp import helpers, schema
from msgspec import Struct

from zkchat.core import CHANGE_TOOLS, DocumentReference, events
from zkchat.hosting import ASKED_AGAIN, REPLACED, cleaned
from zkchat.render import in_brief, phrases, sanitize_line, sanitize_text, short_reason

if TYPE_CHECKING:
    from zkchat.acp.session import ClientChangeReviewer


_KINDS: Final[dict[str, schema.ToolKind]] = {"read_document": "read", "read_attachment": "read", "remember": "think"}
MAX_OUTPUT_CHARS: Final = 2_000
"""Of a result that is shown again when a session is loaded."""


def kind_of(name: str) -> schema.ToolKind:
    change = CHANGE_TOOLS.get(name)
    searches = name.startswith(("find_", "list_", "resolve_", "search_", "recall"))
    return change.kind if change else _KINDS.get(name, "search" if searches else "other")


def started(call_id: str, name: str, arguments: str, server: str = "") -> schema.ToolCallStart:
    """`server` is the MCP server that the arguments are sent to; empty for one of zkchat's own tools."""
    try:
        raw = cleaned(json.loads(arguments or "{}"))
    except (ValueError, RecursionError):  # as the model wrote them
        raw = sanitize_text(arguments)
    return helpers.start_tool_call(
        call_id,
        phrases.tool_call(name, arguments, server=server),
        kind=kind_of(name),
        status="in_progress",
        raw_input=raw,
    )


def finished(
    call_id: str, summary: str, *, failed: bool, locations: Sequence[schema.ToolCallLocation] = ()
) -> schema.ToolCallProgress:
    return helpers.update_tool_call(
        call_id,
        status="failed" if failed else "completed",
        content=[helpers.tool_content(helpers.text_block(phrases.tool_result(summary, failed=failed)))],
        locations=locations or None,
    )


Update = (
    schema.AgentMessageChunk
    | schema.AgentThoughtChunk
    | schema.UserMessageChunk
    | schema.ToolCallStart
    | schema.ToolCallProgress
    | schema.AgentPlanUpdate
    | schema.AvailableCommandsUpdate
    | schema.CurrentModeUpdate
    | schema.ConfigOptionUpdate
    | schema.SessionInfoUpdate
    | schema.UsageUpdate
)

MAX_LINKED: Final = 12
"""Sources of one answer that are linked below it."""
_STATES: Final[dict[events.StepState, schema.PlanEntryStatus]] = {
    "open": "pending",
    "done": "completed",
    "blocked": "completed",
    "declined": "pending",
}


def text_chunk(text: str) -> schema.AgentMessageChunk:
    """A piece of the answer, which may be Markdown."""
    return helpers.update_agent_message_text(sanitize_text(text))


def thought_chunk(text: str) -> schema.AgentThoughtChunk:
    return helpers.update_agent_thought_text(sanitize_text(text))


def notice_chunk(text: str, hint: str = "") -> schema.AgentMessageChunk:
    """A sentence of zkchat itself, as a block quotation that stands apart from the answer."""
    sentence = " ".join(sanitize_text(f"{text} {hint}").split())
    return helpers.update_agent_message_text(f"\n\n> {sentence}\n\n")


class NotePlaces(Struct, frozen=True):
    """Places of notes as clients open them: absolute paths and `file://` addresses."""

    vault: Path

    def absolute(self, path: str) -> str:
        return str(self.vault / path)

    def location(self, reference: DocumentReference) -> schema.ToolCallLocation | None:
        path = _path_inside(reference)
        line = reference.lines.first if reference.lines else None
        return schema.ToolCallLocation(path=self.absolute(path), line=line) if path else None

    def links(self, references: Sequence[DocumentReference]) -> Iterator[schema.AgentMessageChunk]:
        """The sources of an answer: those that the list below an answer in the terminal names."""
        is_first = True
        for _, reference in in_brief(references, most=MAX_LINKED).rows:
            if not (path := _path_inside(reference)):
                continue
            address, lines = (self.vault / path).as_uri(), reference.lines
            if lines:  # in the form that editors write: `#L3-L5`
                address += f"#L{lines.first}" + (f"-L{lines.last}" if lines.last > lines.first else "")
            # Where a client shows no links, nothing but blanks is left of them.
            yield helpers.update_agent_message_text("\n\n" if is_first else " ")
            yield helpers.update_agent_message(
                helpers.resource_link_block(
                    sanitize_line(reference.title or reference.wikilink),
                    address,
                    mime_type="text/markdown",
                    title=sanitize_line(reference.wikilink),
                    description=short_reason(reference),
                )
            )
            is_first = False


def _path_inside(reference: DocumentReference) -> str:
    """The path of a document of the vault, else nothing: a session from elsewhere may name any path."""
    path = reference.relative_path or ""
    return "" if Path(path).is_absolute() or ".." in Path(path).parts else path


def plan_of(goal: events.Goal, running: int = 0) -> schema.AgentPlanUpdate:
    """The checklist of a goal; `running` is the number of the step that is worked on, from 1."""
    return helpers.update_plan(
        helpers.plan_entry(
            sanitize_line(f"{step.text} ({step.state}: {step.reason})" if step.reason else step.text),
            status="in_progress" if number == running else _STATES[step.state],
        )
        for number, step in enumerate(goal.steps, start=1)
    )


class TurnUpdates:
    """Translates one stream of events. `failure` is how the last turn failed, where it did; `is_cut_off`: the model ran
    out of room in it."""

    _numbers = count(1)
    """Of all turns in this process: models call their calls alike in each turn."""

    def __init__(self, places: NotePlaces, reviewer: "ClientChangeReviewer") -> None:
        self._places = places
        self._reviewer = reviewer
        self._turn = next(self._numbers)
        self._locations: list[schema.ToolCallLocation] = []
        self._goal: events.Goal | None = None
        self._said = False
        """Whether the model said something since its last request or call."""
        self.failure: events.TurnFailed | None = None
        self.is_cut_off = False

    def of(self, event: events.Event) -> Iterator[Update]:
        match event:
            case events.TextDelta():
                self._said = True
                yield text_chunk(event.text)
            case events.ThinkingDelta():
                yield thought_chunk(event.text)
            case events.Remarked():
                yield text_chunk(phrases.remark(event.text))
            case events.PromptReady() | events.AnswerReplaced():
                is_replaced = isinstance(event, events.AnswerReplaced)
                # A further request without a call is for an answer that takes the place of the first.
                yield from [notice_chunk(REPLACED if is_replaced else ASKED_AGAIN)] if is_replaced or self._said else []
                self._said = False
            case events.ToolStarted() | events.ToolFinished() | events.ReferenceFound():
                yield from self._of_tools(event)
            case events.Warned():
                yield notice_chunk(event.text, event.hint)
            case events.ChangesReviewed():
                yield self._reviewer.settled(event)
                yield notice_chunk(phrases.reviewed(event, undo="/undo"))
            case events.Notice():
                yield thought_chunk(f"{phrases.notice(event)}\n")
            case events.TurnFinished():
                self._said, self.is_cut_off = False, event.cut_off
                yield from self._places.links(event.message.references)
                if (usage := event.next_usage or event.usage).window:
                    yield schema.UsageUpdate(session_update="usage_update", used=usage.total, size=usage.window)
            case events.TurnFailed():
                self.failure = event
            case events.GoalPlanned() | events.StepStarted() | events.StepFinished() | events.GoalEnded():
                yield from self._of_goal(event)
            case events.LinksResolved() | events.EvidenceFound() | events.UsageReported():
                pass
            case _:
                assert_never(event)

    def _of_tools(self, event: events.ToolStarted | events.ToolFinished | events.ReferenceFound) -> Iterator[Update]:
        if isinstance(event, events.ReferenceFound):
            self._locations += filter(None, [self._places.location(event.reference)])
            return
        call_id, locations, self._locations = f"{self._turn}-{event.call_id}", self._locations, []
        if isinstance(event, events.ToolFinished):
            yield finished(call_id, event.summary, failed=event.failed, locations=locations)
        else:
            self._said = False
            yield started(call_id, event.name, event.arguments, event.server)

    def _of_goal(self, event: events.GoalEvent) -> Iterator[Update]:
        match event:
            case events.GoalPlanned():
                self._goal = event.goal
                yield plan_of(event.goal)
            case events.StepStarted():
                if self._goal:
                    yield plan_of(self._goal, event.number)
                yield text_chunk(f"\n\n**Step {event.number} of {event.total}: {sanitize_line(event.text)}**\n\n")
            case events.StepFinished():
                if self._goal:
                    self._goal = self._goal.with_step(event.number, event.state, reason=event.reason)
                    yield plan_of(self._goal)
            case events.GoalEnded():
                yield plan_of(event.goal)
                yield text_chunk("\n\n```text\n" + "\n".join(phrases.lines_of(event, is_plain=True)) + "\n```\n")
            case _:
                assert_never(event)
