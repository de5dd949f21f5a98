"""The greeting of a chat, and the last exchanges of a session that is resumed."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from zkchat.model.events import Compacted, Event, TextDelta, TurnFailed, TurnFinished
from zkchat.model.message import ChatMessage
from zkchat.model.prompt import ModelInfo
from zkchat.model.session import Session
from zkchat.model.text import counted, shorten
from zkchat.model.thread import compaction_of
from zkchat.model.usage import ContextUsage
from zkchat.render.sanitize import sanitize_line

_HELP: Final = "Ask; [[ names a note, / a command. /help for help, Ctrl-D to leave."
_MAX_TITLE_LENGTH: Final = 40
_MAX_QUESTION_LINES: Final = 5
"""Lines of a long question that are shown again."""
_MAX_EARLIER_LENGTH: Final = 3_000
"""Characters of the exchange before the last that are shown again; a longer one is not shown."""
_UNITS: Final = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))


def greeting(
    *,
    vault: str,
    notes: int,
    has_more_notes: bool = False,
    model: ModelInfo,
    session: Session | None,
    last: Session | None,
    now: datetime,
) -> list[str]:
    """At most four lines. `session` is the one that is resumed, `last` one that could be.

    With `has_more_notes`, there are more notes than were counted.
    """
    chosen = f"{model.name} (no model: your notes are quoted)" if model.needs_notes else model.name
    count = f"{'more than ' * has_more_notes}{counted(notes, 'note')}"
    lines = [sanitize_line(f"zkchat · {vault} · {count} · {chosen}")]
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


class Exchange(Struct, frozen=True, kw_only=True):
    """A question and its answer, to be shown again."""

    question: str
    """As it was typed, shortened if it is long."""
    events: list[Event]
    """Those that draw the answer, without thinking and tool calls."""


def last_exchanges(messages: Sequence[ChatMessage], in_force: Collection[str]) -> tuple[int, list[Exchange]]:
    """How many messages are not shown, and the last exchanges: two, or one if the other is long.

    `in_force` are the ids of the compactions that were not taken back; others are not shown.
    """
    shown = [message for message in messages if not compaction_of(message) or message.id in in_force]
    starts = [place for place, message in enumerate(shown) if message.role == "user"][-2:]
    ends = [*starts[1:], len(shown)] if starts else []
    if len(starts) == 2 and sum(len(message.text) for message in shown[slice(*starts)]) > _MAX_EARLIER_LENGTH:
        starts, ends = starts[1:], ends[1:]
    exchanges = [
        Exchange(
            question=_beginning(shown[start].text),
            events=[*_replay(shown[start + 1 : end], is_last=end == len(shown))],
        )
        for start, end in zip(starts, ends, strict=True)
    ]
    earlier = sum(compaction_of(message) is None for message in shown[: starts[0] if starts else None])
    return earlier, exchanges


def _beginning(text: str) -> str:
    lines = text.splitlines()
    if len(lines) <= _MAX_QUESTION_LINES:
        return text
    return "\n".join([*lines[:_MAX_QUESTION_LINES], f"… and {len(lines) - _MAX_QUESTION_LINES:,} more lines"])


def _replay(answer: Sequence[ChatMessage], *, is_last: bool) -> Iterator[Event]:
    said = [message for message in answer if message.role == "assistant"]
    for message in answer:
        if compaction_of(message):
            yield Compacted(message=message)
        elif message.role == "assistant":
            yield TextDelta(text=message.text)
            if message.status != "complete":
                yield TurnFailed(text=message.error or "This answer was not finished.", hint="/retry asks again.")
            elif is_last and message is said[-1]:
                yield TurnFinished(message=message, usage=ContextUsage())  # the bar below the prompt has the figures
