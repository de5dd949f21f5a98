"""The entries of a session: everything that happens in it, in order, and never changed."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from zkchat.model.change import Decision
from zkchat.model.choices import Role
from zkchat.model.goal import Goal
from zkchat.model.message import ChatMessage, Priority
from zkchat.model.request_context import RequestItem
from zkchat.model.values import Tagged, Unknown, Value


class MessageEntry(Tagged, frozen=True, kw_only=True, tag="message"):
    """A message. A later entry with the same message id takes the place of an earlier one."""

    message: ChatMessage


class DraftEntry(Tagged, frozen=True, kw_only=True, tag="draft"):
    """A chunk of an answer that is still arriving, so that a crash loses at most the last moment of it."""

    message_id: str
    parent_id: str | None = None
    text: str = ""
    thinking: str = ""
    provider: str = ""
    model: str = ""


class TitleEntry(Tagged, frozen=True, kw_only=True, tag="title"):
    title: str


class HeadEntry(Tagged, frozen=True, kw_only=True, tag="head"):
    """From here on the conversation continues after this message: the beginning of a branch."""

    message_id: str | None


class PinEntry(Tagged, frozen=True, kw_only=True, tag="pin"):
    message_id: str
    pinned: bool = True


class PriorityEntry(Tagged, frozen=True, kw_only=True, tag="priority"):
    """How important a message is to the user, whatever was stored with it."""

    message_id: str
    priority: Priority


class ItemsEntry(Tagged, frozen=True, kw_only=True, tag="items"):
    """What the user added to, or dropped from, the session's context."""

    added: tuple[RequestItem, ...] = ()
    dropped: tuple[RequestItem, ...] = ()
    private: bool = False
    """From here on nothing that is said in this session is remembered in others."""


class RestoreEntry(Tagged, frozen=True, kw_only=True, tag="restore"):
    """A compaction taken back: the window is again what it was before that message."""

    compaction_id: str


class ContentEntry(Tagged, frozen=True, kw_only=True, tag="content"):
    """A text that requests of this session were built from, under its digest, so that they can be built again."""

    digest: str
    text: str


class AgentEntry(Tagged, frozen=True, kw_only=True, tag="agent"):
    """From here on this agent answers, unless a message speaks to another."""

    name: str


class ModelEntry(Tagged, frozen=True, kw_only=True, tag="model"):
    """From here on this model answers; without a name, none is chosen, as after an import."""

    name: str = ""
    """As the user names it: `PROVIDER:ID`, or the name of a `[models.NAME]` table."""
    model: str = ""
    """The model that this meant: `PROVIDER:ID`."""
    window: int | None = None
    """Its window in tokens, as it was used."""
    on_this_machine: bool | None = None
    """Where it ran; None if that is not known."""
    chosen: bool = False
    """Whether the user chose it for this session, rather than in the settings or not at all."""


class ListingEntry(Tagged, frozen=True, kw_only=True, tag="listing"):
    """From here on lists of sessions show this one, or do not."""

    listed: bool


class ChangesEntry(Tagged, frozen=True, kw_only=True, tag="changes"):
    """What became of the changes of notes that an answer proposed."""

    message_id: str
    """The answer that proposed them; of changes that were undone, the last message before that."""
    decision: Decision | Literal["undone"]
    title: str = ""
    paths: tuple[str, ...] = ()
    """What they touch."""
    edited: bool = False
    record: int | None = None
    """Its number in the journal of changes, where they were applied."""
    reason: str = ""
    """Why they were not applied, where the user did not say no."""
    told: str = ""
    """What the next request says of it to the model."""
    diff: str = ""
    """The patch, as it was proposed or, where the user edited it, as it was applied."""


class GoalEntry(Tagged, frozen=True, kw_only=True, tag="goal"):
    """A goal as it stands now; a later entry with the same goal id takes the place of an earlier one."""

    goal: Goal


class UnknownEntry(Unknown, frozen=True, kw_only=True, tag="unknown entry"):
    """An entry that a newer zkchat wrote."""


EntryBody = (
    MessageEntry
    | DraftEntry
    | TitleEntry
    | HeadEntry
    | PinEntry
    | PriorityEntry
    | ItemsEntry
    | RestoreEntry
    | ContentEntry
    | AgentEntry
    | ModelEntry
    | ListingEntry
    | ChangesEntry
    | GoalEntry
    | UnknownEntry
)


class Entry(Value, frozen=True, kw_only=True):
    """One row of a session: its place, its time, and what happened."""

    session_id: str
    sequence: int
    at: datetime
    body: EntryBody


class EntryFilter(Struct, frozen=True, kw_only=True):
    """Which entries of a session to load. Empty: all."""

    last: int | None = None
    """Only so many messages, the newest."""
    role: Role | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: int | None = None
    """Only those that were stored after this place."""
