"""A session as complete JSON: importing it gives the same session again."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from msgspec.structs import replace

from zkchat.export.redaction import redact
from zkchat.model.session import DraftEntry, Entry, MessageEntry, Session, messages_of, thread_of
from zkchat.model.values import plain_without, to_plain

FORMAT: Final = "zkchat session"
VERSION: Final = 1

Redactor = Callable[[str], str]
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def as_json(session: Session, entries: Sequence[Entry], keys: Iterable[str] = ()) -> str:
    """The session with all its entries, and the current messages for readers that need only those.

    Keys are redacted. ASCII only, so that no text acts on a terminal; one entry per line.
    """
    known = tuple(keys)
    redact_text = cache(lambda text: redact(text, known))  # most texts of a session occur more than once
    messages = ({**to_plain(message), "content": message.text} for message in thread_of(entries))
    all_entries = (plain_without(entry, "session_id") for entry in _merged_entries(entries))
    parts = {
        "format": json.dumps(FORMAT),
        "version": json.dumps(VERSION),
        "session": _line(to_plain(session), redact_text),
        "entries": _lines(all_entries, redact_text),
        "messages": _lines(messages, redact_text),
    }
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "\n}\n"


def _lines(values: Iterable[Json], redact_text: Redactor) -> str:
    return "[\n" + ",\n".join(_line(value, redact_text) for value in values) + "\n]"


def _line(value: Json, redact_text: Redactor) -> str:
    return json.dumps(_clean(value, redact_text), allow_nan=False)


def _merged_entries(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Each message once, in its last version, where it first appeared; drafts are merged into it."""
    messages = messages_of(entries)
    for entry in entries:
        body = entry.body
        if not isinstance(body, MessageEntry | DraftEntry):
            yield entry
        elif message := messages.pop(body.message.id if isinstance(body, MessageEntry) else body.message_id, None):
            yield replace(entry, body=MessageEntry(message=message))


def _clean(value: Json, redact_text: Redactor) -> Json:
    """Redact strings, and replace NaN and infinities, which JSON cannot express."""
    match value:
        case dict():
            return {redact_text(name): _clean(item, redact_text) for name, item in value.items()}
        case list():
            return [_clean(item, redact_text) for item in value]
        case str():
            return redact_text(value)
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
