"""Sessions as append-only lists of entries, and the views of them: thread, window, archive."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Generic, Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from zkchat.model.change import Decision
from zkchat.model.choices import Role
from zkchat.model.goal import Goal
from zkchat.model.message import ChatMessage, Priority
from zkchat.model.parts import CompactionPart, Condensed, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from zkchat.model.request_context import RequestItem
from zkchat.model.values import Tagged, Unknown, Value

Known = TypeVar("Known")


class Session(Value, frozen=True, kw_only=True):
    """What a list of sessions shows."""

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
    """The words of its text, packed by `context.recall.ranking`."""
    labels: bytes
    """The words of its speaker and its day, likewise."""
    features: bytes
    """What beside its words helps to rank it, packed by `context.recall.features`."""
    vector: bytes = b""
    """What it means, packed by `context.recall.vectors`; empty if no vector could be made."""


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


def messages_of(entries: Iterable[Entry]) -> dict[str, ChatMessage]:
    """Every message of every branch by id, in order of first appearance; unfinished drafts included as such."""
    messages: dict[str, ChatMessage] = {}
    drafts: set[str] = set()
    priorities: dict[str, int] = {}
    for entry in entries:
        body = entry.body
        if isinstance(body, MessageEntry):
            messages[body.message.id] = body.message
            drafts.discard(body.message.id)
        elif isinstance(body, PriorityEntry):
            priorities[body.message_id] = body.priority
        elif isinstance(body, DraftEntry) and (body.message_id not in messages or body.message_id in drafts):
            messages[body.message_id] = extend_draft(messages.get(body.message_id), body, entry)
            drafts.add(body.message_id)
    return {id_: _with_priority(message, priorities.get(id_)) for id_, message in messages.items()}


def _with_priority(message: ChatMessage, priority: int | None) -> ChatMessage:
    if priority is None or message.priority == priority:
        return message
    return replace(message, priority=priority)


def extend_draft(draft: ChatMessage | None, chunk: DraftEntry, entry: Entry) -> ChatMessage:
    """An answer with one more chunk of it."""
    text = (draft.text if draft else "") + chunk.text
    thinking = (draft.thinking if draft else "") + chunk.thinking
    parts = (*((ThinkingPart(text=thinking),) if thinking else ()), *((TextPart(text=text),) if text else ()))
    return ChatMessage(
        id=chunk.message_id,
        session_id=entry.session_id,
        parent_id=chunk.parent_id,
        role="assistant",
        parts=parts,
        created_at=draft.created_at if draft else entry.at,
        finished_at=entry.at,
        provider=chunk.provider,
        model=chunk.model,
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


def abstained_turns(messages: Iterable[ChatMessage]) -> frozenset[str]:
    """The ids of the answers that only say that the notes do not answer, and of their questions."""
    answers = (message for message in messages if message.abstained)
    return frozenset(id_ for answer in answers for id_ in (answer.id, answer.parent_id) if id_)


def unanswered_turns(messages: Sequence[ChatMessage]) -> frozenset[str]:
    """The ids of the messages of each turn, before the last one, in which nothing came from the model."""
    turns: list[list[ChatMessage]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return frozenset(
        message.id
        for turn in turns[:-1]
        if turn[0].role == "user" and not any(_says_something(answer) for answer in turn[1:])
        for message in turn
    )


def _says_something(answer: ChatMessage) -> bool:
    has_tools = any(isinstance(part, ToolCallPart | ToolResultPart) for part in answer.parts)
    return has_tools or bool(answer.text.strip()) or compaction_of(answer) is not None


def compaction_of(message: ChatMessage) -> CompactionPart | None:
    """What a message says about a compaction, if it marks one."""
    return next((part for part in message.parts if isinstance(part, CompactionPart)), None)


def mark_condensed(part: CompactionPart, history: "History") -> CompactionPart:
    """The part with it noted of each short form whether it is new, and whether only documents are left out of it."""
    before, messages = history.window.condensed, history.messages

    def marked(short: Condensed) -> Condensed:
        message = messages.get(short.message_id)
        is_whole = message is not None and not short.call_id and message.text.strip() in short.text
        is_earlier = before.get((short.message_id, short.call_id)) == short.text
        return replace(short, is_earlier=is_earlier, lacks_documents=is_whole)

    return replace(part, condensed=tuple(marked(short) for short in part.condensed))


class Window(Struct, frozen=True, kw_only=True):
    """What the model still sees of a conversation, and what it does not."""

    live: tuple[ChatMessage, ...] = ()
    compactions: tuple[ChatMessage, ...] = ()
    """The markers of those in force, the oldest first."""
    pinned: frozenset[str] = frozenset()

    @property
    def summary(self) -> CompactionPart | None:
        """The last compaction, whose summary stands for everything that is archived."""
        return compaction_of(self.compactions[-1]) if self.compactions else None

    @property
    def condensed(self) -> dict[tuple[str, str], str]:
        """The short forms of live messages, by message and tool call."""
        parts = (compaction_of(message) for message in self.compactions)
        return {(short.message_id, short.call_id): short.text for part in parts if part for short in part.condensed}


class History:
    """Append-only. A new message costs the same whether ten or ten thousand lie before it."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: list[Entry] = []
        self.contents: dict[str, str] = {}
        """Texts that requests were built from, by digest."""
        self._messages: dict[str, ChatMessage] = {}
        self._drafts: set[str] = set()
        self._awaited: set[str] = set()
        """Parents that damage took away, or that come late."""
        self._local: set[str] = set()
        self._asked_again: set[str] = set()
        self._pinned: set[str] = set()
        self._priorities: dict[str, int] = {}
        self._restored: set[str] = set()
        self._items: list[ItemsEntry] = []
        self.changes: dict[str, list[ChangesEntry]] = {}
        """By answer, what became of the changes of notes that it proposed."""
        self.agent = ""
        """Who answers from here on, where the user has said so."""
        self.model: ModelEntry | None = None
        """The model that answered last, or that the user chose since."""
        self.is_agent_newer = False
        """Whether the agent was chosen after that model."""
        self.goal: Goal | None = None
        """The goal that was worked on last."""
        self._thread: dict[str, ChatMessage] = {}
        self._window: _Views | None = None
        self.extend(entries)

    @property
    def messages(self) -> Mapping[str, ChatMessage]:
        """Every message of every branch, by id."""
        return self._messages

    @property
    def thread(self) -> list[ChatMessage]:
        """The conversation as it stands, from the first message to the head."""
        return [*self._thread.values()]

    @property
    def newest_first(self) -> Iterator[ChatMessage]:
        """The same, from the end."""
        return reversed(self._thread.values())

    @property
    def last(self) -> ChatMessage | None:
        return next(self.newest_first, None)

    @property
    def last_question(self) -> ChatMessage | None:
        """The last message of the user."""
        return next((message for message in self.newest_first if message.role == "user"), None)

    @property
    def is_local(self) -> bool:
        """Whether a message of the conversation is to stay on this machine."""
        return any(id_ in self._thread for id_ in self._local)

    @property
    def was_asked_again(self) -> bool:
        """Whether a model was asked again, with what the notes say, on whatever branch."""
        return bool(self._asked_again)

    @property
    def items(self) -> tuple[ItemsEntry, ...]:
        """What the user added to the session's context and dropped from it, in order."""
        return tuple(self._items)

    @property
    def is_private(self) -> bool:
        """Whether nothing of it is to be remembered in other sessions."""
        return any(change.private for change in self._items)

    @property
    def window(self) -> Window:
        views = self._views()
        return Window(
            live=tuple(views.live.values()), compactions=tuple(views.compactions), pinned=frozenset(self._pinned)
        )

    @property
    def archived(self) -> Mapping[str, ChatMessage]:
        """The messages of this conversation that the model no longer sees, by id, the oldest first."""
        return self._views().archived

    def extend(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.entries.append(entry)
            self._take(entry)

    def _take(self, entry: Entry) -> None:
        match entry.body:
            case MessageEntry(message=message):
                if message.id not in self._messages or message.id in self._drafts:
                    self._take_model(message)
                self._drafts.discard(message.id)
                self._put(message)
            case DraftEntry() as chunk:
                known = self._messages.get(chunk.message_id)
                if known is None or chunk.message_id in self._drafts:
                    self._drafts.add(chunk.message_id)
                    self._put(extend_draft(known, chunk, entry))
            case HeadEntry():
                self._rebuild()
            case PinEntry(message_id=id_, pinned=pinned):
                (self._pinned.add if pinned else self._pinned.discard)(id_)
            case PriorityEntry(message_id=id_, priority=priority):
                self._priorities[id_] = priority
                if id_ in self._messages:
                    self._put(self._messages[id_])
            case RestoreEntry(compaction_id=id_):
                self._restored.add(id_)
                self._window = None
            case ContentEntry(digest=digest, text=text):
                self.contents[digest] = text
            case body:
                self._take_choice(body)

    def _take_choice(self, body: EntryBody) -> None:
        match body:
            case ItemsEntry() as items:
                self._items.append(items)
            case ChangesEntry() as changes:
                self.changes.setdefault(changes.message_id, []).append(changes)
            case AgentEntry(name=name):
                self.agent, self.is_agent_newer = name, True
            case ModelEntry() as model:
                self.model, self.is_agent_newer = model if model.name else None, False
            case GoalEntry(goal=goal):
                self.goal = goal
            case _:
                pass  # titles, whether it is listed, and what a newer zkchat wrote

    def _take_model(self, message: ChatMessage) -> None:
        """The model of an answer that zkchat got is that of the session, also where no entry says so."""
        context = message.request_context
        if message.role != "assistant" or context is None or not (message.provider and message.text):
            return
        name = f"{message.provider}:{message.model}" if message.model else message.provider
        if self.model is None or self.model.model != name:
            window = context.usage.window if context.usage else None
            self.model = ModelEntry(name=name, model=name, window=window or None)
        self.is_agent_newer = False

    def _put(self, stored: ChatMessage) -> None:
        message = _with_priority(stored, self._priorities.get(stored.id))
        last, known = self.last, self._messages.get(message.id)
        follows = known is None and message.parent_id == (last.id if last else None)
        is_as_before = known is not None and _place(known) == _place(message)
        self._messages[message.id] = message
        (self._local.add if message.local else self._local.discard)(message.id)
        (self._asked_again.add if message.asked_again else self._asked_again.discard)(message.id)
        if message.parent_id is not None and message.parent_id not in self._messages:
            self._awaited.add(message.parent_id)
        if known is None and message.id in self._awaited:
            self._rebuild()
        elif follows or (is_as_before and message.id in self._thread):
            self._thread[message.id] = message
            self._show(message)
        elif not is_as_before:
            self._rebuild()

    def _show(self, message: ChatMessage) -> None:
        if compaction_of(message):
            self._window = None
        elif self._window:
            views = self._window
            (views.archived if message.id in views.hidden else views.live)[message.id] = message

    def _rebuild(self) -> None:
        """Rebuild the thread: the conversation continues on another branch."""
        self._thread = {message.id: message for message in thread_of(self.entries)}
        self._window = None

    def _views(self) -> "_Views":
        if self._window is None:
            self._window = _Views(self._thread, self._restored)
        return self._window


def _place(message: ChatMessage) -> tuple[str | None, bool]:
    return message.parent_id, compaction_of(message) is not None


class _Views:
    """The thread, parted into what the model sees and what it does not."""

    def __init__(self, thread: Mapping[str, ChatMessage], restored: set[str]) -> None:
        markers = [(message, part) for message in thread.values() if (part := compaction_of(message))]
        in_force = [(message, part) for message, part in markers if message.id not in restored]
        said = [message for message in thread.values() if compaction_of(message) is None]
        self.hidden = {id_ for _, part in in_force for id_ in part.archived}
        """Also of messages that come late."""
        self.compactions = [message for message, _ in in_force]
        self.live = {message.id: message for message in said if message.id not in self.hidden}
        self.archived = {message.id: message for message in said if message.id in self.hidden}


class MessageCache(Generic[Known]):
    """Caches a pure function of a message by id, because every turn asks for all messages again."""

    def __init__(self, work: Callable[[ChatMessage], Known]) -> None:
        self._work = work
        self._known: dict[str, tuple[ChatMessage, Known]] = {}

    def __call__(self, message: ChatMessage) -> Known:
        known = self._known.get(message.id)
        if known is None or known[0] is not message:  # a message that was stored again may say something else
            known = self._known[message.id] = message, self._work(message)
        return known[1]
