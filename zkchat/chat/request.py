"""The request of each step, assembled from its record, and compacted where it is too full or the user asks."""

from collections.abc import Collection, Iterator
from itertools import pairwise, takewhile
from math import ceil, inf
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.compaction import Compactor
from zkchat.chat.context.assembly import (
    MESSAGE_OVERHEAD,
    AssembledRequest,
    Assembler,
    Budget,
    PromptItem,
    RequestPlan,
    is_full,
)
from zkchat.chat.context.documents import MAX_DOCUMENT_SHARE, DocumentRoom
from zkchat.chat.context.formatting import words_alone
from zkchat.chat.context.selection import wants_evidence
from zkchat.chat.context.strategies import (
    MIN_SUMMARY_TOKENS,
    TURNS_BETWEEN,
    CompactionPlan,
    LiveMessage,
    Retention,
    TokenLimits,
    TooFull,
    plan_compaction,
    recent_start,
)
from zkchat.chat.context.tokens import Calibration, ExpectedTokenizer, calibrate
from zkchat.chat.core import ConversationCore, Emit
from zkchat.chat.request_plan import RequestPlanner
from zkchat.chat.tools.registry import CORE_TOOLS, READ_ATTACHMENT
from zkchat.core import (
    Agent,
    ChatMessage,
    Compacting,
    CompactionPart,
    CompactionStrategy,
    ItemType,
    LeftOut,
    LeftOutReason,
    RequestItem,
    Tokenizer,
    ToolCallPart,
    ToolResultPart,
    UsageError,
    Warned,
    Window,
    abstained_turns,
    shorten,
    unanswered_turns,
)

LEFT_OUT = "(left out)"
"""In the place of what a tool said in an earlier turn."""
SQUEEZE = 0.85
"""Of what one compaction aims at: what the next in a row aims at."""
RESULTS_SHARE = 0.2
"""Of a prompt with a shortened message: what is left for the results of calls that read on in it."""
FOUND_NONE = "The model found no answer. Closest in your notes:\n\n"
NOT_BORNE_OUT = "The model gave no answer that your notes support. Closest in them:\n\n"
ABSTAINED = "no model answered it, and a small one would repeat what stands there"
UNASKED = Warned(
    text="The context is full. Older messages were not summarised, because you want to be asked first "
    "(context.confirm_compaction), and there is no terminal to ask you.",
    hint="zkchat context compact makes room now; with context.confirm_compaction = false zkchat does it by itself.",
)


class RequestBuilder:
    """Builds requests from plans, within the budget."""

    def __init__(self, core: ConversationCore) -> None:
        self._core = core
        self.planner = RequestPlanner(core)
        self.compactor = Compactor(core)
        self._assembler = Assembler(core.tokenizer, core.images.look)
        self._has_said_unasked = False

    @property
    def budget(self) -> Budget:
        return self._core.budget

    @property
    def calibration(self) -> Calibration:
        """How the model's server counts, as far as it has said."""
        return calibrate(self._core.history.newest_first, self._core.info.name, self._core.prior)

    @property
    def expected_tokens(self) -> Tokenizer:
        """Counts as the model's server will."""
        return ExpectedTokenizer(self._core.tokenizer, self.calibration)

    def documents_room(self, agent: Agent, asked: ChatMessage, question: str, beside: int) -> DocumentRoom:
        """What the documents of a stored question may take: what is left beside it, the instructions, the recent
        messages, a summary, and so many tokens of passages and links."""
        info, budget, can_read = self._core.info, self._core.budget, self.planner.can_read(agent)
        own = self._core.tokenizer.count(asked.text)
        if info.needs_notes:  # it reads the passages only
            return DocumentRoom(tokens=max(0, budget.messages - own), share=MAX_DOCUMENT_SHARE, excerpts=False)
        plan = RequestPlan(
            items=tuple(self.planner.permanent_items(agent)), can_read=can_read, is_plain=info.needs_evidence
        )
        assembled = self.assemble(plan)
        window = self._core.history.window
        sized = [self._sized(message, assembled, window) for message in window.live if message.id != asked.id]
        with_question = [*sized, LiveMessage(id=asked.id, tokens=0, opens_turn=True)]
        recent = recent_start(with_question, self._core.settings.policy.keep.least)
        gives_way = sum(
            each.attached if place >= recent or each.pinned else each.tokens for place, each in enumerate(sized)
        )
        # What older messages may need; and texts take more together than their counts add up to.
        summary = int(0.125 * budget.cap) if recent and not window.summary else 0
        left = int(0.98 * budget.cap) - (assembled.usage.total - gives_way) - summary - beside
        if can_read:
            left, question = min(left, budget.messages - own), ""
        if info.needs_evidence:  # which takes a minute for what another reads in a second
            left = min(left, 1_500)
        return DocumentRoom(tokens=max(0, left), share=MAX_DOCUMENT_SHARE if can_read else 1.0, question=question)

    def assemble(self, plan: RequestPlan) -> AssembledRequest:
        """The request as it is now, however large."""
        window, left_out = self._core.privacy.shown()
        if plan.last_turn_only:
            asked = max((place for place, message in enumerate(window.live) if message.role == "user"), default=0)
            earlier = frozenset(message.id for message in window.live[:asked])
            keeps_pinned = plan.is_plain and not plan.told_first
            window = window if keeps_pinned else Window(live=window.live)
            window, others = _without(window, earlier, "score", "")
            left_out += others if plan.is_plain else ()
        else:
            silent = unanswered_turns(self._core.history.window.live)
            hint = "if it is your last question, /retry asks it again"
            window, unanswered = _without(window, silent, "unanswered", hint)
            left_out += unanswered
            if wants_evidence(self._core.info, self._core.budget.window, can_read=plan.can_read):
                silent = abstained_turns(window.live)
                if plan.is_plain:  # passages stand in the place of what it said in the turns before the last one
                    starts = [place for place, message in enumerate(window.live) if message.role == "user"]
                    turns = [window.live[start:end] for start, end in pairwise(starts)]
                    quoted = [turn for turn in turns if turn[-1].text.startswith((FOUND_NONE, NOT_BORNE_OUT, "> "))]
                    silent |= {message.id for turn in quoted for message in turn}
                window, abstained = _without(window, silent, "abstained", ABSTAINED)
                left_out += abstained
        complete = replace(plan, left_out=(*plan.left_out, *left_out))
        budget, calibration = self._core.budget, self.calibration
        budget = replace(budget, reserve=budget.window - int(plan.tightness * budget.cap))
        assembled = self._assembler.assemble(complete, window, budget, calibration)
        if not is_full(assembled.usage, assembled.budget) or (lean := self._lean(window)) is window:
            return assembled
        # What is recalled makes no request full, and takes the place of nothing that is needed.
        needed = self._assembler.assemble(complete.without(_extras(plan)), window, budget, calibration)
        if not is_full(needed.usage, needed.budget):
            return assembled
        return self._assembler.assemble(complete, lean, budget, calibration)

    def _lean(self, window: Window) -> Window:
        """The window without what earlier turns brought, where messages left it a few turns ago: else one compaction
        would follow the other in a small window."""
        last = window.compactions[-1].id if window.compactions else ""
        since = takewhile(lambda message: message.id != last, self._core.history.newest_first)
        if not last or sum(message.role == "user" for message in since) > TURNS_BETWEEN:
            return window
        asked = max((place for place, message in enumerate(window.live) if message.role == "user"), default=0)
        earlier = [message for message in window.live[:asked] if message.id not in window.pinned]
        results = [(each.id, part) for each in earlier for part in each.parts_of(ToolResultPart)]
        short = {(each.id, ""): words_alone(each) for each in earlier if each.role == "user"}
        short |= {(id_, result.call_id): LEFT_OUT for id_, result in results}
        return replace(window, stand_ins=short | window.condensed)

    async def build(self, plan: RequestPlan, emit: Emit) -> AssembledRequest:
        """The request once it fits, compacting where it does not. Raises `UsageError` where it cannot be made to."""
        whole = self.assemble(plan)
        if self._core.info.needs_notes or not is_full(whole.usage, whole.budget):
            return whole  # one that only quotes has no window
        spare = self._spare_tools(plan)
        needed = plan.without(spare)
        for attempt in range(4):  # each aims lower
            assembled = self._without_extras(needed)
            fits = assembled.usage.total - summary_tokens(assembled) <= assembled.budget.cap
            if not is_full(assembled.usage, assembled.budget) or (fits and (attempt or self._core.shortened_texts())):
                break
            found = self.plan_compaction(assembled, squeeze=SQUEEZE**attempt)
            if found and plan.offers(READ_ATTACHMENT) and self._cuts_question(found, assembled):
                # What a long message has no room for is read by calls, whose results need room.
                found = self.plan_compaction(assembled, squeeze=(1 - RESULTS_SHARE) * SQUEEZE**attempt)
            if found is None or not await self._is_allowed(found, assembled, emit):
                break
            tokens = assembled.usage.total
            await emit(Compacting(messages=len(found.archived), tokens=tokens, strategy=found.strategy))
            known = self._core.history.window.condensed.keys()
            await self.compactor.run(assembled, found, emit)
            for warning in self._shortened(found, known):
                await emit(warning)
        assembled = self._filled(plan, spare)
        if assembled.usage.total > assembled.budget.cap:
            raise _too_full(assembled.usage.total, assembled.budget)
        return assembled

    def _spare_tools(self, plan: RequestPlan) -> list[PromptItem]:
        """The tools beside the core ones, where the question or a pinned message would be cut for them."""
        assembled = self._without_extras(plan)
        if not is_full(assembled.usage, assembled.budget):
            return []
        try:
            found = self.plan_compaction(assembled)
            is_cut = found is not None and (bool(found.unpinned) or self._cuts_question(found, assembled))
        except UsageError:
            is_cut = True
        kept = {*CORE_TOOLS, READ_ATTACHMENT}
        tools = [each for each in plan.items if each.item.type == "tool" and each.item.include == "always"]
        return [each for each in tools if each.item.name not in kept] if is_cut else []

    def _cuts_question(self, found: CompactionPlan, assembled: AssembledRequest) -> bool:
        """Whether a compaction leaves less of the last question than its own words."""
        asked = self._core.history.last_question
        return asked is not None and found.condensed.get(asked.id, inf) < self._own_tokens(asked, assembled)

    def _without_extras(self, plan: RequestPlan) -> AssembledRequest:
        """The request by which it is decided whether older messages leave: what is sent for this message only, because
        it may be relevant, does not make it full."""
        assembled = self.assemble(plan)
        extras, is_over = _extras(plan), is_full(assembled.usage, assembled.budget)
        return self.assemble(plan.without(extras)) if is_over and extras else assembled

    def _filled(self, plan: RequestPlan, spare: Collection[PromptItem]) -> AssembledRequest:
        """The request without what has no room: spare tools leave first, then what the message calls for, recalled
        messages, memory, and the summary last."""
        optional = [*sorted(filter(rank_of, plan.items), key=rank_of), *spare]
        kept = len(optional)
        filled = self.assemble(plan)
        while kept and filled.usage.total > filled.budget.cap:
            over, scale = filled.usage.total - filled.budget.cap, filled.usage.total / filled.usage.counted
            while kept and over > 0:  # about so many, because each request takes a while to count
                kept -= 1
                over -= ceil(scale * (self._core.tokenizer.count(optional[kept].text) + 1))
            filled = self.assemble(plan.without(optional[kept:]))
        if filled.usage.total > filled.budget.cap:
            return self.assemble(replace(plan.without(optional), omits_summary=True))
        return filled

    def plan_compaction(
        self,
        assembled: AssembledRequest,
        *,
        squeeze: float = 1.0,
        strategy: CompactionStrategy | None = None,
        keep: Retention | None = None,
        now: bool = False,
    ) -> CompactionPlan | None:
        """What a compaction would do now. Raises `UsageError` where nothing helps."""
        policy, window = self._core.settings.policy, self._core.history.window
        # What the fixed parts leave for the summary and the messages. Memory gives way before the cap.
        usage, budget = assembled.usage, assembled.budget
        summary, messages = summary_tokens(assembled), usage.budgets["messages"]
        in_memory = sum(item.tokens for item in assembled.context.items if item.type in _GIVING_WAY)
        movable = summary + sum(assembled.sizes.values())
        fixed = usage.total - movable
        trigger = min(budget.trigger - fixed, messages.limit - (messages.used - movable))
        limits = TokenLimits(
            cap=int(squeeze * (budget.cap - (fixed - int(usage.total / usage.counted * in_memory)))),
            trigger=trigger,
            goal=int(squeeze * int(0.6 * trigger)),
            summary_cap=int(0.30 * budget.window),
            summary=summary,
        )
        sized = [self._sized(message, assembled, window) for message in window.live]
        try:
            return plan_compaction(strategy or policy.strategy, sized, limits, keep or policy.keep, on_demand=now)
        except TooFull as error:
            raise _too_full(usage.total, budget) from error

    def wanted_compaction(
        self, assembled: AssembledRequest, keep: int | None, strategy: CompactionStrategy | None
    ) -> CompactionPlan | None:
        """The compaction that the user asks for; None where there is nothing to gain from it."""
        retention = None if keep is None else Retention(recent=keep, least=min(keep, 2))
        found = self.plan_compaction(assembled, strategy=strategy, keep=retention, now=True)
        if found and found.summary_budget and not found.condensed and assembled.sizes.keys() >= {*found.archived}:
            replaced = sum(assembled.sizes[id_] for id_ in found.archived)
            return found if replaced > MIN_SUMMARY_TOKENS else None
        return found

    def _sized(self, message: ChatMessage, assembled: AssembledRequest, window: Window) -> LiveMessage:
        tokens = assembled.sizes.get(message.id, 0)
        return LiveMessage(
            id=message.id,
            tokens=tokens,
            attached=max(0, tokens - self._own_tokens(message, assembled)),
            opens_turn=message.role == "user",
            has_tools=any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts),
            pinned=message.id in window.pinned,
            priority=message.priority,
        )

    def _own_tokens(self, message: ChatMessage, assembled: AssembledRequest) -> int:
        """What a message takes without the documents or the results that it brings along."""
        scale = assembled.usage.total / assembled.usage.counted
        results = sum(isinstance(part, ToolResultPart) for part in message.parts)
        if results:
            return ceil(scale * results * (MESSAGE_OVERHEAD + 4))  # to so few it can be shortened
        if message.role != "user":
            return assembled.sizes.get(message.id, 0)
        return ceil(scale * (MESSAGE_OVERHEAD + self._core.tokenizer.count(words_alone(message))))

    async def _is_allowed(self, found: CompactionPlan, assembled: AssembledRequest, emit: Emit) -> bool:
        policy, reviewer = self._core.settings.policy, self._core.reviewer
        if not policy.auto or not policy.confirm:
            return policy.auto
        if reviewer is None:
            if not self._has_said_unasked:
                self._has_said_unasked = True
                await emit(UNASKED)
            return False
        return await reviewer.agrees(found, assembled.usage.total)

    def _shortened(self, found: CompactionPlan, known: Collection[tuple[str, str]]) -> Iterator[Warned]:
        """What the user should know of a compaction that took more than older messages, once of each message."""
        if found.unpinned:
            said = [message.text for message in self._core.history.thread if message.id in found.unpinned]
            listed = ", ".join(f'"{shorten(text, 60)}"' for text in said)
            yield Warned(
                text=f"Not all pinned messages fit in the context with your message. Archived: {listed}",
                hint="Unpin some (/unpin), raise context.max_tokens, or choose a model with a larger context window.",
            )
        asked = self._core.history.last_question
        if asked is None or asked.id not in found.condensed or (asked.id, "") in known:
            return
        sent = self._core.history.window.condensed.get((asked.id, ""), "")
        text = (
            "The notes sent with your message do not fit in the context window. The model gets part of them."
            if asked.text in sent
            else f"Your message has {len(asked.text):,} characters, more than fits in the context window. The model "
            f"gets {len(sent):,} of them; the whole text is saved."
        )
        hint = "Ask about a smaller part, raise context.max_tokens, or choose a model with a larger context window."
        yield Warned(text=text, hint=hint)


def _without(
    window: Window, ids: frozenset[str], why: LeftOutReason, reason: str
) -> tuple[Window, tuple[LeftOut, ...]]:
    """The window without these messages, except for pinned ones, and the record of what is left out."""
    dropped = ids - window.pinned
    if not dropped:
        return window, ()
    left_out = tuple(
        LeftOut(item=RequestItem(type="message", name=message.id, reason=reason), why=why)
        for message in window.live
        if message.id in dropped
    )
    return replace(window, live=tuple(message for message in window.live if message.id not in dropped)), left_out


def _too_full(total: int, budget: Budget) -> UsageError:
    return UsageError(
        f"The context is full: this request takes {total:,} tokens; a window of {budget.window:,} has room for "
        f"{budget.cap:,}, as the answer needs the rest.",
        hint="Let older messages be summarised (/compact, or context.auto_compact = true), raise "
        "context.max_tokens, or choose a model with a larger context window.",
    )


def summary_tokens(assembled: AssembledRequest) -> int:
    """What the summary of a request is expected to take."""
    scale = assembled.usage.total / assembled.usage.counted
    return round(scale * sum(item.tokens for item in assembled.context.items if item.type == "summary"))


_GIVING_WAY: Final[frozenset[ItemType]] = frozenset({"memory", "outcome"})
"""What gives way last, and before the cap."""
_MEMORY, _RECALLED, _RELEVANT = 1, 2, 3


def rank_of(each: PromptItem) -> int:
    """What may be left out of a request that is too full: the highest rank first, and never 0."""
    item = each.item
    if item.type in _GIVING_WAY:
        return _MEMORY
    if item.type == "recall":
        return 0 if item.include == "manual" else _RECALLED
    return _RELEVANT if item.include == "agent" and item.type in {"rule", "reference", "tool"} else 0


def _extras(plan: RequestPlan) -> list[PromptItem]:
    """What may be left out before anything that is needed."""
    return [each for each in plan.items if rank_of(each) >= _RECALLED]


NOTHING_TO_SUMMARISE: Final = "Nothing was summarised: the conversation is short, and its summary would be no shorter."


class Preview(Struct, frozen=True, kw_only=True):
    """A compaction as it would be."""

    plan: CompactionPlan
    part: CompactionPart
    trouble: str
    """Why the model's summary would not be used, if so."""
