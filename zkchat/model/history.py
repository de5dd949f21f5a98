"""A session while it goes on: its entries, and the views of them kept up to date (SPEC 4.5)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from zkchat.model.message import ChatMessage, CompactionPart
from zkchat.model.session import (
    AgentEntry,
    ContentEntry,
    DraftEntry,
    Entry,
    HeadEntry,
    ItemsEntry,
    MessageEntry,
    PinEntry,
    RestoreEntry,
    grown,
    thread_of,
)

Known = TypeVar("Known")


def compaction_of(message: ChatMessage) -> CompactionPart | None:
    """What a message says about a compaction, if it marks one."""
    return next((part for part in message.parts if isinstance(part, CompactionPart)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
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
        self._pinned: set[str] = set()
        self._restored: set[str] = set()
        self._items: list[ItemsEntry] = []
        self.agent = ""
        """Who answers from here on, where the user has said so."""
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
                self._drafts.discard(message.id)
                self._put(message)
            case DraftEntry() as piece:
                known = self._messages.get(piece.message_id)
                if known is None or piece.message_id in self._drafts:
                    self._drafts.add(piece.message_id)
                    self._put(grown(known, piece, entry))
            case HeadEntry():
                self._look_again()
            case PinEntry(message_id=id_, pinned=pinned):
                (self._pinned.add if pinned else self._pinned.discard)(id_)
            case RestoreEntry(compaction_id=id_):
                self._restored.add(id_)
                self._window = None
            case ContentEntry(digest=digest, text=text):
                self.contents[digest] = text
            case ItemsEntry() as items:
                self._items.append(items)
            case AgentEntry(name=name):
                self.agent = name
            case _:
                pass  # titles, and what a newer zkchat wrote

    def _put(self, message: ChatMessage) -> None:
        last, known = self.last, self._messages.get(message.id)
        follows = known is None and message.parent_id == (last.id if last else None)
        is_as_before = known is not None and _place(known) == _place(message)
        self._messages[message.id] = message
        if message.parent_id is not None and message.parent_id not in self._messages:
            self._awaited.add(message.parent_id)
        if known is None and message.id in self._awaited:
            self._look_again()
        elif follows or (is_as_before and message.id in self._thread):
            self._thread[message.id] = message
            self._show(message)
        elif not is_as_before:
            self._look_again()

    def _show(self, message: ChatMessage) -> None:
        if compaction_of(message):
            self._window = None
        elif self._window:
            views = self._window
            (views.archived if message.id in views.hidden else views.live)[message.id] = message

    def _look_again(self) -> None:
        """Another branch: what was known of the thread no longer holds."""
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


class OncePerMessage(Generic[Known]):
    """What follows from a message by itself, worked out once, because every turn asks for all of them again."""

    def __init__(self, work: Callable[[ChatMessage], Known]) -> None:
        self._work = work
        self._known: dict[str, tuple[ChatMessage, Known]] = {}

    def __call__(self, message: ChatMessage) -> Known:
        known = self._known.get(message.id)
        if known is None or known[0] is not message:  # a message that was stored again may say something else
            known = self._known[message.id] = message, self._work(message)
        return known[1]
