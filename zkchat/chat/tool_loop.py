"""The model and its tools, back and forth, until there is an answer. Every step is on disk before the next begins."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.chat.context.assembly import AssembledRequest, RequestPlan
from zkchat.chat.context.formatting import documents_in
from zkchat.chat.core import ConversationCore
from zkchat.chat.event_stream import Emit
from zkchat.chat.journal import Draft
from zkchat.chat.quotations import GivenText, given_texts
from zkchat.chat.references import ReferenceList, cite, given_before, given_with, sent_along
from zkchat.chat.request import RequestBuilder
from zkchat.chat.summaries import add_summaries
from zkchat.chat.tools.registry import MAX_ARGUMENTS_CHARS
from zkchat.core import (
    TOOL_PRIORITY,
    ChatMessage,
    DocumentReference,
    Finish,
    MessageEntry,
    ModelChunk,
    ModelInfo,
    ModelRequest,
    PromptReady,
    PromptTooLong,
    ProviderError,
    ReferenceFound,
    RemarkChunk,
    Remarked,
    Status,
    TextChunk,
    TextDelta,
    ThinkingChunk,
    ThinkingDelta,
    ToolCallPart,
    ToolFinished,
    ToolOutcome,
    ToolRequested,
    ToolResultPart,
    ToolStarted,
    UsageReported,
    Warned,
    counted,
    no_answer,
)

MAX_FAILED_ROUNDS: Final = 2
"""After so many rounds in a row in which no call worked, the model is asked for its answer without tools."""
MORE_ROOM: Final = "raise context.max_tokens or context.reserve_tokens"
OTHERWISE: Final = "Ask again in other words, or choose another model."


class Exchange(Struct):
    """What is asked in one turn, and everything that grows while it is answered."""

    plan: RequestPlan
    assembled: AssembledRequest
    """The request of the current step, and its record."""
    result_budget: int
    """Tokens that tool results may still take."""
    is_grounded: bool = True
    """Whether the request holds anything that notes say."""
    references: ReferenceList = field(default_factory=ReferenceList)
    draft: Draft | None = None
    calls: list[ToolCallPart] = field(default_factory=list)
    finish: Finish | None = None
    made: set[tuple[str, str]] = field(default_factory=set)
    """Name and arguments of every call so far."""
    answered: set[tuple[str, str]] = field(default_factory=set)
    """Those whose results still hold."""
    staging: set[tuple[str, str]] = field(default_factory=set)
    """Those that staged a change."""
    rounds: int = 0
    """Rounds of tool calls so far."""
    failed_rounds: int = 0
    errors: set[str] = field(default_factory=set)
    """What the failed calls were told."""
    warnings: set[str] = field(default_factory=set)
    """What the user was told of calls."""
    may_fail: int = MAX_FAILED_ROUNDS
    """Rounds in a row in which all calls may fail."""
    lost_tools: str = ""
    """Why the model has to answer without its tools, as what it did; empty where it may call them."""
    passages: list[GivenText] = field(default_factory=list)
    """What evidence and tools brought of notes in this turn."""

    @property
    def abstained(self) -> bool:
        """Whether the answer is that there is none."""
        return self.finish is not None and self.finish.reason == "abstained"

    def use(self, assembled: AssembledRequest) -> None:
        """Go on with this request; what it leaves free is there for the results of tools."""
        self.assembled = assembled
        self.result_budget = assembled.usage.available


async def report_references(exchange: Exchange, references: Sequence[DocumentReference], emit: Emit) -> None:
    """Take what was found into the exchange, and tell of it, except of what is only listed."""
    for reference in references:
        exchange.references.add(reference)
        if reference.relative_path and reference.included and reference.snippet:
            exchange.passages.append(GivenText(reference.relative_path, reference.snippet))
        if not reference.is_only_listed:
            await emit(ReferenceFound(reference=reference))


def empty_answer_warning(exchange: Exchange, answer: ChatMessage, name: str) -> Warned | None:
    """One sentence on an answer that holds no words, or for which the model lost its tools; None on any other."""
    if not answer.text.strip():
        text, hint = _no_words(exchange, answer)
    elif exchange.lost_tools:
        text, hint = (
            f"{exchange.lost_tools}, so it answered without them.",
            f"It may have missed something. {OTHERWISE}",
        )
    else:
        return None
    return Warned(text=f"{name} {text}", hint=hint)


def _no_words(exchange: Exchange, answer: ChatMessage) -> tuple[str, str]:
    has_thought = bool(answer.thinking.strip())
    if exchange.finish and exchange.finish.reason == "length":
        return "ran out of room before it answered.", f"Ask for something shorter, or {MORE_ROOM}."
    if exchange.calls:
        return "kept calling tools and answered nothing.", f"What they found is kept. {OTHERWISE}"
    if has_thought:
        return "thought and then answered nothing.", f"Its thinking is kept: ui.thinking shows it. {OTHERWISE}"
    if exchange.rounds:
        return "used its tools and then answered nothing.", f"What they found is kept. {OTHERWISE}"
    return "answered nothing.", OTHERWISE


MAX_ROUNDS: Final = 8
"""After so many rounds of tool calls the model is asked for its answer without tools."""
MORE_FAILED_ROUNDS: Final = 2
"""So many more while changes may be proposed, as long as each fails in another way: names and passages are exact."""
MAX_SHORTENINGS: Final = 2
"""Times in a row that a prompt is made shorter because the server finds it too long."""
TIGHTENING: Final = 0.7
"""Of what a prompt that was too long was allowed to take: what the shorter one is."""
MAX_CALLS: Final = 32
"""Calls of one step that are run."""
MAX_NAME_LENGTH: Final = 100
_KEPT_ARGUMENTS: Final = 200
"""Characters that stay of arguments which are too long to be read."""
_MAX_DELTA: Final = 4_000
"""Characters that are shown, and written down, at once: between two deltas the user may stop the answer."""
TOO_SMALL = "This model is too small to know by itself."
CUT = "\n(Cut here: the context has no room for more.)"
REPEATED = "(You made the same call before in this turn; its result stands above. Use it, or call something else.)"


class ToolLoop:
    """Asks the model, runs the tools that it calls, and asks again with their results."""

    def __init__(self, core: ConversationCore, requests: RequestBuilder) -> None:
        self.core = core
        self._requests = requests
        self._count = core.tokenizer.count

    async def run(self, exchange: Exchange, emit: Emit) -> None:
        """Stream until the model makes no more tool calls; `exchange.draft` then holds the answer."""
        for round_ in range(MAX_ROUNDS + 1):
            if reason := _loops(round_, exchange):
                exchange.plan, exchange.lost_tools = exchange.plan.without_tools(), reason
            if round_:
                exchange.use(await self._requests.build(exchange.plan, emit))
            await self._ask(exchange, emit)
            if not (exchange.calls and exchange.plan.offers_tools):
                return
            await self._use_tools(exchange, emit)

    async def ask_again(
        self, exchange: Exchange, message_id: str, given: Sequence[DocumentReference], emit: Emit
    ) -> None:
        """Run once more after the plan was changed, with what the model is given now."""
        self._see(given)
        await report_references(exchange, given, emit)
        exchange.use(await self._requests.build(exchange.plan, emit))
        assembled = exchange.assembled
        await emit(PromptReady(message_id=message_id, usage=assembled.usage, context=assembled.context))
        await self.run(exchange, emit)

    def close(self, exchange: Exchange, error: str = "") -> ChatMessage:
        """The answer as it is kept: whole, or as far as it came."""
        draft = exchange.draft or self.core.journal.begin_answer(self.core.info)
        message = draft.finished()
        context = exchange.assembled.context
        given = given_before(self.core.history.newest_first) | given_with(context)
        was_asked = not (exchange.abstained or self.core.info.needs_notes)
        along = sent_along(context, self.core.library) if was_asked else {}
        references = exchange.references.copy()
        for each in along.values():
            references.add(each)
        if not exchange.abstained:
            cite(references, message.text, self.core.library, given, self._given_texts(exchange, along))
            self._refer_to_used(references, message.text)
        status: Status = "complete" if not error else "unfinished" if message.parts else "error"
        return replace(
            message,
            references=add_summaries(self.core.library, references.behind_answer()),
            finished_at=self.core.journal.now(),
            status=status,
            error=error,
            usage=exchange.finish.usage if exchange.finish else None,
            token_count=self._count(message.text),
            thinking_tokens=self._count(message.thinking),
            request_context=context,
            abstained=exchange.abstained,
        )

    def _refer_to_used(self, references: ReferenceList, answer: str) -> None:
        from zkchat.chat.used_passages import refer_to_used

        asked = self.core.history.last_question
        refer_to_used(references, answer, asked.text if asked else "", self.core.library)

    def _given_texts(self, exchange: Exchange, along: Mapping[str, DocumentReference]) -> Iterator[GivenText]:
        """What the model was given of notes, of this turn first."""
        yield from exchange.passages
        yield from given_texts(self.core.history.newest_first)
        paths = {name: each.relative_path or name for name, each in along.items()}
        for content in exchange.assembled.contents.values():
            yield from (GivenText(paths.get(name, name), text) for name, text in documents_in(content))

    def store(self, message: ChatMessage, exchange: Exchange) -> Warned | None:
        """Store an answer, or a step towards it, with the texts of its request."""
        return self.core.journal.append_answer(message, exchange.assembled.contents)

    async def _ask(self, exchange: Exchange, emit: Emit) -> None:
        """Ask; where the server, who alone can count its tokens, finds the prompt too long, shorten it and retry."""
        for attempts_left in reversed(range(MAX_SHORTENINGS + 1)):
            try:
                return await self._ask_once(exchange, emit)
            except PromptTooLong:
                if not attempts_left:
                    raise
                refused = exchange.assembled.request
                exchange.plan = replace(exchange.plan, tightness=TIGHTENING * exchange.plan.tightness)
                exchange.use(await self._requests.build(exchange.plan, emit))
                if exchange.assembled.request == refused:
                    raise
                name = self.core.info.name
                await emit(Warned(text=f"{name} counts more tokens than expected: the prompt is made shorter."))
        raise AssertionError("the last attempt returns or raises")

    async def _ask_once(self, exchange: Exchange, emit: Emit) -> None:
        info = self.core.info
        exchange.calls, exchange.finish = [], None
        exchange.draft = self.core.journal.begin_answer(info)
        abstains = (info.needs_evidence or self.core.settings.strict) and not exchange.is_grounded
        request, problems = self.core.images.load(exchange.assembled.request)
        for problem in problems:
            await emit(problem)
        answer = _abstention(request, info) if abstains else self.core.provider.stream(request)
        async with aclosing(answer) as chunks:
            await self._receive(chunks, exchange, exchange.draft, emit)
        if exchange.finish is None:
            raise ProviderError(
                f"The answer of {info.name} was cut off.", hint="What arrived is kept. Ask again to go on."
            )
        if exchange.finish.usage:
            await emit(UsageReported(usage=exchange.finish.usage))
        if exchange.finish.warning:
            await emit(Warned(text=exchange.finish.warning))
        if exchange.finish.reason == "length" and exchange.draft.finished().text.strip():
            text = f"{info.name} ran out of room, so its answer ends early."
            await emit(Warned(text=text, hint=f"Ask it to go on, or {MORE_ROOM}."))

    async def _receive(
        self, chunks: AsyncGenerator[ModelChunk, None], exchange: Exchange, draft: Draft, emit: Emit
    ) -> None:
        """Take what the model sends into the exchange. Raises `ProviderError` where it is more than the limits."""
        limits, began = self.core.settings.limits, self.core.journal.now()
        left = limits.characters
        async for chunk in chunks:
            match chunk:
                case TextChunk() | ThinkingChunk():
                    for text in _pieces(chunk.text, left):
                        if isinstance(chunk, TextChunk):
                            draft.add(text=text)
                            await emit(TextDelta(text=text))
                        else:
                            draft.add(thinking=text)
                            await emit(ThinkingDelta(text=text))
                        await asyncio.sleep(0)  # here the answer can be stopped, whatever the provider does
                    left -= len(chunk.text)
                case RemarkChunk():
                    await emit(Remarked(text=chunk.text, is_heading=chunk.is_heading))
                case ToolRequested(call=call):
                    exchange.calls.append(call)
                case Finish():
                    exchange.finish = chunk
            if left < 0:
                raise self._too_long(f"at {limits.characters:,} characters", "max_answer_chars")
            if self.core.journal.now() - began > limits.time:
                raise self._too_long(f"after {limits.time.total_seconds():,.0f} seconds", "max_answer_seconds")

    def _too_long(self, where: str, setting: str) -> ProviderError:
        return ProviderError(
            f"The answer of {self.core.info.name} was ended {where}.",
            hint=f"What came is kept. The bound is limits.{setting}.",
        )

    async def _use_tools(self, exchange: Exchange, emit: Emit) -> None:
        assert exchange.draft is not None
        exchange.rounds += 1
        calls = [(call, _as_stored(call)) for call in exchange.calls[:MAX_CALLS]]
        step = self._step(exchange.draft, [kept for _, kept in calls], exchange)
        if warning := self.store(step, exchange):
            await emit(warning)
        listed = ReferenceList()
        results = [await self._use_tool(call, kept, exchange, listed, emit) for call, kept in calls]
        if left_out := len(exchange.calls) - len(calls):
            text = f"{results[-1].text}\n({left_out:,} more calls were not run: make at most {MAX_CALLS} at once.)"
            results[-1] = replace(results[-1], text=text)
            name = self.core.info.name
            await emit(Warned(text=f"{name} made {len(exchange.calls):,} calls at once: {left_out:,} were not run."))
        self._count_failure(exchange, results)
        tokens = sum(self._count(result.text) for result in results)
        answered = self.core.journal.next_message(
            "tool",
            *results,
            references=listed.as_tuple(),
            context_type="tool_output",
            token_count=tokens,
            priority=TOOL_PRIORITY,
        )
        if warning := self.core.journal.append(MessageEntry(message=answered)):
            await emit(warning)
        exchange.draft = None  # that step is stored; what goes wrong before the next is not part of it

    async def _use_tool(
        self, call: ToolCallPart, kept: ToolCallPart, exchange: Exchange, listed: ReferenceList, emit: Emit
    ) -> ToolResultPart:
        """The result of a call, of which `kept` is stored. What it only lists is added to `listed`."""
        server = next((tool.server for tool in exchange.assembled.request.tools if tool.name == kept.name), "")
        await emit(ToolStarted(call_id=kept.call_id, name=kept.name, arguments=kept.arguments, server=server))
        outcome = await self._outcome(call, exchange)
        given = self._bounded(outcome, exchange)
        self._see(outcome.references, given.text)
        await report_references(exchange, outcome.references, emit)
        for reference in outcome.references:
            if reference.is_only_listed:
                listed.add(reference)
        await emit(ToolFinished(call_id=kept.call_id, name=kept.name, summary=given.summary, failed=given.failed))
        if outcome.warning and outcome.warning not in exchange.warnings:
            exchange.warnings.add(outcome.warning)
            await emit(Warned(text=outcome.warning))
        await asyncio.sleep(0)
        return ToolResultPart(call_id=kept.call_id, name=kept.name, text=given.text, failed=given.failed)

    def _count_failure(self, exchange: Exchange, results: Sequence[ToolResultPart]) -> None:
        """Count rounds in which no call worked; what fails as before is a loop."""
        if not all(result.failed for result in results):
            exchange.failed_rounds = 0
            return
        exchange.failed_rounds += 1
        said = {result.text for result in results}
        differs = said.isdisjoint(exchange.errors | {REPEATED})
        exchange.errors |= said
        may_fail_more = differs and self.core.may_write
        exchange.may_fail = MAX_FAILED_ROUNDS + (MORE_FAILED_ROUNDS if may_fail_more else 0)

    def _see(self, references: Sequence[DocumentReference], text: str = "") -> None:
        if self.core.readings:
            self.core.readings.see(references, documents_in(text))

    def _step(self, draft: Draft, calls: Sequence[ToolCallPart], exchange: Exchange) -> ChatMessage:
        """What the model said and called, as it is stored."""
        said = draft.finished()
        return replace(
            said,
            parts=(*said.parts, *calls),
            finished_at=self.core.journal.now(),
            usage=exchange.finish.usage if exchange.finish else None,
            token_count=self._count(said.text),
            tool_tokens=sum(self._count(call.arguments) for call in calls),
            request_context=exchange.assembled.context,
        )

    async def _outcome(self, call: ToolCallPart, exchange: Exchange) -> ToolOutcome:
        """A call that was made before in this turn is not run again, nor its result sent twice."""
        made = call.name, call.arguments
        if made in exchange.answered:
            return ToolOutcome(text=REPEATED, summary="same as before", failed=True)
        exchange.made.add(made)
        outcome = await self._requests.planner.tools.call(
            call, {tool.name for tool in exchange.assembled.request.tools}
        )
        if outcome.stages_change:
            exchange.staging.add(made)
            exchange.answered = {*exchange.staging}
        elif not outcome.may_repeat:
            exchange.answered.add(made)
        return outcome

    def _bounded(self, outcome: ToolOutcome, exchange: Exchange) -> ToolOutcome:
        """At most half of the tokens that are left, so that further calls and the answer still fit."""
        limit = max(0, exchange.result_budget // 2)
        text = self._cut(outcome.text, limit)
        tokens = self._count(text)
        exchange.result_budget -= tokens
        if text == outcome.text:
            return outcome
        return replace(outcome, text=text + CUT, summary=f"{outcome.summary}, cut to {counted(tokens, 'token')}")

    def _cut(self, text: str, limit: int) -> str:
        """The beginning of a text that takes no more tokens than the limit."""
        while (tokens := self._count(text)) > limit:
            text = text[: len(text) * limit // tokens]
        return text


def _loops(round_: int, exchange: Exchange) -> str:
    """Why the model has to answer without tools now; empty where it may go on calling them."""
    if exchange.failed_rounds >= exchange.may_fail:
        return "made only calls that failed or that it had made before"
    return f"called tools in {MAX_ROUNDS} rounds without an answer" if round_ == MAX_ROUNDS else ""


def _pieces(text: str, left: int) -> Iterator[str]:
    """A text, as far as the limit allows, in small pieces."""
    if len(text) <= min(_MAX_DELTA, left):
        yield text
        return
    for start in range(0, min(len(text), left), _MAX_DELTA):
        yield text[start : min(start + _MAX_DELTA, left)]


def _as_stored(call: ToolCallPart) -> ToolCallPart:
    """A call with no more of its name and arguments than is worth keeping and sending back."""
    too_long = len(call.arguments) > MAX_ARGUMENTS_CHARS
    if not too_long and len(call.name) <= MAX_NAME_LENGTH:
        return call
    kept = call.arguments[:_KEPT_ARGUMENTS] if too_long else call.arguments
    return replace(call, name=call.name[:MAX_NAME_LENGTH], arguments=kept)


async def _abstention(request: ModelRequest, info: ModelInfo) -> AsyncGenerator[ModelChunk, None]:
    """What is said in the place of a model that would only invent something."""
    yield TextChunk(text=no_answer(request.nearest, request.searched_for))
    if info.needs_evidence:
        yield RemarkChunk(text=TOO_SMALL)
    yield Finish(reason="abstained")
