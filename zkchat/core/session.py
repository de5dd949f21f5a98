"""Sessions: how lists show them, their entries, and how these are stored as JSON."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, get_args

from msgspec import Struct

from zkchat.core.choices import Decision, Role
from zkchat.core.events import Goal
from zkchat.core.message import ChatMessage, Part, Priority, RequestContext, RequestItem, UnknownPart
from zkchat.core.values import Tagged, Unknown, Value, defaults_of, from_plain, to_plain, without_defaults


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
    """What became of the changes to notes that an answer proposed."""

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


ItemsReader = Callable[[str], tuple[RequestItem, ...]]
ItemsWriter = Callable[[Sequence[RequestItem]], str]
"""A store keeps each item once, and has a text for those of a request."""


def kinds_of(union: Any) -> frozenset[str]:
    """What its classes are told apart by."""
    return frozenset(each.__struct_config__.tag for each in get_args(union) if not issubclass(each, Unknown))


_ANY_BODY: Final[Any] = EntryBody
_PART_KINDS: Final = kinds_of(Part)
_ENTRY_KINDS: Final = kinds_of(EntryBody)
OMITTED: Final = defaults_of(ChatMessage)
"""What a store leaves out of a message: most fields of most messages. A default must never change."""


def stored_body(body: EntryBody, write_items: ItemsWriter) -> Any:
    """An entry as a store keeps it."""
    if not isinstance(body, MessageEntry):
        return to_plain(body)
    given = {name: getattr(body.message, name) for name in ChatMessage.__struct_fields__}
    kept = {name: value for name, value in given.items() if name not in OMITTED or value != OMITTED[name]}
    if references := kept.get("references"):
        kept["references"] = [without_defaults(reference) for reference in references]
    if context := kept.get("request_context"):
        kept["request_context"] = _stored_context(context, write_items)
    return {"kind": body.kind, "message": to_plain(kept)}


def _stored_context(context: RequestContext, write_items: ItemsWriter) -> dict[str, Any]:
    """Without what is computed of the rest."""
    given = {name: getattr(context, name) for name in RequestContext.__struct_fields__}
    written = {name: value for name, value in given.items() if value or name not in {"is_plain", "told_first"}}
    written["items"] = write_items(context.items)
    reasons = groupby(context.left_out, key=attrgetter("why"))
    written["left_out"] = [[why, write_items([left.item for left in group])] for why, group in reasons]
    if usage := context.usage:
        budgets = {name: {"used": each.used, "limit": each.limit} for name, each in usage.budgets.items()}
        kept = {name: value for name, value in to_plain(usage).items() if name not in usage.computed}
        written["usage"] = {**kept, "budgets": budgets}
    return written


def read_body(plain: Any, read_items: ItemsReader | None = None) -> EntryBody:
    """The entry that JSON describes, without the items of requests where nobody reads them. Raises `InvalidValue`."""
    body: EntryBody = from_plain(_ANY_BODY, _current_body(plain, read_items))
    return body


def read_entry(plain: dict[str, Any]) -> Entry:
    """Raises `InvalidValue`."""
    return from_plain(Entry, {**plain, "body": _current_body(plain.get("body"))})


def read_message(plain: Any) -> ChatMessage:
    """Raises `InvalidValue`."""
    return from_plain(ChatMessage, _current_message(plain))


def _kind(plain: Any) -> str | None:
    kind = plain.get("kind") if isinstance(plain, dict) else None
    return kind if isinstance(kind, str) else None


def _current_body(body: Any, read_items: ItemsReader | None = None) -> Any:
    """What is stored of an entry, in the form that is written today."""
    kind = _kind(body)
    if kind is not None and kind not in _ENTRY_KINDS:
        return UnknownEntry(fields={"kind": kind, **body})
    return {**body, "message": _current_message(body.get("message"), read_items)} if kind == "message" else body


def _current_message(message: Any, read_items: ItemsReader | None = None) -> Any:
    if not isinstance(message, dict):
        return message
    changed: dict[str, Any] = {}
    if isinstance(parts := message.get("parts"), list):
        changed["parts"] = [_current_part(part) for part in parts]
    if isinstance(context := message.get("request_context"), dict):
        changed["request_context"] = _current_context(context, read_items or (lambda _: ()))
    return {**message, **changed}


def _current_context(context: dict[str, Any], read_items: ItemsReader) -> dict[str, Any]:
    """With items in the place of the texts that name them; earlier versions stored the items themselves."""
    changed: dict[str, Any] = {}
    if isinstance(items := context.get("items"), str):
        changed["items"] = read_items(items)
    if isinstance(left_out := context.get("left_out"), list):
        changed["left_out"] = []
        for stored in left_out:
            match stored:
                case [why, str(items)]:
                    changed["left_out"] += [{"item": item, "why": why} for item in read_items(items)]
                case _:
                    changed["left_out"].append(stored)
    return {**context, **changed}


def _current_part(part: Any) -> Any:
    kind = _kind(part)
    if kind is not None and kind not in _PART_KINDS:
        return UnknownPart(fields={"kind": kind, **part})
    if kind == "evidence":
        for name in ("evidence", "nearest"):
            listed = part.get(name)
            for each in listed if isinstance(listed, list) else ():
                if isinstance(each, dict) and "sentence" in each:  # as the text was called once
                    each.setdefault("text", each["sentence"])
    return part


class Session(Value, frozen=True, kw_only=True):
    id: str
    title: str = ""
    created_at: datetime
    updated_at: datetime
    message_count: int = 0
    listed: bool = True
    """Whether lists show it unasked: not a single question of `zkchat ask` that nobody went on with."""
    first_words: str = ""
    """The beginning of its first question, whatever its title is."""
    model: str = ""


class MessageHit(Value, frozen=True, kw_only=True):
    """A message that a search over conversations found."""

    session: str
    message: str
    external_id: str = ""
    role: Role
    name: str = ""
    time: datetime
    snippet: str
    score: float


class IndexedMessage(Struct, frozen=True, kw_only=True):
    """A message as the search over conversations keeps it."""

    session: str
    id: str
    place: int
    """The entry that first stored it: its place in the session."""
    changed: int
    """The entry that stored it last."""
    external_id: str = ""
    role: Role
    name: str = ""
    time: datetime
    text: str
    said: bytes
    """The words of its text, packed by `chat/message_ranking`."""
    labels: bytes
    """The words of its speaker and its day, likewise."""
    features: bytes
    """What beside its words helps to rank it, packed by `chat/message_ranking`."""
    vector: bytes = b""
    """What it means, packed by `chat/message_search`; empty if no vector could be made."""


class MessageRow(NamedTuple):
    """What is read of every message to rank it; see `IndexedMessage`."""

    session: str
    id: str
    place: int
    changed: int
    said: bytes
    labels: bytes
    features: bytes
    vector: bytes


class IndexedUpTo(Struct, frozen=True):
    """How much of a session the search knows: all up to this entry."""

    sequence: int
    at: datetime
    vectors: str = ""
    """How the vectors of its messages were made; empty if some have none."""


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
