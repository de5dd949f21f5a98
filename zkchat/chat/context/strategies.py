"""Compaction strategies: what leaves the prompt when it is too full. Pure planners decide, `chat.compaction` acts.

Turns leave or stay as a whole, so that no answer stands without its question and no result without its call. The last
one stays. What gives way first: documents of earlier turns, older messages (a summary takes their place), documents of
the last turn, the recent messages, the summary, and the last question only where it alone is too long.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise, product
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


TURNS_BETWEEN: Final = 3
"""Turns that should fit between two compactions."""


class LiveMessage(Struct, frozen=True, kw_only=True):
    """A live message as the planners see it."""

    id: str
    tokens: int
    attached: int = 0
    """What of it is documents or results of tools, and can be left out or shortened by itself."""
    opens_turn: bool = False
    """Whether it is the user's, and so the beginning of a turn."""
    has_tools: bool = False
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


def plan_compaction(
    strategy: CompactionStrategy,
    messages: Sequence[LiveMessage],
    limits: TokenLimits,
    keep: Retention,
    *,
    on_demand: bool = False,
) -> CompactionPlan | None:
    """What to do about a window that is too full, or, `on_demand`, about any. None when there is nothing to do.

    Raises `TooFull` where nothing helps.
    """
    total = limits.summary + sum(message.tokens for message in messages)
    if not messages or (total <= limits.trigger and not on_demand):
        return None
    planner = _Planner(messages, limits, keep, total)
    plans: dict[CompactionStrategy, Callable[[bool], CompactionPlan | None]] = {
        "summarize": planner.summarize,
        "discard": planner.discard,
        "hybrid": planner.hybrid,
    }
    found = plans[strategy](on_demand)
    return replace(found, strategy=strategy) if found and (found.archived or found.condensed) else None


def recent_start(messages: Sequence[LiveMessage], least: int) -> int:
    """Where the last turns begin that hold at least so many messages."""
    turns = (place for place, message in enumerate(messages) if message.opens_turn)
    return max((place for place in turns if place <= len(messages) - least), default=0)


class _Planner:
    """The messages of one window, of which there is at least one, and how many tokens there are for them."""

    def __init__(self, messages: Sequence[LiveMessage], limits: TokenLimits, keep: Retention, total: int) -> None:
        self.messages = messages
        self.limits = limits
        self.total = total
        self.turns = [place for place, message in enumerate(messages) if message.opens_turn] or [0]
        self.earlier, self.current = messages[: self.turns[-1]], messages[self.turns[-1] :]
        counts = range(keep.least, max(keep.recent, keep.least) + 1)
        self.starts = sorted({recent_start(messages, count) for count in counts})
        """Where the part that stays word for word may begin: from the most messages to the fewest."""
        self._current_ids = {message.id for message in self.current}
        self._kept: set[str] = set()
        """The pinned messages, each with its question or its answer, so that both stay together."""
        self._missing: set[str] = set()
        """Pinned messages that do not fit beside the last question."""
        # All of them where they fit beside the last question; else the most important, then the newest.
        room = limits.cap - sum(map(_least, self.current[1:])) - self.current[0].own
        newest_first = [group for turn in reversed(_turns(self.earlier)) if (group := _with_pins(turn))]
        for group in sorted(newest_first, key=_priority, reverse=True):
            needed = sum(message.own if message.pinned else _least(message) for message in group)
            if needed <= room:
                room -= needed
                self._kept.update(message.id for message in group)
            else:
                self._missing.update(message.id for message in group if message.pinned)

    def summarize(self, on_demand: bool) -> CompactionPlan | None:
        """Everything but the last messages in a summary; where even those do not fit, they are shortened."""
        limits = self.limits
        goals = [limits.goal] if on_demand else self._goals()
        if not on_demand:  # without the documents of earlier turns, if that is enough
            sizes = self._sizes(self.messages, slim=True)
            if limits.summary + sum(sizes.values()) <= goals[0]:
                return self._plan(sizes)
        goals += [] if self.total <= limits.cap else [limits.cap]
        for goal in goals:
            # Where little is kept so that it lasts, the summary is to tell more.
            least = goal // 3 if goal < limits.goal else 0
            for room, start, slim in product((least, 0), self.starts, (False, True)):
                if found := self._folded(start, goal, room, slim=slim):
                    return found
        return None if self.total <= limits.cap else self.shortened(self.starts[-1])

    def discard(self, on_demand: bool) -> CompactionPlan:
        """The newest whole turns that fit, and what is pinned; the last one in any case, shortened if it must be."""
        first = self.starts[0] if on_demand else 0
        goals = [self.limits.goal] if on_demand else self._goals()
        for goal, start, slim in product(goals, [place for place in self.turns if place >= first], (False, True)):
            sizes = self._sizes(self._staying(start), slim=slim)
            if self.limits.summary + sum(sizes.values()) <= goal:
                return self._plan(sizes)
        return self.shortened(self.starts[-1], summarises=False)

    def hybrid(self, on_demand: bool) -> CompactionPlan | None:
        """By importance: each class has its share, what one leaves unused flows on, what does not fit is summarised."""
        limits = self.limits
        found = map(self._shared, [limits.goal] if on_demand else self._goals())
        if plan := next(filter(None, found), None):
            return plan
        return None if self.total <= limits.cap else self.shortened(self.starts[-1])

    def _shared(self, goal: int) -> CompactionPlan | None:
        """The plan by importance that gets down to a goal; None where the last turn alone is more."""
        limits = self.limits
        summary = min(limits.summary_cap, int(goal * 0.20))
        sizes = self._sizes(self._staying(self.turns[-1]))
        left = goal - summary - int(goal * 0.05) - sum(sizes.values())  # some stays free
        if left < 0:
            return None
        turns = _other_turns(self.earlier, sizes)
        whole, spare = left / sum(_SHARES.values()), 0.0
        for name, share in _SHARES.items():
            spare += share * whole
            kept = _newest_that_fit([turn for turn in turns if _importance(turn) == name], int(spare))
            spare -= sum(kept.values())
            sizes |= kept
        is_summary_needed = len(sizes) < len(self.messages) or limits.summary > 0
        return self._plan(sizes, summary if is_summary_needed else 0)

    def _goals(self) -> list[int]:
        """What to get down to, the best first: so low that the next turns fit if they are as long as the last ones,
        else the usual goal. In a small window one compaction would follow the other."""
        turns = _turns(self.earlier)[-4:]
        pace = sum(each.own for turn in turns for each in turn) / max(1, len(turns))
        # What turns bring can leave by itself, but for that of the last one.
        brought = sum(each.attached for turn in turns for each in turn) // max(1, len(turns))
        # Texts take a few tokens more together than was planned with.
        room = self.limits.trigger - 16 - max(0, brought - sum(each.attached for each in self.current))
        ahead = product(range(TURNS_BETWEEN, 0, -1), (1.1, 1.05, 1.0))
        lower = [room - int(count * margin * pace) for count, margin in ahead]
        return [*(goal for goal in lower if MIN_SUMMARY_TOKENS < goal < self.limits.goal), self.limits.goal]

    def _staying(self, start: int) -> list[LiveMessage]:
        """The messages from there on, and what of earlier ones the user wants kept word for word."""
        return [each for place, each in enumerate(self.messages) if place >= start or each.id in self._kept]

    def _sizes(self, messages: Iterable[LiveMessage], *, slim: bool = False) -> dict[str, int]:
        """What each message takes; `slim` means that earlier turns lose their documents."""
        return {
            message.id: message.own
            if slim and message.id not in self._current_ids and not message.pinned
            else message.tokens
            for message in messages
        }

    def _plan(self, sizes: Mapping[str, int], summary_budget: int = 0) -> CompactionPlan:
        """The plan in which these messages stay, each with so many tokens."""
        kept = [message for message in self.messages if message.id in sizes]
        gone = [message.id for message in self.messages if message.id not in sizes]
        return CompactionPlan(
            archived=tuple(gone),
            kept=tuple(message.id for message in kept),
            condensed={message.id: sizes[message.id] for message in kept if sizes[message.id] < message.tokens},
            summary_budget=summary_budget,
            unpinned=tuple(id_ for id_ in gone if id_ in self._missing),
        )

    def _folded(self, start: int, limit: int, least: int, *, slim: bool) -> CompactionPlan | None:
        """Everything before `start` in a summary, but for what the user wants kept; None if that is still too much, or
        leaves less than the least for the summary."""
        older = self.messages[:start]
        sizes = self._sizes(self._staying(start), slim=slim)
        left = limit - sum(sizes.values())
        important = [turn for turn in _other_turns(older, sizes) if any(message.stays for message in turn)]
        important.sort(key=_priority, reverse=True)
        sizes |= _newest_that_fit(important, min(left // 2, left - MIN_SUMMARY_TOKENS))
        budget = min(self.limits.summary_cap, limit - sum(sizes.values()))
        if budget < max(least, MIN_SUMMARY_TOKENS) or all(message.id in sizes for message in older):
            return None
        return self._plan(sizes, budget)

    def shortened(self, start: int, *, summarises: bool = True) -> CompactionPlan:
        """The last messages themselves are too long: what they bring along is shortened, then they are, and at last
        the question."""
        limits = self.limits
        least = min(limits.summary_cap, max(MIN_SUMMARY_TOKENS, limits.cap // 8)) if summarises else 0
        for begin, summary in ((start, least), (self.turns[-1], least), (self.turns[-1], 0)):
            stay = self._staying(begin)
            budget = summary if len(stay) < len(self.messages) or limits.summary > 0 else 0
            if sizes := self._fitted(stay, limits.cap - budget):
                return self._plan(sizes, budget)
        return self._plan(self._last_question())

    def _fitted(self, messages: Sequence[LiveMessage], room: int) -> dict[str, int] | None:
        """What each of these may take so that they fit together, the last question whole; None if they cannot."""
        earlier = [message for message in messages if message.id not in self._current_ids]
        sizes = self._sizes(messages)
        for message in sorted(earlier, key=lambda message: message.pinned):
            if sum(sizes.values()) > room:
                sizes[message.id] = message.own
        documents = {each.id: each.own + min(each.attached, MIN_DOCUMENT_TOKENS) for each in self.current}
        _shrink(sizes, documents, room)
        _shrink(sizes, {message.id: _least(message) for message in earlier if not message.pinned}, room)
        return sizes if sum(sizes.values()) <= room else None

    def _last_question(self) -> dict[str, int]:
        """The sizes of the last turn where its question has to be shortened too, or its tool results beyond their
        least."""
        stay = [message for message in self.messages if message.id in self._kept]
        held = {message.id: message.own if message.pinned else _least(message) for message in stay}
        room = self.limits.cap - sum(held.values())
        question, *others = self.current
        sizes = {message.id: message.own for message in others}
        if question.own + sum(map(_least, others)) <= room:
            level = truncation_level([*sizes.values()], room - question.own)
        else:
            sizes[question.id] = question.own
            level = truncation_level([*sizes.values()], room)
            if level < min(MIN_MESSAGE_TOKENS, *sizes.values()):
                raise TooFull
        return held | {question.id: question.own} | {id_: min(size, level) for id_, size in sizes.items()}


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


def _turns(messages: Sequence[LiveMessage]) -> list[Sequence[LiveMessage]]:
    """The messages of each turn; those before the first question are one, too."""
    starts = [place for place, message in enumerate(messages) if message.opens_turn or place == 0]
    return [messages[start:end] for start, end in pairwise([*starts, len(messages)])]


def _other_turns(messages: Sequence[LiveMessage], kept: Collection[str]) -> list[Sequence[LiveMessage]]:
    """The turns of which nothing is kept yet, the newest first."""
    return [turn for turn in reversed(_turns(messages)) if not any(message.id in kept for message in turn)]


def _newest_that_fit(turns: Iterable[Sequence[LiveMessage]], budget: int) -> dict[str, int]:
    """The messages of these turns, as long as there is room."""
    sizes: dict[str, int] = {}
    for turn in turns:
        tokens = sum(message.tokens for message in turn)
        if tokens <= budget:
            budget -= tokens
            sizes |= {message.id: message.tokens for message in turn}
    return sizes


def _shrink(sizes: dict[str, int], least: Mapping[str, int], room: int) -> None:
    """Shorten the longest of these messages, none below its least, until all fit or nothing more can be gained."""
    spare = {id_: sizes[id_] - floor for id_, floor in least.items()}
    over = sum(sizes.values()) - room
    if over > 0 and spare:
        level = max(0, truncation_level([*spare.values()], sum(spare.values()) - over))
        sizes |= {id_: floor + min(spare[id_], level) for id_, floor in least.items()}


def truncation_level(sizes: Sequence[int], budget: int) -> int:
    """The size to which the longest have to be truncated so that all fit together."""
    rising = sorted(sizes)
    for place, (size, below) in enumerate(zip(rising, accumulate(rising, initial=0), strict=False)):
        share = (budget - below) // (len(rising) - place)
        if size > share:
            return share
    return max(rising, default=budget)


_SHARES: Final = {"critical": 0.30, "important": 0.25, "normal": 0.20, "low": 0.0}
"""Of the room, by importance; messages of low priority get what the others leave."""


def _importance(turn: Sequence[LiveMessage]) -> str:
    if any(message.stays for message in turn):
        return "critical"
    priority = _priority(turn)
    return "important" if priority > 5 else "normal" if priority > 3 else "low"
