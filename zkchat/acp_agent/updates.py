"""Values of zkchat as updates of ACP: texts, notes as resource links, plans, usage."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp.helpers import (
    plan_entry,
    resource_link_block,
    update_agent_message,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
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

from zkchat.model.goal import Goal, StepState
from zkchat.model.references import DocumentReference
from zkchat.model.usage import ContextUsage
from zkchat.render.brief_references import in_brief, short_reason
from zkchat.render.sanitize import sanitize_line, sanitize_text

if TYPE_CHECKING:
    from acp.schema import PlanEntryStatus

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
