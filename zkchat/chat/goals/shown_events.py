"""What the user sees of the turns of a goal run."""

from typing import Final

from zkchat.chat.event_stream import Emit
from zkchat.chat.goals.mark_filter import MarkFilter
from zkchat.model.events import (
    AnswerReplaced,
    Event,
    EvidenceFound,
    LinksResolved,
    PromptReady,
    ReferenceFound,
    TextDelta,
    ToolStarted,
    TurnFailed,
    TurnFinished,
)

_NOT_SHOWN_OF_PLAN: Final = (TextDelta, TurnFinished, LinksResolved, EvidenceFound, ReferenceFound)
"""The plan is shown as a checklist, once it is read."""
_ENDS_TEXT: Final = (ToolStarted, PromptReady, AnswerReplaced, TurnFailed, TurnFinished)
"""What comes after these is another text."""


def without_answer(emit: Emit) -> Emit:
    """Shows nothing of the answer that holds the plan."""

    async def shown(event: Event) -> None:
        if not isinstance(event, _NOT_SHOWN_OF_PLAN):
            await emit(event)

    return shown


def without_mark(emit: Emit, *, is_step: bool = True) -> Emit:
    """Shows the texts of a turn without the mark at their end."""
    marks = MarkFilter(is_step=is_step)

    async def shown(event: Event) -> None:
        nonlocal marks
        if isinstance(event, TextDelta):
            if text := marks.feed(event.text):
                await emit(TextDelta(text=text))
            return
        if isinstance(event, _ENDS_TEXT):
            if text := marks.finish():
                await emit(TextDelta(text=text))
            marks = MarkFilter(is_step=is_step)
        await emit(event)

    return shown
