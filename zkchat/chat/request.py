"""The request of each step: what goes into it, assembled, and compacted where it is too full."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from zkchat.agents.profiles import DEFAULT, Profiles, instructions
from zkchat.chat.compaction import Compactor
from zkchat.chat.journal import Journal
from zkchat.chat.privacy import Shown, everything
from zkchat.chat.references import WITHHELD, link_named, text_of
from zkchat.chat.staleness import Staleness, StaleNote
from zkchat.context.assembly import Assembled, Assembler, Ingredients, Piece, piece
from zkchat.context.budget import Budget, Shares, budget_for, is_full
from zkchat.context.calibration import Calibration, calibrate
from zkchat.context.instructions import SMALL_AGENT, STRICT
from zkchat.context.recall.search import ConversationSearch, FoundMessage
from zkchat.context.recall.selection import Recalled, recall
from zkchat.context.selection import Candidate, Selected, Selector, added_items, build_candidates
from zkchat.context.strategies import CompactionPlan, LiveMessage, Retention, TokenLimits, TooFull, plan_compaction
from zkchat.errors import StorageError, UsageError, VaultError
from zkchat.memory.facts import Memory
from zkchat.memory.project import project_memory
from zkchat.model.choices import CompactionStrategy
from zkchat.model.events import Compacting, Event, Warned
from zkchat.model.message import ChatMessage, LeftOut, RequestItem, ToolCallPart, ToolResultPart
from zkchat.model.profile import Agent
from zkchat.model.prompt import ModelInfo
from zkchat.model.session import History, Window
from zkchat.ports import Tokenizer
from zkchat.tools.registry import Toolbox
from zkchat.vault.library import Library

PROJECT_SHARE = 0.5
"""Of the room for memory: how much the vault's own page may take; facts and recalled messages share the rest."""


@dataclass(frozen=True, kw_only=True)
class RequestPlan:
    """What a request is made of beside the conversation."""

    pieces: tuple[Piece, ...]
    left_out: tuple[LeftOut, ...] = ()
    agent: str = "default"
    can_read: bool = False
    """Whether the model has tools in this turn, even if it is to answer without them now."""
    tightness: float = 1.0
    """How much of the room for a prompt may be used; less once a server has found one too long."""
    last_turn_only: bool = False
    """For a model that does not read what was said before."""

    @property
    def offers_tools(self) -> bool:
        return any(each.item.type == "tool" for each in self.pieces)

    def without_tools(self) -> "RequestPlan":
        return replace(self, pieces=tuple(each for each in self.pieces if each.item.type != "tool"))

    def only_from_evidence(self) -> "RequestPlan":
        """For an answer that rests on nothing but what is handed over with the question."""
        system, *others = self.without_tools().pieces
        rule = piece("rule", "strict", STRICT, include="manual", reason="asked for with --strict")
        return replace(self, pieces=(system, rule, *others), can_read=False)


@dataclass(frozen=True, kw_only=True)
class Wants:
    info: Callable[[], ModelInfo]
    budget: Callable[[], Budget]
    history: Callable[[], History]
    tokenizer: Tokenizer
    library: Library
    tools: Toolbox
    core: frozenset[str]
    """The tools without which the vault is out of reach."""
    profiles: Profiles
    selector: Selector
    memory: Memory | None
    recall: Callable[[str, int], list[Piece]]
    """What of the archived messages bears on a text, within so many tokens."""
    page_is_approved: Callable[[str, str], bool]
    """Whether the user approved this text of the vault's page of this name."""
    hidden: Callable[[], frozenset[str]] = frozenset
    """The ids of messages that the model may not see."""

    def of(self, agent: Agent, user: ChatMessage | None = None) -> RequestPlan:
        """For a question; without one, what every request holds."""
        info, budget = self.info(), self.budget()
        question = user.text if user else ""
        selected = self._selected(agent, question, budget)
        project = self._project(int(PROJECT_SHARE * budget.memory_limit))
        left = budget.memory_limit - sum(each.item.tokens for each in project.pieces)
        facts = self._facts(question, left // 2)
        recalled = self._recalled(question, left - sum(each.item.tokens for each in facts.pieces))
        # Of a note that may have become private the model hears nothing, not even its name.
        changed = [note for note in self.stale(user) if note.now] if user else []
        stale = [note.piece(can_read=info.calls_tools) for note in changed]
        beside = (*project.pieces, *facts.pieces, *recalled, *stale)
        return RequestPlan(
            pieces=(self._instructions(agent, info), *selected.pieces, *beside),
            left_out=(
                *self._withheld_links(user),
                *map(self._with_its_reason, (*selected.left_out, *project.left_out, *facts.left_out)),
            ),
            agent=agent.name,
            can_read=info.calls_tools,
            last_turn_only=user is not None and info.needs_notes,
        )

    def _instructions(self, agent: Agent, info: ModelInfo) -> Piece:
        is_small = agent.name == DEFAULT and agent.origin == "built-in" and not info.calls_tools
        return piece("system", agent.name, SMALL_AGENT if is_small else instructions(agent))

    def at_hand(self, agent: Agent) -> list[Candidate]:
        """The rules, notes and tools that this agent may be given."""
        return build_candidates(
            agent,
            rules=self.profiles.rules.values(),
            notes=dict(self._notes(agent)),
            tools=self.tools.specs if self.info().calls_tools else (),
            core=self.core,
        )

    def _selected(self, agent: Agent, question: str, budget: Budget) -> Selected:
        return self.selector.select(question, self.at_hand(agent), self.history().items, tool_tokens=budget.tools)

    def _notes(self, agent: Agent) -> Iterator[tuple[str, str]]:
        """The texts of notes that the agent or the user wants in the context, by the names they have there."""
        added = (item.name for item in added_items(self.history().items).values() if item.type == "reference")
        for name in dict.fromkeys(chain(agent.references, added)):
            try:
                yield name, text_of(self.library, name)
            except (VaultError, StorageError):
                continue  # a note that is gone is recorded as missing by the selection

    def _withheld_links(self, user: ChatMessage | None) -> Iterator[LeftOut]:
        for reference in user.references if user else ():
            if reference.via == WITHHELD:
                reason = self._withheld(reference.wikilink)
                yield LeftOut(item=RequestItem(type="reference", name=reference.wikilink, reason=reason), why="private")

    def _withheld(self, name: str) -> str:
        try:
            return self.library.withheld(link_named(name))
        except StorageError:
            return ""

    def _with_its_reason(self, left: LeftOut) -> LeftOut:
        """What cannot be found may be there, and withheld from this model."""
        name = left.item.name
        if left.why != "missing" or left.item.type not in {"reference", "memory"}:
            return left
        reason = self._withheld(name)
        return LeftOut(item=left.item.model_copy(update={"reason": reason}), why="private") if reason else left

    @cached_property
    def _staleness(self) -> Staleness:
        return Staleness(self.library)

    def stale(self, user: ChatMessage) -> list[StaleNote]:
        """The notes that changed since the model read them in this conversation."""
        if self.info().needs_notes:
            return []  # it reads nothing but the question
        try:
            hidden = self.hidden()
            live = [message for message in self.history().window.live if message.id not in hidden]
            return [*self._staleness.stale_notes(live, user)]
        except StorageError:
            return []

    def _project(self, budget: int) -> Selected:
        try:
            return project_memory(self.library.read, self.tokenizer, budget, is_approved=self.page_is_approved)
        except StorageError:
            return Selected()

    def _facts(self, question: str, budget: int) -> Selected:
        if not question or self.memory is None or self.info().needs_notes:
            return Selected()
        try:
            return self.memory.recall(question, self.tokenizer, budget)
        except StorageError:
            return Selected()  # a turn goes on without what is remembered

    def _recalled(self, question: str, budget: int) -> list[Piece]:
        if not question or self.info().needs_notes or not self.history().archived:
            return []
        try:
            return self.recall(question, budget)
        except StorageError:
            return []  # the archive's index is a cache


SUMMARY_SHARE = 0.30
"""Of the window: a summary takes no more."""
GOAL_SHARE = 0.6
"""Of the room for messages: what a compaction gets down to."""
ATTEMPTS = 4
"""Compactions in a row, each aiming lower, before the step is given up."""
SQUEEZE = 0.85


@dataclass(frozen=True, kw_only=True)
class Preparation:
    history: Callable[[], History]
    info: Callable[[], ModelInfo]
    tokenizer: Tokenizer
    shares: Shares
    compactor: Compactor
    prior: float = 1.0
    """What our counts are multiplied by until the model's server has said how it counts."""
    shown: Callable[[History], Shown] = everything
    """What of the conversation the model may see."""

    @property
    def budget(self) -> Budget:
        return budget_for(self.info(), self.shares)

    @property
    def calibration(self) -> Calibration:
        return calibrate(self.history().newest_first, self.info().name, self.prior)

    def assemble(self, wanted: RequestPlan) -> Assembled:
        shown = self.shown(self.history())
        window = shown.window
        ingredients = Ingredients(
            pieces=wanted.pieces,
            can_read=wanted.can_read,
            agent=wanted.agent,
            left_out=(*wanted.left_out, *shown.left_out),
            window=_last_turn(window) if wanted.last_turn_only else window,
        )
        budget = self.budget.tightened(wanted.tightness)
        return self._assembler.assemble(ingredients, budget, self.calibration)

    @cached_property
    def _assembler(self) -> Assembler:
        return Assembler(self.tokenizer)

    async def ready(self, wanted: RequestPlan, use: Callable[[Assembled], None]) -> AsyncGenerator[Event, None]:
        """Hand the request over to `use` once it fits. Raises `UsageError` where it cannot be made to fit."""
        assembled = self.assemble(wanted)
        budget = assembled.budget
        for attempt in range(ATTEMPTS):
            if not is_full(assembled.usage, budget):
                break
            found = self.plan(assembled, squeeze=SQUEEZE**attempt)
            if found is None or not await self._is_allowed(found, assembled):
                break
            if warning := self._shortened(found):
                yield warning
            yield Compacting(messages=len(found.archived), tokens=assembled.usage.total)
            async with aclosing(self.compactor.run(assembled, found)) as events:
                async for event in events:
                    yield event
            assembled = self.assemble(wanted)
        if assembled.usage.total > budget.cap:
            raise _too_full(assembled.usage.total, budget)
        use(assembled)

    def plan(
        self,
        assembled: Assembled,
        *,
        squeeze: float = 1.0,
        strategy: CompactionStrategy | None = None,
        keep: Retention | None = None,
        now: bool = False,
    ) -> CompactionPlan | None:
        """What a compaction would do now. Raises `UsageError` where nothing helps."""
        policy = self.compactor.policy
        window = self.history().window
        room = room_for(assembled)
        room = replace(room, cap=int(squeeze * room.cap), goal=int(squeeze * room.goal))
        sized = [_sized(message, assembled, window) for message in window.live]
        try:
            return plan_compaction(strategy or policy.strategy, sized, room, keep or policy.keep, on_demand=now)
        except TooFull as error:
            raise _too_full(assembled.usage.total, assembled.budget) from error

    async def _is_allowed(self, found: CompactionPlan, assembled: Assembled) -> bool:
        policy, reviewer = self.compactor.policy, self.compactor.reviewer
        if not policy.auto:
            return False
        return not (policy.confirm and reviewer) or await reviewer.agrees(found, assembled.usage.total)

    def _shortened(self, found: CompactionPlan) -> Warned | None:
        asked = next((message for message in self.history().newest_first if message.role == "user"), None)
        if asked is None or asked.id not in found.condensed:
            return None
        return Warned(
            text="Your message, with its notes, is longer than the context has room for. The model gets a short form.",
            hint="Ask about a part of it, raise context.max_tokens, or choose a model with a larger window.",
        )


def room_for(assembled: Assembled) -> TokenLimits:
    """What the fixed parts of a request leave for the summary and the messages."""
    usage, budget = assembled.usage, assembled.budget
    scale = usage.total / usage.counted
    summary = round(scale * sum(item.tokens for item in assembled.context.items if item.type == "summary"))
    movable = summary + sum(assembled.sizes.values())
    fixed = usage.total - movable
    messages = usage.budgets["messages"]
    beside = messages.used - movable
    trigger = min(budget.trigger - fixed, messages.limit - beside)
    return TokenLimits(
        cap=budget.cap - fixed,
        trigger=trigger,
        goal=int(GOAL_SHARE * trigger),
        summary_cap=int(SUMMARY_SHARE * budget.window),
        summary=summary,
    )


def _sized(message: ChatMessage, assembled: Assembled, window: Window) -> LiveMessage:
    return LiveMessage(
        id=message.id,
        tokens=assembled.sizes.get(message.id, 0),
        opens_turn=message.role == "user",
        has_tools=any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts),
        pinned=message.id in window.pinned,
        priority=message.priority,
    )


def _last_turn(window: Window) -> Window:
    starts = [place for place, message in enumerate(window.live) if message.role == "user"]
    return Window(live=window.live[starts[-1] if starts else 0 :])


def _too_full(total: int, budget: Budget) -> UsageError:
    return UsageError(
        f"The context is full: this request takes {total:,} tokens, and a window of {budget.window:,} leaves "
        f"{budget.cap:,} beside the answer.",
        hint="Let older messages be summarised (/compact, or context.auto_compact = true), raise context.max_tokens, "
        "or choose a model with a larger window.",
    )


_APART = 1
"""Tokens between one recalled message and the next."""


@dataclass(frozen=True, kw_only=True)
class ArchiveRecall:
    journal: Journal
    search: ConversationSearch
    tokenizer: Tokenizer
    hidden: Callable[[], frozenset[str]] = frozenset
    """The ids of messages that the model may not see."""

    def __call__(self, text: str, budget: int) -> list[Piece]:
        """What of the archive bears on a text, in the order in which it was said."""
        self._catch_up()
        archived = self._archived()
        asked = next((message.id for message in self.journal.history.newest_first if message.role == "user"), "")
        found = recall(
            self.search,
            text,
            archived,
            session=self.journal.session_id,
            budget=budget,
            count=lambda quoted: self.tokenizer.count(quoted) + _APART,
            asked_in=asked,
        )
        places = {id_: place for place, id_ in enumerate(archived)}
        return [_piece(each) for each in sorted(found, key=lambda each: places[each.message.id])]

    def find(self, query: str, limit: int) -> list[FoundMessage]:
        """The archived messages that answer a query best."""
        self._catch_up()
        return self.search.found(query, session=self.journal.session_id, limit=limit, among=self._archived())

    def _archived(self) -> Mapping[str, ChatMessage]:
        archived, hidden = self.journal.history.archived, self.hidden()
        return {id_: message for id_, message in archived.items() if id_ not in hidden} if hidden else archived

    def _catch_up(self) -> None:
        session = self.journal.session_id
        if not self.search.learn(session, self.journal.history.entries):
            self.search.catch_up(self.journal.store, session)


def _piece(recalled: Recalled) -> Piece:
    return piece(
        "recall",
        recalled.message.id,
        recalled.quoted,
        include="agent",
        score=round(recalled.score, 3),
        reason="said earlier, and archived",
        passing=True,
    )
