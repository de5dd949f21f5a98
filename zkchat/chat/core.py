"""What one conversation owns and all stages of its turns share: journal, model, notes, tokenizer, settings.

The stages are coroutines that return values and `await emit(event)` for what the user should see on the way.
"""

import types
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import aclosing, suppress
from datetime import timedelta
from functools import cached_property
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.chat.agents import Profiles, split_address
from zkchat.chat.change_settlement import ProposedChanges
from zkchat.chat.context.assembly import Budget, Shares, budget_for
from zkchat.chat.context.selection import Relevance, SelectionLimits
from zkchat.chat.context.strategies import CompactionPlan, Retention
from zkchat.chat.images import MAX_IMAGES, MessageImages, ReadFile, no_files
from zkchat.chat.journal import Journal
from zkchat.chat.memory import Memory
from zkchat.chat.message_search import ConversationSearch
from zkchat.chat.privacy import ConversationPrivacy, ReadOutside, nothing_outside
from zkchat.chat.references import GivenNotes
from zkchat.chat.tools.readings import Readings
from zkchat.chat.tools.server_tools import ServerAccess
from zkchat.core import (
    DEFAULT_AGENT,
    DEFAULT_LIMIT,
    Agent,
    ChatMessage,
    CompactionStrategy,
    Event,
    History,
    ImageDetail,
    ModelInfo,
    ModelProvider,
    ModelRequest,
    SummaryDetail,
    TextChunk,
    Tokenizer,
    ZkchatError,
    debug_answer,
    debug_event,
)
from zkchat.index import GuardedLibrary, Library, Overlay, Refreshed


class Policy(Struct, frozen=True, kw_only=True):
    """What the settings say about compaction."""

    auto: bool = True
    strategy: CompactionStrategy = "summarize"
    detail: SummaryDetail = "normal"
    keep: Retention = field(default_factory=Retention)
    confirm: bool = False
    """Ask before an automatic one."""
    review: bool = False
    """Let the user edit a summary before it is used."""
    timeout: float = 300.0
    """Seconds that a model has for a summary."""


class AnswerLimits(Struct, frozen=True, kw_only=True):
    """What one answer may take. Thinking counts like text."""

    characters: int = 1_000_000
    time: timedelta = timedelta(hours=1)


class TurnSettings(Struct, frozen=True, kw_only=True):
    """What the settings say about a turn."""

    shares: Shares = field(default_factory=Shares)
    policy: Policy = field(default_factory=Policy)
    limits: AnswerLimits = field(default_factory=AnswerLimits)
    selection: SelectionLimits = field(default_factory=SelectionLimits)
    recall: bool = True
    """Whether archived messages come back by themselves; a tool finds them in any case."""
    memory: bool = True
    """Whether anything of memory is used: the vault's page, facts, and the tools over them."""
    look_again: bool = True
    check_answers: bool = True
    private: bool = False
    strict: bool = False
    """Whether the model may answer only from what the notes say, and is not asked where they say nothing."""
    quoted_passages: int = DEFAULT_LIMIT
    """Passages that an answer without a model quotes at most."""
    max_images: int = MAX_IMAGES
    image_detail: ImageDetail = "high"


class Reviewer(Protocol):
    """The person at the terminal, where there is one."""

    async def agrees(self, plan: CompactionPlan, tokens: int) -> bool: ...

    async def edits(self, summary: str) -> str:
        """The summary as it shall be used; empty to leave it as it was."""


class LiveRules(Protocol):
    """Settings that may change while a conversation goes on."""

    def catch_up(self) -> None:
        """Let them count as they are now."""

    def check_trust(self) -> None:
        """Raises `ConfigError` where what the conversation was opened with is not approved any more."""

    def take_notices(self) -> tuple[str, ...]:
        """What the user has not been told yet."""


class ConversationCore(Struct, frozen=True, kw_only=True, dict=True):
    """What a conversation is opened with, and what its model gets at: each part without what is kept from it."""

    journal: Journal
    notes: Library
    """All of them; `library` holds what the model may see."""
    refresh: Callable[[], Refreshed]
    """Brings the index of the notes up to date."""
    provider: ModelProvider
    tokenizer: Tokenizer
    prior: float = 1.0
    """What counts are multiplied by until the model's server has said how it counts."""
    profiles: Profiles
    page_is_approved: Callable[[str, str], bool]
    """Whether the user approved the vault's page of this name with this text."""
    vault: str
    """What the user calls the folder of the notes."""
    settings: TurnSettings = field(default_factory=TurnSettings)
    relevance: Relevance = field(default_factory=Relevance)
    facts: Memory | None = None
    search: ConversationSearch | None = None
    """Over the archived messages; without it none is found."""
    reviewer: Reviewer | None = None
    """Who is asked about compactions."""
    may_remember: Callable[[str], bool] = lambda _text: False
    """Shows the user what the model wants to be kept, and says whether they agree."""
    staged: Overlay | None = None
    """What the model has proposed in this turn, which its library shows."""
    make_proposals: Callable[[GuardedLibrary, Readings], ProposedChanges] | None = None
    """Makes what the model may propose changes with, over the notes that it may see."""
    servers: ServerAccess | None = None
    live: LiveRules | None = None
    """The settings of privacy and trust; None where they do not change."""
    read_file: ReadFile = no_files
    """Reads the images that the user names, wherever they are."""
    read_outside: ReadOutside = nothing_outside
    """Reads the text of files outside the vault that a message names."""

    @property
    def info(self) -> ModelInfo:
        """What is known of the model, also from what it did in this session: one that writes our markup, or calls as
        text, is treated as a small one from then on."""
        info = self.provider.info
        is_known = info.needs_evidence or info.needs_notes
        return info if is_known or self.history.slips(info.name) < 2 else replace(info, needs_evidence=True)

    @property
    def history(self) -> History:
        return self.journal.history

    @property
    def budget(self) -> Budget:
        return budget_for(self.info, self.settings.shares)

    @cached_property
    def library(self) -> GuardedLibrary:
        shown = self.notes.overlaid(self.staged) if self.staged is not None else self.notes
        return shown.guarded_for(self.provider)

    @cached_property
    def privacy(self) -> ConversationPrivacy:
        return ConversationPrivacy(journal=self.journal, library=self.library, provider=self.provider)

    @cached_property
    def memory(self) -> Memory | None:
        return self.facts.within(self.privacy) if self.facts and self.settings.memory else None

    @cached_property
    def images(self) -> MessageImages:
        return MessageImages(
            library=self.library,
            provider=self.provider,
            read_file=self.read_file,
            most=self.settings.max_images,
            detail=self.settings.image_detail,
        )

    @cached_property
    def readings(self) -> Readings | None:
        """What the model was given of notes, where it may propose changes of them."""
        return Readings(self.library, GivenNotes(self.journal, self.privacy)) if self.make_proposals else None

    @cached_property
    def proposals(self) -> ProposedChanges | None:
        return self.make_proposals(self.library, self.readings) if self.make_proposals and self.readings else None

    @property
    def may_write(self) -> bool:
        """Whether the model may propose changes to notes now."""
        return self.proposals is not None and self.proposals.is_on

    def agent_for(self, name: str | None = None) -> Agent:
        """The agent of this name, else the one of the session."""
        chosen = (each.casefold() for each in (name, self.history.agent, DEFAULT_AGENT) if each)
        return next(self.profiles.agents[each] for each in chosen if each in self.profiles.agents)

    @property
    def answering(self) -> Agent:
        """The agent that the last question is for."""
        asked = next((message.text for message in self.history.newest_first if message.role == "user"), "")
        return self.agent_for(split_address(asked)[0])

    def shortened_texts(self) -> list[str]:
        """The user's messages that stand in a short form in the prompt, as they were sent, newest first."""
        return [message.text for message in self._visible_questions() if self._is_short(message)]

    def has_long_messages(self) -> bool:
        """Whether any of the user's messages is shortened, or will be."""
        longest = 0.8 * self.budget.cap  # one that takes more is bound to be shortened
        return any(message.token_count > longest or self._is_short(message) for message in self._visible_questions())

    async def short_reply(self, request: ModelRequest, most: int) -> str:
        """What the model says, up to so many characters; nothing where it cannot be asked."""
        said = ""
        with suppress(ZkchatError):
            async with aclosing(debug_answer(self.provider, request, self.provider.stream(request))) as chunks:
                async for chunk in chunks:
                    said += chunk.text if isinstance(chunk, TextChunk) else ""
                    if len(said.strip()) >= most:
                        break
        return said.strip()

    def _visible_questions(self) -> Iterator[ChatMessage]:
        hidden = self.privacy.hidden()
        live = reversed(self.history.window.live)
        return (message for message in live if message.role == "user" and message.id not in hidden)

    def _is_short(self, message: ChatMessage) -> bool:
        """Whether its words are shortened, and not only the notes that go with it."""
        short = self.history.window.condensed.get((message.id, ""))
        return short is not None and message.text not in short


Emit = Callable[[Event], Awaitable[None]]
"""Hands an event over, and returns when the next one is asked for. To be awaited in the task of the stage itself."""


async def event_stream(run: Callable[[Emit], Coroutine[Any, Any, object]]) -> AsyncGenerator[Event, None]:
    """The events that `run` emits, as it runs.

    It runs in the task of whoever iterates, and is suspended at each `emit` until the next event is asked for: there is
    neither a queue nor a second task. So it is never ahead of its consumer; closing the iterator raises `GeneratorExit`
    where it is suspended, and returns once it has ended; a cancelled consumer cancels it; and what it raises is raised
    in the consumer.
    """
    slot = _Slot()
    running = run(slot.emit)
    raised: BaseException | None = None
    while await slot.fill(running, raised):
        raised = None
        debug_event(slot.event)
        try:
            yield slot.event
        except BaseException as error:  # noqa: BLE001 - closed, or thrown into
            raised = error


class _Slot:
    """Where a coroutine leaves its event when it is suspended by `emit`."""

    __slots__ = ("event",)
    event: Event

    @types.coroutine
    def emit(self, event: Event) -> "Generator[_Slot, None, None]":
        self.event = event
        yield self  # where others yield the future that they wait for

    @types.coroutine
    def fill(self, running: Coroutine[Any, Any, object], raised: BaseException | None) -> Generator[Any, Any, bool]:
        """Run on until the next event, and leave to the event loop what is waited for meanwhile; False at the end."""
        try:
            waiting = running.send(None) if raised is None else running.throw(raised)
            while waiting is not self:
                try:
                    result = yield waiting
                except BaseException as error:  # noqa: BLE001 - cancelled while it waits
                    waiting = running.throw(error)
                else:
                    waiting = running.send(result)
        except StopIteration:
            return False
        return True
