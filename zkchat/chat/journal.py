"""A conversation's way to disk: everything is stored as it happens, and what a full disk refuses stays in memory."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from zkchat.errors import StorageError
from zkchat.model.events import Warned
from zkchat.model.history import History
from zkchat.model.message import ChatMessage, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from zkchat.model.session import ContentEntry, DraftEntry, Entry, EntryBody, MessageEntry, Session, orphans_of
from zkchat.ports import SessionStore

FLUSH_AFTER = 0.2
"""Seconds after which a piece of an arriving answer is on disk."""


class Journal:
    """The entries of one session. A new session is created when its first turn begins, not before."""

    def __init__(self, store: SessionStore, session: Session | None, now: Callable[[], datetime]) -> None:
        self.store = store
        self._now = now
        self.session = session
        self._trouble = StorageError("The session was not begun.")
        """Why there is no session, once one was asked for in vain."""
        self.history = History(store.entries(session.id) if session else ())
        self.is_local: Callable[[], bool] = lambda: False
        """Whether what is written now is to stay on this machine."""

    @property
    def session_id(self) -> str:
        return self.session.id if self.session else ""

    def begin(self) -> Warned | None:
        """Make sure that there is a session to write to."""
        try:
            self.session = self.session or self.store.create()
        except StorageError as error:
            self._trouble = error
            return _not_saved(error)
        return None

    def append(self, *bodies: EntryBody) -> Warned | None:
        """Store the entries. When that fails the conversation still has them, and the user is to be warned."""
        bodies = tuple(map(self._marked, bodies))
        try:
            if self.session is None:
                raise self._trouble
            self.history.extend(self.store.append(self.session.id, bodies))
        except StorageError as error:
            self.history.extend(self._unstored(body) for body in bodies)
            return _not_saved(error)
        return None

    def _marked(self, body: EntryBody) -> EntryBody:
        if isinstance(body, MessageEntry) and not body.message.local and self.is_local():
            return MessageEntry(message=body.message.model_copy(update={"local": True}))
        return body

    def append_answer(self, message: ChatMessage, contents: Mapping[str, str]) -> Warned | None:
        """Store an answer with the texts that its request was built from, as far as they are new to the session."""
        new = (
            ContentEntry(digest=digest, text=text)
            for digest, text in contents.items()
            if digest not in self.history.contents
        )
        return self.append(*new, MessageEntry(message=message))

    def _unstored(self, body: EntryBody) -> Entry:
        return Entry(session_id=self.session_id, sequence=len(self.history.entries) + 1, at=self._now(), body=body)

    def close_what_a_crash_left_open(self, new_id: Callable[[], str]) -> Warned | None:
        """Half answers become unfinished messages, tool calls without a result get a failed one. Nothing is edited."""
        bodies: list[EntryBody] = [MessageEntry(message=orphan) for orphan in orphans_of(self.history.entries)]
        last = self.history.last
        calls = [part for part in last.parts if isinstance(part, ToolCallPart)] if last else []
        if last and calls:
            results = (
                ToolResultPart(
                    call_id=call.call_id, name=call.name, text="zkchat was stopped before this ran.", failed=True
                )
                for call in calls
            )
            closing = ChatMessage(
                id=new_id(),
                session_id=self.session_id,
                parent_id=last.id,
                role="tool",
                parts=tuple(results),
                created_at=self._now(),
                context_type="tool_output",
            )
            bodies.append(MessageEntry(message=closing))
        return self.append(*bodies) if bodies else None


def _not_saved(error: StorageError) -> Warned:
    return Warned(text=f"This part of the conversation is not saved. {error.message}", hint=error.hint)


class Draft:
    """An answer while it arrives; written down in pieces, so that a crash loses at most the last moment."""

    def __init__(self, journal: Journal, message: ChatMessage) -> None:
        self.message = message
        self._journal = journal
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._unwritten_text: list[str] = []
        self._unwritten_thinking: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, *, text: str = "", thinking: str = "") -> None:
        self._text.append(text)
        self._thinking.append(thinking)
        self._unwritten_text.append(text)
        self._unwritten_thinking.append(thinking)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_AFTER, self._write)

    def _write(self) -> None:
        self._timer = None
        piece = DraftEntry(
            message_id=self.message.id,
            parent_id=self.message.parent_id,
            text="".join(self._unwritten_text),
            thinking="".join(self._unwritten_thinking),
            provider=self.message.provider,
            model=self.message.model,
        )
        self._unwritten_text.clear()
        self._unwritten_thinking.clear()
        # A failure is told when the whole message is stored; until then the draft lives in memory.
        self._journal.append(piece)

    def finished(self) -> ChatMessage:
        """The message with all that arrived; nothing more is written for the draft."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        thinking, text = "".join(self._thinking), "".join(self._text)
        parts = (*((ThinkingPart(text=thinking),) if thinking else ()), *((TextPart(text=text),) if text else ()))
        return self.message.model_copy(update={"parts": parts})
