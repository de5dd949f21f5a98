"""A model that answers from nothing although it could look into the notes: zkchat looks for it, and asks once more."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.event_stream import Emit
from zkchat.chat.evidence_lookup import as_reference, relevant_evidence
from zkchat.chat.exchange import Exchange
from zkchat.chat.question import Question
from zkchat.chat.references import ReferenceList
from zkchat.chat.tool_loop import ToolLoop
from zkchat.context.formatting import format_evidence
from zkchat.context.prompt_items import PromptItem, RequestPlan, prompt_item
from zkchat.errors import ZkchatError
from zkchat.model.entries import HeadEntry
from zkchat.model.events import EvidenceFound, Warned
from zkchat.model.evidence import Evidence
from zkchat.model.message import ChatMessage
from zkchat.model.references import DocumentReference
from zkchat.model.request_context import RequestItem
from zkchat.vault.library import Library

REASON = "the first answer was given without a look into the notes"


class SecondLook(Struct, frozen=True, kw_only=True):
    """Happens once in a session: from then on the model is given the evidence with the question.

    The first answer stays in the session, on a branch of its own, and is marked: the mark says that it has happened,
    to whoever goes on with the session.
    """

    library: Library
    loop: ToolLoop
    is_wanted: bool = True

    @property
    def _has_happened(self) -> bool:
        return self.loop.journal.history.was_asked_again

    def expected(self, question: Question, references: Sequence[DocumentReference]) -> list[Evidence]:
        """What the notes say on it, in a session whose model would not look by itself."""
        return relevant_evidence(self.library, question, references) if self._has_happened else []

    def applies(self, plan: RequestPlan) -> bool:
        """Whether a model may be asked again after this request."""
        return self.is_wanted and plan.offers_tools and not self._has_happened

    async def run(self, exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> None:
        """Ask again with evidence where the answer of the exchange was given without any."""
        loop = self.loop
        if question.has_material or not (self.applies(exchange.plan) and _may_be_unfounded(exchange, loop)):
            return
        found = relevant_evidence(self.library, question, user.references)
        if not found:
            return
        first = loop.close(exchange)
        if any(reference.cited and not reference.unverified for reference in first.references):
            return
        name = loop.provider.info.name
        assert exchange.draft is not None
        mark = {"asked_again": True}
        exchange.draft.message = replace(exchange.draft.message, **mark)  # it may be stored again
        if warning := loop.store(replace(first, **mark), exchange):
            await emit(warning)
        await emit(
            Warned(
                text=f"{name} answered without looking into your notes. They say something on this, so it is asked "
                "again.",
                hint="references.look_again = false leaves it at the first answer.",
            )
        )
        await self._ask_again(exchange, user, found, emit)

    async def _ask_again(self, exchange: Exchange, user: ChatMessage, found: Sequence[Evidence], emit: Emit) -> None:
        """Ask with the evidence. Where not a word comes of it, the first answer is the answer."""
        before = replace(exchange)
        try:
            self.loop.journal.append(HeadEntry(message_id=user.id))
            exchange.plan = exchange.plan.with_items(map(_evidence_item, found))
            exchange.references = ReferenceList(user.references)
            await emit(EvidenceFound(evidence=tuple(found)))
            await self.loop.ask_again(exchange, user.id, [*map(as_reference, found)], emit)
        except ZkchatError as error:
            if not self._take_back(exchange, before):
                raise
            await emit(Warned(text=f"It could not be asked again. {error.message}", hint=error.hint))
        except (asyncio.CancelledError, GeneratorExit):
            self._take_back(exchange, before)
            raise

    def _take_back(self, exchange: Exchange, before: Exchange) -> bool:
        """Go on with the first answer, unless another has begun."""
        if exchange.draft and exchange.draft is not before.draft and exchange.draft.finished().parts:
            return False
        assert before.draft is not None
        self.loop.journal.append(HeadEntry(message_id=before.draft.message.id))
        exchange.draft, exchange.finish = before.draft, before.finish
        exchange.assembled, exchange.references = before.assembled, before.references
        return True


def _may_be_unfounded(exchange: Exchange, loop: ToolLoop) -> bool:
    """Whether a model that has tools used none so far, was given nothing to answer from, and yet has answered."""
    return (
        exchange.finish is not None
        and exchange.finish.reason == "stop"
        and not any(map(_is_given, exchange.assembled.context.items))
        and not any(message.role == "tool" for message in loop.journal.history.newest_first)
    )


def _is_given(item: RequestItem) -> bool:
    """Whether it is there to be answered from: a note, an image, or what is remembered on the question."""
    if item.type == "memory":
        return item.include == "agent"
    return item.type in {"reference", "evidence", "recall", "image"}


def _evidence_item(evidence: Evidence) -> PromptItem:
    return prompt_item(
        "evidence",
        evidence.relative_path,
        format_evidence([evidence]),
        include="agent",
        score=evidence.score,
        reason=REASON,
        this_turn_only=True,
    )
