"""One turn: from the user's words to an answer on disk (docs/architecture.md follows it step by step)."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

from zkchat.chat.journal import Journal
from zkchat.chat.ledger import Ledger
from zkchat.chat.linked import linked
from zkchat.chat.tool_loop import Exchange, ToolLoop
from zkchat.context.assembly import Assembled, assemble, augmented_text
from zkchat.context.budget import Budget, Shares, budget_for
from zkchat.context.documents import include
from zkchat.context.instructions import DEFAULT_AGENT, SMALL_AGENT
from zkchat.errors import ProviderError, StorageError, VaultError, ZkchatError
from zkchat.model.events import (
    Event,
    LinksResolved,
    PromptReady,
    ReferenceFound,
    TurnFailed,
    TurnFinished,
    Warned,
)
from zkchat.model.message import ChatMessage, EvidencePart, FilePart, Part, Status, TextPart
from zkchat.model.reference import DocumentReference, Evidence
from zkchat.model.session import EntryBody, MessageEntry, TitleEntry
from zkchat.ports import ModelProvider, Tokenizer
from zkchat.tools.registry import Toolbox
from zkchat.vault.evidence import evidence_for
from zkchat.vault.indexer import Refreshed
from zkchat.vault.library import Library

TITLE_LENGTH = 60
MOST_FOR_A_MODEL = 3
"""Sentences of evidence that a model without tools is handed."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """The collaborators of a turn; `run` may be called again for the next one."""

    journal: Journal
    vault: str
    """What the user calls the folder of the notes."""
    library: Library
    refresh: Callable[[], Refreshed]
    """Brings the library up to date."""
    provider: ModelProvider
    tokenizer: Tokenizer
    tools: Toolbox
    shares: Shares
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    told: set[str] = field(default_factory=set)
    """Warnings about notes that the user has seen."""

    async def run(self, text: str) -> AsyncGenerator[Event, None]:
        """Everything that happens, as it happens. Ends with `TurnFinished` or `TurnFailed`, unless it is cancelled."""
        references: tuple[DocumentReference, ...] = ()
        try:
            for odd_note in self._refresh():
                yield odd_note
            references = linked(self.library, text)
        except (StorageError, VaultError) as error:
            if self.provider.info.needs_notes:
                yield _failed(error)
                return
            # Without the vault there are no links, but still a model to talk to.
            yield Warned(text=f"Links and search do not work now. {error.message}", hint=error.hint)
        if references:
            yield LinksResolved(references=references)
        unreachable = await self._connect()
        try:
            budget = budget_for(self.provider.info, self.shares)
            user = self._user_message(text, references, budget)
            assembled = self._assemble(user, budget)
        except ZkchatError as error:
            yield _failed(error)
            return
        if warning := self._store_opening(user):
            yield warning
        if assembled.omitted:
            yield Warned(
                text=f"{assembled.omitted} older messages do not fit into the context and were not sent.",
                hint="They are still in the session. Raise context.max_tokens, or start a new session.",
            )
        yield PromptReady(message_id=user.id, usage=assembled.usage)
        if unreachable:
            yield _failed(unreachable)
            return
        async with aclosing(self._answer(user, assembled)) as events:
            async for event in events:
                yield event

    async def _connect(self) -> ProviderError | None:
        """Learn the model's window. A model that cannot be reached fails the turn once the question is on disk."""
        try:
            await self.provider.connect()
        except ProviderError as error:
            return error
        return None

    def _refresh(self) -> list[Warned]:
        """Bring the index up to date. What is wrong with a note is told once in a conversation."""
        refreshed = self.refresh()
        texts = [f"{warning.path}: {warning.text}" for warning in refreshed.warnings]
        warnings = [Warned(text=text) for text in texts if text not in self.told]
        self.told.update(texts)
        if not self.library.note_count():
            empty = VaultError(
                f"There are no Markdown notes in {self.vault}.", hint="Name the folder of your notes: --vault FOLDER"
            )
            if self.provider.info.needs_notes:
                raise empty
            warnings.append(Warned(text=empty.message, hint=empty.hint))
        return warnings

    def _user_message(self, text: str, references: tuple[DocumentReference, ...], budget: Budget) -> ChatMessage:
        own = self.tokenizer.count(text)
        left = budget.window - budget.reserve - own
        files, marked = include(references, self._text_of, self.tokenizer, left)
        parts: list[Part] = [TextPart(text=text), *files]
        if evidence := self._evidence(text, references):
            parts.append(EvidencePart(evidence=evidence))
        thread = self.journal.thread
        user = ChatMessage(
            id=self.new_id(),
            session_id=self.journal.session_id,
            parent_id=thread[-1].id if thread else None,
            role="user",
            parts=tuple(parts),
            references=tuple(marked),
            created_at=self.now(),
            token_count=own,
        )
        augmented = augmented_text(user, can_read=self.provider.info.calls_tools)
        return user.model_copy(update={"augmented_token_count": self.tokenizer.count(augmented)})

    def _text_of(self, reference: DocumentReference) -> str:
        assert reference.relative_path is not None
        try:
            return self.library.section(reference.relative_path, reference.anchor if reference.anchor_found else "")
        except VaultError:
            return ""

    def _evidence(self, text: str, references: tuple[DocumentReference, ...]) -> tuple[Evidence, ...]:
        """What the vault says on it, for a model that cannot look by itself."""
        if self.provider.info.calls_tools:
            return ()
        linked = [(reference.relative_path, reference.anchor) for reference in references if reference.relative_path]
        try:
            found = evidence_for(self.library, text, linked)
        except (VaultError, StorageError):
            return ()
        # quote shows all of it; a model is led astray by more than it needs.
        return tuple(found if self.provider.info.needs_notes else found[:MOST_FOR_A_MODEL])

    def _assemble(self, user: ChatMessage, budget: Budget) -> Assembled:
        return assemble(
            instructions=DEFAULT_AGENT if self.provider.info.calls_tools else SMALL_AGENT,
            history=self.journal.thread,
            user=user,
            tools=self.tools.specs if self.provider.info.calls_tools else (),
            budget=budget,
            tokenizer=self.tokenizer,
        )

    def _store_opening(self, user: ChatMessage) -> Warned | None:
        """The user's message is on disk before the request leaves."""
        warning = self.journal.begin()
        message = MessageEntry(message=user.model_copy(update={"session_id": self.journal.session_id}))
        bodies: list[EntryBody] = [message] if self.journal.entries else [TitleEntry(title=_title(user.text)), message]
        return self.journal.append(*bodies) or warning

    async def _answer(self, user: ChatMessage, assembled: Assembled) -> AsyncGenerator[Event, None]:
        exchange = Exchange(
            request=assembled.request,
            parent_id=user.id,
            room=assembled.usage.available,
            is_grounded=bool(assembled.request.evidence) or any(isinstance(part, FilePart) for part in user.parts),
            ledger=Ledger(user.references),
        )
        for evidence in assembled.request.evidence:
            reference = _as_reference(evidence)
            exchange.ledger.add(reference)
            yield ReferenceFound(reference=reference)
        loop = ToolLoop(
            provider=self.provider,
            tools=self.tools,
            tokenizer=self.tokenizer,
            journal=self.journal,
            now=self.now,
            new_id=self.new_id,
        )
        try:
            async with aclosing(loop.run(exchange)) as events:
                async for event in events:
                    yield event
        except ZkchatError as error:
            message = self._close(exchange, assembled, error=error.message)
            if warning := self.journal.append(MessageEntry(message=message)):
                yield warning
            yield _failed(error, message)
            return
        except (asyncio.CancelledError, GeneratorExit):
            self.journal.append(MessageEntry(message=self._close(exchange, assembled, error="Stopped.")))
            raise
        message = self._close(exchange, assembled)
        if warning := self.journal.append(MessageEntry(message=message)):
            yield warning
        abstained = exchange.finish is not None and exchange.finish.reason == "abstained"
        yield TurnFinished(message=message, usage=assembled.usage, abstained=abstained)

    def _close(self, exchange: Exchange, assembled: Assembled, error: str = "") -> ChatMessage:
        """The answer as it is kept: whole, or as far as it came."""
        assert exchange.draft is not None
        message = exchange.draft.finished()
        for reference in self._cited(message.text):
            exchange.ledger.cite(reference)
        usage = exchange.finish.usage if exchange.finish else None
        status: Status = "complete" if not error else "unfinished" if message.parts else "error"
        return message.model_copy(
            update={
                "references": exchange.ledger.references,
                "finished_at": self.now(),
                "status": status,
                "error": error,
                "usage": usage,
                "token_count": self.tokenizer.count(message.text),
                "thinking_tokens": self.tokenizer.count(message.thinking),
                "request_context": assembled.context,
            }
        )

    def _cited(self, answer: str) -> list[DocumentReference]:
        try:
            return [
                reference.model_copy(update={"reference_type": "search", "via": "answer"})
                for reference in linked(self.library, answer)
            ]
        except (VaultError, StorageError):
            return []


def _failed(error: ZkchatError, message: ChatMessage | None = None) -> TurnFailed:
    return TurnFailed(text=error.message, hint=error.hint, exit_code=error.exit_code, message=message)


def _title(text: str) -> str:
    """The beginning of the first message, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def _as_reference(evidence: Evidence) -> DocumentReference:
    return DocumentReference(
        wikilink=evidence.wikilink,
        relative_path=evidence.relative_path,
        reference_type="search",
        via="evidence",
        title=evidence.title,
        anchor=evidence.heading,
        lines=evidence.lines,
        snippet=evidence.sentence,
        score=evidence.score,
        included=True,
    )
