"""A session as JSON, complete: whoever imports it has the same session again."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from zkchat.export.redaction import redacted
from zkchat.model.session import DraftEntry, Entry, MessageEntry, Session, messages_of, thread_of

FORMAT: Final = "zkchat session"
VERSION: Final = 1

Redact = Callable[[str], str]
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def as_json(session: Session, entries: Sequence[Entry], keys: Iterable[str] = ()) -> str:
    """The session, everything that happened in it, and the conversation as it stands, for those who want only that.

    Keys are left out. In ASCII, so that no text of a note acts on a terminal; with an entry on each line.
    """
    known = tuple(keys)
    redact = cache(lambda text: redacted(text, known))  # most of what a session holds stands in it more than once
    said = ({**message.model_dump(mode="json"), "content": message.text} for message in thread_of(entries))
    happened = (entry.model_dump(mode="json", exclude={"session_id"}) for entry in _settled(entries))
    parts = {
        "format": json.dumps(FORMAT),
        "version": json.dumps(VERSION),
        "session": _line(session.model_dump(mode="json"), redact),
        "entries": _lines(happened, redact),
        "messages": _lines(said, redact),
    }
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "\n}\n"


def _lines(values: Iterable[Json], redact: Redact) -> str:
    return "[\n" + ",\n".join(_line(value, redact) for value in values) + "\n]"


def _line(value: Json, redact: Redact) -> str:
    return json.dumps(_clean(value, redact), allow_nan=False)


def _settled(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Each message once, as it is now, where it first appeared: the pieces of an arriving answer are behind us."""
    messages = messages_of(entries)
    for entry in entries:
        body = entry.body
        if not isinstance(body, MessageEntry | DraftEntry):
            yield entry
        elif message := messages.pop(body.message.id if isinstance(body, MessageEntry) else body.message_id, None):
            yield entry.model_copy(update={"body": MessageEntry(message=message)})


def _clean(value: Json, redact: Redact) -> Json:
    """The value without keys, and without numbers that JSON does not know."""
    match value:
        case dict():
            return {redact(name): _clean(item, redact) for name, item in value.items()}
        case list():
            return [_clean(item, redact) for item in value]
        case str():
            return redact(value)
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
