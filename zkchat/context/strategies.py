"""What leaves the prompt when it is too full (SPEC 4.2, 4.7, 4.8). Pure planners: they decide, `chat.compaction` acts.

A cut falls only before a user's message, so that a tool call is never parted from its result, and the last turn stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final, Literal, assert_never

StrategyName = Literal["summarize", "discard", "hybrid"]

SMALLEST_SUMMARY: Final = 64
"""Tokens below which a summary says nothing."""
SHORTEST: Final = 24
"""Tokens to which a message can be condensed, not further."""
KEPT_PRIORITY: Final = 8
"""From here on a message is kept word for word while it fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
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
        return self.pinned or self.priority >= KEPT_PRIORITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
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
class Keep:
    """How many of the last messages stay word for word: as many as that, and no fewer than that."""

    recent: int = 6
    least: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which messages leave the prompt, which stay in a shorter form, and how long a summary may be."""

    strategy: StrategyName
    archived: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    condensed: dict[str, int] = field(default_factory=dict)
    """The tokens that each of these messages may still take."""
    summary_budget: int = 0


class TooFull(ValueError):
    """The last turn alone does not fit, not even condensed."""


def plan(
    strategy: StrategyName, messages: Sequence[Sized], room: Room, keep: Keep, *, now: bool = False
) -> Plan | None:
    """What to do about a window that is too full, or, with `now`, about any. None when there is nothing to do."""
    total = room.summary + sum(message.tokens for message in messages)
    if not messages or (total <= room.trigger and not now):
        return None
    match strategy:
        case "summarize":
            found = _summarize(messages, room, keep, total)
        case "discard":
            found = _discard(messages, room, keep if now else None)
        case "hybrid":
            found = _hybrid(messages, room)
        case _:
            assert_never(strategy)
    shortens_summary = found is not None and total > room.cap and found.summary_budget < room.summary
    return found if found and (found.archived or found.condensed or shortens_summary) else None


def _summarize(messages: Sequence[Sized], room: Room, keep: Keep, total: int) -> Plan | None:
    starts = [*_starts(messages, keep)]
    limits = (room.goal,) if total <= room.cap else (room.goal, room.cap)
    for limit in limits:
        for start in starts:
            if found := _folded(messages, start, limit, room.summary_cap):
                return found
    return None if total <= room.cap else _condensed(messages, starts, room)


def _starts(messages: Sequence[Sized], keep: Keep) -> Iterator[int]:
    """Where the part that stays word for word may begin: from the most messages to the fewest."""
    turns = [place for place, message in enumerate(messages) if message.opens_turn] or [0]
    seen = -1
    for count in range(max(keep.recent, keep.least), keep.least - 1, -1):
        start = max((place for place in turns if place <= len(messages) - count), default=0)
        if start > seen:
            seen = start
            yield start


def _folded(messages: Sequence[Sized], start: int, limit: int, summary_cap: int) -> Plan | None:
    """Everything before `start` in a summary, but for what the user wants kept; None if that is still too much."""
    recent = messages[start:]
    left = limit - sum(message.tokens for message in recent)
    held = _held(messages, start, min(left // 2, left - SMALLEST_SUMMARY))
    archived = tuple(message.id for message in messages[:start] if message.id not in held)
    budget = min(summary_cap, left - sum(held.values()))
    if not archived or budget < SMALLEST_SUMMARY:
        return None
    return Plan(
        strategy="summarize",
        archived=archived,
        kept=(*held, *(message.id for message in recent)),
        summary_budget=budget,
    )


def _held(messages: Sequence[Sized], start: int, room: int) -> dict[str, int]:
    """What stays of the older messages: the most important first, then the newest, while it fits."""
    groups = [group for group in _groups(messages[:start]) if any(message.stays for message in group)]
    places = sorted(range(len(groups)), key=lambda place: (-max(message.priority for message in groups[place]), -place))
    fitting: set[int] = set()
    for place in places:
        tokens = sum(message.tokens for message in groups[place])
        if tokens <= room:
            room -= tokens
            fitting.add(place)
    return {message.id: message.tokens for place in sorted(fitting) for message in groups[place]}


def _groups(messages: Sequence[Sized]) -> Iterator[list[Sized]]:
    """Messages that can be kept or folded by themselves; calls and results stay together."""
    group: list[Sized] = []
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


def _condensed(messages: Sequence[Sized], starts: Sequence[int], room: Room) -> Plan:
    """The last messages themselves are too long: the longest of them are shortened, at last those of the last turn."""
    turns = [place for place, message in enumerate(messages) if message.opens_turn] or [0]
    for start in dict.fromkeys((starts[-1], turns[-1])):
        recent = messages[start:]
        archived = tuple(message.id for message in messages[:start])
        summary = min(room.summary_cap, max(SMALLEST_SUMMARY, room.cap // 8)) if archived or room.summary else 0
        level = level_for([message.tokens for message in recent], room.cap - summary)
        if level >= min(SHORTEST, *(message.tokens for message in recent)):
            return Plan(
                strategy="summarize",
                archived=archived,
                kept=tuple(message.id for message in recent),
                condensed={message.id: level for message in recent if message.tokens > level},
                summary_budget=summary,
            )
    raise TooFull


def level_for(sizes: Sequence[int], room: int) -> int:
    """To what the longest have to be cut so that all fit together."""
    rising = sorted(sizes)
    for place, (size, below) in enumerate(zip(rising, accumulate(rising, initial=0), strict=False)):
        share = (room - below) // (len(rising) - place)
        if size > share:
            return share
    return max(rising, default=room)


def _discard(messages: Sequence[Sized], room: Room, keep: Keep | None) -> Plan:
    """The newest whole turns that fit, or are to be kept; the last one in any case, condensed if it must be."""
    turns = [place for place, message in enumerate(messages) if message.opens_turn] or [0]
    first = next(_starts(messages, keep)) if keep else 0
    start = next(
        (
            place
            for place in turns
            if place >= first and sum(message.tokens for message in messages[place:]) <= room.goal
        ),
        turns[-1],
    )
    recent = messages[start:]
    level = level_for([message.tokens for message in recent], room.cap)
    if level < min(SHORTEST, *(message.tokens for message in recent)):
        raise TooFull
    return Plan(
        strategy="discard",
        archived=tuple(message.id for message in messages[:start]),
        kept=tuple(message.id for message in recent),
        condensed={message.id: level for message in recent if message.tokens > level},
    )


_SHARES: Final = (("critical", 0.30), ("important", 0.25), ("normal", 0.20))
_MEMORY_SHARE: Final = 0.20


def _hybrid(messages: Sequence[Sized], room: Room) -> Plan:
    """By importance: each class has its share, what one leaves unused flows on, what does not fit is summarised."""
    turns = [place for place, message in enumerate(messages) if message.opens_turn] or [0]
    last = messages[turns[-1] :]
    summary = min(room.summary_cap, int(room.goal * _MEMORY_SHARE))
    left = room.goal - summary - sum(message.tokens for message in last)
    if left < 0:
        return replace(_condensed(messages, [turns[-1]], room), strategy="hybrid")
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
    return Plan(
        strategy="hybrid",
        archived=archived,
        kept=tuple(message.id for message in messages if message.id in kept),
        summary_budget=summary if archived or room.summary else 0,
    )


def _importance(group: Sequence[Sized]) -> str:
    if any(message.stays for message in group):
        return "critical"
    return "important" if max(message.priority for message in group) > 5 else "normal"
