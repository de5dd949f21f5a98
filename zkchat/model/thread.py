"""What the entries of a session say: its messages, and the thread of them that the conversation goes on with."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from zkchat.model.entries import DraftEntry, Entry, HeadEntry, MessageEntry, PriorityEntry
from zkchat.model.message import ChatMessage
from zkchat.model.parts import CompactionPart, TextPart, ThinkingPart, ToolCallPart, ToolResultPart


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
    return {id_: with_priority(message, priorities.get(id_)) for id_, message in messages.items()}


def with_priority(message: ChatMessage, priority: int | None) -> ChatMessage:
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
    """The conversation as it stands: the messages from the first to the head."""
    kept = list(entries)
    return thread_to(head_of(kept), messages_of(kept))


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
