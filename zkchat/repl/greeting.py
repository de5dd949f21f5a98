"""The greeting of a chat, and the last exchange of a session that is resumed."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from zkchat.model.events import Compacted, Event, TextDelta, TurnFailed, TurnFinished
from zkchat.model.message import ChatMessage, ContextUsage
from zkchat.model.prompt import ModelInfo
from zkchat.model.session import Session, compaction_of
from zkchat.model.text import counted, shorten
from zkchat.render.sanitize import sanitize_line

_HELP: Final = "Ask; [[ names a note, / a command. /help for help, Ctrl-D to leave."
_MAX_TITLE_LENGTH: Final = 40
_MAX_QUESTION_LINES: Final = 5
"""Lines of a long question that are shown again."""
_UNITS: Final = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))


def greeting(
    *, vault: str, notes: int, model: ModelInfo, session: Session | None, last: Session | None, now: datetime
) -> list[str]:
    """At most four lines. `session` is the one that is resumed, `last` one that could be."""
    chosen = f"{model.name} (no model: your notes are quoted)" if model.needs_notes else model.name
    lines = [sanitize_line(f"zkchat · {vault} · {counted(notes, 'note')} · {chosen}")]
    if session:
        lines.append(
            f"Going on in {_titled(session)}, {counted(session.message_count, 'message')}. /history shows them all."
        )
    elif last:
        lines.append(f"Last time, {ago(now - last.updated_at)}: {_titled(last)}. To go on there: /resume {last.id}")
    return [*lines, _HELP]


def _titled(session: Session) -> str:
    title = sanitize_line(session.title) or "untitled"
    return f"“{shorten(title, _MAX_TITLE_LENGTH)}”"


def ago(past: timedelta) -> str:
    for unit, length in _UNITS:
        if (count := past // length) > 0:
            return f"{counted(count, unit)} ago"
    return "just now"


def last_exchange(messages: Sequence[ChatMessage]) -> tuple[str, list[Event]]:
    """The last question, and its answer as events to show again, without thinking and tool calls."""
    asked = max((index for index, message in enumerate(messages) if message.role == "user"), default=None)
    if asked is None:
        return "", []
    following = messages[asked + 1 :]
    return _beginning(messages[asked].text), [event for message in following for event in _replay(message, following)]


def _beginning(text: str) -> str:
    lines = text.splitlines()
    if len(lines) <= _MAX_QUESTION_LINES:
        return text
    return "\n".join([*lines[:_MAX_QUESTION_LINES], f"… and {len(lines) - _MAX_QUESTION_LINES:,} more lines"])


def _replay(message: ChatMessage, following: Sequence[ChatMessage]) -> Iterator[Event]:
    if compaction_of(message):
        yield Compacted(message=message)
    elif message.role == "assistant":
        yield TextDelta(text=message.text)
        if message.status != "complete":
            yield TurnFailed(text=message.error or "This answer was not finished.", hint="/retry asks again.")
        elif message is [each for each in following if each.role == "assistant"][-1]:
            yield TurnFinished(message=message, usage=_usage(message))


def _usage(message: ChatMessage) -> ContextUsage:
    usage = message.request_context.usage if message.request_context else None
    return usage or ContextUsage()
