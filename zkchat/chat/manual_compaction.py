"""Compactions that the user asks for, whether or not the context is full."""

from typing import Final

from msgspec import Struct

from zkchat.chat.request import RequestBuilder
from zkchat.context.assembly import AssembledRequest
from zkchat.context.strategies import MIN_SUMMARY_TOKENS, CompactionPlan, Retention
from zkchat.model.choices import CompactionStrategy
from zkchat.model.parts import CompactionPart
from zkchat.model.session_history import History
from zkchat.model.usage import ContextUsage

NOTHING_TO_SUMMARISE: Final = (
    "There is nothing to summarise: before the last messages there is nothing, or less than a summary takes."
)


class Preview(Struct, frozen=True, kw_only=True):
    """A compaction as it would be."""

    plan: CompactionPlan
    part: CompactionPart
    trouble: str
    """Why the model's summary would not be used, if so."""


def wanted_plan(
    requests: RequestBuilder, assembled: AssembledRequest, keep: int | None, strategy: CompactionStrategy | None
) -> CompactionPlan | None:
    """The compaction that the user asks for; None where there is nothing to gain from it."""
    retention = None if keep is None else Retention(recent=keep, least=min(keep, 2))
    found = requests.plan_compaction(assembled, strategy=strategy, keep=retention, now=True)
    if found and found.summary_budget and not found.condensed and assembled.sizes.keys() >= {*found.archived}:
        replaced = sum(assembled.sizes[id_] for id_ in found.archived)
        return found if replaced > MIN_SUMMARY_TOKENS else None
    return found


def clearing(history: History, usage: ContextUsage) -> CompactionPart:
    """A compaction that archives everything without a summary."""
    return CompactionPart(
        number=1 + sum(message.context_type == "summary" for message in history.thread),
        summary="",
        strategy="clear",
        archived=tuple(message.id for message in history.window.live),
        tokens_before=usage.total,
        tokens_after=usage.system + usage.tools,
    )
