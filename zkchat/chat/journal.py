"""The entries of a conversation, stored as they happen; what a full disk refuses is stored once there is room."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    Brief,
    ChatMessage,
    ContentEntry,
    DraftEntry,
    Entry,
    EntryBody,
    EntryFilter,
    HeadEntry,
    History,
    ImagePart,
    MessageEntry,
    ModelInfo,
    Part,
    Role,
    Session,
    SessionNotFound,
    SessionStore,
    StorageError,
    TextPart,
    ThinkingPart,
    TitleEntry,
    ToolCallPart,
    ToolResultPart,
    Warned,
    compaction_of,
    counted,
    shorten,
)

FLUSH_AFTER = 0.2
"""Seconds after which a piece of an arriving answer is on disk."""


class Asked(Struct, frozen=True, kw_only=True):
    """A question as the user typed it, which is on disk whatever becomes of its answer."""

    message: ChatMessage
    warnings: tuple[Warned, ...] = ()


class Journal:
    """The entries of one session. A new session is created when its first turn begins, not before."""

    def __init__(
        self,
        store: SessionStore,
        session: Session | None,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        *,
        id_of_new: str = "",
    ) -> None:
        """`now` and `new_id` are the clock and the ids of everything that is written, `id_of_new` is the id that a new
        session is to have, where somebody was told it already."""
        self.store = store
        self.now = now
        self.new_id = new_id
        self.session = session
        self._id_of_new = id_of_new
        self.history = History(store.entries(session.id) if session else ())
        self.keeps_local: Callable[[], bool] = lambda: False
        """Whether what is written now is to stay on this machine."""
        self._unsaved: list[EntryBody] = []
        """What could not be stored, in order: the last entries of the history."""
        self._has_warned = False
        """Whether the user was warned, in this turn, that saving does not work."""
        self._seen = max((entry.sequence for entry in self.history.entries), default=0)
        """Everything up to here is in the history, whoever wrote it."""

    @property
    def session_id(self) -> str:
        return self.session.id if self.session else ""

    @property
    def is_saved(self) -> bool:
        return not self._unsaved

    def next_message(self, role: Role, *parts: Part, **fields: Any) -> ChatMessage:
        """A message that follows the last one, not yet stored."""
        last = self.history.last
        return ChatMessage(
            id=self.new_id(),
            session_id=self.session_id,
            parent_id=last.id if last else None,
            role=role,
            parts=parts,
            created_at=self.now(),
            **fields,
        )

    def begin_answer(self, info: ModelInfo) -> "Draft":
        return Draft(self, self.next_message("assistant", provider=info.provider, model=info.id))

    def ask(
        self, text: str, beside: Sequence[EntryBody] = (), brief: Brief | None = None, images: Sequence[ImagePart] = ()
    ) -> Asked:
        """Store a question, before anything is done about it, together with what the user chose for the conversation.

        What another terminal said in this session meanwhile is taken in first, so that nobody goes on in silence from
        a place that the other has left.
        """
        self._has_warned = False
        warnings = [self._catch_up(), self.ensure_session()]
        if self.session:
            self.store.enter(self.session.id)
        message = self.next_message("user", TextPart(text=text), *images, brief=brief)
        title = [] if self.history.messages else [TitleEntry(title=shorten(" ".join(text.split()), 60))]
        warnings.append(self.append(*beside, *title, MessageEntry(message=message)))
        return Asked(message=message, warnings=tuple(filter(None, warnings)))

    def ensure_session(self) -> Warned | None:
        try:
            self._open_session()
        except StorageError as error:
            return self._not_saved(error)
        return None

    def _open_session(self) -> Session:
        if self.session is None:
            is_named = self._id_of_new and self.store.add(self._id_of_new, [])
            self.session = self.store.get(self._id_of_new) if is_named else self.store.create()
        return self.session

    def append(self, *bodies: EntryBody) -> Warned | None:
        """Store the entries, after those that could not be stored before.

        When that fails the conversation still has them, the next call tries again, and the user is to be warned.
        """
        bodies = tuple(map(self._marked, bodies))
        waiting = [*self._unsaved, *bodies]
        try:
            session = self._open_session()
            for place, body in enumerate(waiting):  # a message may have been written before there was a session
                if isinstance(body, MessageEntry) and body.message.session_id != session.id:
                    waiting[place] = MessageEntry(message=replace(body.message, session_id=session.id))
            stored = self.store.append(session.id, waiting)
        except SessionNotFound as error:  # another terminal deleted it: what follows is a session of its own
            self.session, self._seen = None, 0
            return self._keep_in_memory(bodies, error)
        except StorageError as error:
            return self._keep_in_memory(bodies, error)
        if not self._unsaved:
            self.history.extend(stored)
            return None
        self.history = History([*self.history.entries[: -len(self._unsaved)], *stored])
        self._unsaved.clear()
        return Warned(text="Saving works again: all of this conversation is on disk.")

    def go_back_to(self, question: ChatMessage, *, is_replaced: bool = False) -> Warned | None:
        """Go on after this question, or before it where another takes its place.

        Compactions since then stay in force, as far as they are about what came before the question.
        """
        markers = self.history.window.compactions
        warning = self.append(HeadEntry(message_id=question.parent_id if is_replaced else question.id))
        thread = {message.id for message in self.history.thread}
        before = thread - {question.id}
        for marker in markers:
            part = compaction_of(marker)
            if part is None or marker.id in thread:
                continue
            kept = replace(
                part,
                archived=tuple(id_ for id_ in part.archived if id_ in before),
                condensed=tuple(short for short in part.condensed if short.message_id in thread),
            )
            if kept.archived or kept.condensed:
                again = self.next_message(
                    "system", kept, context_type="summary", token_count=marker.token_count, local=marker.local
                )
                warning = self.append(MessageEntry(message=again)) or warning
        return warning

    def save_rest(self) -> Warned | None:
        """Try once more to store what could not be stored; what then is left is reported."""
        self._has_warned = False
        return self.append() if self._unsaved else None

    def _keep_in_memory(self, bodies: Sequence[EntryBody], error: StorageError | SessionNotFound) -> Warned | None:
        self.history.extend(
            Entry(session_id=self.session_id, sequence=place, at=self.now(), body=body)
            for place, body in enumerate(bodies, start=len(self.history.entries) + 1)
        )
        self._unsaved += bodies
        return self._not_saved(error)

    def _not_saved(self, error: StorageError | SessionNotFound) -> Warned | None:
        if self._has_warned:
            return None
        self._has_warned = True
        return Warned(text=f"This part of the conversation is not saved. {error.message}", hint=error.hint)

    def _marked(self, body: EntryBody) -> EntryBody:
        if isinstance(body, MessageEntry) and not body.message.local and self.keeps_local():
            return MessageEntry(message=replace(body.message, local=True))
        return body

    def append_answer(self, message: ChatMessage, contents: Mapping[str, str]) -> Warned | None:
        """Store an answer with the texts that its request was built from, as far as they are new to the session."""
        new = (
            ContentEntry(digest=digest, text=text)
            for digest, text in contents.items()
            if digest not in self.history.contents
        )
        return self.append(*new, MessageEntry(message=message))

    def _catch_up(self) -> Warned | None:
        """Take in what another terminal said in this session, and say where the conversation goes on."""
        if self.session is None or self._unsaved:
            return None
        try:
            new = self.store.entries(self.session.id, EntryFilter(after=self._seen))
        except (StorageError, SessionNotFound):
            return None  # whatever is wrong shows when the question is stored
        self._seen = max((entry.sequence for entry in new), default=self._seen)
        known = {(entry.session_id, entry.sequence) for entry in self.history.entries}
        others = [entry for entry in new if (entry.session_id, entry.sequence) not in known]
        if not others:
            return None
        before, mine = len(self.history.messages), self.history.last
        self.history = History(sorted([*self.history.entries, *others], key=lambda entry: entry.sequence))
        added = len(self.history.messages) - before
        if not added:
            return None
        came = f"This session was continued in another terminal: {counted(added, 'message')} arrived."
        if mine is None or any(message.id == mine.id for message in self.history.newest_first):
            return Warned(text=f"{came} Your message comes after them.", hint="/history shows them.")
        self.append(HeadEntry(message_id=mine.id))
        return Warned(text=f"{came} Your question is in a branch of its own.", hint="/branch lists the branches.")

    def recover_from_crash(self) -> list[Warned]:
        """Half answers become unfinished messages, tool calls without a result get a failed one. Nothing is edited.

        A question that was never answered stays as it is, and the user hears of it. A session that another terminal
        has open is left to it: what looks open there may be under way.
        """
        if self.session and not self.store.enter(self.session.id):
            text = "This session is also open in another terminal; you can use both."
            return [Warned(text=text, hint="Messages sent there arrive here when you send your next one.")]
        bodies: list[EntryBody] = [MessageEntry(message=orphan) for orphan in self.history.orphans]
        last = self.history.last
        calls = last.parts_of(ToolCallPart) if last else []
        if calls:
            text = "zkchat was stopped before this tool ran."
            results = (ToolResultPart(call_id=call.call_id, name=call.name, text=text, failed=True) for call in calls)
            bodies.append(MessageEntry(message=self.next_message("tool", *results, context_type="tool_output")))
        warnings = [self.append(*bodies)] if bodies else []
        if last and last.role == "user":
            text = "The last question of this session has no answer."
            warnings.append(Warned(text=text, hint="In a chat, /retry asks it again."))
        return [warning for warning in warnings if warning]


class Draft:
    """An answer while it arrives; written down in pieces, so that a crash loses at most the last moment."""

    def __init__(self, journal: Journal, message: ChatMessage) -> None:
        self.message = message
        self._journal = journal
        self.removed = ""
        """What of it is not shown."""
        self._pieces: list[tuple[str, str]] = []
        """Text and thinking, as they arrived."""
        self._thought: list[datetime] = []
        """When its thinking began, and when it last went on."""
        self._written = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, *, text: str = "", thinking: str = "") -> None:
        self._pieces.append((text, thinking))
        if thinking:
            self._thought[1:] = [self._journal.now()]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_AFTER, self._write)

    def _write(self) -> None:
        self._timer = None
        text, thinking = _joined(self._pieces[self._written :])
        self._written = len(self._pieces)
        piece = DraftEntry(
            message_id=self.message.id,
            parent_id=self.message.parent_id,
            text=text,
            thinking=thinking,
            provider=self.message.provider,
            model=self.message.model,
        )
        # A failure is reported when the whole message is stored; until then the draft lives in memory.
        self._journal.append(piece)

    def finished(self) -> ChatMessage:
        """The message with all that arrived; nothing more is written for the draft."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        text, thinking = _joined(self._pieces)
        parts: list[Part] = [TextPart(text=text)] if text else []
        if thinking:
            parts.insert(0, ThinkingPart(text=thinking, seconds=seconds_between(self._thought[0], self._thought[-1])))
        return replace(self.message, parts=tuple(parts), removed=self.removed)


def seconds_between(began: datetime, ended: datetime) -> float:
    """To a thousandth; a clock that was set back tells of none."""
    return max(0.0, round((ended - began).total_seconds(), 3))


def _joined(pieces: Sequence[tuple[str, str]]) -> tuple[str, str]:
    return "".join(text for text, _ in pieces), "".join(thinking for _, thinking in pieces)
