"""The model and its tools, back and forth, until there is an answer. Every step is on disk before the next begins."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

from zkchat.chat.journal import Draft, Journal
from zkchat.chat.limits import DEFAULT_LIMITS, MOST_CALLS, AnswerLimits, as_stored, within
from zkchat.chat.references import ReferenceList
from zkchat.chat.request import Preparation, RequestPlan
from zkchat.context.assembly import Assembled
from zkchat.errors import PromptTooLong, ProviderError
from zkchat.model.events import (
    Event,
    ReferenceFound,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    UsageReported,
    Warned,
)
from zkchat.model.message import ChatMessage, ToolCallPart, ToolResultPart
from zkchat.model.prompt import Finish, ModelChunk, ModelInfo, TextChunk, ThinkingChunk, ToolRequested
from zkchat.model.session import MessageEntry
from zkchat.ports import ModelProvider, Tokenizer, ToolOutcome
from zkchat.tools.registry import Toolbox

MOST_ROUNDS = 8
"""After so many rounds of tool calls the model is asked for its answer without tools."""
MOST_FAILED_ROUNDS = 2
"""And after so many in a row in which no call worked."""
MOST_SHORTENINGS = 2
"""Times in a row that a prompt is made shorter because the server finds it too long."""
TIGHTENING = 0.7
TOO_SMALL = "Your notes hold nothing on this, and this model is too small to know by itself.\n"
NOTHING_FOUND = "Your notes hold nothing on this.\n"
REPEATED = "(You made the same call before in this turn; its result stands above. Use it, or call something else.)"


@dataclass
class Exchange:
    """What is asked in one turn, and everything that grows while it is answered."""

    wanted: RequestPlan
    assembled: Assembled
    """The request of the step at hand, and its record."""
    room: int
    """Tokens that tool results may still take."""
    strict: bool = False
    """Whether only what notes say may be answered."""
    is_grounded: bool = True
    """Whether the request holds anything that notes say."""
    references: ReferenceList = field(default_factory=ReferenceList)
    draft: Draft | None = None
    calls: list[ToolCallPart] = field(default_factory=list)
    finish: Finish | None = None
    made: set[tuple[str, str]] = field(default_factory=set)
    """Name and arguments of every call so far."""
    failed_rounds: int = 0

    def use(self, assembled: Assembled) -> None:
        """Go on with this request; what it leaves free is there for the results of tools."""
        self.assembled = assembled
        self.room = assembled.usage.available


@dataclass(frozen=True, kw_only=True)
class ToolLoop:
    provider: ModelProvider
    preparation: Preparation
    tools: Toolbox
    tokenizer: Tokenizer
    journal: Journal
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    limits: AnswerLimits = DEFAULT_LIMITS

    async def run(self, exchange: Exchange) -> AsyncGenerator[Event, None]:
        """Stream until the model gives no more tool calls; `exchange.draft` then holds the answer."""
        for round_ in range(MOST_ROUNDS + 1):
            if round_ == MOST_ROUNDS or exchange.failed_rounds == MOST_FAILED_ROUNDS:
                exchange.wanted = exchange.wanted.without_tools()
            if round_:
                async with aclosing(self.preparation.ready(exchange.wanted, exchange.use)) as events:
                    async for event in events:
                        yield event
            async with aclosing(self._asked(exchange)) as events:
                async for event in events:
                    yield event
            if not (exchange.calls and exchange.wanted.offers_tools):
                return
            async with aclosing(self._use_tools(exchange)) as events:
                async for event in events:
                    yield event

    async def _asked(self, exchange: Exchange) -> AsyncGenerator[Event, None]:
        """Ask; where the server, who alone can count its tokens, finds the prompt too long, make room and ask again."""
        for attempts_left in reversed(range(MOST_SHORTENINGS + 1)):
            try:
                async with aclosing(self._ask(exchange)) as events:
                    async for event in events:
                        yield event
            except PromptTooLong:
                if not attempts_left:
                    raise
                refused = exchange.assembled.request
                tighter = TIGHTENING * exchange.wanted.tightness
                exchange.wanted = replace(exchange.wanted, tightness=tighter)
                async with aclosing(self.preparation.ready(exchange.wanted, exchange.use)) as events:
                    async for event in events:
                        yield event
                if exchange.assembled.request == refused:
                    raise
                name = self.provider.info.name
                yield Warned(text=f"{name} counts more tokens than expected: the prompt is made shorter.")
            else:
                return

    async def _ask(self, exchange: Exchange) -> AsyncGenerator[Event, None]:
        info = self.provider.info
        exchange.calls, exchange.finish = [], None
        exchange.draft = new_draft(self.journal, info, self.now(), self.new_id())
        abstains = (info.needs_evidence or exchange.strict) and not exchange.is_grounded
        reason = TOO_SMALL if info.needs_evidence else NOTHING_FOUND
        answer = _abstention(reason) if abstains else self.provider.stream(exchange.assembled.request)
        async with aclosing(within(self.limits, answer, info.name, self.now)) as stream:
            async for chunk in stream:
                match chunk:
                    case TextChunk(text=text):
                        exchange.draft.add(text=text)
                        yield TextDelta(text=text)
                    case ThinkingChunk(text=text):
                        exchange.draft.add(thinking=text)
                        yield ThinkingDelta(text=text)
                    case ToolRequested(call=call):
                        exchange.calls.append(call)
                    case Finish():
                        exchange.finish = chunk
        if exchange.finish is None:
            raise ProviderError(
                f"The answer of {info.name} was cut off.", hint="What arrived is kept. Ask again to go on."
            )
        if exchange.finish.usage:
            yield UsageReported(usage=exchange.finish.usage)
        if exchange.finish.warning:
            yield Warned(text=exchange.finish.warning)
        if exchange.finish.reason == "length":
            yield Warned(
                text=f"{info.name} ran out of room, so its answer ends early.",
                hint="Ask it to go on, or raise context.max_tokens or context.reserve_tokens.",
            )

    async def _use_tools(self, exchange: Exchange) -> AsyncGenerator[Event, None]:
        assert exchange.draft is not None
        calls = [(call, as_stored(call)) for call in exchange.calls[:MOST_CALLS]]
        step = self._step(exchange.draft, [kept for _, kept in calls], exchange)
        if warning := self.journal.append_answer(step, exchange.assembled.contents):
            yield warning
        results: list[ToolResultPart] = []
        for call, kept in calls:
            yield ToolStarted(call_id=kept.call_id, name=kept.name, arguments=kept.arguments)
            outcome = await self._outcome(call, exchange)
            for reference in outcome.references:
                exchange.references.add(reference)
                yield ReferenceFound(reference=reference)
            results.append(self._bounded(kept, outcome, exchange))
            yield ToolFinished(call_id=kept.call_id, name=kept.name, summary=outcome.summary, failed=outcome.failed)
            await asyncio.sleep(0)
        if left_out := len(exchange.calls) - len(calls):
            told = f"{results[-1].text}\n({left_out:,} more calls were not run: make at most {MOST_CALLS} at once.)"
            results[-1] = results[-1].model_copy(update={"text": told})
            yield Warned(
                text=f"{self.provider.info.name} made {len(exchange.calls):,} calls at once: {left_out:,} were not run."
            )
        exchange.failed_rounds = exchange.failed_rounds + 1 if all(result.failed for result in results) else 0
        answered = ChatMessage(
            id=self.new_id(),
            session_id=self.journal.session_id,
            parent_id=step.id,
            role="tool",
            parts=tuple(results),
            created_at=self.now(),
            context_type="tool_output",
            token_count=sum(self.tokenizer.count(result.text) for result in results),
        )
        if warning := self.journal.append(MessageEntry(message=answered)):
            yield warning
        exchange.draft = None  # that step is stored; what goes wrong before the next is not part of it

    def _step(self, draft: Draft, calls: Sequence[ToolCallPart], exchange: Exchange) -> ChatMessage:
        """What the model said and called, as it is stored."""
        said = draft.finished()
        return said.model_copy(
            update={
                "parts": (*said.parts, *calls),
                "finished_at": self.now(),
                "usage": exchange.finish.usage if exchange.finish else None,
                "token_count": self.tokenizer.count(said.text),
                "tool_tokens": sum(self.tokenizer.count(call.arguments) for call in calls),
                "request_context": exchange.assembled.context,
            }
        )

    async def _outcome(self, call: ToolCallPart, exchange: Exchange) -> ToolOutcome:
        """A call that was made before in this turn is not run again, nor its result sent twice."""
        if (call.name, call.arguments) in exchange.made:
            return ToolOutcome(text=REPEATED, summary="same as before", failed=True)
        exchange.made.add((call.name, call.arguments))
        return await self.tools.call(call)

    def _bounded(self, call: ToolCallPart, outcome: ToolOutcome, exchange: Exchange) -> ToolResultPart:
        """At most half of the room that is left, so that further calls and the answer still fit."""
        text = outcome.text
        tokens = self.tokenizer.count(text)
        limit = max(0, exchange.room // 2)
        if tokens > limit:
            text = text[: len(text) * limit // tokens] + "\n(Cut here: the context has no room for more.)"
        exchange.room -= min(tokens, limit)
        return ToolResultPart(call_id=call.call_id, name=call.name, text=text, failed=outcome.failed)


def new_draft(journal: Journal, info: ModelInfo, now: datetime, id_: str) -> Draft:
    """An answer without a word yet, after the last message."""
    last = journal.history.last
    return Draft(
        journal,
        ChatMessage(
            id=id_,
            session_id=journal.session_id,
            parent_id=last.id if last else None,
            role="assistant",
            created_at=now,
            provider=info.provider,
            model=info.id,
        ),
    )


async def _abstention(text: str) -> AsyncGenerator[ModelChunk, None]:
    """What is said in the place of a model that would only invent something."""
    yield TextChunk(text=text)
    yield Finish(reason="abstained")
