"""How long a conversation can go on at its pace before older messages have to leave the prompt. Pure."""

from collections.abc import Sequence
from itertools import pairwise

from zkchat.model.context import ContextUsage

_LOOK_BACK = 8
"""Turns that say what the pace is."""


def turns_left(usages: Sequence[ContextUsage]) -> int | None:
    """From what filled the context turn by turn, the last one last; None while there is no pace to speak of."""
    recent = usages[-_LOOK_BACK:]
    steps = [later.total - earlier.total for earlier, later in pairwise(recent) if later.total > earlier.total]
    if not steps:
        return None
    last = recent[-1]
    limit = min(last.window - last.reserve, int(last.threshold * last.window))
    return max(0, int((limit - last.total) / (sum(steps) / len(steps))))
