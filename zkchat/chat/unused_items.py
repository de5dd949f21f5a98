"""Which notes and tools that the user added are of no use to the answers."""

from itertools import islice
from typing import Final

from zkchat.context.selection import added_items
from zkchat.model.message import ChatMessage
from zkchat.model.parts import ToolCallPart
from zkchat.model.request_context import RequestItem
from zkchat.model.session_history import History

UNUSED_AFTER: Final = 10
"""Turns without use after which a note or tool is suggested for removal."""


def unused_items(history: History) -> list[RequestItem]:
    """Notes that no answer cited and tools that none called, while they were there. Rules work without being named."""
    finished = (message for message in history.newest_first if message.request_context and not _calls(message))
    answers = [*islice(finished, UNUSED_AFTER)]
    if len(answers) < UNUSED_AFTER:
        return []
    there = set.intersection(*({(i.type, i.name) for i in _items(answer)} for answer in answers))
    cited = {reference.relative_path for answer in answers for reference in answer.references if reference.cited}
    called = {part.name for message in history.thread for part in message.parts if isinstance(part, ToolCallPart)}
    return [
        item
        for item in added_items(history.items).values()
        if (item.type, item.name) in there
        and (
            (item.type == "reference" and item.name.partition("#")[0] not in cited)
            or (item.type == "tool" and item.name not in called)
        )
    ]


def _calls(message: ChatMessage) -> bool:
    return any(isinstance(part, ToolCallPart) for part in message.parts)


def _items(answer: ChatMessage) -> tuple[RequestItem, ...]:
    return answer.request_context.items if answer.request_context else ()
