"""The request of each step, and room for it: assembled, looked at, and compacted where it is too full."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cached_property

from zkchat.chat.compaction import Compactor
from zkchat.chat.privacy import Shown, everything
from zkchat.context.assembly import Assembled, Assembler, Ingredients, Piece, piece
from zkchat.context.budget import Budget, Shares, budget_for, is_full
from zkchat.context.calibration import Calibration, calibrate
from zkchat.context.instructions import STRICT
from zkchat.context.strategies import Keep, Plan, Room, Sized, StrategyName, TooFull, plan
from zkchat.errors import UsageError
from zkchat.model.context import LeftOut
from zkchat.model.events import Compacting, Event, Warned
from zkchat.model.history import History, Window
from zkchat.model.message import ChatMessage, ToolCallPart, ToolResultPart
from zkchat.model.prompt import ModelInfo
from zkchat.ports import Tokenizer

SUMMARY_SHARE = 0.30
"""Of the window: a summary takes no more."""
GOAL_SHARE = 0.6
"""Of the room for messages: what a compaction gets down to."""
ATTEMPTS = 4
"""Compactions in a row, each aiming lower, before the step is given up."""
SQUEEZE = 0.85


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a request is made of beside the conversation."""

    pieces: tuple[Piece, ...]
    left_out: tuple[LeftOut, ...] = ()
    agent: str = "default"
    can_read: bool = False
    """Whether the model has tools in this turn, even if it is to answer without them now."""
    tightness: float = 1.0
    """How much of the room for a prompt may be used; less once a server has found one too long."""
    last_turn_only: bool = False
    """For a model that does not read what was said before."""

    @property
    def offers_tools(self) -> bool:
        return any(each.item.type == "tool" for each in self.pieces)

    def without_tools(self) -> "Wanted":
        return replace(self, pieces=tuple(each for each in self.pieces if each.item.type != "tool"))

    def only_from_evidence(self) -> "Wanted":
        """For an answer that rests on nothing but what is handed over with the question."""
        system, *others = self.without_tools().pieces
        rule = piece("rule", "strict", STRICT, include="manual", reason="asked for with --strict")
        return replace(self, pieces=(system, rule, *others), can_read=False)


@dataclass(frozen=True, kw_only=True)
class Preparation:
    history: Callable[[], History]
    info: Callable[[], ModelInfo]
    tokenizer: Tokenizer
    shares: Shares
    compactor: Compactor
    prior: float = 1.0
    """What our counts are multiplied by until the model's server has said how it counts."""
    shown: Callable[[History], Shown] = everything
    """What of the conversation the model may see."""

    @property
    def budget(self) -> Budget:
        return budget_for(self.info(), self.shares)

    @property
    def calibration(self) -> Calibration:
        return calibrate(self.history().newest_first, self.info().name, self.prior)

    def assemble(self, wanted: Wanted) -> Assembled:
        shown = self.shown(self.history())
        window = shown.window
        ingredients = Ingredients(
            pieces=wanted.pieces,
            can_read=wanted.can_read,
            agent=wanted.agent,
            left_out=(*wanted.left_out, *shown.left_out),
            window=_last_turn(window) if wanted.last_turn_only else window,
        )
        budget = self.budget.tightened(wanted.tightness)
        return self._assembler.assemble(ingredients, budget, self.calibration)

    @cached_property
    def _assembler(self) -> Assembler:
        return Assembler(self.tokenizer)

    async def ready(self, wanted: Wanted, use: Callable[[Assembled], None]) -> AsyncGenerator[Event, None]:
        """Hand the request over to `use` once it fits. Raises `UsageError` where it cannot be made to fit."""
        assembled = self.assemble(wanted)
        budget = assembled.budget
        for attempt in range(ATTEMPTS):
            if not is_full(assembled.usage, budget):
                break
            found = self.plan(assembled, squeeze=SQUEEZE**attempt)
            if found is None or not await self._is_allowed(found, assembled):
                break
            if warning := self._shortened(found):
                yield warning
            yield Compacting(messages=len(found.archived), tokens=assembled.usage.total)
            async with aclosing(self.compactor.run(assembled, found)) as events:
                async for event in events:
                    yield event
            assembled = self.assemble(wanted)
        if assembled.usage.total > budget.cap:
            raise _too_full(assembled.usage.total, budget)
        use(assembled)

    def plan(
        self,
        assembled: Assembled,
        *,
        squeeze: float = 1.0,
        strategy: StrategyName | None = None,
        keep: Keep | None = None,
        now: bool = False,
    ) -> Plan | None:
        """What a compaction would do now. Raises `UsageError` where nothing helps."""
        policy = self.compactor.policy
        window = self.history().window
        room = room_for(assembled)
        room = replace(room, cap=int(squeeze * room.cap), goal=int(squeeze * room.goal))
        sized = [_sized(message, assembled, window) for message in window.live]
        try:
            return plan(strategy or policy.strategy, sized, room, keep or policy.keep, now=now)
        except TooFull as error:
            raise _too_full(assembled.usage.total, assembled.budget) from error

    async def _is_allowed(self, found: Plan, assembled: Assembled) -> bool:
        policy, reviewer = self.compactor.policy, self.compactor.reviewer
        if not policy.auto:
            return False
        return not (policy.confirm and reviewer) or await reviewer.agrees(found, assembled.usage.total)

    def _shortened(self, found: Plan) -> Warned | None:
        asked = next((message for message in self.history().newest_first if message.role == "user"), None)
        if asked is None or asked.id not in found.condensed:
            return None
        return Warned(
            text="Your message, with its notes, is longer than the context has room for. The model gets a short form.",
            hint="Ask about a part of it, raise context.max_tokens, or choose a model with a larger window.",
        )


def room_for(assembled: Assembled) -> Room:
    """What the fixed parts of a request leave for the summary and the messages."""
    usage, budget = assembled.usage, assembled.budget
    scale = usage.total / usage.counted
    summary = round(scale * sum(item.tokens for item in assembled.context.items if item.type == "summary"))
    movable = summary + sum(assembled.sizes.values())
    fixed = usage.total - movable
    messages = usage.budgets["messages"]
    beside = messages.used - movable
    trigger = min(budget.trigger - fixed, messages.limit - beside)
    return Room(
        cap=budget.cap - fixed,
        trigger=trigger,
        goal=int(GOAL_SHARE * trigger),
        summary_cap=int(SUMMARY_SHARE * budget.window),
        summary=summary,
    )


def _sized(message: ChatMessage, assembled: Assembled, window: Window) -> Sized:
    return Sized(
        id=message.id,
        tokens=assembled.sizes.get(message.id, 0),
        opens_turn=message.role == "user",
        has_tools=any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts),
        pinned=message.id in window.pinned,
        priority=message.priority,
    )


def _last_turn(window: Window) -> Window:
    starts = [place for place, message in enumerate(window.live) if message.role == "user"]
    return Window(live=window.live[starts[-1] if starts else 0 :])


def _too_full(total: int, budget: Budget) -> UsageError:
    return UsageError(
        f"The context is full: this request takes {total:,} tokens, and a window of {budget.window:,} leaves "
        f"{budget.cap:,} beside the answer.",
        hint="Let older messages be summarised (/compact, or context.auto_compact = true), raise context.max_tokens, "
        "or choose a model with a larger window.",
    )
