"""Compaction strategies: what leaves the prompt when it is too full. Pure planners decide, `chat.compaction` acts.

Turns leave or stay as a whole, so that no answer stands without its question and no result without its call. The last
one stays. What gives way first: documents of earlier turns, older messages (a summary takes their place), documents of
the last turn, the recent messages, the summary, and the last question only where it alone is too long.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.core import KEEP_PRIORITY, CompactionStrategy

MIN_SUMMARY_TOKENS: Final = 64
"""Tokens below which a summary says nothing."""
MIN_MESSAGE_TOKENS: Final = 24
"""Tokens to which a message can be condensed, not further."""
MIN_DOCUMENT_TOKENS: Final = 24
"""Tokens that the documents of the last question keep, and each of its tool results, while there is any room."""


class LiveMessage(Struct, frozen=True, kw_only=True):
    """A live message as the planners see it."""

    id: str
    tokens: int
    attached: int = 0
    """What of it is documents or results of tools, and can be left out or shortened by itself."""
    opens_turn: bool = False
    """Whether it is the user's, and so the beginning of a turn."""
    has_tools: bool = False
    """Whether it is part of a call and its result."""
    pinned: bool = False
    priority: int = 5

    @property
    def own(self) -> int:
        """What its words take, without documents."""
        return self.tokens - self.attached

    @property
    def stays(self) -> bool:
        return self.pinned or self.priority >= KEEP_PRIORITY


class TokenLimits(Struct, frozen=True, kw_only=True):
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


class Retention(Struct, frozen=True, kw_only=True):
    """How many of the last messages stay word for word: as many as that, and no fewer than that."""

    recent: int = 6
    least: int = 2


class CompactionPlan(Struct, frozen=True, kw_only=True):
    """Which messages leave the prompt, which stay in a shorter form, and how long a summary may be."""

    strategy: CompactionStrategy = "summarize"
    archived: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    condensed: dict[str, int] = field(default_factory=dict)
    """The tokens that each of these messages may still take."""
    summary_budget: int = 0
    """Without any, an earlier summary stays as it is."""
    unpinned: tuple[str, ...] = ()
    """Pinned messages that leave all the same, because all of them do not fit beside the last question."""


class TooFull(ValueError):
    """The last turn alone does not fit, not even condensed."""


class CompactionTask(Struct, frozen=True, kw_only=True):
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

    @property
    def turns(self) -> list[int]:
        """Where each turn begins."""
        return [place for place, message in enumerate(self.messages) if message.opens_turn] or [0]

    @property
    def current(self) -> Sequence[LiveMessage]:
        """The last turn."""
        return self.messages[self.turns[-1] :]


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
    return replace(found, strategy=strategy) if found and (found.archived or found.condensed) else None


def _summarize(task: CompactionTask) -> CompactionPlan | None:
    """Everything but the last messages in a summary; where even those do not fit, they are shortened."""
    limits, total = task.limits, task.total
    pins = _pinned(task)
    if not task.on_demand and (found := _without_earlier_documents(task, pins)):
        return found
    starts = [*_starts(task)]
    goals = (limits.goal,) if total <= limits.cap else (limits.goal, limits.cap)
    for goal in goals:
        for start in starts:
            for slim in (False, True):
                if found := _folded(task, pins, start, goal, slim=slim):
                    return found
    return None if total <= limits.cap else _shortened(task, pins, starts[-1])


def recent_start(messages: Sequence[LiveMessage], keep: Retention) -> int:
    """Where the messages begin that stay word for word even in a full prompt."""
    turns = [place for place, message in enumerate(messages) if message.opens_turn]
    return max((place for place in turns if place <= len(messages) - keep.least), default=0)


def _starts(task: CompactionTask) -> Iterator[int]:
    """Where the part that stays word for word may begin: from the most messages to the fewest."""
    seen = -1
    for count in range(max(task.keep.recent, task.keep.least), task.keep.least - 1, -1):
        start = max((place for place in task.turns if place <= len(task.messages) - count), default=0)
        if start > seen:
            seen = start
            yield start


class _Pins(Struct, frozen=True, kw_only=True):
    """What of earlier turns the user wants kept word for word."""

    kept: frozenset[str] = frozenset()
    """The pinned messages, each with its question or its answer, so that both stay together."""
    missing: tuple[str, ...] = ()
    """Pinned messages that do not fit beside the last question."""


def _pinned(task: CompactionTask) -> _Pins:
    """All pinned messages where they fit beside the last question; else the most important, then the newest."""
    current = task.current
    room = task.limits.cap - sum(_least(message) for message in current[1:]) - current[0].own
    groups = [group for turn in _turns(task.messages[: task.turns[-1]]) if (group := _with_pins(turn))]
    newest_first = sorted(enumerate(groups), key=lambda each: (-_priority(each[1]), -each[0]))
    kept: set[str] = set()
    missing: set[str] = set()
    for _, group in newest_first:
        needed = sum(message.own if message.pinned else _least(message) for message in group)
        if needed <= room:
            room -= needed
            kept.update(message.id for message in group)
        else:
            missing.update(message.id for message in group if message.pinned)
    return _Pins(kept=frozenset(kept), missing=tuple(each.id for each in task.messages if each.id in missing))


def _with_pins(turn: Sequence[LiveMessage]) -> list[LiveMessage]:
    """The pinned messages of a turn with its question and its answer; empty where nothing is pinned."""
    if not any(message.pinned for message in turn):
        return []
    if any(message.pinned and message.has_tools for message in turn):
        return [*turn]
    answers = [message for message in turn[1:] if not message.has_tools]
    ends = {turn[0].id, *(answer.id for answer in answers[-1:])}
    return [message for message in turn if message.pinned or message.id in ends]


def _priority(messages: Iterable[LiveMessage]) -> int:
    return max(message.priority for message in messages)


def _least(message: LiveMessage) -> int:
    return min(message.own, MIN_MESSAGE_TOKENS)


def _turns(messages: Sequence[LiveMessage]) -> Iterator[Sequence[LiveMessage]]:
    """The messages of each turn; those before the first question are one, too."""
    starts = [place for place, message in enumerate(messages) if message.opens_turn or place == 0]
    for start, end in pairwise([*starts, len(messages)]):
        yield messages[start:end]


def _plan(task: CompactionTask, pins: _Pins, sizes: Mapping[str, int], summary_budget: int) -> CompactionPlan:
    """The plan in which these messages stay, each with so many tokens."""
    kept = [message for message in task.messages if message.id in sizes]
    return CompactionPlan(
        archived=tuple(message.id for message in task.messages if message.id not in sizes),
        kept=tuple(message.id for message in kept),
        condensed={message.id: sizes[message.id] for message in kept if sizes[message.id] < message.tokens},
        summary_budget=summary_budget,
        unpinned=tuple(id_ for id_ in pins.missing if id_ not in sizes),
    )


def _without_earlier_documents(task: CompactionTask, pins: _Pins) -> CompactionPlan | None:
    """Every message, without the documents of earlier turns; None if that is still too much."""
    sizes = _sizes(task, task.messages, slim=True)
    if task.limits.summary + sum(sizes.values()) > task.limits.goal:
        return None
    return _plan(task, pins, sizes, 0)


def _sizes(task: CompactionTask, messages: Iterable[LiveMessage], *, slim: bool) -> dict[str, int]:
    """What each message takes; `slim` means that earlier turns lose their documents."""
    current = {message.id for message in task.current}
    return {
        message.id: message.own if slim and message.id not in current and not message.pinned else message.tokens
        for message in messages
    }


def _folded(task: CompactionTask, pins: _Pins, start: int, limit: int, *, slim: bool) -> CompactionPlan | None:
    """Everything before `start` in a summary, but for what the user wants kept; None if that is still too much."""
    older = task.messages[:start]
    stay = [message for place, message in enumerate(task.messages) if place >= start or message.id in pins.kept]
    sizes = _sizes(task, stay, slim=slim)
    left = limit - sum(sizes.values())
    important = _important(_other_turns(older, sizes))
    sizes |= _newest_that_fit(important, min(left // 2, left - MIN_SUMMARY_TOKENS))
    budget = min(task.limits.summary_cap, limit - sum(sizes.values()))
    if budget < MIN_SUMMARY_TOKENS or all(message.id in sizes for message in older):
        return None
    return _plan(task, pins, sizes, budget)


def _other_turns(messages: Sequence[LiveMessage], kept: Collection[str]) -> list[Sequence[LiveMessage]]:
    """The turns of which nothing is kept yet, the newest first."""
    return [turn for turn in reversed([*_turns(messages)]) if not any(message.id in kept for message in turn)]


def _important(turns: Iterable[Sequence[LiveMessage]]) -> list[Sequence[LiveMessage]]:
    """The turns with a message of high priority, the most important first."""
    return sorted((turn for turn in turns if any(message.stays for message in turn)), key=_priority, reverse=True)


def _newest_that_fit(turns: Iterable[Sequence[LiveMessage]], budget: int) -> dict[str, int]:
    """The messages of these turns, as long as there is room."""
    sizes: dict[str, int] = {}
    for turn in turns:
        tokens = sum(message.tokens for message in turn)
        if tokens <= budget:
            budget -= tokens
            sizes |= {message.id: message.tokens for message in turn}
    return sizes


def _shortened(task: CompactionTask, pins: _Pins, start: int, *, summarises: bool = True) -> CompactionPlan:
    """The last messages themselves are too long: what they bring along is shortened, then they are, and at last the
    question."""
    limits = task.limits
    least = min(limits.summary_cap, max(MIN_SUMMARY_TOKENS, limits.cap // 8)) if summarises else 0
    attempts = [(start, least), (task.turns[-1], least), (task.turns[-1], 0)]
    for begin, summary in dict.fromkeys(attempts):
        stay = [message for place, message in enumerate(task.messages) if place >= begin or message.id in pins.kept]
        needs_summary = len(stay) < len(task.messages) or limits.summary > 0
        budget = summary if needs_summary else 0
        if sizes := _fitted(task, stay, limits.cap - budget):
            return _plan(task, pins, sizes, budget)
    return _plan(task, pins, _last_question(task, pins), 0)


def _fitted(task: CompactionTask, messages: Sequence[LiveMessage], room: int) -> dict[str, int] | None:
    """What each of these messages may take so that they fit together, the last question whole; None if they cannot."""
    current = {message.id for message in task.current}
    earlier = [message for message in messages if message.id not in current]
    sizes = {message.id: message.tokens for message in messages}
    for message in sorted(earlier, key=lambda message: message.pinned):
        if sum(sizes.values()) > room:
            sizes[message.id] = message.own
    documents = {message.id: message.own + min(message.attached, MIN_DOCUMENT_TOKENS) for message in task.current}
    _shrink(sizes, documents, room)
    _shrink(sizes, {message.id: _least(message) for message in earlier if not message.pinned}, room)
    return sizes if sum(sizes.values()) <= room else None


def _shrink(sizes: dict[str, int], least: Mapping[str, int], room: int) -> None:
    """Shorten the longest of these messages, none below its least, until all fit or nothing more can be gained."""
    spare = {id_: sizes[id_] - floor for id_, floor in least.items()}
    over = sum(sizes.values()) - room
    if over <= 0 or not spare:
        return
    level = max(0, truncation_level([*spare.values()], sum(spare.values()) - over))
    sizes |= {id_: floor + min(spare[id_], level) for id_, floor in least.items()}


def _last_question(task: CompactionTask, pins: _Pins) -> dict[str, int]:
    """The sizes of the last turn where its question has to be shortened too, or its tool results beyond their least."""
    stay = [message for message in task.messages if message.id in pins.kept]
    held = {message.id: message.own if message.pinned else _least(message) for message in stay}
    room = task.limits.cap - sum(held.values())
    question, *others = task.current
    sizes = {message.id: message.own for message in others}
    question_fits = question.own + sum(map(_least, others)) <= room
    level = truncation_level([*sizes.values()], room - question.own) if question_fits else 0
    if not question_fits:
        sizes[question.id] = question.own
        level = truncation_level([*sizes.values()], room)
        if level < min(MIN_MESSAGE_TOKENS, *sizes.values()):
            raise TooFull
    return held | {question.id: question.own} | {id_: min(size, level) for id_, size in sizes.items()}


def truncation_level(sizes: Sequence[int], budget: int) -> int:
    """The size to which the longest have to be truncated so that all fit together."""
    rising = sorted(sizes)
    for place, (size, below) in enumerate(zip(rising, accumulate(rising, initial=0), strict=False)):
        share = (budget - below) // (len(rising) - place)
        if size > share:
            return share
    return max(rising, default=budget)


def _discard(task: CompactionTask) -> CompactionPlan:
    """The newest whole turns that fit, and what is pinned; the last one in any case, shortened if it must be."""
    messages, limits = task.messages, task.limits
    pins = _pinned(task)
    first = next(_starts(task)) if task.on_demand else 0
    for start in [place for place in task.turns if place >= first]:
        stay = [message for place, message in enumerate(messages) if place >= start or message.id in pins.kept]
        sizes = _sizes(task, stay, slim=False)
        if limits.summary + sum(sizes.values()) <= limits.goal:
            return _plan(task, pins, sizes, 0)
    return _shortened(task, pins, [*_starts(task)][-1], summarises=False)


_SHARES: Final = (("critical", 0.30), ("important", 0.25), ("normal", 0.20), ("low", 0.0))
"""Of the room, by importance; messages of low priority get what the others leave."""
_SUMMARY_SHARE: Final = 0.20
"""Of the room: what the summary may take."""
_BUFFER_SHARE: Final = 0.05
"""Of the room: what stays free."""


def _hybrid(task: CompactionTask) -> CompactionPlan | None:
    """By importance: each class has its share, what one leaves unused flows on, what does not fit is summarised."""
    limits = task.limits
    pins = _pinned(task)
    summary = min(limits.summary_cap, int(limits.goal * _SUMMARY_SHARE))
    stay = [message for message in task.messages[: task.turns[-1]] if message.id in pins.kept]
    sizes = _sizes(task, [*stay, *task.current], slim=False)
    left = limits.goal - summary - int(limits.goal * _BUFFER_SHARE) - sum(sizes.values())
    if left < 0:
        return None if task.total <= limits.cap else _shortened(task, pins, [*_starts(task)][-1])
    turns = _other_turns(task.messages[: task.turns[-1]], sizes)
    whole, spare = left / sum(share for _, share in _SHARES), 0.0
    for name, share in _SHARES:
        spare += share * whole
        kept = _newest_that_fit([turn for turn in turns if _importance(turn) == name], int(spare))
        spare -= sum(kept.values())
        sizes |= kept
    is_summary_needed = len(sizes) < len(task.messages) or limits.summary > 0
    return _plan(task, pins, sizes, summary if is_summary_needed else 0)


def _importance(turn: Sequence[LiveMessage]) -> str:
    if any(message.stays for message in turn):
        return "critical"
    priority = _priority(turn)
    return "important" if priority > 5 else "normal" if priority > 3 else "low"


PLANNERS: Final[Mapping[CompactionStrategy, Planner]] = {
    "summarize": _summarize,
    "discard": _discard,
    "hybrid": _hybrid,
}
