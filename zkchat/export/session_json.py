"""A session as complete JSON: importing it gives the same session again."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from zkchat.export.redaction import redact
from zkchat.model.entries import DraftEntry, Entry, MessageEntry
from zkchat.model.session import Session
from zkchat.model.thread import messages_of, thread_of
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
    written = {id_: _line(to_plain(message), redact_text) for id_, message in messages_of(entries).items()}
    messages = (_with_content(written[message.id], redact_text(message.text)) for message in thread_of(entries))
    parts = {
        "format": json.dumps(FORMAT),
        "version": json.dumps(VERSION),
        "session": _line(to_plain(session), redact_text),
        "entries": _lines(_entry_lines(entries, written, redact_text)),
        "messages": _lines(messages),
    }
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "\n}\n"


def _lines(lines: Iterable[str]) -> str:
    return "[\n" + ",\n".join(lines) + "\n]"


def _line(value: Json, redact_text: Redactor) -> str:
    return json.dumps(_clean(value, redact_text), allow_nan=False)


def _with_content(written: str, text: str) -> str:
    """A message that is written as JSON, with its text as one more field."""
    return f'{written[:-1]}, "content": {json.dumps(text)}}}'


def _entry_lines(entries: Sequence[Entry], messages: Mapping[str, str], redact_text: Redactor) -> Iterator[str]:
    """Each message once, in its last version, where it first appeared; drafts are merged into it."""
    left = dict(messages)
    for entry in entries:
        body = entry.body
        if not isinstance(body, MessageEntry | DraftEntry):
            yield _line(plain_without(entry, "session_id"), redact_text)
        elif message := left.pop(body.message.id if isinstance(body, MessageEntry) else body.message_id, ""):
            place = json.dumps({"sequence": entry.sequence, "at": to_plain(entry.at)})
            yield f'{place[:-1]}, "body": {{"kind": "{MessageEntry.__struct_config__.tag}", "message": {message}}}}}'


def _clean(value: Json, redact_text: Redactor) -> Json:
    """Redact strings, and replace NaN and infinities, which JSON cannot express."""
    match value:
        case str():
            return redact_text(value)
        case dict():
            return {redact_text(name): _clean(item, redact_text) for name, item in value.items()}
        case list():
            return [_clean(item, redact_text) for item in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
