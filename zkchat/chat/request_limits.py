"""What of a request gives way where it is too full, and what the rest leaves for the messages. Pure."""

from enum import IntEnum
from typing import Final

from zkchat.context.assembly import AssembledRequest
from zkchat.context.prompt_items import PromptItem
from zkchat.context.strategies import TokenLimits
from zkchat.model.choices import ItemType

SUMMARY_SHARE = 0.30
"""Of the window: a summary takes no more."""
GOAL_SHARE = 0.6
"""Of the budget for messages: what a compaction gets down to."""


def summary_tokens(assembled: AssembledRequest) -> int:
    """What the summary of a request is expected to take."""
    scale = assembled.usage.total / assembled.usage.counted
    return round(scale * sum(item.tokens for item in assembled.context.items if item.type == "summary"))


class Rank(IntEnum):
    """What may be left out of a request that is too full: the highest rank first."""

    NEEDED = 0
    MEMORY = 1
    RECALLED = 2
    RELEVANT = 3
    """Rules, notes and tools that the message calls for."""


_GIVING_WAY: Final[frozenset[ItemType]] = frozenset({"memory", "outcome"})
"""What gives way last, and before the cap."""


def rank_of(each: PromptItem) -> Rank:
    item = each.item
    if item.type in _GIVING_WAY:
        return Rank.MEMORY
    if item.type == "recall":
        return Rank.RECALLED
    is_relevant = item.include == "agent" and item.type in {"rule", "reference", "tool"}
    return Rank.RELEVANT if is_relevant else Rank.NEEDED


def compaction_limits(assembled: AssembledRequest) -> TokenLimits:
    """What the fixed parts of a request leave for the summary and the messages. Memory gives way before the cap."""
    usage, budget = assembled.usage, assembled.budget
    scale = usage.total / usage.counted
    summary = summary_tokens(assembled)
    memory = int(scale * sum(item.tokens for item in assembled.context.items if item.type in _GIVING_WAY))
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
