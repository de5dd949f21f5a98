"""Compaction of a full prompt: older messages are summarised and archived, never deleted.

`context.strategies` decides what leaves; the compactor has the summary written, checks it, and appends the marker.
Where the model fails, or writes something unusable, sentences of the messages themselves make up the summary.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Final

from msgspec.structs import replace

from zkchat.chat.context.assembly import MESSAGE_OVERHEAD, SUMMARY, AssembledRequest
from zkchat.chat.context.condensing import condense_text
from zkchat.chat.context.documents import short_form
from zkchat.chat.context.extractive import summarise
from zkchat.chat.context.formatting import format_message, format_summary
from zkchat.chat.context.strategies import MIN_SUMMARY_TOKENS, CompactionPlan, truncation_level
from zkchat.chat.core import ConversationCore, Emit
from zkchat.chat.references import ReferenceList
from zkchat.core import (
    ChatMessage,
    Compacted,
    CompactionPart,
    Condensed,
    DocumentReference,
    Finish,
    MessageEntry,
    ModelRequest,
    PromptMessage,
    ProviderError,
    RequestContext,
    SummaryDetail,
    TextChunk,
    ThinkingChunk,
    TokenUsage,
    ToolResultPart,
    Warned,
    Window,
    debug_answer,
    mark_condensed,
)
from zkchat.notes import detect_language

MAX_CHARACTERS = 1_000_000
"""Of what a model sends for a summary, with its thinking."""
DETAILS: Final[Mapping[SummaryDetail, str]] = {
    "brief": "Be brief: only what is needed to go on.",
    "full": "Be thorough: leave out no decision, number, name, date or link.",
}


class Unusable(ValueError):
    """What is wrong with a summary that a model wrote."""


class Compactor:
    """Carries out plans of compactions: has the summary written, and stores the marker.

    Messages that are hidden from the model are archived without a word of them in the summary.
    """

    def __init__(self, core: ConversationCore) -> None:
        self._core = core
        self._count = core.tokenizer.count
        self._detail: SummaryDetail = "normal"
        self._spent: TokenUsage | None = None
        """What the model's server counted for the last summary."""

    async def draft(
        self, assembled: AssembledRequest, plan: CompactionPlan, focus: str = "", detail: SummaryDetail | None = None
    ) -> tuple[CompactionPart, str]:
        """The compaction that a plan asks for, not yet in force, and why the model's summary was not used, if so."""
        self._detail = detail or self._core.settings.policy.detail
        history = self._core.journal.history
        window, self._spent = history.window, None
        scale = max(1.0, assembled.usage.total / max(1, assembled.usage.counted))
        hidden = self._core.privacy.hidden()
        unsaid = hidden | {
            left.item.name for left in assembled.context.left_out if left.why in {"abstained", "unanswered"}
        }
        said = frozenset(plan.archived) - unsaid
        folded = [message for message in window.live if message.id in said]
        earlier = None if hidden.intersection(marker.id for marker in window.compactions[-1:]) else window.summary
        room = int(plan.summary_budget / scale)
        still_short = [
            Condensed(message_id=message_id, call_id=call_id, text=text)
            for (message_id, call_id), text in window.condensed.items()
            if message_id in plan.kept and message_id not in plan.condensed
        ]
        kept = None if plan.summary_budget else earlier  # left as it is: there may be room for it another time
        part = CompactionPart(
            number=1 + sum(1 for message in history.thread if message.context_type == "summary"),
            summary="",
            strategy=plan.strategy,
            focus=focus,
            archived=plan.archived,
            condensed=(*still_short, *self._condensed(window, plan, scale, assembled.context)),
            references=kept.references if kept else self._references(folded, earlier, room // 4),
            tokens_before=assembled.usage.total,
        )
        room -= self._count(format_summary(replace(part, summary="."))) + 2
        if self._detail == "brief":
            room = min(room, max(MIN_SUMMARY_TOKENS, room // 4))
        written, made_by, trouble = "", "", ""
        if room > 0 and (folded or (earlier and earlier.summary)):  # of withheld turns there is nothing to say
            written, made_by, trouble = await self._summary(folded, earlier, room, assembled, focus)
        elif kept:
            written, made_by = kept.summary, kept.made_by
        part = replace(part, summary=written, made_by=made_by)
        sizes, sent = assembled.sizes, assembled.context.items
        gone = sum(sizes.get(id_, 0) for id_ in plan.archived)
        gone += sum(max(0, sizes.get(id_, 0) - level) for id_, level in plan.condensed.items())
        before = sum(item.tokens for item in sent if item.type == "summary")
        summary = int(scale * (self._count(format_summary(part)) - before))
        return replace(part, tokens_after=max(0, assembled.usage.total - gone + summary)), trouble

    def apply(self, part: CompactionPart, usage: TokenUsage | None = None) -> tuple[ChatMessage, Warned | None]:
        """From now on the model sees the conversation as the compaction leaves it; `usage` is what its summary took."""
        tokens = self._count(part.summary)
        part = mark_condensed(part, self._core.journal.history)
        message = self._core.journal.next_message(
            "system", part, context_type="summary", token_count=tokens, usage=usage
        )
        return message, self._core.journal.append(MessageEntry(message=message))

    async def run(
        self,
        assembled: AssembledRequest,
        plan: CompactionPlan,
        emit: Emit,
        focus: str = "",
        *,
        detail: SummaryDetail | None = None,
        has_to_gain: bool = False,
    ) -> bool:
        """Draft, have it reviewed if that is wanted, apply; with `has_to_gain`, not where nothing becomes shorter."""
        part, trouble = await self.draft(assembled, plan, focus, detail)
        if has_to_gain and part.tokens_after >= part.tokens_before:
            return False
        if trouble:
            await emit(
                Warned(
                    text=f"{trouble} The summary is made of excerpts from the messages instead.",
                    hint="zkchat context summary shows it; /uncompact reverts it.",
                )
            )
        if self._core.settings.policy.review and self._core.reviewer and part.summary:
            edited = (await self._core.reviewer.edits(part.summary)).strip()
            part = replace(part, summary=edited or part.summary)
        message, warning = self.apply(part, self._spent)
        if warning:
            await emit(warning)
        await emit(Compacted(message=message))
        return True

    async def _summary(
        self,
        folded: Sequence[ChatMessage],
        earlier: CompactionPart | None,
        room: int,
        assembled: AssembledRequest,
        focus: str,
    ) -> tuple[str, str, str]:
        """The summary, who wrote it, and why the model did not."""
        info = self._core.info
        before = earlier.summary if earlier else ""
        trouble = ""
        if earlier and not folded and self._count(before) <= room:
            return before, earlier.made_by, ""  # written once more it would say the same, or less
        if not (info.needs_notes or info.needs_evidence):
            replaced = "\n".join([before, *(message.text for message in folded)])
            limit = min(room, max(1, self._count(replaced) - 1))
            try:
                async with asyncio.timeout(self._core.settings.policy.timeout):
                    return await self._written(folded, before, limit, assembled, focus), info.name, ""
            except ProviderError as error:
                trouble = f"{info.shown} could not write a summary: {error.message}"
            except TimeoutError:
                trouble = f"{info.shown} took more than {self._core.settings.policy.timeout:g} seconds for a summary."
            except Unusable as error:
                trouble = f"The summary by {info.shown} cannot be used: {error}."
        return summarise(folded, room, self._count, focus=focus, earlier=before), "", trouble

    async def _written(
        self, folded: Sequence[ChatMessage], earlier: str, limit: int, assembled: AssembledRequest, focus: str
    ) -> str:
        """What the model writes, asked once more if the first is not usable."""
        transcript = self._transcript(folded, earlier, limit, assembled)
        language = detect_language(
            "\n".join(message.text for message in folded if message.role in {"user", "assistant"})
        )
        wishes = [
            f"Write at most {limit * 2 // 3} words." if limit > 30 else "Write one short sentence.",
            DETAILS.get(self._detail, ""),
            f"Pay most attention to: {focus}." if focus else "",
        ]
        asked = "\n".join(filter(None, [transcript, *wishes]))
        try:
            return self._checked(await self._ask(asked, limit, assembled), limit, language)
        except Unusable as error:
            asked += f"\nYour last attempt was not usable: {error}. Write it again."
            return self._checked(await self._ask(asked, limit, assembled), limit, language)

    def _checked(self, text: str, limit: int, language: str | None) -> str:
        summary = text.strip()
        if not summary:
            raise Unusable("it is empty")
        if (tokens := self._count(summary)) > limit:
            raise Unusable(f"it takes {tokens:,} tokens, and there is room for {limit:,}")
        if language and (written := detect_language(summary)) and written != language:
            raise Unusable("it is in another language than the conversation")
        return summary

    async def _ask(self, asked: str, limit: int, assembled: AssembledRequest) -> str:
        request = ModelRequest(
            messages=(PromptMessage(role="system", text=SUMMARY), PromptMessage(role="user", text=asked)),
            window=assembled.request.window,
            max_answer_tokens=2 * limit,
            temperature=0.3,
        )
        said: list[str] = []
        left = MAX_CHARACTERS
        provider = self._core.provider
        async with aclosing(debug_answer(provider, request, provider.stream(request))) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk | ThinkingChunk):
                    left -= len(chunk.text)
                if left < 0:
                    name = self._core.info.shown
                    raise ProviderError(f"The answer from {name} was cut off at {MAX_CHARACTERS:,} characters.")
                if isinstance(chunk, TextChunk):
                    said.append(chunk.text)
                elif isinstance(chunk, Finish) and chunk.usage:
                    self._spent = self._spent.plus(chunk.usage) if self._spent else chunk.usage
                await asyncio.sleep(0)  # here the time may be up, whatever the provider does
        return "".join(said)

    def _transcript(self, folded: Sequence[ChatMessage], earlier: str, limit: int, assembled: AssembledRequest) -> str:
        """The folded messages as a text, each shortened where all of them would not fit into one request.

        Of so many that too little would be left of each, the sentences that tell most are taken.
        """
        usage = assembled.usage
        scale = max(1.0, usage.total / max(1, usage.counted))
        room = max(64, int((usage.window - 2 * limit) / scale) - self._count(SUMMARY) - 100)
        texts = [f"[earlier summary]\n{earlier}"] if earlier else []
        for message in folded:
            said = "\n".join(prompt.text for prompt in format_message(message, can_read=False))
            texts.append(f"[{message.role}]\n{said}")
        sizes = [self._count(text) + 2 for text in texts]
        level = truncation_level(sizes, room)
        if level < 16:  # less of a message says nothing
            shown = [summarise(folded, room, self._count, earlier=earlier)]
        else:
            shown = [
                text if size <= level else condense_text(text, level, self._count)
                for text, size in zip(texts, sizes, strict=True)
            ]
        return "\n\n".join(["<conversation>", *shown, "</conversation>"])

    def _references(
        self, folded: Iterable[ChatMessage], earlier: CompactionPart | None, room: int
    ) -> tuple[DocumentReference, ...]:
        """The documents of the archived messages that were used, newest first, as many as there is room for."""
        references = ReferenceList(earlier.references if earlier else ())
        for message in folded:
            for reference in message.references:
                if reference.relative_path and (reference.cited or reference.reference_type == "direct"):
                    references.add(reference)
        kept: list[DocumentReference] = []
        for reference in reversed(references.as_tuple()):
            room -= self._count(f"- {reference.wikilink} is {reference.relative_path}") + 1
            if room < 0:
                break
            kept.append(reference)
        return tuple(reversed(kept))

    def _condensed(
        self, window: Window, plan: CompactionPlan, scale: float, sent: RequestContext
    ) -> Iterable[Condensed]:
        for message in window.live:
            if message.id not in plan.condensed:
                continue
            room = max(8, int(plan.condensed[message.id] / scale) - MESSAGE_OVERHEAD)
            results = message.parts_of(ToolResultPart)
            if not results:
                text = short_form(message, room, self._count, can_read=sent.can_read, is_plain=sent.is_plain)
                yield Condensed(message_id=message.id, text=text)
                continue
            level = truncation_level([self._count(part.text) for part in results], room)
            for part in results:
                if self._count(part.text) > level:
                    text = condense_text(part.text, max(4, level), self._count)
                    yield Condensed(message_id=message.id, call_id=part.call_id, text=text)
