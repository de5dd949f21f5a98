"""What goes into a request beside the conversation: instructions, rules, notes, tools, memory, recalled messages."""

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from zkchat.agents.profiles import DEFAULT, Profiles, instructions
from zkchat.chat.journal import Journal
from zkchat.chat.long_messages import LongMessages
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.chat.proposed_changes import ProposedChanges, outcome_items
from zkchat.chat.references import VIA_WITHHELD, full_name, link_named, place_of, text_of
from zkchat.chat.repeated_notes import without_repeated
from zkchat.chat.staleness import Staleness, StaleNote
from zkchat.context.budget import Budget, Shares, budget_for
from zkchat.context.condensing import split_question
from zkchat.context.instructions import BRIEF_REASONS, SMALL_AGENT, WRITING
from zkchat.context.prompt_items import PromptItem, RequestPlan, prompt_item
from zkchat.context.selection import (
    Candidate,
    Selection,
    Selector,
    added_items,
    build_candidates,
    session_items,
)
from zkchat.errors import StorageError, VaultError
from zkchat.memory.project import project_memory
from zkchat.memory.state import MemoryState, memory_state
from zkchat.model.message import Brief, ChatMessage
from zkchat.model.profile import Agent
from zkchat.model.prompt import ModelInfo, ToolSpec
from zkchat.model.request_context import LeftOut, RequestItem
from zkchat.model.session_history import History
from zkchat.ports.models import ModelProvider
from zkchat.ports.tokenizer import Tokenizer
from zkchat.tools.names import MEMORY_TOOLS, READ_ATTACHMENT
from zkchat.tools.readings import Readings
from zkchat.tools.toolbox import Toolbox
from zkchat.vault.library import Library

if TYPE_CHECKING:
    from zkchat.chat.archive_recall import ArchiveRecall
    from zkchat.memory.facts import Memory

PROJECT_SHARE = 0.5
"""Of the memory budget: how much the vault's own page may take; facts and recalled messages share the rest."""


class PageApprovals(Protocol):
    def page_is_approved(self, name: str, text: str) -> bool:
        """Whether the user approved this text of the vault's page of this name."""
        ...


class RequestPlanner(Struct, frozen=True, kw_only=True, dict=True):
    """Plans what goes into a request beside the conversation."""

    journal: Journal
    provider: ModelProvider
    tokenizer: Tokenizer
    library: Library
    privacy: ConversationPrivacy
    shares: Shares
    tools: Toolbox
    core: frozenset[str]
    """The tools that a model needs to look into the vault by itself."""
    long_messages: LongMessages
    profiles: Profiles
    selector: Selector
    approvals: PageApprovals
    memory: "Memory | None" = None
    remembers: bool = True
    """Whether the settings want anything of memory in requests."""
    recall: "ArchiveRecall | None" = None
    proposals: ProposedChanges | None = None
    """The changes of notes that the model may propose."""
    readings: Readings | None = None
    """What the model was given of notes, and made of them."""
    strict: bool = False
    """Whether answers may rest on nothing but the notes that are sent along."""

    @property
    def budget(self) -> Budget:
        return budget_for(self._info, self.shares)

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
        beside = (*project.items, *facts.items, *recalled, *stale, *self._outcomes(user))
        planned = RequestPlan(
            items=(_instructions(agent, info), *self._may_write(selected.items), *selected.items, *beside),
            left_out=(
                *self._withheld_links(user),
                *map(self._with_its_reason, (*selected.left_out, *project.left_out, *facts.left_out)),
            ),
            agent=agent.name,
            can_read=can_read,
            last_turn_only=user is not None and info.needs_notes,
        )
        if user and user.brief:
            planned = _briefed(planned, user.brief)
        return planned.only_from_evidence() if self.strict else planned

    def permanent_items(self, agent: Agent) -> list[PromptItem]:
        """The instructions, and what is in every request whatever the question."""
        selected = self._selected(agent, "").items
        lasting = [each for each in selected if each.item.include != "agent"]
        return [_instructions(agent, self._info), *self._may_write(lasting), *lasting]

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
        if self.proposals and not self.proposals.is_on:
            left_out |= self.proposals.tool_names
        return [spec for spec in self.tools.specs if spec.name not in left_out]

    def _may_write(self, selected: Iterable[PromptItem]) -> list[PromptItem]:
        """What the model is told while it has tools that propose changes."""
        names = self.proposals.tool_names if self.proposals else frozenset()
        if not any(each.item.type == "tool" and each.item.name in names for each in selected):
            return []
        return [prompt_item("rule", "write", WRITING, reason="writing is on")]

    def _outcomes(self, user: ChatMessage | None) -> list[PromptItem]:
        """What became of the changes that were proposed last; nothing of a turn that is kept from the model."""
        if user is None or self._info.needs_notes:
            return []
        hidden = self.privacy.hidden()
        return [*outcome_items(self._history, user, hidden)]

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
        return Staleness(self.library, self.readings.is_own) if self.readings else Staleness(self.library)

    def can_read(self, agent: Agent) -> bool:
        """Whether the model looks into the vault by itself: it calls tools, and the core ones are in every request."""
        if not self._info.calls_tools:
            return False
        core = self._core_tools(agent)
        return len(core) == len(self.core) and self._tools_limit(agent) >= self._size(core)

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
        limit = self._tools_limit(agent) if self._info.calls_tools else None
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
        return LeftOut(item=replace(left.item, reason=reason), why="private") if reason else left

    def memory_state(self, agent: Agent) -> MemoryState:
        """Whether requests for this agent hold anything of memory."""
        share, changes = self.shares.memory, self._history.items
        return memory_state(enabled=self.remembers, share=share, agent=agent, changes=changes)

    def page(self, budget: int, dropped: Collection[str] = ()) -> Selection:
        """The vault's page with its imports."""
        try:
            return project_memory(
                partial(self.library.read, suggests=False),  # most vaults have none, at each turn
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


def _briefed(plan: RequestPlan, brief: Brief) -> RequestPlan:
    """The plan with what the model is told for this message alone."""
    offered = plan if brief.uses_notes else plan.without_tools()
    if not brief.text:
        return offered
    reason = BRIEF_REASONS[brief.purpose]
    item = prompt_item("rule", brief.purpose, brief.text, include="manual", reason=reason, this_turn_only=True)
    return offered.with_items([item])


def _instructions(agent: Agent, info: ModelInfo) -> PromptItem:
    is_small = agent.name == DEFAULT and agent.origin == "built-in" and not info.calls_tools
    return prompt_item("system", agent.name, SMALL_AGENT if is_small else instructions(agent))
