"""Compaction strategies: what leaves the prompt when it is too full. Pure planners decide, `chat.compaction` acts.

A cut falls only before a user's message, so that a tool call is never parted from its result, and the last turn stays.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

from zkchat.model.choices import KEEP_PRIORITY, CompactionStrategy

MIN_SUMMARY_TOKENS: Final = 64
"""Tokens below which a summary says nothing."""
MIN_MESSAGE_TOKENS: Final = 24
"""Tokens to which a message can be condensed, not further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMessage:
    """A live message as the planners see it."""

    id: str
    tokens: int
    opens_turn: bool = False
    """Whether it is the user's, and so the beginning of a turn."""
    has_tools: bool = False
    """Whether it is part of a call and its result."""
    pinned: bool = False
    priority: int = 5

    @property
    def stays(self) -> bool:
        return self.pinned or self.priority >= KEEP_PRIORITY


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLimits:
    """How many tokens there are for the summary and the messages together."""

    cap: int
    """Never more than this."""
    goal: int
    """What a compaction should get down to, so that the next one is not due at once."""
    trigger: int
    """Above this, something has to leave."""
    summary_cap: int
    summary: int = 0
    """What the summary takes that stands there now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How many of the last messages stay word for word: as many as that, and no fewer than that."""

    recent: int = 6
    least: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """Which messages leave the prompt, which stay in a shorter form, and how long a summary may be."""

    strategy: CompactionStrategy = "summarize"
    archived: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    condensed: dict[str, int] = field(default_factory=dict)
    """The tokens that each of these messages may still take."""
    summary_budget: int = 0


class TooFull(ValueError):
    """The last turn alone does not fit, not even condensed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionTask:
    """What a planner decides from."""

    messages: Sequence[LiveMessage]
    """Never empty."""
    limits: TokenLimits
    keep: Retention
    on_demand: bool = False
    """Whether the user asked for it, however full the window is."""

    @property
    def total(self) -> int:
        return self.limits.summary + sum(message.tokens for message in self.messages)


Planner = Callable[[CompactionTask], CompactionPlan | None]
"""One strategy. Returns None where it finds nothing to do; raises `TooFull` where nothing helps."""


def plan_compaction(
    strategy: CompactionStrategy,
    messages: Sequence[LiveMessage],
    limits: TokenLimits,
    keep: Retention,
    *,
    on_demand: bool = False,
) -> CompactionPlan | None:
    """What to do about a window that is too full, or, `on_demand`, about any. None when there is nothing to do."""
    task = CompactionTask(messages=messages, limits=limits, keep=keep, on_demand=on_demand)
    if not messages or (task.total <= limits.trigger and not on_demand):
        return None
    found = PLANNERS[strategy](task)
    if found is None:
        return None
    shortens_summary = task.total > limits.cap and found.summary_budget < limits.summary
    return replace(found, strategy=strategy) if found.archived or found.condensed or shortens_summary else None


def _summarize(task: CompactionTask) -> CompactionPlan | None:
    """Everything but the last messages in a summary; where even those do not fit, they are shortened."""
    messages, limits, total = task.messages, task.limits, task.total
    starts = [*_starts(messages, task.keep)]
    goals = (limits.goal,) if total <= limits.cap else (limits.goal, limits.cap)
    for goal in goals:
        for start in starts:
            if found := _folded(messages, start, goal, limits.summary_cap):
                return found
    return None if total <= limits.cap else _condensed(messages, starts, limits)


def _starts(messages: Sequence[LiveMessage], keep: Retention) -> Iterator[int]:
    """Where the part that stays word for word may begin: from the most messages to the fewest."""
    turns = [place for place, message in enumerate(messages) if message.opens_turn] or [0]
    seen = -1
    for count in range(max(keep.recent, keep.least), keep.least - 1, -1):
        start = max((place for place in turns if place <= len(messages) - count), default=0)
        if start > seen:
            seen = start
            yield start


def _folded(messages: Sequence[LiveMessage], start: int, limit: int, summary_cap: int) -> CompactionPlan | None:
    """Everything before `start` in a summary, but for what the user wants kept; None if that is still too much."""
    recent = messages[start:]
    left = limit - sum(message.tokens for message in recent)
    held = _held(messages, start, min(left // 2, left - MIN_SUMMARY_TOKENS))
    archived = tuple(message.id for message in messages[:start] if message.id not in held)
    budget = min(summary_cap, left - sum(held.values()))
    if not archived or budget < MIN_SUMMARY_TOKENS:
        return None
    return CompactionPlan(
        archived=archived,
        kept=(*held, *(message.id for message in recent)),
        summary_budget=budget,
    )


def _held(messages: Sequence[LiveMessage], start: int, budget: int) -> dict[str, int]:
    """What stays of the older messages: the most important first, then the newest, while it fits."""
    groups = [group for group in _groups(messages[:start]) if any(message.stays for message in group)]
    places = sorted(range(len(groups)), key=lambda place: (-max(message.priority for message in groups[place]), -place))
    fitting: set[int] = set()
    for place in places:
        tokens = sum(message.tokens for message in groups[place])
        if tokens <= budget:
            budget -= tokens
            fitting.add(place)
    return {message.id: message.tokens for place in sorted(fitting) for message in groups[place]}


def _groups(messages: Sequence[LiveMessage]) -> Iterator[list[LiveMessage]]:
    """Messages that can be kept or folded by themselves; calls and results stay together."""
    group: list[LiveMessage] = []
    for message in messages:
        if group and not message.has_tools:
            yield group
            group = []
        group.append(message)
        if not message.has_tools:
            yield group
            group = []
    if group:
        yield group


def _condensed(messages: Sequence[LiveMessage], starts: Sequence[int], limits: TokenLimits) -> CompactionPlan:
    """The last messages themselves are too long: the longest of them are shortened, at last those of the last turn."""
    turns = [place for place, message in enumerate(messages) if message.opens_turn] or [0]
    for start in dict.fromkeys((starts[-1], turns[-1])):
        recent = messages[start:]
        archived = tuple(message.id for message in messages[:start])
        summary = min(limits.summary_cap, max(MIN_SUMMARY_TOKENS, limits.cap // 8)) if archived or limits.summary else 0
        level = truncation_level([message.tokens for message in recent], limits.cap - summary)
        if level >= min(MIN_MESSAGE_TOKENS, *(message.tokens for message in recent)):
            return CompactionPlan(
                archived=archived,
                kept=tuple(message.id for message in recent),
                condensed={message.id: level for message in recent if message.tokens > level},
                summary_budget=summary,
            )
    raise TooFull


def truncation_level(sizes: Sequence[int], budget: int) -> int:
    """The size to which the longest have to be truncated so that all fit together."""
    rising = sorted(sizes)
    for place, (size, below) in enumerate(zip(rising, accumulate(rising, initial=0), strict=False)):
        share = (budget - below) // (len(rising) - place)
        if size > share:
            return share
    return max(rising, default=budget)


def _discard(task: CompactionTask) -> CompactionPlan:
    """The newest whole turns that fit, or are to be kept; the last one in any case, condensed if it must be."""
    messages, limits = task.messages, task.limits
    turns = [place for place, message in enumerate(messages) if message.opens_turn] or [0]
    first = next(_starts(messages, task.keep)) if task.on_demand else 0
    start = next(
        (
            place
            for place in turns
            if place >= first and sum(message.tokens for message in messages[place:]) <= limits.goal
        ),
        turns[-1],
    )
    recent = messages[start:]
    level = truncation_level([message.tokens for message in recent], limits.cap)
    if level < min(MIN_MESSAGE_TOKENS, *(message.tokens for message in recent)):
        raise TooFull
    return CompactionPlan(
        archived=tuple(message.id for message in messages[:start]),
        kept=tuple(message.id for message in recent),
        condensed={message.id: level for message in recent if message.tokens > level},
    )


_SHARES: Final = (("critical", 0.30), ("important", 0.25), ("normal", 0.20))
_MEMORY_SHARE: Final = 0.20


def _hybrid(task: CompactionTask) -> CompactionPlan:
    """By importance: each class has its share, what one leaves unused flows on, what does not fit is summarised."""
    messages, limits = task.messages, task.limits
    turns = [place for place, message in enumerate(messages) if message.opens_turn] or [0]
    last = messages[turns[-1] :]
    summary = min(limits.summary_cap, int(limits.goal * _MEMORY_SHARE))
    left = limits.goal - summary - sum(message.tokens for message in last)
    if left < 0:
        return _condensed(messages, [turns[-1]], limits)
    kept: set[str] = {message.id for message in last}
    groups = [*_groups(messages[: turns[-1]])]
    whole, spare = left / sum(share for _, share in _SHARES), 0.0
    for name, share in _SHARES:
        spare += share * whole
        for group in reversed([group for group in groups if _importance(group) == name]):
            tokens = sum(message.tokens for message in group)
            if tokens <= spare:
                spare -= tokens
                kept.update(message.id for message in group)
    archived = tuple(message.id for message in messages if message.id not in kept)
    return CompactionPlan(
        archived=archived,
        kept=tuple(message.id for message in messages if message.id in kept),
        summary_budget=summary if archived or limits.summary else 0,
    )


def _importance(group: Sequence[LiveMessage]) -> str:
    if any(message.stays for message in group):
        return "critical"
    return "important" if max(message.priority for message in group) > 5 else "normal"


PLANNERS: Final[Mapping[CompactionStrategy, Planner]] = {
    "summarize": _summarize,
    "discard": _discard,
    "hybrid": _hybrid,
}
