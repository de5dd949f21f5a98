"""One turn: from the user's words to an answer on disk (docs/architecture.md follows it step by step)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from zkchat.agents.profiles import DEFAULT, came_with_vault, split_address
from zkchat.chat.document_summaries import Summaries
from zkchat.chat.journal import Asked, Journal
from zkchat.chat.limits import DEFAULT_LIMITS, AnswerLimits
from zkchat.chat.privacy import withheld_texts
from zkchat.chat.references import ReferenceList, cite, embedded, given_before, given_with, links_in
from zkchat.chat.request import Preparation, RequestPlan, Wants
from zkchat.chat.second_look import MOST_FOR_A_MODEL, SecondLook, as_reference, evidence_on
from zkchat.chat.tool_loop import Exchange, ToolLoop, new_draft
from zkchat.context.assembly import Assembled
from zkchat.context.budget import Budget
from zkchat.context.formatting import augmented_text
from zkchat.context.selection import include_documents, wants_evidence
from zkchat.errors import ProviderError, StorageError, UsageError, VaultError, ZkchatError
from zkchat.model.events import (
    Event,
    LinksResolved,
    PromptReady,
    ReferenceFound,
    TurnFailed,
    TurnFinished,
    Warned,
)
from zkchat.model.message import (
    ChatMessage,
    DocumentReference,
    Evidence,
    EvidencePart,
    FilePart,
    Part,
    Status,
    TextPart,
)
from zkchat.model.profile import Agent
from zkchat.model.session import EntryBody, HeadEntry, MessageEntry
from zkchat.model.trust import HOW_TO_APPROVE
from zkchat.ports import ModelProvider, Tokenizer
from zkchat.tools.registry import Toolbox
from zkchat.vault.indexing.indexer import Refreshed
from zkchat.vault.library import Library


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
    preparation: Preparation
    summaries: Summaries
    second_look: SecondLook
    tokenizer: Tokenizer
    tools: Toolbox
    wants: Wants
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    limits: AnswerLimits = DEFAULT_LIMITS
    strict: bool = False
    """Whether the model may answer only from what the notes say, and is not asked where they say nothing."""
    told: set[str] = field(default_factory=set)
    """Warnings about notes that the user has seen."""
    begin: Callable[[], None] = lambda: None
    """Told that a turn begins."""

    def ask(self, text: str, beside: Sequence[EntryBody] = ()) -> Asked:
        """Store a question, with what the user chose for the conversation. Once this returns, it is on disk."""
        self.begin()
        return self.journal.ask(text, self.new_id(), beside)

    async def run(self, asked: Asked) -> AsyncGenerator[Event, None]:
        """Everything that happens, as it happens. Ends with `TurnFinished` or `TurnFailed`, unless it is cancelled."""
        for warning in asked.warnings:
            yield warning
        unreachable = await self._connect()  # first, because where the model is decides which notes there are for it
        events, user = self._with_notes(asked.message)
        for event in events:
            yield event
        if user:
            async with aclosing(self._continue(user, unreachable)) as following:
                async for event in following:
                    yield event

    async def run_again(self) -> AsyncGenerator[Event, None]:
        """Ask the last question once more. The earlier answer stays in the session, on a branch of its own."""
        history = self.journal.history
        asked = next((message for message in history.newest_first if message.role == "user"), None)
        if asked is None:
            yield _failed(UsageError("There is no question to ask again.", hint="Ask one first."))
            return
        self.begin()
        unreachable = await self._connect()
        if asked.id in self.wants.hidden():
            yield _failed(
                UsageError(
                    f"The last question came with local notes, and {self.provider.info.name} is not on this machine.",
                    hint="Ask it again without them, or choose a model on this machine: /model",
                )
            )
            return
        if warning := self.journal.append(HeadEntry(message_id=asked.id)):
            yield warning
        is_ready = asked.augmented_token_count > 0  # else zkchat was stopped before its notes were looked up
        events, user = self._refreshed(asked) if is_ready else self._with_notes(asked)
        for event in events:
            yield event
        if user:
            async with aclosing(self._continue(user, unreachable)) as following:
                async for event in following:
                    yield event

    def _refreshed(self, user: ChatMessage) -> tuple[list[Event], ChatMessage]:
        """A question that has its notes, with the index up to date, and what the user should know."""
        try:
            return [*self._refresh()], user
        except (StorageError, VaultError) as error:
            return [_without_vault(error)], user

    def _with_notes(self, asked: ChatMessage) -> tuple[list[Event], ChatMessage | None]:
        """A question with the notes that go along, stored again under its id; None where that ends the turn."""
        events: list[Event] = []
        references: tuple[DocumentReference, ...] = ()
        try:
            events += self._refresh()
            references = self.summaries.added_to(links_in(self.library, asked.text))
        except (StorageError, VaultError) as error:
            if self.provider.info.needs_notes:
                return [*events, _failed(error)], None
            events.append(_without_vault(error))
        if references:
            events.append(LinksResolved(references=ReferenceList(references).as_tuple()))
        if warning := self._unknown_agent(asked.text):
            events.append(warning)
        try:
            user = self._user_message(asked, references, self.preparation.budget)
        except ZkchatError as error:
            return [*events, _failed(error)], None
        if warning := self.journal.append(MessageEntry(message=user)):
            events.append(warning)
        return events, user

    async def _continue(self, user: ChatMessage, unreachable: ProviderError | None) -> AsyncGenerator[Event, None]:
        """From a question on disk to its answer."""
        prepared: list[Assembled] = []
        try:
            wanted = self.wanted(user)
            if unreachable:
                prepared.append(self.preparation.assemble(wanted))
            else:
                async with aclosing(self.preparation.ready(wanted, prepared.append)) as events:
                    async for event in events:
                        yield event
        except ZkchatError as error:
            yield _failed(error)
            return
        (assembled,) = prepared
        if self.journal.is_local() and not user.local:
            self.journal.append(MessageEntry(message=user))  # what came with it is known only now
        for text in withheld_texts(assembled.context, self.provider.info):
            if text not in self.told:
                self.told.add(text)
                yield Warned(text=text)
        yield PromptReady(message_id=user.id, usage=assembled.usage)
        if unreachable:
            yield _failed(unreachable)
            return
        async with aclosing(self._answer(user, wanted, assembled)) as events:
            async for event in events:
                yield event

    def wanted(self, user: ChatMessage | None = None) -> RequestPlan:
        """What goes into the request beside the conversation; with a question, also what bears on it."""
        wanted = self.wants.of(self.agent_for(user.text if user else ""), user)
        return wanted.only_from_evidence() if self.strict else wanted

    def agent_for(self, text: str) -> Agent:
        """The agent that a message speaks to, else the one that the session goes on with."""
        addressed, _ = split_address(text)
        agents = self.wants.profiles.agents
        chosen = (name.casefold() for name in (addressed, self.journal.history.agent, DEFAULT) if name)
        return next(agents[name] for name in chosen if name in agents)

    def _unknown_agent(self, text: str) -> Warned | None:
        addressed, _ = split_address(text)
        agents = self.wants.profiles.agents
        if addressed is None or addressed.casefold() in agents:
            return None
        others = self.agent_for("").name
        if self.wants.profiles.awaiting("agent", addressed):
            return Warned(text=f"{came_with_vault('agent', addressed)}, so {others} answers.", hint=HOW_TO_APPROVE)
        return Warned(
            text=f"There is no agent '{addressed}', so {others} answers.",
            hint=f"There is: {', '.join(agent.name for agent in agents.values())}.",
        )

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

    def _user_message(
        self, asked: ChatMessage, references: tuple[DocumentReference, ...], budget: Budget
    ) -> ChatMessage:
        text = asked.text
        own = self.tokenizer.count(text)
        left = budget.messages - own
        files, marked = include_documents(
            references, self._text_of, self.tokenizer, left, partial(embedded, self.library)
        )
        parts: list[Part] = [TextPart(text=text), *files]
        if evidence := self._evidence(text, references, budget):
            parts.append(EvidencePart(evidence=evidence))
        user = asked.model_copy(update={"parts": tuple(parts), "references": tuple(marked), "token_count": own})
        augmented = augmented_text(user, can_read=self.provider.info.calls_tools)
        return user.model_copy(update={"augmented_token_count": self.tokenizer.count(augmented)})

    def _text_of(self, reference: DocumentReference) -> str:
        assert reference.relative_path is not None
        try:
            return self.library.section(reference.relative_path, reference.anchor if reference.anchor_found else "")
        except VaultError:
            return ""

    def _evidence(self, text: str, references: tuple[DocumentReference, ...], budget: Budget) -> tuple[Evidence, ...]:
        """What the vault says on it, for a model that cannot look by itself, or hardly would."""
        info = self.provider.info
        if not (self.strict or wants_evidence(info, budget.window)):
            return self.second_look.expected(info, text, references)
        found = evidence_on(self.library, text, references)
        return tuple(found if info.needs_notes else found[:MOST_FOR_A_MODEL])  # quote shows all of it

    async def _answer(
        self, user: ChatMessage, wanted: RequestPlan, assembled: Assembled
    ) -> AsyncGenerator[Event, None]:
        exchange = Exchange(
            wanted=wanted,
            assembled=assembled,
            room=assembled.usage.available,
            strict=self.strict,
            is_grounded=bool(assembled.request.evidence) or any(isinstance(part, FilePart) for part in user.parts),
            references=ReferenceList(user.references),
        )
        for evidence in assembled.request.evidence:
            reference = as_reference(evidence)
            exchange.references.add(reference)
            yield ReferenceFound(reference=reference)
        loop = ToolLoop(
            provider=self.provider,
            preparation=self.preparation,
            tools=self.tools,
            tokenizer=self.tokenizer,
            journal=self.journal,
            now=self.now,
            new_id=self.new_id,
            limits=self.limits,
        )
        try:
            async with aclosing(self.second_look.run(loop, exchange, user, self._close)) as events:
                async for event in events:
                    yield event
        except ZkchatError as error:
            message = self._close(exchange, error=error.message)
            if warning := self._store_answer(message, exchange):
                yield warning
            yield _failed(error, message)
            return
        except (asyncio.CancelledError, GeneratorExit):
            self._store_answer(self._close(exchange, error="Stopped."), exchange)
            raise
        message = self._close(exchange)
        if warning := self._store_answer(message, exchange):
            yield warning
        abstained = exchange.finish is not None and exchange.finish.reason == "abstained"
        if not message.text.strip():
            yield _no_words(message, self.provider.info.name)
        yield TurnFinished(message=message, usage=exchange.assembled.usage, abstained=abstained)

    def _store_answer(self, message: ChatMessage, exchange: Exchange) -> Warned | None:
        return self.journal.append_answer(message, exchange.assembled.contents)

    def _close(self, exchange: Exchange, error: str = "") -> ChatMessage:
        """The answer as it is kept: whole, or as far as it came."""
        draft = exchange.draft or new_draft(self.journal, self.provider.info, self.now(), self.new_id())
        message = draft.finished()
        context = exchange.assembled.context
        given = given_before(self.journal.history.newest_first) | given_with(context)
        cite(exchange.references, message.text, self.library, given)
        usage = exchange.finish.usage if exchange.finish else None
        status: Status = "complete" if not error else "unfinished" if message.parts else "error"
        return message.model_copy(
            update={
                "references": self.summaries.added_to(exchange.references.as_tuple()),
                "finished_at": self.now(),
                "status": status,
                "error": error,
                "usage": usage,
                "token_count": self.tokenizer.count(message.text),
                "thinking_tokens": self.tokenizer.count(message.thinking),
                "request_context": context,
            }
        )


def _failed(error: ZkchatError, message: ChatMessage | None = None) -> TurnFailed:
    return TurnFailed(text=error.message, hint=error.hint, exit_code=error.exit_code, message=message)


def _without_vault(error: ZkchatError) -> Warned:
    """There are no links then, but still a model to talk to."""
    return Warned(text=f"Links and search do not work now. {error.message}", hint=error.hint)


def _no_words(message: ChatMessage, name: str) -> Warned:
    if message.thinking.strip():
        text, hint = f"{name} thought and then answered nothing.", "Its thinking is kept: ui.thinking shows it."
    else:
        text, hint = f"{name} answered nothing.", ""
    return Warned(text=text, hint=f"{hint} Ask again in other words, or choose another model.".strip())
