"""The model and its tools, back and forth, until there is an answer. Every step is on disk before the next begins."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from copy import deepcopy
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.answers import time_of
from zkchat.chat.context.assembly import AssembledRequest, RequestPlan
from zkchat.chat.context.documents import add_summaries
from zkchat.chat.context.formatting import documents_in
from zkchat.chat.core import ConversationCore, Emit
from zkchat.chat.evidence_lookup import ask_for_listing, evidence_item, relevant_evidence
from zkchat.chat.journal import Draft, seconds_between
from zkchat.chat.question import Question
from zkchat.chat.quotations import GivenText, given_texts, refer_to_used
from zkchat.chat.references import ReferenceList, cite, given_before, sent_along
from zkchat.chat.replies import ReplyReader, repeats
from zkchat.chat.request import RequestBuilder
from zkchat.chat.tools.registry import MAX_ARGUMENTS_CHARS
from zkchat.core import (
    DOUBT,
    TOOL_PRIORITY,
    ChatMessage,
    DocumentReference,
    Finish,
    MessageEntry,
    ModelChunk,
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
    debug_answer,
    no_answer,
    quotations,
)
from zkchat.index import wants_notes

MAX_ROUNDS: Final = 8
"""After so many rounds of tool calls the model is asked for its answer without tools."""
MAX_CALLS: Final = 32
"""Calls of one step that are run."""
_MAX_DELTA: Final = 4_000
"""Characters that are shown, and written down, at once: between two deltas the user may stop the answer."""
MORE_ROOM: Final = "raise context.max_tokens or context.reserve_tokens"
OTHERWISE: Final = "Ask again in other words, or choose another model."
TOO_SMALL = "This model is too small for general knowledge; it answers from your notes only."
NOTED = "Noted."
CUT = "\n(Cut here: the context has no room for more.)"
REPEATED = "(You made the same call before in this turn; its result stands above. Use it, or call something else.)"


class Exchange(Struct):
    """What is asked in one turn, and everything that grows while it is answered.

    The model is asked, the tools that it calls are run, and it is asked again with their results.
    """

    core: ConversationCore
    requests: RequestBuilder
    plan: RequestPlan
    assembled: AssembledRequest
    """The request of the current step, and its record."""
    result_budget: int
    """Tokens that tool results may still take."""
    is_grounded: bool
    """Whether the request holds anything that notes say."""
    is_noted: bool  # a small model is only told something: it would say nothing else, or nonsense
    references: ReferenceList
    draft: Draft | None = None
    calls: list[ToolCallPart] = field(default_factory=list)
    finish: Finish | None = None
    answered: dict[tuple[str, str], bool] = field(default_factory=dict)
    """Name and arguments of the calls whose results still hold, and whether they staged a change."""
    rounds: int = 0
    failed_rounds: int = 0
    """Rounds in a row in which no call worked."""
    warnings: set[str] = field(default_factory=set)
    """What the user was told of calls."""
    proposed: list[str] = field(default_factory=list)
    """What the changes that were staged in this turn do."""
    lost_tools: str = ""
    """Why the model has to answer without its tools, as what it did; empty where it may call them."""
    passages: list[GivenText] = field(default_factory=list)
    """What evidence and tools brought of notes in this turn."""

    @property
    def is_quoted(self) -> bool:
        """Whether the index, or the notes that are asked for, answer in the place of a small model."""
        request, asked = self.assembled.request, self.core.history.last_question
        if not self.core.info.needs_evidence:
            return False
        if request.listing or not request.evidence or asked is None:
            return bool(request.listing)
        prose = Question.of(asked).prose
        time = time_of(self.core.library, prose)
        return wants_notes(prose) or bool(time and time.period and not time.topic.strip())

    @property
    def abstained(self) -> bool:
        """Whether the answer is that there is none."""
        return self.finish is not None and self.finish.reason == "abstained"

    async def run(self, emit: Emit) -> None:
        """Stream until the model makes no more tool calls; `draft` then holds the answer."""
        for round_ in range(MAX_ROUNDS + 1):
            may_fail = 4 if self.core.may_write else 2  # names and passages to be changed are exact
            if self.failed_rounds >= may_fail:
                self.lost_tools = "made only tool calls that failed or repeated earlier ones"
            elif round_ == MAX_ROUNDS:
                self.lost_tools = f"called tools {MAX_ROUNDS} times in a row"
            if self.lost_tools:
                self.plan = self._plan_without_tools()
            if round_:
                await self._build(emit)
            await self._ask(emit)
            if not (self.calls and self.plan.offers_tools):
                return
            await self._use_tools(emit)
            if self.proposed and self.core.info.needs_evidence:
                # It would only repeat the note, or say that it is done.
                text = f"Proposed: {'; '.join(self.proposed)}.\n"
                self.draft, self.finish = self.core.journal.begin_answer(self.core.info), Finish()
                self.draft.add(text=text)
                await emit(TextDelta(text=text))
                return

    def _plan_without_tools(self) -> RequestPlan:
        """For a model that cannot use its tools: what the notes say on the question, unless it was given something."""
        asked = self.core.history.last_question
        if asked is None or self.is_grounded or not self.failed_rounds:
            return self.plan.without_tools()
        found = relevant_evidence(self.core.library, Question.of(asked), asked.references)
        reason = "the model could not use its tools"
        return self.plan.without_tools().with_items(evidence_item(each, reason) for each in found)

    async def ask_again(self, message_id: str, given: Sequence[DocumentReference], emit: Emit) -> None:
        """Run once more after the plan was changed, with what the model is given now."""
        self._see(given)
        await self.report(given, emit)
        await self._build(emit)
        await emit(PromptReady(message_id=message_id, usage=self.assembled.usage, context=self.assembled.context))
        await self.run(emit)

    async def report(self, references: Iterable[DocumentReference], emit: Emit) -> None:
        """Take what was found into the exchange, and tell of it, except of what is only listed."""
        for reference in references:
            self.references.add(reference)
            if reference.relative_path and reference.included and reference.snippet:
                self.passages.append(GivenText(reference.relative_path, reference.snippet))
            if not reference.is_only_listed:
                await emit(ReferenceFound(reference=reference))

    def close(self, error: str = "") -> ChatMessage:
        """The answer as it is kept: whole, or as far as it came."""
        core, context, count = self.core, self.assembled.context, self.core.tokenizer.count
        message = (self.draft or core.journal.begin_answer(core.info)).finished()
        was_asked = not (self.abstained or core.info.needs_notes)
        along = sent_along(context, core.library) if was_asked else {}
        references = deepcopy(self.references)
        for each in along.values():
            references.add(each)
        if not self.abstained:
            given = given_before(core.history.newest_first) | {item.name.partition("#")[0] for item in context.items}
            cite(references, message.text, core.library, given, self._given_texts(along))
            asked = core.history.last_question
            refer_to_used(references, message.text, asked.text if asked else "", core.library)
        status: Status = "complete" if not error else "unfinished" if message.parts else "error"
        return replace(
            message,
            references=add_summaries(core.library, references.behind_answer()),
            finished_at=core.journal.now(),
            status=status,
            error=error,
            usage=self.finish.usage if self.finish else None,
            token_count=count(message.text),
            thinking_tokens=count(message.thinking),
            request_context=context,
            abstained=self.abstained,
        )

    def _given_texts(self, along: Mapping[str, DocumentReference]) -> Iterator[GivenText]:
        """What the model was given of notes, of this turn first."""
        yield from self.passages
        yield from given_texts(self.core.history.newest_first)
        paths = {name: each.relative_path or name for name, each in along.items()}
        for content in self.assembled.contents.values():
            yield from (GivenText(paths.get(name, name), text) for name, text in documents_in(content))

    def store(self, message: ChatMessage) -> Warned | None:
        """Store an answer, or a step towards it, with the texts of its request."""
        return self.core.journal.append_answer(message, self.assembled.contents)

    def empty_answer_warning(self, answer: ChatMessage) -> Warned | None:
        """One sentence on an answer that holds no words, or for which the model lost its tools; None on any other."""
        found = f"What it found is in this session. {OTHERWISE}"
        if answer.text.strip():
            if not self.lost_tools:
                return None
            said = f"{self.lost_tools}, so it had to answer without tools."
            hint = f"It may have missed something. {OTHERWISE}"
        elif self.finish and self.finish.reason == "length":
            said, hint = "ran out of room before it answered.", f"Ask for something shorter, or {MORE_ROOM}."
        elif self.calls:
            said, hint = "kept calling tools and answered nothing.", found
        elif answer.thinking.strip():
            said = "thought and then answered nothing."
            hint = f"Its thinking is kept: ui.thinking shows it. {OTHERWISE}"
        elif self.rounds:
            said, hint = "used its tools and then answered nothing.", found
        else:
            said, hint = "answered nothing.", OTHERWISE
        return Warned(text=f"{self.core.info.shown} {said}", hint=hint)

    async def _build(self, emit: Emit) -> None:
        """Go on with a new request; what it leaves free is there for the results of tools."""
        self.assembled = await self.requests.build(self.plan, emit)
        self.result_budget = self.assembled.usage.available

    async def _ask(self, emit: Emit) -> None:
        """Ask; where the server, who alone can count its tokens, finds the prompt too long, shorten it and retry."""
        for attempts_left in (2, 1, 0):
            try:
                return await self._ask_once(emit)
            except PromptTooLong:
                if not attempts_left:
                    raise
                refused = self.assembled.request
                self.plan = replace(self.plan, tightness=0.7 * self.plan.tightness)
                await self._build(emit)
                if self.assembled.request == refused:
                    raise
                name = self.core.info.shown
                await emit(Warned(text=f"{name} counts more tokens than expected: the prompt was shortened."))
        raise AssertionError("the last attempt returns or raises")

    async def _ask_once(self, emit: Emit) -> None:
        core, name = self.core, self.core.info.shown
        self.calls, self.finish = [], None
        self.draft = core.journal.begin_answer(core.info)
        request, problems = core.images.load(self.assembled.request)
        changing = core.proposals.tool_names if core.proposals else frozenset()
        is_asked_for_change = any(tool.name in changing for tool in request.tools)
        # A small model makes a change by a call, or not at all.
        request = replace(request, must_call=core.info.needs_evidence and is_asked_for_change)
        for problem in problems:
            await emit(problem)
        instead: AsyncGenerator[ModelChunk, None] | None = None
        if self.is_noted or await self._is_looked_up():
            instead = self._quoted()
        elif (core.info.needs_evidence or core.settings.strict) and not self.is_grounded:
            instead = self._abstention()  # it would only invent something
        elif self.is_quoted:
            instead = self._quoted()
        reader = None if instead or core.info.needs_notes else self._reader()
        async with aclosing(debug_answer(core.provider, request, instead or core.provider.stream(request))) as chunks:
            await self._receive(chunks, self.draft, reader, emit)
        if self.finish is None:
            raise ProviderError(f"The answer from {name} was cut off.", hint="It is saved. Ask again to continue.")
        if self.finish.usage:
            await emit(UsageReported(usage=self.finish.usage))
        if self.finish.warning:
            await emit(Warned(text=self.finish.warning))
        if self.finish.reason == "length" and self.draft.finished().text.strip():
            text = f"{name} ran out of room, so its answer ends early."
            await emit(Warned(text=text, hint=f"Ask it to continue, or {MORE_ROOM}."))

    async def _is_looked_up(self) -> bool:
        """Whether the index answers what a small model takes to be a question about the vault itself."""
        request, asked = self.assembled.request, self.core.history.last_question
        if request.listing or request.tools or self.plan.told_first or asked is None:
            return False
        listing = await ask_for_listing(self.core, Question.of(asked), is_last=not self.is_grounded)
        if listing:
            self.assembled = replace(self.assembled, request=replace(request, listing=listing))
            self.references = ReferenceList(listing.references)
        return listing is not None

    async def _quoted(self) -> AsyncGenerator[ModelChunk, None]:
        """What the index says on a question about the vault itself, or which notes say something; or "Noted." """
        request = self.assembled.request
        if self.is_noted or request.listing:
            yield TextChunk(text=request.listing.text if request.listing else NOTED)
        else:
            if request.is_doubtful:
                yield DOUBT
            for quotation in quotations(request.evidence):
                yield quotation
        yield Finish()

    async def _abstention(self) -> AsyncGenerator[ModelChunk, None]:
        request = self.assembled.request
        yield TextChunk(text=no_answer(request.nearest, request.searched_for))
        if self.core.info.needs_evidence:
            yield RemarkChunk(text=TOO_SMALL)
        yield Finish(reason="abstained")

    def _reader(self) -> ReplyReader:
        asked = self.core.history.last_question
        names = [spec.name for spec in self.requests.planner.tools.specs]
        return ReplyReader(names, asked.text if asked else "", is_strong=not self.core.info.needs_evidence)

    async def _receive(
        self, chunks: AsyncGenerator[ModelChunk, None], draft: Draft, reader: ReplyReader | None, emit: Emit
    ) -> None:
        """Take what the model sends into the exchange. Raises `ProviderError` where it is more than the limits.

        The reader keeps what is not to be shown; there is none for what is not written by a model.
        """
        limits, began = self.core.settings.limits, self.core.journal.now()
        left = limits.characters
        # A small model, or one in a file, may not know how to end.
        may_loop = self.core.info.needs_evidence or self.core.info.provider == "local"
        try:
            async for chunk in chunks:
                match chunk:
                    case TextChunk():
                        allowed = chunk.text[: max(0, left)]
                        await self._show(reader.feed(allowed) if reader else allowed, draft, emit)
                        left -= len(chunk.text)
                    case ThinkingChunk():
                        for text in _pieces(chunk.text[: max(0, left)]):
                            draft.add(thinking=text)
                            await emit(ThinkingDelta(text=text))
                            await asyncio.sleep(0)
                        left -= len(chunk.text)
                    case RemarkChunk():
                        await emit(Remarked(text=chunk.text, is_heading=chunk.is_heading))
                    case ToolRequested(call=call):
                        self.calls.append(call)
                    case Finish():
                        self.finish = chunk
                if reader and may_loop and repeats(reader.recent):
                    self.finish = Finish(warning=f"{self.core.info.shown} began to repeat itself and was stopped.")
                    break
                if left < 0:
                    raise self._too_long(f"at {limits.characters:,} characters", "max_answer_chars")
                if self.core.journal.now() - began > limits.time:
                    raise self._too_long(f"after {limits.time.total_seconds():,.0f} seconds", "max_answer_seconds")
        finally:  # also what was held back when it broke off
            rest = reader.end() if reader else ""
            draft.removed = reader.removed if reader else ""
            if rest:
                draft.add(text=rest)
        if rest:
            await emit(TextDelta(text=rest))
        if reader:
            self.calls = self.calls or reader.calls

    async def _show(self, text: str, draft: Draft, emit: Emit) -> None:
        for piece in _pieces(text):
            draft.add(text=piece)
            await emit(TextDelta(text=piece))
            await asyncio.sleep(0)  # here the answer can be stopped, whatever the provider does

    def _too_long(self, where: str, setting: str) -> ProviderError:
        return ProviderError(
            f"The answer from {self.core.info.shown} was cut off {where}.",
            hint=f"What arrived is saved. The limit is the setting limits.{setting}.",
        )

    async def _use_tools(self, emit: Emit) -> None:
        """Store what the model said and called, run the calls, and store their results."""
        assert self.draft is not None
        self.rounds += 1
        core, count = self.core, self.core.tokenizer.count
        calls = self.calls[:MAX_CALLS]
        # No more of its name and arguments than is worth keeping and sending back.
        texts = (text if len(text := call.arguments) <= MAX_ARGUMENTS_CHARS else text[:200] for call in calls)
        kept = [replace(call, name=call.name[:100], arguments=text) for call, text in zip(calls, texts, strict=True)]
        said = self.draft.finished()
        step = replace(
            said,
            parts=(*said.parts, *kept),
            finished_at=core.journal.now(),
            usage=self.finish.usage if self.finish else None,
            token_count=count(said.text),
            tool_tokens=sum(count(f"{call.name} {call.arguments}") for call in kept),
            thinking_tokens=count(said.thinking),
            request_context=self.assembled.context,
        )
        if warning := self.store(step):
            await emit(warning)
        listed = ReferenceList()
        results = [await self._use_tool(call, stored, listed, emit) for call, stored in zip(calls, kept, strict=True)]
        if left_out := len(self.calls) - len(kept):
            text = f"{results[-1].text}\n({left_out:,} more calls were not run: make at most {MAX_CALLS} at once.)"
            results[-1] = replace(results[-1], text=text)
            name = core.info.shown
            await emit(Warned(text=f"{name} wanted {len(self.calls):,} look-ups at once; {left_out:,} were skipped."))
        self.failed_rounds = self.failed_rounds + 1 if all(result.failed for result in results) else 0
        answered = core.journal.next_message(
            "tool",
            *results,
            references=listed.as_tuple(),
            context_type="tool_output",
            token_count=sum(count(result.text) for result in results),
            priority=TOOL_PRIORITY,
        )
        if warning := core.journal.append(MessageEntry(message=answered)):
            await emit(warning)
        self.draft = None  # that step is stored; what goes wrong before the next is not part of it

    async def _use_tool(
        self, call: ToolCallPart, kept: ToolCallPart, listed: ReferenceList, emit: Emit
    ) -> ToolResultPart:
        """The result of a call, of which `kept` is stored. What it only lists is added to `listed`."""
        server = next((tool.server for tool in self.assembled.request.tools if tool.name == kept.name), "")
        await emit(ToolStarted(call_id=kept.call_id, name=kept.name, arguments=kept.arguments, server=server))
        began = self.core.journal.now()
        outcome = await self._outcome(call)
        seconds = seconds_between(began, self.core.journal.now())
        given = self._bounded(outcome)
        self._see(outcome.references, given.text)
        await self.report(outcome.references, emit)
        for reference in outcome.references:
            if reference.is_only_listed:
                listed.add(reference)
        await emit(ToolFinished(call_id=kept.call_id, name=kept.name, summary=given.summary, failed=given.failed))
        if outcome.warning and outcome.warning not in self.warnings:
            self.warnings.add(outcome.warning)
            await emit(Warned(text=outcome.warning))
        await asyncio.sleep(0)
        return ToolResultPart(
            call_id=kept.call_id, name=kept.name, text=given.text, failed=given.failed, seconds=seconds
        )

    def _see(self, references: Sequence[DocumentReference], text: str = "") -> None:
        if self.core.readings:
            self.core.readings.see(references, documents_in(text))

    async def _outcome(self, call: ToolCallPart) -> ToolOutcome:
        """A call that was made before in this turn is not run again, nor its result sent twice."""
        made = call.name, call.arguments
        if made in self.answered:
            return ToolOutcome(text=REPEATED, summary="same as before", failed=True)
        offered = {tool.name for tool in self.assembled.request.tools}
        outcome = await self.requests.planner.tools.call(call, offered)
        if outcome.stages_change:  # what was read before may be otherwise now
            self.proposed.append(outcome.summary)
            self.answered = {each: True for each, stages in self.answered.items() if stages}
        if outcome.stages_change or not outcome.may_repeat:
            self.answered[made] = outcome.stages_change
        return outcome

    def _bounded(self, outcome: ToolOutcome) -> ToolOutcome:
        """At most half of the tokens that are left, so that further calls and the answer still fit."""
        limit, text = max(0, self.result_budget // 2), outcome.text
        while (tokens := self.core.tokenizer.count(text)) > limit:
            text = text[: len(text) * limit // tokens]
        self.result_budget -= tokens
        if text == outcome.text:
            return outcome
        return replace(outcome, text=text + CUT, summary=f"{outcome.summary}, cut to {counted(tokens, 'token')}")


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _MAX_DELTA] for start in range(0, len(text), _MAX_DELTA))
