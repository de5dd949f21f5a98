"""The history of a session: its thread, its branches, window and archive."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core.choices import TokenUsage
from zkchat.core.events import Goal
from zkchat.core.message import (
    ChatMessage,
    CompactionPart,
    Condensed,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from zkchat.core.session import (
    AgentEntry,
    ChangesEntry,
    ContentEntry,
    DraftEntry,
    Entry,
    EntryBody,
    GoalEntry,
    HeadEntry,
    ItemsEntry,
    MessageEntry,
    ModelEntry,
    PinEntry,
    PriorityEntry,
    RestoreEntry,
)
from zkchat.core.text import lazy_pattern, shorten
from zkchat.core.values import Value


def messages_of(entries: Iterable[Entry]) -> Mapping[str, ChatMessage]:
    """Every message of every branch by id, in order of first appearance; unfinished drafts included as such."""
    return History(entries).messages


def thread_of(entries: Iterable[Entry]) -> list[ChatMessage]:
    """The conversation as it stands: the messages from the first to the head."""
    return History(entries).thread


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


def thread_to(head: str | None, messages: Mapping[str, ChatMessage]) -> list[ChatMessage]:
    """The messages from the first to this one, along their parents.

    Where damage took a parent away, the message that was stored before stands in for it.
    """
    before = dict(zip(messages, [None, *messages], strict=False))
    thread: list[ChatMessage] = []
    seen: set[str] = set()
    current = messages.get(head or "")
    while current is not None and current.id not in seen:
        seen.add(current.id)
        thread.append(current)
        parent = current.parent_id
        current = messages.get((parent if parent is None or parent in messages else before[current.id]) or "")
    return thread[::-1]


def abstained_turns(messages: Iterable[ChatMessage]) -> frozenset[str]:
    """The ids of the answers that only say that the notes do not answer, and of their questions."""
    answers = (message for message in messages if message.abstained)
    return frozenset(id_ for answer in answers for id_ in (answer.id, answer.parent_id) if id_)


def unanswered_turns(messages: Sequence[ChatMessage]) -> frozenset[str]:
    """The ids of the messages of each turn, before the last one, in which nothing came from the model."""
    said = ToolCallPart | ToolResultPart | CompactionPart
    turns: list[list[ChatMessage]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return frozenset(
        message.id
        for turn in turns[:-1]
        if turn[0].role == "user"
        if not any(answer.text.strip() or any(isinstance(part, said) for part in answer.parts) for answer in turn[1:])
        for message in turn
    )


def compaction_of(message: ChatMessage) -> CompactionPart | None:
    """What a message says about a compaction, if it marks one."""
    return next(iter(message.parts_of(CompactionPart)), None)


class ToolUse(Value, frozen=True, kw_only=True):
    """What the calls of one tool took."""

    name: str
    calls: int = 0
    failed: int = 0
    tokens: int = 0
    """Of its name and of what it was called with, as zkchat counts."""
    result_tokens: int = 0
    seconds: float = 0.0


class Totals(Value, frozen=True, kw_only=True):
    """What messages took altogether, whether the model still sees them or not, with what summaries of them took."""

    requests: int = 0
    estimated: int = 0
    """Those of the requests that the model's server told nothing of, so that zkchat counted."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """All that was written: thinking, calls of tools, answers, summaries."""
    thinking_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    """From each request until its answer was whole, and of the calls of tools."""
    thinking_seconds: float = 0.0
    tools: tuple[ToolUse, ...] = ()


def spent(message: ChatMessage) -> TokenUsage | None:
    """What a request and its answer took, as the model's server counted, else as zkchat did; None without a request."""
    if message.usage and message.usage.prompt_tokens:
        return message.usage
    if part := compaction_of(message):
        # The request for a summary held what it replaced.
        read = max(0, part.tokens_before - part.tokens_after)
        return TokenUsage(prompt_tokens=read, completion_tokens=message.token_count) if part.made_by else None
    if message.role != "assistant" or message.request_context is None or message.abstained:
        return None
    read = message.request_context.usage.total if message.request_context.usage else 0
    written = message.token_count + message.tool_tokens + message.thinking_tokens
    return TokenUsage(prompt_tokens=read, completion_tokens=written, thinking_tokens=message.thinking_tokens)


def totals_of(messages: Iterable[ChatMessage], count: Callable[[str], int]) -> Totals:
    """What these messages took; `count` counts tokens of what was called and of what came of it."""
    said = [each for each in messages if each.provider != "quote"]  # that is no model
    usages = [(each, usage) for each in said if (usage := spent(each))]
    results = [part for each in said for part in each.parts_of(ToolResultPart)]
    waits = [each.finished_at - each.created_at for each in said if each.finished_at]
    thoughts = [part.seconds or 0.0 for each in said for part in each.parts_of(ThinkingPart)]
    return Totals(
        requests=len(usages),
        estimated=sum(usage is not each.usage for each, usage in usages),
        prompt_tokens=sum(usage.prompt_tokens for _, usage in usages),
        completion_tokens=sum(usage.completion_tokens for _, usage in usages),
        thinking_tokens=sum(usage.thinking_tokens or each.thinking_tokens for each, usage in usages),
        cached_tokens=sum(usage.cached_tokens for _, usage in usages),
        seconds=round(sum(max(0.0, wait.total_seconds()) for wait in waits) + _seconds(results), 3),
        thinking_seconds=round(sum(thoughts), 3),
        tools=tuple(_tool_uses(said, results, count)),
    )


def _tool_uses(
    messages: Iterable[ChatMessage], results: Sequence[ToolResultPart], count: Callable[[str], int]
) -> Iterator[ToolUse]:
    calls = [part for each in messages for part in each.parts_of(ToolCallPart)]
    for name in dict.fromkeys([*(call.name for call in calls), *(result.name for result in results)]):
        own = [result for result in results if result.name == name]
        written = [f"{call.name} {call.arguments}" for call in calls if call.name == name]
        yield ToolUse(
            name=name,
            calls=max(len(written), len(own)),
            failed=sum(result.failed for result in own),
            tokens=sum(map(count, written)),
            result_tokens=sum(count(result.text) for result in own),
            seconds=_seconds(own),
        )


def _seconds(results: Iterable[ToolResultPart]) -> float:
    return round(sum(result.seconds or 0.0 for result in results), 3)


def turn_of(answer: ChatMessage, messages: Mapping[str, ChatMessage]) -> list[ChatMessage]:
    """The steps that led to an answer, and the answer, without the question."""
    return [*takewhile(lambda each: each.role != "user", reversed(thread_to(answer.id, messages)))][::-1]


Known = TypeVar("Known")


def mark_condensed(part: CompactionPart, history: "History") -> CompactionPart:
    """The part with it noted of each short form whether it is new, and whether only documents are left out of it."""
    before, messages = history.window.condensed, history.messages

    def marked(short: Condensed) -> Condensed:
        message = messages.get(short.message_id)
        is_whole = message is not None and not short.call_id and message.text.strip() in short.text
        earlier = before.get((short.message_id, short.call_id))
        return replace(short, is_earlier=earlier == short.text, lacks_documents=is_whole)

    return replace(part, condensed=tuple(marked(short) for short in part.condensed))


_MARKUP: Final = lazy_pattern(r"</?(?:document|evidence|message|memory)\b")
"""What requests mark texts with, as a model may repeat it."""


class Window(Struct, frozen=True, kw_only=True):
    """What the model still sees of a conversation, and what it does not."""

    live: tuple[ChatMessage, ...] = ()
    compactions: tuple[ChatMessage, ...] = ()
    """The markers of those in force, the oldest first."""
    pinned: frozenset[str] = frozenset()
    stand_ins: dict[tuple[str, str], str] = {}
    """Short forms for this request alone, by message and tool call."""

    @property
    def summary(self) -> CompactionPart | None:
        """The last compaction, whose summary stands for everything that is archived."""
        return compaction_of(self.compactions[-1]) if self.compactions else None

    @property
    def condensed(self) -> dict[tuple[str, str], str]:
        """The short forms of live messages, by message and tool call."""
        made = (short for marker in self.compactions if (part := compaction_of(marker)) for short in part.condensed)
        return {(short.message_id, short.call_id): short.text for short in made} | self.stand_ins


class History:
    """Append-only. The views are made anew when they are asked for after a change."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: list[Entry] = []
        self.contents: dict[str, str] = {}
        """Texts that requests were built from, by digest."""
        self._messages: dict[str, ChatMessage] = {}
        self._slips: dict[str, set[str]] = {}
        """By model, the answers that repeated the markup of their prompts."""
        self._drafts: set[str] = set()
        self.head: str | None = None
        """The message after which the conversation continues: the newest one, unless a branch was begun since.

        A message that is stored again, say by another process that finishes it late, does not move the head.
        """
        self._pinned: set[str] = set()
        self._priorities: dict[str, int] = {}
        self._restored: set[str] = set()
        self._items: list[ItemsEntry] = []
        self.changes: dict[str, list[ChangesEntry]] = {}
        """By answer, what became of the changes to notes that it proposed."""
        self.agent = ""
        """Who answers from here on, where the user has said so."""
        self.model: ModelEntry | None = None
        """The model that answered last, or that the user chose since."""
        self.is_agent_newer = False
        """Whether the agent was chosen after that model."""
        self.goal: Goal | None = None
        """The goal that was worked on last."""
        self._thread: list[ChatMessage] | None = None
        self._parts: tuple[dict[str, ChatMessage], list[ChatMessage], dict[str, ChatMessage]] | None = None
        self.extend(entries)

    @property
    def messages(self) -> Mapping[str, ChatMessage]:
        """Every message of every branch, by id."""
        return self._messages

    @property
    def orphans(self) -> list[ChatMessage]:
        """Answers that are not stored whole."""
        return [message for id_, message in self._messages.items() if id_ in self._drafts]

    @property
    def thread(self) -> list[ChatMessage]:
        """The conversation as it stands, from the first message to the head."""
        return [*self._current_thread()]

    @property
    def newest_first(self) -> Iterator[ChatMessage]:
        """The same, from the end."""
        return reversed(self._current_thread())

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
        return any(message.local for message in self._current_thread())

    @property
    def was_asked_again(self) -> bool:
        """Whether a model was asked again, with what the notes say, on whatever branch."""
        return any(message.asked_again for message in self._messages.values())

    def slips(self, model: str) -> int:
        """How many answers of a model repeated the markup of its prompt."""
        return len(self._slips.get(model, ()))

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
        live, compactions, _ = self._parted()
        return Window(live=tuple(live.values()), compactions=tuple(compactions), pinned=frozenset(self._pinned))

    @property
    def archived(self) -> Mapping[str, ChatMessage]:
        """The messages of this conversation that the model no longer sees, by id, the oldest first."""
        return self._parted()[2]

    def extend(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.entries.append(entry)
            self._take(entry)
        self._thread = self._parts = None

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
            case HeadEntry(message_id=id_):
                self.head = id_
            case PinEntry(message_id=id_, pinned=pinned):
                (self._pinned.add if pinned else self._pinned.discard)(id_)
            case PriorityEntry(message_id=id_, priority=priority):
                self._priorities[id_] = priority
                if id_ in self._messages:
                    self._put(self._messages[id_])
            case RestoreEntry(compaction_id=id_):
                self._restored.add(id_)
            case ContentEntry(digest=digest, text=text):
                self.contents[digest] = text
            case body:
                self._take_choice(body)

    def _take_choice(self, body: EntryBody) -> None:
        """Titles, whether it is listed, and what a newer zkchat wrote change nothing here."""
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

    def _take_model(self, message: ChatMessage) -> None:
        """The model of an answer that zkchat got is that of the session, also where no entry says so."""
        context = message.request_context
        if message.role != "assistant" or context is None or not (message.provider and message.text):
            return
        name = f"{message.provider}:{message.model}" if message.model else message.provider
        if self.model is None or self.model.model != name:
            self.model = ModelEntry(name=name, model=name, window=(context.usage and context.usage.window) or None)
        self.is_agent_newer = False

    def _put(self, stored: ChatMessage) -> None:
        if stored.id not in self._messages:
            self.head = stored.id
        if stored.removed and _MARKUP.search(stored.removed):
            self._slips.setdefault(f"{stored.provider}:{stored.model}", set()).add(stored.id)
        priority = self._priorities.get(stored.id, stored.priority)
        self._messages[stored.id] = stored if priority == stored.priority else replace(stored, priority=priority)

    def _current_thread(self) -> list[ChatMessage]:
        if self._thread is None:
            self._thread = thread_to(self.head, self._messages)
        return self._thread

    def _parted(self) -> tuple[dict[str, ChatMessage], list[ChatMessage], dict[str, ChatMessage]]:
        """The thread in what the model sees, the markers of compactions in force, and what it does not see."""
        if self._parts is None:
            thread = self._current_thread()
            parts = {message.id: part for message in thread if (part := compaction_of(message))}
            in_force = [message for message in thread if message.id in parts and message.id not in self._restored]
            hidden = {id_ for message in in_force for id_ in parts[message.id].archived}
            said = {message.id: message for message in thread if message.id not in parts}
            live = {id_: message for id_, message in said.items() if id_ not in hidden}
            self._parts = live, in_force, {id_: message for id_, message in said.items() if id_ in hidden}
        return self._parts


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


class Branch(Value, frozen=True, kw_only=True):
    """One of the conversations that a session holds: all messages up to one that nothing follows."""

    number: int
    """From 1, in the order in which they were begun."""
    head: str
    """The id of its last message."""
    first_words: str
    """Of the first question that it does not share with another, else of whatever it does not share."""
    messages: int
    updated_at: datetime
    is_current: bool = False


def branches_of(history: History) -> list[Branch]:
    """The branches of a session. Where the conversation stands in the middle of one, none is the current one."""
    messages = history.messages
    children: dict[str | None, list[str]] = {}
    for message in messages.values():
        children.setdefault(message.parent_id if message.parent_id in messages else None, []).append(message.id)
    places = {id_: place for place, id_ in enumerate(messages)}
    owns = []
    for end in (message for id_, message in messages.items() if id_ not in children):
        path, first = {end.id: end}, end
        while (parent := messages.get(first.parent_id or "")) and parent.id not in path:
            path[parent.id] = first = parent
        whole = [*reversed(path.values())]
        parents = [None, *(message.id for message in whole)]
        shared = (place for place in range(len(whole) - 1, 0, -1) if len(children.get(parents[place], ())) > 1)
        owns.append((whole, whole[next(shared, 0) :]))  # and the end of it that no other branch shares
    owns.sort(key=lambda each: places[each[1][0].id])
    current = history.last.id if history.last else None
    return [
        Branch(
            number=number,
            head=path[-1].id,
            first_words=_first_words(own),
            messages=sum(compaction_of(message) is None for message in path),
            updated_at=path[-1].created_at,
            is_current=path[-1].id == current,
        )
        for number, (path, own) in enumerate(owns, start=1)
    ]


def _first_words(own: Sequence[ChatMessage]) -> str:
    said = [message.text for message in own if message.role == "user" and message.text.strip()]
    said += [message.text for message in own if message.text.strip()]
    return shorten(" ".join(said[0].split()), 80) if said else ""
