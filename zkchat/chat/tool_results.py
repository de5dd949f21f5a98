"""Which result a tool call had, by the order of messages: servers may give the same id to calls of several requests."""

from collections.abc import Iterable, Iterator

from zkchat.model.message import ChatMessage
from zkchat.model.parts import ToolCallPart, ToolResultPart


def calls_with_results(messages: Iterable[ChatMessage]) -> Iterator[tuple[ToolCallPart, ToolResultPart]]:
    """The calls that were answered in these messages, in order."""
    waiting: list[ToolCallPart] = []
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, ToolCallPart):
            waiting.append(part)
        elif isinstance(part, ToolResultPart) and (call := _called(part, waiting)):
            waiting.remove(call)
            yield call, part


def _called(result: ToolResultPart, waiting: Iterable[ToolCallPart]) -> ToolCallPart | None:
    return next((call for call in waiting if call.call_id == result.call_id), None)
