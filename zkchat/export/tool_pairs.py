"""Tool calls and their results in an imported conversation: models refuse one without the other."""

from collections.abc import Mapping, Sequence

from zkchat.export.import_report import Tally
from zkchat.model.message import ChatMessage, Part, ToolCallPart, ToolResultPart


def pair_calls(messages: Sequence[ChatMessage], tally: Tally) -> tuple[list[ChatMessage], Mapping[str, str | None]]:
    """The messages without unanswered calls and unmatched results, and for each that is gone the one before it.

    Messages come after those that they follow.
    """
    known = {message.id: message for message in messages}
    answers: dict[str, dict[str, ToolResultPart]] = {}
    """The results to keep, by the message that called and the call."""
    results: dict[str, list[Part]] = {}
    """What is left of each message of a tool."""
    for message in messages:
        if message.role != "tool":
            continue
        caller = _caller_of(message, known)
        answered = answers.setdefault(caller.id if caller else "", {})
        results[message.id] = []
        for part in message.parts:
            if isinstance(part, ToolResultPart) and (matched := _matched(part, caller, answered)):
                answered[matched.call_id] = matched
                results[message.id].append(matched)
            else:
                tally.leave_out_part("unmatched tool result")
    return _without(messages, results, answers, tally)


def _caller_of(message: ChatMessage, known: Mapping[str, ChatMessage]) -> ChatMessage | None:
    """The message whose calls a result may answer: the nearest before it that is not from a tool."""
    caller: ChatMessage | None = message
    while caller is not None and caller.role == "tool":
        caller = known.get(caller.parent_id or "")
    return caller


def _matched(
    part: ToolResultPart, caller: ChatMessage | None, answered: Mapping[str, ToolResultPart]
) -> ToolResultPart | None:
    """The result with the id and the name of its call: the one it names, else the first open one of its name."""
    calls = [each for each in caller.parts if isinstance(each, ToolCallPart)] if caller else []
    open_calls = [call for call in calls if call.call_id not in answered]
    named = (call for call in open_calls if call.call_id == part.call_id)
    unnamed = (call for call in open_calls if not part.call_id and part.name in ("", call.name))
    call = next(named, None) or next(unnamed, None)
    return part.model_copy(update={"call_id": call.call_id, "name": call.name}) if call else None


def _without(
    messages: Sequence[ChatMessage],
    results: Mapping[str, list[Part]],
    answers: Mapping[str, Mapping[str, ToolResultPart]],
    tally: Tally,
) -> tuple[list[ChatMessage], dict[str, str | None]]:
    kept: list[ChatMessage] = []
    moved: dict[str, str | None] = {}
    for message in messages:
        parts = results.get(message.id)
        if parts is None:
            answered = answers.get(message.id, {})
            parts = [part for part in message.parts if not isinstance(part, ToolCallPart) or part.call_id in answered]
            for _ in range(len(message.parts) - len(parts)):
                tally.leave_out_part("unanswered tool call")
        parent = moved.get(message.parent_id, message.parent_id) if message.parent_id else None
        if parts:
            kept.append(message.model_copy(update={"parts": tuple(parts), "parent_id": parent}))
        else:
            moved[message.id] = parent
    return kept, moved
