"""A stored conversation as the updates that a client gets when it loads the session."""

import os
from collections.abc import Iterator, Sequence

from acp.helpers import update_user_message_text
from acp.schema import AgentMessageChunk, AgentThoughtChunk, UserMessageChunk

from zkchat.acp_agent import tool_calls
from zkchat.acp_agent.updates import NotePlaces, Update, plan_of, text_chunk, thought_chunk
from zkchat.model.goal import Goal
from zkchat.model.message import ChatMessage
from zkchat.model.parts import CompactionPart, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from zkchat.model.text import shorten
from zkchat.render.phrases import compaction_part
from zkchat.render.sanitize import sanitize_text


def replay(messages: Sequence[ChatMessage], goal: Goal | None, places: NotePlaces) -> Iterator[Update]:
    """The messages in their order; what was compacted is there too."""
    for message in messages:
        for update in _updates_of(message, places):
            if isinstance(update, UserMessageChunk | AgentMessageChunk | AgentThoughtChunk):
                update.message_id = message.id
            yield update
    if goal and goal.steps:
        yield plan_of(goal)


def _updates_of(message: ChatMessage, places: NotePlaces) -> Iterator[Update]:
    for part in message.parts:
        match part:
            case TextPart() if message.role == "user":
                yield update_user_message_text(sanitize_text(part.text))
            case TextPart():
                yield text_chunk(part.text)
            case ThinkingPart():
                yield thought_chunk(part.text)
            case ToolCallPart():
                yield tool_calls.started(f"{message.id}-{part.call_id}", part.name, part.arguments)
            case ToolResultPart():
                summary = shorten(part.text, tool_calls.MAX_OUTPUT_CHARS)
                yield tool_calls.finished(f"{message.parent_id}-{part.call_id}", summary, failed=part.failed)
            case CompactionPart():
                yield thought_chunk(f"{compaction_part(part)}\n")
            case _:  # documents that went along, and what a newer zkchat wrote
                pass
    if message.role == "assistant":
        there = (each for each in message.references if os.path.lexists(places.absolute(each.relative_path or "")))
        yield from places.links([*there])
