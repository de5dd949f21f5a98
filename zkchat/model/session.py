"""Sessions as append-only lists of entries, and the pure views of them (SPEC 2.6, 4.5)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Tag

from zkchat.model.context import RequestItem
from zkchat.model.message import ChatMessage, Role, TextPart, ThinkingPart
from zkchat.model.value import Value


class Session(Value):
    """What a list of sessions shows."""

    id: str
    title: str = ""
    created_at: datetime
    updated_at: datetime
    message_count: int = 0


class MessageHit(Value):
    """A message that a search over conversations found."""

    session: str
    message: str
    external_id: str = ""
    role: Role
    name: str = ""
    time: datetime
    snippet: str
    score: float


class MessageEntry(Value):
    """A message. A later entry with the same message id takes the place of an earlier one."""

    kind: Literal["message"] = "message"
    message: ChatMessage


class DraftEntry(Value):
    """A piece of an answer that is still arriving, so that a crash loses at most the last moment of it."""

    kind: Literal["draft"] = "draft"
    message_id: str
    parent_id: str | None = None
    text: str = ""
    thinking: str = ""
    provider: str = ""
    model: str = ""


class TitleEntry(Value):
    kind: Literal["title"] = "title"
    title: str


class HeadEntry(Value):
    """From here on the conversation continues after this message: the beginning of a branch."""

    kind: Literal["head"] = "head"
    message_id: str | None


class PinEntry(Value):
    kind: Literal["pin"] = "pin"
    message_id: str
    pinned: bool = True


class ItemsEntry(Value):
    """What the user added to, or dropped from, the session's context (SPEC 5.1)."""

    kind: Literal["items"] = "items"
    added: tuple[RequestItem, ...] = ()
    dropped: tuple[RequestItem, ...] = ()
    private: bool = False
    """From here on nothing that is said in this session is remembered in others."""


class RestoreEntry(Value):
    """A compaction taken back: the window is again what it was before that message."""

    kind: Literal["restore"] = "restore"
    compaction_id: str


class ContentEntry(Value):
    """A text that requests of this session were built from, under its digest, so that they can be built again."""

    kind: Literal["content"] = "content"
    digest: str
    text: str


class AgentEntry(Value):
    """From here on this agent answers, unless a message speaks to another."""

    kind: Literal["agent"] = "agent"
    name: str


class UnknownEntry(Value):
    """An entry that a newer zkchat wrote: kept as it is."""

    model_config = ConfigDict(extra="allow")
    kind: str


_KNOWN_ENTRIES = {"message", "draft", "title", "head", "pin", "items", "restore", "content", "agent"}


def _entry_tag(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind if isinstance(kind, str) and kind in _KNOWN_ENTRIES else "unknown"


EntryBody = Annotated[
    Annotated[MessageEntry, Tag("message")]
    | Annotated[DraftEntry, Tag("draft")]
    | Annotated[TitleEntry, Tag("title")]
    | Annotated[HeadEntry, Tag("head")]
    | Annotated[PinEntry, Tag("pin")]
    | Annotated[ItemsEntry, Tag("items")]
    | Annotated[RestoreEntry, Tag("restore")]
    | Annotated[ContentEntry, Tag("content")]
    | Annotated[AgentEntry, Tag("agent")]
    | Annotated[UnknownEntry, Tag("unknown")],
    Discriminator(_entry_tag),
]


class Entry(Value):
    """One row of a session: its place, its time, and what happened."""

    session_id: str
    sequence: int
    at: datetime
    body: EntryBody


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Which entries of a session to load. Empty: all."""

    last: int | None = None
    """Only so many messages, the newest."""
    role: Role | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: int | None = None
    """Only those that were stored after this place."""


def messages_of(entries: Iterable[Entry]) -> dict[str, ChatMessage]:
    """Every message of every branch by id, in order of first appearance; unfinished drafts included as such."""
    messages: dict[str, ChatMessage] = {}
    drafts: set[str] = set()
    for entry in entries:
        body = entry.body
        if isinstance(body, MessageEntry):
            messages[body.message.id] = body.message
            drafts.discard(body.message.id)
        elif isinstance(body, DraftEntry) and (body.message_id not in messages or body.message_id in drafts):
            messages[body.message_id] = grown(messages.get(body.message_id), body, entry)
            drafts.add(body.message_id)
    return messages


def grown(draft: ChatMessage | None, piece: DraftEntry, entry: Entry) -> ChatMessage:
    """An answer with one more piece of it."""
    text = (draft.text if draft else "") + piece.text
    thinking = (draft.thinking if draft else "") + piece.thinking
    parts = (*((ThinkingPart(text=thinking),) if thinking else ()), *((TextPart(text=text),) if text else ()))
    return ChatMessage(
        id=piece.message_id,
        session_id=entry.session_id,
        parent_id=piece.parent_id,
        role="assistant",
        parts=parts,
        created_at=draft.created_at if draft else entry.at,
        finished_at=entry.at,
        provider=piece.provider,
        model=piece.model,
        status="unfinished",
    )


def orphans_of(entries: Iterable[Entry]) -> list[ChatMessage]:
    """Answers whose writer stopped before it could store them whole."""
    kept = list(entries)
    stored = {entry.body.message.id for entry in kept if isinstance(entry.body, MessageEntry)}
    return [message for id_, message in messages_of(kept).items() if id_ not in stored]


def head_of(entries: Iterable[Entry]) -> str | None:
    """The message after which the conversation continues: the newest one, unless a branch was begun since.

    A message that is stored again, say by another process that finishes it late, does not move the head.
    """
    head: str | None = None
    seen: set[str] = set()
    for entry in entries:
        body = entry.body
        if isinstance(body, HeadEntry):
            head = body.message_id
        elif isinstance(body, MessageEntry | DraftEntry):
            message_id = body.message.id if isinstance(body, MessageEntry) else body.message_id
            head = head if message_id in seen else message_id
            seen.add(message_id)
    return head


def thread_of(entries: Iterable[Entry]) -> list[ChatMessage]:
    """The conversation as it stands: the messages from the first to the head, along their parents.

    Where damage took a parent away, the message that was stored before stands in for it.
    """
    kept = list(entries)
    messages = messages_of(kept)
    before = dict(zip(messages, [None, *messages], strict=False))
    thread: list[ChatMessage] = []
    seen: set[str] = set()
    current = messages.get(head_of(kept) or "")
    while current is not None and current.id not in seen:
        seen.add(current.id)
        thread.append(current)
        parent = current.parent_id
        current = messages.get((parent if parent is None or parent in messages else before[current.id]) or "")
    return thread[::-1]


def sessions_called(name: str, sessions: Iterable[Session]) -> list[Session]:
    """Those that a name can mean, one if it is clear: by id, the beginning of an id, title, title in any case."""
    known, wanted = list(sessions), name.strip()
    if not wanted:
        return []
    ways = (
        [session for session in known if session.id == wanted],
        [session for session in known if session.id.startswith(wanted)],
        [session for session in known if session.title == wanted],
        [session for session in known if session.title.casefold() == wanted.casefold()],
    )
    clear = (called for called in ways if len(called) == 1)
    several = (called for called in ways if called)
    return next(clear, None) or next(several, [])
