"""Import of conversations: the file of any understood form is read, and what is new in it is stored."""

import os
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import IO, Final, Literal
from zipfile import ZipFile

from msgspec import Struct
from msgspec.structs import replace

from zkchat import chat, sessions
from zkchat.app.library import open_library
from zkchat.core import (
    EntryBody,
    Environment,
    HeadEntry,
    History,
    MessageEntry,
    ModelEntry,
    SessionError,
    SessionNotFound,
    SessionStore,
    ZkchatError,
    messages_of,
    open_regular,
)
from zkchat.index import Library
from zkchat.sessions import Imported, ImportedFile

MAX_BYTES: Final = 256_000_000
State = Literal["new", "extended", "known"]


class Stored(Struct, frozen=True, kw_only=True):
    """What became of one conversation of a file."""

    session: str
    """Empty where nothing was stored, because it was only tried."""
    title: str
    messages: int
    added: int
    """How many of the messages were not there before."""

    @property
    def state(self) -> State:
        return "known" if not self.added else "new" if self.added == self.messages else "extended"


def read_import(file: Path, *, now: datetime) -> ImportedFile:
    """The conversations of a file, whose form is told by its content. Raises `SessionError`, and `OSError`."""
    with open_regular(file) as stream:
        beginning = stream.read(16)
        stream.seek(0)
        if beginning == sessions.SIGNATURE:
            return sessions.read_value(sessions.read_llm_logs(file), now=now, form="llm log")
        if beginning.startswith(b"PK\x03\x04"):
            return _read_zip(stream, now)
        if os.fstat(stream.fileno()).st_size > MAX_BYTES:
            raise _too_large()
        return read_import_text(_text(_bounded(stream)), now=now)


def read_import_text(text: str, *, now: datetime) -> ImportedFile:
    if len(text) > MAX_BYTES:
        raise _too_large()
    return sessions.read_conversations(text, now=now)


def _read_zip(stream: IO[bytes], now: datetime) -> ImportedFile:
    """The conversations of an export as it is sent: nothing is unpacked onto the disk."""
    found: list[ImportedFile] = []
    left = MAX_BYTES
    try:
        with ZipFile(stream) as archive:
            listed = [name for name in archive.namelist()[:200_000] if name.endswith((".json", ".jsonl"))]
            named = [name for name in listed if name.rsplit("/", 1)[-1].startswith(("conversations", "chat_sessions"))]
            chosen = named or (listed if len(listed) == 1 else [])
            if not chosen:
                raise SessionError(
                    "The .zip has no conversations.json.", hint="Unzip it, and import the file with the conversations."
                )
            for name in sorted(chosen):
                with archive.open(name) as member:
                    data = _bounded(member, left)
                left -= len(data)
                found.append(read_import_text(_text(data), now=now))
    except ZkchatError:
        raise
    except Exception as error:  # each method of packing has errors of its own for a broken file
        raise SessionError(f"The .zip cannot be read: {error}.") from error
    return sessions.merged(iter(found))


def _bounded(stream: IO[bytes], limit: int = MAX_BYTES) -> bytes:
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise _too_large()
    return data


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SessionError("The file is not UTF-8 text.") from error


def _too_large() -> SessionError:
    return SessionError(
        f"The file has more than {MAX_BYTES // 1_000_000} MB of conversations, too much to read at once.",
        hint="Split it first, for example with the program jq: jq '.[:500]' conversations.json > part1.json",
    )


def mark_local(found: ImportedFile, environment: Environment, vault: Path | None) -> ImportedFile:
    """The same, where messages that name a note of this vault which is to stay here, and all after them, are local."""
    if not any(message.references for imported in found.conversations for message in imported.messages.values()):
        return found
    with open_library(environment, vault) as (_, library):
        marked = [_with_local_marked(imported, library) for imported in found.conversations]
    return replace(found, conversations=marked)


def _with_local_marked(imported: Imported, library: Library) -> Imported:
    local: set[str] = set()
    bodies: list[EntryBody] = []
    for body in imported.bodies:
        if isinstance(body, MessageEntry):
            message = body.message
            if message.parent_id in local or (message.references and chat.stays_here([message], library)):
                local.add(message.id)
                bodies.append(MessageEntry(message=replace(message, local=True)))
                continue
        bodies.append(body)
    return replace(imported, bodies=bodies)


def store_conversation(store: SessionStore, imported: Imported, *, is_trial: bool) -> Stored:
    """Store a conversation as a session; one that is there already is extended by the messages that it lacks.

    A trial only tells what would become of it.
    """
    total = imported.message_count
    for attempt in count():
        session_id = sessions.derived_id(imported.key, attempt)
        extension = _extension(store, session_id, imported)
        if extension is None:
            # What a file says of models is no choice of this user's: the entry without a name says that there is none.
            if is_trial or store.add(session_id, [*imported.bodies_for(session_id), ModelEntry()]):
                return Stored(session="" if is_trial else session_id, title=imported.title, messages=total, added=total)
            continue  # the user deleted it, and now wants it again
        is_same, bodies, added = extension
        if is_same:
            if bodies and not is_trial:
                store.append(session_id, bodies)
            return Stored(session=session_id, title=imported.title, messages=total, added=added)
    raise AssertionError


def _extension(store: SessionStore, session_id: str, imported: Imported) -> tuple[bool, list[EntryBody], int] | None:
    """Whether a session that is there begins alike, what it lacks of a conversation, and how many messages that are.

    None where there is no such session.
    """
    try:
        entries = store.entries(session_id)
    except SessionNotFound:
        return None
    known, head = messages_of(entries), History(entries).head
    wanted = [body for body in imported.bodies_for(session_id) if isinstance(body, MessageEntry)]
    missing: list[EntryBody] = [body for body in wanted if body.message.id not in known]
    added = len({body.message.id for body in wanted if body.message.id not in known})
    if missing:
        stands_at = next((body.message_id for body in imported.bodies if isinstance(body, HeadEntry)), None)
        is_untouched = head in imported.messages
        missing.append(HeadEntry(message_id=(stands_at or wanted[-1].message.id) if is_untouched else head))
        missing.append(History(entries).model or ModelEntry())
    return wanted[0].message.id in known, missing, added
