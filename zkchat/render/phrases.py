"""Wording of tool calls, warnings and notices, shared by all presenters and already sanitized."""

import json
from typing import Final, assert_never

from zkchat.model.choices import DEFAULT_PRIORITY, KEEP_PRIORITY
from zkchat.model.events import ChangesReviewed, Compacted, Compacting, ResourceRead
from zkchat.model.message import ChatMessage
from zkchat.model.parts import CompactionPart
from zkchat.model.text import counted, shorten
from zkchat.render.sanitize import sanitize_line, sanitize_text

_MAX_CALL_LENGTH: Final = 60


def tool_call(name: str, arguments: str, length: int = _MAX_CALL_LENGTH, server: str = "") -> str:
    """`find_excerpts "sleep" limit=4`, with so many characters of arguments at most; those that are not a JSON object
    are shown as written. Of a call whose arguments go to a server it says so: `to web: fetch "https://…"`."""
    shown = shorten(_arguments(arguments), length) if length else ""
    called = sanitize_line(f"to {server}: {name.removeprefix(f'{server}__')}" if server else name)
    return shorten(f"{called} {shown}".rstrip(), _MAX_CALL_LENGTH)


def _arguments(written: str) -> str:
    try:
        values = json.loads(written or "{}")
    except (ValueError, RecursionError):
        return sanitize_line(written)
    if not isinstance(values, dict):
        return sanitize_line(written)
    words = [sanitize_line(f"{name}={json.dumps(value, ensure_ascii=False)}") for name, value in values.items()]
    # The first argument says what the call is about; its name only takes space.
    return " ".join([words[0].partition("=")[2], *words[1:]]) if words else ""


def tool_result(summary: str, *, failed: bool) -> str:
    return sanitize_line(summary) or ("failed" if failed else "done")


def warning(text: str, hint: str) -> str:
    return sanitize_text(f"warning: {text}" + (f"\n         {hint}" if hint else ""))


def remark(text: str) -> str:
    """A sentence about an answer, as Markdown that stands apart from it."""
    return f"\n*{sanitize_text(text)}*\n\n"


def notice(event: ResourceRead | Compacting | Compacted | ChangesReviewed) -> str:
    """One line about something that happened besides the answer."""
    match event:
        case ResourceRead():
            uri = shorten(sanitize_line(event.uri), _MAX_CALL_LENGTH)
            size = counted(event.characters, "character")
            return f"Read from {sanitize_line(event.server)}, and sent along: {uri} ({size})"
        case Compacting():
            filled = f"({event.tokens:,} tokens in the context) …"
            if not event.messages:
                return f"Making room {filled}"
            return f"Summarising {counted(event.messages, 'older message')} {filled}"
        case Compacted():
            return compaction(event.message)
        case ChangesReviewed():
            return reviewed(event)
        case _:
            assert_never(event)


def reviewed(event: ChangesReviewed, *, undo: str = "zkchat undo") -> str:
    """What became of proposed changes: `Applied, as you edited it: Append to Inbox.md. zkchat undo takes it back.`"""
    title = sanitize_line(event.title)
    match event.decision:
        case "applied":
            how = "Applied, as you edited it" if event.edited else "Applied"
            return f"{how}: {title}. {undo} takes it back. {sanitize_line(event.reason)}".rstrip()
        case "declined":
            return f"Not applied: {title}."
        case "kept" | "dropped":
            return f"Not applied: {title}. {sanitize_line(event.reason)} The session keeps the diff."
        case _:
            assert_never(event.decision)


def compaction(message: ChatMessage) -> str:
    """The marker in the history where older messages were archived or shortened."""
    return " ".join(compaction_part(part) for part in message.parts if isinstance(part, CompactionPart))


def compaction_part(part: CompactionPart) -> str:
    """`Context compacted #1: 45 messages archived, ~12,300 tokens freed`."""
    freed = part.tokens_before - part.tokens_after
    return f"Context compacted #{part.number}: {part.effect}" + (f", ~{freed:,} tokens freed" if freed > 0 else "")


def priority_effect(priority: int) -> str:
    """What a priority means for a message when the context is compacted, to be read after it."""
    if priority >= KEEP_PRIORITY:
        return "compactions keep it word for word while it fits"
    if priority == DEFAULT_PRIORITY:
        return "it is as important as others"
    return f"it leaves the context {'after' if priority > DEFAULT_PRIORITY else 'before'} others"
