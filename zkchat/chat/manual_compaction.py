"""Compactions that the user asks for, whether or not the context is full, and takes back."""

from typing import Final

from msgspec import Struct

from zkchat.chat.core import ConversationCore
from zkchat.chat.event_stream import Emit
from zkchat.chat.request import RequestBuilder
from zkchat.context.assembly import AssembledRequest
from zkchat.context.strategies import MIN_SUMMARY_TOKENS, CompactionPlan, Retention
from zkchat.model.choices import CompactionStrategy
from zkchat.model.entries import RestoreEntry
from zkchat.model.events import Compacting, Warned
from zkchat.model.message import ChatMessage
from zkchat.model.parts import CompactionPart
from zkchat.model.profile import Agent
from zkchat.model.session_history import mark_condensed

NOTHING_TO_SUMMARISE: Final = (
    "There is nothing to summarise: before the last messages there is nothing, or less than a summary takes."
)


class Preview(Struct, frozen=True, kw_only=True):
    """A compaction as it would be."""

    plan: CompactionPlan
    part: CompactionPart
    trouble: str
    """Why the model's summary would not be used, if so."""


class ManualCompaction:
    """Plans what the user asks for, shows it, carries it out, or takes it back."""

    def __init__(self, core: ConversationCore, requests: RequestBuilder) -> None:
        self._core = core
        self._requests = requests

    async def preview(
        self, assembled: AssembledRequest, focus: str, keep: int | None, strategy: CompactionStrategy | None
    ) -> Preview | None:
        """What `run` would do; None when there is nothing to summarise."""
        if (plan := self._plan(assembled, keep, strategy)) is None:
            return None
        part, trouble = await self._requests.compactor.draft(assembled, plan, focus)
        history = self._core.history
        return Preview(plan=plan, part=mark_condensed(part, history), trouble=trouble)

    async def run(
        self,
        assembled: AssembledRequest,
        focus: str,
        keep: int | None,
        strategy: CompactionStrategy | None,
        emit: Emit,
    ) -> None:
        """Summarise and archive older messages."""
        if (plan := self._plan(assembled, keep, strategy)) is None:
            await emit(Warned(text=NOTHING_TO_SUMMARISE))
            return
        await emit(Compacting(messages=len(plan.archived), tokens=assembled.usage.total))
        await self._requests.compactor.run(assembled, plan, emit, focus)

    def undo(self) -> ChatMessage | None:
        """Take the last compaction back, and return its marker; None if none is in force."""
        journal = self._core.journal
        markers = journal.history.window.compactions
        if not markers:
            return None
        journal.append(RestoreEntry(compaction_id=markers[-1].id))
        return markers[-1]

    def clear(self, agent: Agent) -> ChatMessage | None:
        """Archive everything without a summary, and return the marker; None if there is nothing to archive."""
        history = self._core.history
        live = history.window.live
        if not live:
            return None
        usage = self._requests.assemble(self._requests.planner.plan(agent)).usage
        part = CompactionPart(
            number=1 + sum(message.context_type == "summary" for message in history.thread),
            summary="",
            strategy="clear",
            archived=tuple(message.id for message in live),
            tokens_before=usage.total,
            tokens_after=usage.system + usage.tools,
        )
        return self._requests.compactor.apply(part)[0]

    def _plan(
        self, assembled: AssembledRequest, keep: int | None, strategy: CompactionStrategy | None
    ) -> CompactionPlan | None:
        """What the user asks for; None where there is nothing to gain from it."""
        found = self._requests.plan_compaction(
            assembled,
            strategy=strategy,
            keep=None if keep is None else Retention(recent=keep, least=min(keep, 2)),
            now=True,
        )
        if found and found.summary_budget and not found.condensed and assembled.sizes.keys() >= {*found.archived}:
            replaced = sum(assembled.sizes[id_] for id_ in found.archived)
            return found if replaced > MIN_SUMMARY_TOKENS else None
        return found
