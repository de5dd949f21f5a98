"""The request of each step: what goes into it, assembled from the record, and compacted where it is too full."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from itertools import chain
from math import ceil, inf
from typing import Protocol

from zkchat.agents.profiles import DEFAULT, Profiles, instructions
from zkchat.chat.compaction import Compactor
from zkchat.chat.event_stream import Emit
from zkchat.chat.journal import Journal
from zkchat.chat.long_messages import LongMessages
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.chat.references import VIA_WITHHELD, full_name, link_named, place_of, text_of
from zkchat.chat.repeated_notes import without_repeated
from zkchat.chat.staleness import Staleness, StaleNote
from zkchat.context.assembly import (
    MESSAGE_OVERHEAD,
    AssembledRequest,
    Assembler,
    PromptItem,
    RequestPlan,
    prompt_item,
)
from zkchat.context.budget import Budget, Shares, budget_for, is_full
from zkchat.context.calibration import Calibration, ExpectedTokenizer, calibrate
from zkchat.context.condensing import split_question
from zkchat.context.documents import MAX_DOCUMENT_SHARE, DocumentRoom
from zkchat.context.instructions import SMALL_AGENT
from zkchat.context.recall.search import ConversationSearch, FoundMessage
from zkchat.context.recall.selection import Recalled, recall
from zkchat.context.selection import (
    Candidate,
    Selection,
    Selector,
    added_items,
    build_candidates,
    session_items,
    wants_evidence,
)
from zkchat.context.strategies import (
    CompactionPlan,
    LiveMessage,
    Retention,
    TokenLimits,
    TooFull,
    plan_compaction,
    recent_start,
)
from zkchat.errors import StorageError, UsageError, VaultError
from zkchat.memory.facts import MAX_TITLE_CHARS, Memory
from zkchat.memory.project import project_memory
from zkchat.memory.state import MemoryState, memory_state
from zkchat.model.choices import CompactionStrategy
from zkchat.model.events import Compacting, Warned
from zkchat.model.message import ChatMessage, LeftOut, RequestItem, ToolCallPart, ToolResultPart
from zkchat.model.profile import Agent
from zkchat.model.prompt import ModelInfo, ToolSpec
from zkchat.model.session import History, Window, abstained_turns
from zkchat.model.text import shorten
from zkchat.ports import ModelProvider, Tokenizer
from zkchat.tools.attachments import READ_ATTACHMENT
from zkchat.tools.memory import MEMORY_TOOLS
from zkchat.tools.registry import Toolbox
from zkchat.vault.library import Library

PROJECT_SHARE = 0.5
"""Of the memory budget: how much the vault's own page may take; facts and recalled messages share the rest."""
SUMMARY_SHARE = 0.30
"""Of the window: a summary takes no more."""
SUMMARY_RESERVE = 0.125
"""Of the prompt: what documents leave for the summary that older messages may need."""
COUNT_MARGIN = 0.98
"""Of the prompt: what is planned with, because texts take more together than their counts add up to."""
GOAL_SHARE = 0.6
"""Of the budget for messages: what a compaction gets down to."""
LEAST_RESULT_TOKENS = 4
"""To which the result of a tool can be shortened."""
MAX_QUOTED_CHARS = 60
"""Of a pinned message that is named in a warning."""
MAX_COMPACTIONS = 4
"""Compactions in a row, each aiming lower, before the step is given up."""
SQUEEZE = 0.85
RESULTS_SHARE = 0.2
"""Of a prompt with a shortened message: what is left for the results of calls that read on in it."""
ABSTAINED = "it was said that the notes do not answer this, which a small model would imitate"
_SEPARATOR_TOKENS = 1
"""Between one recalled message and the next."""


class PageApprovals(Protocol):
    def page_is_approved(self, name: str, text: str) -> bool:
        """Whether the user approved this text of the vault's page of this name."""
        ...


@dataclass(frozen=True, kw_only=True)
class ArchiveRecall:
    """Archived messages that come back into the prompt because the question is about them."""

    journal: Journal
    search: ConversationSearch
    tokenizer: Tokenizer
    privacy: ConversationPrivacy
    shares: Shares

    def items(self, text: str, budget: int) -> list[PromptItem]:
        """The archived messages that are relevant to a text, in the order in which they were said."""
        self._catch_up()
        archived = self._archived()
        asked = next((message.id for message in self.journal.history.newest_first if message.role == "user"), "")
        found = recall(
            self.search,
            text,
            archived,
            session=self.journal.session_id,
            budget=budget,
            count=lambda quoted: self.tokenizer.count(quoted) + _SEPARATOR_TOKENS,
            asked_in=asked,
        )
        places = {id_: place for place, id_ in enumerate(archived)}
        return [_recalled_item(each) for each in sorted(found, key=lambda each: places[each.message.id])]

    def find(self, query: str, limit: int) -> list[FoundMessage]:
        """The archived messages that answer a query best."""
        self._catch_up()
        return self.search.found(query, session=self.journal.session_id, limit=limit, among=self._archived())

    def _archived(self) -> Mapping[str, ChatMessage]:
        archived, hidden = self.journal.history.archived, self.privacy.hidden()
        info = self.privacy.provider.info
        if wants_evidence(info, budget_for(info, self.shares).window, can_read=info.calls_tools):
            hidden |= abstained_turns(archived.values())
        return {id_: message for id_, message in archived.items() if id_ not in hidden} if hidden else archived

    def _catch_up(self) -> None:
        session = self.journal.session_id
        if not self.search.learn(session, self.journal.history.entries):
            self.search.catch_up(self.journal.store, session)


def _recalled_item(recalled: Recalled) -> PromptItem:
    made = prompt_item(
        "recall",
        recalled.message.id,
        recalled.quoted,
        include="agent",
        score=round(recalled.score, 3),
        reason="said earlier, and archived",
        this_turn_only=True,
    )
    title = shorten(" ".join(recalled.message.text.split()), MAX_TITLE_CHARS)
    return replace(made, item=made.item.model_copy(update={"title": title}))


@dataclass(frozen=True, kw_only=True)
class RequestBuilder:
    """Plans what goes into a request beside the conversation, and builds the request within the budget."""

    journal: Journal
    provider: ModelProvider
    tokenizer: Tokenizer
    library: Library
    privacy: ConversationPrivacy
    compactor: Compactor
    shares: Shares
    tools: Toolbox
    core: frozenset[str]
    """The tools that a model needs to look into the vault by itself."""
    long_messages: LongMessages
    profiles: Profiles
    selector: Selector
    approvals: PageApprovals
    memory: Memory | None = None
    remembers: bool = True
    """Whether the settings want anything of memory in requests."""
    recall: ArchiveRecall | None = None
    prior: float = 1.0
    """What our counts are multiplied by until the model's server has said how it counts."""
    strict: bool = False
    """Whether answers may rest on nothing but the notes that are sent along."""

    @property
    def budget(self) -> Budget:
        return budget_for(self._info, self.shares)

    @property
    def calibration(self) -> Calibration:
        return calibrate(self._history.newest_first, self._info.name, self.prior)

    @property
    def expected_tokens(self) -> Tokenizer:
        """Counts as the model's server will."""
        return ExpectedTokenizer(self.tokenizer, self.calibration)

    @property
    def _info(self) -> ModelInfo:
        return self.provider.info

    @property
    def _history(self) -> History:
        return self.journal.history

    def plan(self, agent: Agent, user: ChatMessage | None = None) -> RequestPlan:
        """What goes along with a question; without one, what every request holds."""
        info, budget, can_read = self._info, self.budget, self.can_read(agent)
        question = split_question(self.profiles.without_address(user.text)).question if user else ""
        selected = self._selected(agent, question)
        if user:
            selected = without_repeated(selected, user, self.lasting_notes(agent))
        memory = self.memory_state(agent)
        project = memory.without(self.page(int(PROJECT_SHARE * budget.memory_limit), memory.dropped))
        left = budget.memory_limit - sum(each.item.tokens for each in project.items)
        facts = self._facts(question, left // 2) if memory.is_on else Selection()
        recalled = self._recalled(question, left - sum(each.item.tokens for each in facts.items))
        # Of a note that may have become private the model hears nothing, not even its name.
        changed = [note for note in self.stale(user) if note.now] if user else []
        stale = [note.prompt_item(can_read=can_read) for note in changed]
        beside = (*project.items, *facts.items, *recalled, *stale)
        planned = RequestPlan(
            items=(_instructions(agent, info), *selected.items, *beside),
            left_out=(
                *self._withheld_links(user),
                *map(self._with_its_reason, (*selected.left_out, *project.left_out, *facts.left_out)),
            ),
            agent=agent.name,
            can_read=can_read,
            last_turn_only=user is not None and info.needs_notes,
        )
        return planned.only_from_evidence() if self.strict else planned

    def documents_room(self, agent: Agent, asked: ChatMessage, question: str, beside: int) -> DocumentRoom:
        """What the documents of a stored question may take: what is left beside it, the instructions, the recent
        messages, a summary, and so many tokens of passages and links."""
        info, budget, can_read = self._info, self.budget, self.can_read(agent)
        own = self.tokenizer.count(asked.text)
        if info.needs_notes:  # it reads the passages only
            return DocumentRoom(tokens=max(0, budget.messages - own), share=MAX_DOCUMENT_SHARE, excerpts=False)
        permanent = [each for each in self._selected(agent, "").items if not _rank(each)]
        plan = RequestPlan(items=(_instructions(agent, info), *permanent), can_read=can_read)
        assembled = self.assemble(plan)
        window = self._history.window
        sized = [self._sized(message, assembled, window) for message in window.live if message.id != asked.id]
        recent = recent_start([*sized, LiveMessage(id=asked.id, tokens=0, opens_turn=True)], self.compactor.policy.keep)
        gives_way = sum(
            each.attached if place >= recent or each.pinned else each.tokens for place, each in enumerate(sized)
        )
        summary = int(SUMMARY_RESERVE * budget.cap) if recent and not window.summary else 0
        left = int(COUNT_MARGIN * budget.cap) - (assembled.usage.total - gives_way) - summary - beside
        if can_read:
            left, question = min(left, budget.messages - own), ""
        return DocumentRoom(tokens=max(0, left), share=MAX_DOCUMENT_SHARE if can_read else 1.0, question=question)

    def assemble(self, plan: RequestPlan) -> AssembledRequest:
        """The request as it is now, however large."""
        shown = self.privacy.shown()
        window, left_out = shown.window, shown.left_out
        if plan.last_turn_only:
            window = _last_turn(window)
        elif wants_evidence(self._info, self.budget.window, can_read=plan.can_read):
            window, abstained = _without_abstentions(window)
            left_out += abstained
        complete = replace(plan, left_out=(*plan.left_out, *left_out))
        return self._assembler.assemble(complete, window, self.budget.tightened(plan.tightness), self.calibration)

    @cached_property
    def _assembler(self) -> Assembler:
        return Assembler(self.tokenizer)

    async def build(self, plan: RequestPlan, emit: Emit) -> AssembledRequest:
        """The request once it fits, compacting where it does not. Raises `UsageError` where it cannot be made to."""
        if self._info.needs_notes:
            return self.assemble(plan)  # it only quotes, and has no window
        for attempt in range(MAX_COMPACTIONS):
            assembled = self._without_extras(plan)
            fits = assembled.usage.total - _summary_tokens(assembled) <= assembled.budget.cap
            if not is_full(assembled.usage, assembled.budget) or (fits and (attempt or self.long_messages.texts())):
                break
            found = self.plan_compaction(assembled, squeeze=SQUEEZE**attempt)
            if found and plan.offers(READ_ATTACHMENT) and self._cuts_question(found, assembled):
                # What a long message has no room for is read by calls, whose results need room.
                found = self.plan_compaction(assembled, squeeze=(1 - RESULTS_SHARE) * SQUEEZE**attempt)
            if found is None or not await self._is_allowed(found, assembled):
                break
            await emit(Compacting(messages=len(found.archived), tokens=assembled.usage.total))
            known = self._history.window.condensed.keys()
            await self.compactor.run(assembled, found, emit)
            for warning in self._shortened(found, known):
                await emit(warning)
        assembled = self._filled(plan)
        if assembled.usage.total > assembled.budget.cap:
            raise _too_full(assembled.usage.total, assembled.budget)
        return assembled

    def _cuts_question(self, found: CompactionPlan, assembled: AssembledRequest) -> bool:
        """Whether a compaction leaves less of the last question than its own words."""
        asked = self._history.last_question
        return asked is not None and found.condensed.get(asked.id, inf) < self._own_tokens(asked, assembled)

    def _without_extras(self, plan: RequestPlan) -> AssembledRequest:
        """The request by which it is decided whether older messages leave: what is sent for this message only, because
        it may be relevant, does not make it full."""
        assembled = self.assemble(plan)
        extras = [each for each in plan.items if _rank(each) >= _Rank.RECALLED]
        is_over = is_full(assembled.usage, assembled.budget)
        return self.assemble(plan.without(extras)) if is_over and extras else assembled

    def _filled(self, plan: RequestPlan) -> AssembledRequest:
        """The request with as much as fits of what may be left out: the summary first, then memory, recalled messages,
        and what the message calls for."""
        whole = self.assemble(plan)
        cap = whole.budget.cap
        if whole.usage.total <= cap:
            return whole
        optional = sorted((each for each in plan.items if _rank(each)), key=_rank)
        least = self.assemble(replace(plan.without(optional), omits_summary=True))
        room, scale = cap - least.usage.total, least.usage.total / least.usage.counted
        summary = _summary_tokens(whole)
        omits_summary = summary > room
        room -= 0 if omits_summary else summary
        left_out: list[PromptItem] = []
        for each in optional:
            tokens = ceil(scale * (self.tokenizer.count(each.text) + 1))
            if tokens <= room:
                room -= tokens
            else:
                left_out.append(each)
        while True:
            filled = self.assemble(replace(plan.without(left_out), omits_summary=omits_summary))
            kept = [each for each in optional if each not in left_out]
            if filled.usage.total <= cap or not (kept or not omits_summary):
                return filled
            if kept:
                left_out.append(kept[-1])
            else:
                omits_summary = True

    def plan_compaction(
        self,
        assembled: AssembledRequest,
        *,
        squeeze: float = 1.0,
        strategy: CompactionStrategy | None = None,
        keep: Retention | None = None,
        now: bool = False,
    ) -> CompactionPlan | None:
        """What a compaction would do now. Raises `UsageError` where nothing helps."""
        policy = self.compactor.policy
        window = self._history.window
        limits = compaction_limits(assembled)
        limits = replace(limits, cap=int(squeeze * limits.cap), goal=int(squeeze * limits.goal))
        sized = [self._sized(message, assembled, window) for message in window.live]
        try:
            return plan_compaction(strategy or policy.strategy, sized, limits, keep or policy.keep, on_demand=now)
        except TooFull as error:
            raise _too_full(assembled.usage.total, assembled.budget) from error

    def _sized(self, message: ChatMessage, assembled: AssembledRequest, window: Window) -> LiveMessage:
        tokens = assembled.sizes.get(message.id, 0)
        return LiveMessage(
            id=message.id,
            tokens=tokens,
            attached=max(0, tokens - self._own_tokens(message, assembled)),
            opens_turn=message.role == "user",
            has_tools=any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts),
            pinned=message.id in window.pinned,
            priority=message.priority,
        )

    def _own_tokens(self, message: ChatMessage, assembled: AssembledRequest) -> int:
        """What a message takes without the documents or the results that it brings along."""
        scale = assembled.usage.total / assembled.usage.counted
        results = sum(isinstance(part, ToolResultPart) for part in message.parts)
        if results:
            return ceil(scale * results * (MESSAGE_OVERHEAD + LEAST_RESULT_TOKENS))
        if message.role != "user":
            return assembled.sizes.get(message.id, 0)
        return ceil(scale * (MESSAGE_OVERHEAD + self.tokenizer.count(message.text)))

    async def _is_allowed(self, found: CompactionPlan, assembled: AssembledRequest) -> bool:
        policy, reviewer = self.compactor.policy, self.compactor.reviewer
        if not policy.auto:
            return False
        return not (policy.confirm and reviewer) or await reviewer.agrees(found, assembled.usage.total)

    def _shortened(self, found: CompactionPlan, known: Collection[tuple[str, str]]) -> Iterator[Warned]:
        """What the user should know of a compaction that took more than older messages, once of each message."""
        if found.unpinned:
            said = [message.text for message in self._history.thread if message.id in found.unpinned]
            listed = ", ".join(f'"{shorten(text, MAX_QUOTED_CHARS)}"' for text in said)
            yield Warned(
                text=f"Pinned messages do not all fit beside your message. Archived: {listed}",
                hint="Unpin some (/unpin), raise context.max_tokens, or choose a model with a larger window.",
            )
        asked = self._history.last_question
        if asked is None or asked.id not in found.condensed or (asked.id, "") in known:
            return
        sent = self._history.window.condensed.get((asked.id, ""), "")
        hint = "Ask about a part of it, raise context.max_tokens, or choose a model with a larger window."
        if asked.text in sent:
            yield Warned(
                text="The notes that go with your message are longer than the context has room for. The model gets "
                "a part of them.",
                hint=hint,
            )
        else:
            yield Warned(
                text=f"Your message has {len(asked.text):,} characters, more than the context has room for. The model "
                f"gets {len(sent):,} of them; the whole text is kept.",
                hint=hint,
            )

    def candidates(self, agent: Agent) -> list[Candidate]:
        """The rules, notes and tools that this agent may be given."""
        return build_candidates(
            agent,
            rules=self.profiles.rules.values(),
            notes=dict(self._notes(agent)),
            tools=self._offered_tools(agent),
            core=self.core,
            needed=(READ_ATTACHMENT,),
        )

    def _offered_tools(self, agent: Agent) -> list[ToolSpec]:
        """The tools of a model that calls any; that for long messages only where one is shortened."""
        if not self._info.calls_tools:
            return []
        left_out = frozenset() if self.memory_state(agent).is_on else MEMORY_TOOLS
        if not self.long_messages.are_there(self.budget.cap):
            left_out |= {READ_ATTACHMENT}
        return [spec for spec in self.tools.specs if spec.name not in left_out]

    def stale(self, user: ChatMessage) -> list[StaleNote]:
        """The notes that changed since the model read them in this conversation."""
        if self._info.needs_notes:
            return []  # it reads nothing but the question
        try:
            hidden = self.privacy.hidden()
            live = [message for message in self._history.window.live if message.id not in hidden]
            return [*self._staleness.stale_notes(live, user)]
        except StorageError:
            return []

    @cached_property
    def _staleness(self) -> Staleness:
        return Staleness(self.library)

    def can_read(self, agent: Agent) -> bool:
        """Whether the model looks into the vault by itself: it calls tools, and the core ones are in every request."""
        core = self._core_tools(agent)
        return self._info.calls_tools and len(core) == len(self.core) and self._tools_limit(agent) >= self._size(core)

    def _tools_limit(self, agent: Agent) -> int:
        """What the definitions of tools may take, as we count."""
        rules = session_items(build_candidates(agent, rules=self.profiles.rules.values()), self._history.items)
        system = self.tokenizer.count(_instructions(agent, self._info).text) + self._size(rules)
        return self.budget.tools_limit(system=system, core=self._size(self._core_tools(agent)))

    def _core_tools(self, agent: Agent) -> list[Candidate]:
        specs = [spec for spec in self.tools.specs if spec.name in self.core]
        return session_items(build_candidates(agent, tools=specs, core=self.core), self._history.items)

    def _size(self, candidates: Iterable[Candidate]) -> int:
        return sum(self.tokenizer.count(each.text) for each in candidates)

    def _selected(self, agent: Agent, question: str) -> Selection:
        limit = self._tools_limit(agent)
        return self.selector.select(question, self.candidates(agent), self._history.items, tool_tokens=limit)

    def _notes(self, agent: Agent) -> Iterator[tuple[str, str]]:
        """The texts of notes that the agent or the user wants in the context, by the names they have there."""
        added = (item.name for item in added_items(self._history.items).values() if item.type == "reference")
        for name in dict.fromkeys(chain(agent.references, added)):
            try:
                yield name, text_of(self.library, name)
            except (VaultError, StorageError):
                continue  # a note that is gone is recorded as missing by the selection

    def lasting_notes(self, agent: Agent) -> frozenset[str]:
        """The notes, and places in notes, that the session sends with every request, as records call them."""
        if self._info.needs_notes:
            return frozenset()
        try:
            added = session_items(build_candidates(agent, notes=dict(self._notes(agent))), self._history.items)
            places = [place_of(self.library, each.name) for each in added]
        except StorageError:
            return frozenset()
        return frozenset(full_name(*place) for place in places if place)

    def _withheld_links(self, user: ChatMessage | None) -> Iterator[LeftOut]:
        for reference in user.references if user else ():
            if reference.via == VIA_WITHHELD:
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

    def memory_state(self, agent: Agent) -> MemoryState:
        """Whether requests for this agent hold anything of memory."""
        share, changes = self.shares.memory, self._history.items
        return memory_state(enabled=self.remembers, share=share, agent=agent, changes=changes)

    def page(self, budget: int, dropped: Collection[str] = ()) -> Selection:
        """The vault's page with its imports."""
        try:
            return project_memory(
                self.library.read,
                self.tokenizer,
                budget,
                is_approved=self.approvals.page_is_approved,
                dropped=dropped,
            )
        except StorageError:
            return Selection()

    def _facts(self, question: str, budget: int) -> Selection:
        if not question or self.memory is None or self._info.needs_notes:
            return Selection()
        try:
            return self.memory.recall(question, self.tokenizer, budget)
        except StorageError:
            return Selection()  # a turn goes on without what is remembered

    def _recalled(self, question: str, budget: int) -> list[PromptItem]:
        if not question or self.recall is None or self._info.needs_notes or not self._history.archived:
            return []
        try:
            return self.recall.items(question, budget)
        except StorageError:
            return []  # the archive's index is a cache


def _instructions(agent: Agent, info: ModelInfo) -> PromptItem:
    is_small = agent.name == DEFAULT and agent.origin == "built-in" and not info.calls_tools
    return prompt_item("system", agent.name, SMALL_AGENT if is_small else instructions(agent))


def _summary_tokens(assembled: AssembledRequest) -> int:
    scale = assembled.usage.total / assembled.usage.counted
    return round(scale * sum(item.tokens for item in assembled.context.items if item.type == "summary"))


class _Rank(IntEnum):
    """What may be left out of a request that is too full: the highest rank first."""

    NEEDED = 0
    MEMORY = 1
    RECALLED = 2
    RELEVANT = 3
    """Rules, notes and tools that the message calls for."""


def _rank(each: PromptItem) -> _Rank:
    item = each.item
    if item.type == "memory":
        return _Rank.MEMORY
    if item.type == "recall":
        return _Rank.RECALLED
    is_relevant = item.include == "agent" and item.type in {"rule", "reference", "tool"}
    return _Rank.RELEVANT if is_relevant else _Rank.NEEDED


def compaction_limits(assembled: AssembledRequest) -> TokenLimits:
    """What the fixed parts of a request leave for the summary and the messages. Memory gives way before the cap."""
    usage, budget = assembled.usage, assembled.budget
    scale = usage.total / usage.counted
    summary = _summary_tokens(assembled)
    memory = int(scale * sum(item.tokens for item in assembled.context.items if item.type == "memory"))
    movable = summary + sum(assembled.sizes.values())
    fixed = usage.total - movable
    messages = usage.budgets["messages"]
    beside = messages.used - movable
    trigger = min(budget.trigger - fixed, messages.limit - beside)
    return TokenLimits(
        cap=budget.cap - (fixed - memory),
        trigger=trigger,
        goal=int(GOAL_SHARE * trigger),
        summary_cap=int(SUMMARY_SHARE * budget.window),
        summary=summary,
    )


def _last_turn(window: Window) -> Window:
    starts = [place for place, message in enumerate(window.live) if message.role == "user"]
    return Window(live=window.live[starts[-1] if starts else 0 :])


def _without_abstentions(window: Window) -> tuple[Window, tuple[LeftOut, ...]]:
    """The window without the turns in which nothing was found: a small model would imitate them."""
    dropped = abstained_turns(window.live) - window.pinned
    if not dropped:
        return window, ()
    left_out = tuple(
        LeftOut(item=RequestItem(type="message", name=message.id, reason=ABSTAINED), why="abstained")
        for message in window.live
        if message.id in dropped
    )
    return replace(window, live=tuple(message for message in window.live if message.id not in dropped)), left_out


def _too_full(total: int, budget: Budget) -> UsageError:
    return UsageError(
        f"The context is full: this request takes {total:,} tokens, and a window of {budget.window:,} leaves "
        f"{budget.cap:,} beside the answer.",
        hint="Let older messages be summarised (/compact, or context.auto_compact = true), raise context.max_tokens, "
        "or choose a model with a larger window.",
    )
