"""What goes into a request beside the conversation, chosen afresh for each question (SPEC 5): the agent's instructions,
rules, notes and tools, what is remembered, and what of the archive bears on the question."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from zkchat.agents.at_hand import candidates
from zkchat.agents.profiles import DEFAULT, Profiles, instructions
from zkchat.chat.linked import WITHHELD
from zkchat.chat.named_notes import link_named, text_of
from zkchat.chat.preparation import Wanted
from zkchat.chat.staleness import Staleness, StaleNote
from zkchat.context.assembly import Piece, piece
from zkchat.context.budget import Budget
from zkchat.context.instructions import SMALL_AGENT
from zkchat.context.selection import Candidate, Selected, Selector, added_items
from zkchat.errors import StorageError, VaultError
from zkchat.memory.facts import Memory
from zkchat.memory.project import project_memory
from zkchat.model.context import LeftOut, RequestItem
from zkchat.model.history import History
from zkchat.model.message import ChatMessage
from zkchat.model.profile import Agent
from zkchat.model.prompt import ModelInfo
from zkchat.ports import Tokenizer
from zkchat.tools.registry import Toolbox
from zkchat.vault.library import Library

PROJECT_SHARE = 0.5
"""Of the room for memory: how much the vault's own page may take; facts and recalled messages share the rest."""


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

    def of(self, agent: Agent, user: ChatMessage | None = None) -> Wanted:
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
        return Wanted(
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
        return candidates(
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
