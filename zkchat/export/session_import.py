"""Import of sessions: our own JSON, `{"messages": […]}`, and plain lists of roles and contents."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pydantic import ValidationError

from zkchat.errors import SessionError
from zkchat.export.foreign_messages import ForeignMessageParser, first_error
from zkchat.export.session_json import VERSION, Json
from zkchat.model.message import ChatMessage
from zkchat.model.session import Entry, EntryBody, MessageEntry, TitleEntry
from zkchat.model.text import shorten

_TITLE_LENGTH: Final = 60
_EXPECTED: Final = (
    "It may be what `zkchat context export` writes, or a list of messages: "
    '[{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]'
)


@dataclass(frozen=True)
class Imported:
    """A parsed session that is not stored yet."""

    bodies: Sequence[EntryBody]

    @property
    def message_count(self) -> int:
        return len({body.message.id for body in self.bodies if isinstance(body, MessageEntry)})

    def bodies_for(self, session_id: str) -> list[EntryBody]:
        """The entries to append to the new session."""
        return [
            MessageEntry(message=body.message.model_copy(update={"session_id": session_id}))
            if isinstance(body, MessageEntry)
            else body
            for body in self.bodies
        ]


def read_session(text: str, *, now: datetime, new_id: Callable[[], str]) -> Imported:
    """Parse the session in a file. Raises `SessionError` with the position for an invalid one."""
    value = _parsed(text)
    if isinstance(value, list):
        bodies = _listed(value, "", now, new_id)
    elif isinstance(value, dict) and isinstance(entries := value.get("entries"), list):
        bodies = _own(value, entries, now)
    elif isinstance(value, dict) and isinstance(messages := value.get("messages"), list):
        bodies = _listed(messages, _title_of(value), now, new_id)
    else:
        raise SessionError("The file holds JSON, and no conversation.", hint=_EXPECTED)
    imported = Imported(bodies)
    if not imported.message_count:
        raise SessionError("The file holds no messages.", hint=_EXPECTED)
    return imported


def _parsed(text: str) -> Json:
    try:
        value: Json = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise SessionError(f"The file is not JSON: {error.msg} at {place}.", hint=_EXPECTED) from error
    except (ValueError, RecursionError) as error:
        raise SessionError("The file is nested too deeply, or holds a number too long to read.") from error
    return value


def _own(value: Mapping[str, Json], entries: Sequence[Json], now: datetime) -> list[EntryBody]:
    version = value.get("version", VERSION)
    if not isinstance(version, int) or version > VERSION:
        raise SessionError("A newer zkchat wrote this file.", hint="Bring zkchat up to date and import it again.")
    return [_entry(number, entry, now).body for number, entry in enumerate(entries, start=1)]


def _entry(number: int, value: Json, now: datetime) -> Entry:
    if not isinstance(value, dict):
        raise SessionError(f"Entry {number} of the file is not an object.")
    try:
        return Entry.model_validate({"sequence": number, "at": now, **value, "session_id": ""})
    except ValidationError as error:
        raise SessionError(f"Entry {number} of the file cannot be used: {first_error(error)}.") from error


def _title_of(value: Mapping[str, Json]) -> str:
    session = value.get("session")
    titles = (session.get("title") if isinstance(session, dict) else None, value.get("title"))
    return next((title for title in titles if isinstance(title, str) and title.strip()), "")


def _listed(values: Sequence[Json], title: str, now: datetime, new_id: Callable[[], str]) -> list[EntryBody]:
    foreign = ForeignMessageParser(now, new_id)
    messages = [foreign.message(number, value) for number, value in enumerate(values, start=1)]
    return [TitleEntry(title=title or _title_from(messages)), *(MessageEntry(message=message) for message in messages)]


def _title_from(messages: Sequence[ChatMessage]) -> str:
    """A title made of the first message of the user."""
    said = next((message.text for message in messages if message.role == "user" and message.text.strip()), "")
    return shorten(" ".join(said.split()), _TITLE_LENGTH)
