"""Tool calls and their results in an imported conversation: models refuse one without the other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from zkchat.export.import_report import Tally
from zkchat.model.message import ChatMessage
from zkchat.model.parts import Part, ToolCallPart, ToolResultPart


def pair_calls(messages: Sequence[ChatMessage], tally: Tally) -> tuple[list[ChatMessage], Mapping[str, str | None]]:
    """The messages without unanswered calls and unmatched results, and for each that is gone the one before it.

    Messages come after those that they follow.
    """
    known = {message.id: message for message in messages}
    results: dict[str, list[Part]] = {}
    """What is left of each message of a tool."""
    answered: set[tuple[str, str]] = set()
    """The calls that have a result, each with the message that made it."""
    for message in messages:
        if message.role != "tool":
            continue
        caller, before = _caller_of(message, known)
        results[message.id] = []
        path = [results[message.id], *(results[id_] for id_ in before if id_ in results)]
        for part in message.parts:
            if isinstance(part, ToolResultPart) and caller and _add_result(part, caller, path):
                continue
            tally.leave_out_part("unmatched tool result")
        answered.update((caller.id, part.call_id) for part in _results(path) if caller)
    return _without(messages, results, answered, tally)


def _caller_of(message: ChatMessage, known: Mapping[str, ChatMessage]) -> tuple[ChatMessage | None, list[str]]:
    """The message whose calls a result may answer, the nearest before it that is not from a tool; and those between."""
    between: list[str] = []
    caller = known.get(message.parent_id or "")
    while caller is not None and caller.role == "tool":
        between.append(caller.id)
        caller = known.get(caller.parent_id or "")
    return caller, between


def _add_result(part: ToolResultPart, caller: ChatMessage, path: Sequence[list[Part]]) -> bool:
    """Add a result to its message, the first of the path, if it answers a call: the one that it names, else the first
    open one of its name. A further result of a call is added to the text of the first.
    """
    calls = [each for each in caller.parts if isinstance(each, ToolCallPart)]
    known = {each.call_id for each in _results(path)}
    for call in calls:
        is_named = call.call_id == part.call_id or (not part.call_id and part.name in ("", call.name))
        if is_named and call.call_id not in known:
            path[0].append(replace(part, call_id=call.call_id, name=call.name))
            return True
    for message in path:
        for place, first in enumerate(message):
            if isinstance(first, ToolResultPart) and part.call_id == first.call_id:
                message[place] = replace(first, text=f"{first.text}\n{part.text}")
                return True
    return False


def _results(path: Iterable[Iterable[Part]]) -> Iterator[ToolResultPart]:
    return (part for message in path for part in message if isinstance(part, ToolResultPart))


def _without(
    messages: Sequence[ChatMessage],
    results: Mapping[str, list[Part]],
    answered: Set[tuple[str, str]],
    tally: Tally,
) -> tuple[list[ChatMessage], dict[str, str | None]]:
    kept: list[ChatMessage] = []
    moved: dict[str, str | None] = {}
    for message in messages:
        parts = results.get(message.id)
        if parts is None:
            parts = [
                part
                for part in message.parts
                if not isinstance(part, ToolCallPart) or (message.id, part.call_id) in answered
            ]
            for _ in range(len(message.parts) - len(parts)):
                tally.leave_out_part("unanswered tool call")
        parent = moved.get(message.parent_id, message.parent_id) if message.parent_id else None
        if parts:
            kept.append(replace(message, parts=tuple(parts), parent_id=parent))
        else:
            moved[message.id] = parent
    return kept, moved
