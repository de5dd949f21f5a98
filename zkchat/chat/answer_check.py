"""What zkchat does about an answer before it counts.

A model that answered from nothing although it could look into the notes is asked once more, with what they say. What
contradicts a passage is replaced by it, and what the notes do not say is named.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from zkchat.chat.event_stream import Emit
from zkchat.chat.evidence_lookup import as_reference, relevant_evidence
from zkchat.chat.exchange import Exchange
from zkchat.chat.question import Question
from zkchat.chat.references import ReferenceList
from zkchat.chat.tool_loop import ToolLoop
from zkchat.context.assembly import AssembledRequest
from zkchat.context.formatting import format_evidence
from zkchat.context.prompt_items import PromptItem, RequestPlan, prompt_item
from zkchat.context.selection import wants_evidence
from zkchat.errors import ZkchatError
from zkchat.model.entries import HeadEntry
from zkchat.model.events import AnswerReplaced, EvidenceFound, TextDelta, Warned
from zkchat.model.evidence import Evidence
from zkchat.model.message import ChatMessage
from zkchat.model.parts import FilePart
from zkchat.model.prompt import Finish
from zkchat.model.quotation import place_of, quotations
from zkchat.model.references import DocumentReference
from zkchat.model.request_context import RequestItem
from zkchat.model.text import counted, shorten

if TYPE_CHECKING:
    from zkchat.vault.verification.contradiction import Contradiction

MAX_QUOTED_CHARS = 160
"""Of each statement that a warning quotes."""
MAX_QUOTED_STATEMENTS = 3
"""Statements that a warning quotes."""
REASON = "the first answer was given without a look into the notes"


class AnswerCheck:
    """Checks answers of models that were handed passages: small ones, and any in strict mode.

    Large models with tools are left alone: they read more than what was handed to them. The answer of the model stays
    in the session, on a branch of its own. In strict mode, statements that do not stand in the notes are named.
    """

    def __init__(self, loop: ToolLoop) -> None:
        self._loop = loop
        self._core = loop.core

    def applies(self, assembled: AssembledRequest) -> bool:
        """Whether the answer to this request is checked."""
        info, settings = self._core.info, self._core.settings
        can_read = assembled.context.can_read
        is_handed_evidence = settings.strict or wants_evidence(info, assembled.budget.window, can_read=can_read)
        return (
            settings.check_answers and is_handed_evidence and not info.needs_notes and bool(assembled.request.evidence)
        )

    async def run(self, exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> None:
        """Replace the answer of the exchange by the passage that it contradicts, if there is one."""
        if exchange.draft is None or exchange.made or not self.applies(exchange.assembled):
            return
        from zkchat.vault.verification.contradiction import find_contradiction

        documents = [part.text for part in user.parts if isinstance(part, FilePart)]
        text = exchange.draft.finished().text
        found = find_contradiction(text, exchange.assembled.request.evidence, question.prose, documents)
        if found:
            await self._replace(exchange, user, found, emit)
        elif self._core.settings.strict and (warning := self._unsupported(text)):
            await emit(warning)

    def _unsupported(self, answer: str) -> Warned | None:
        """A warning that names the statements of an answer which do not stand in the notes; None if all do."""
        from zkchat.vault.verification.verify import verify

        statements = verify(self._core.library, answer).statements
        missing = [f"“{_shortened(each.text)}”" for each in statements if not each.is_supported]
        if not missing:
            return None
        quoted = ", ".join([*missing[:MAX_QUOTED_STATEMENTS], *["…"] * (len(missing) > MAX_QUOTED_STATEMENTS)])
        return Warned(
            text=f"{len(missing)} of {counted(len(statements), 'statement')} of the answer "
            f"{'does' if len(missing) == 1 else 'do'} not stand in your notes, word for word or nearly: {quoted}.",
            hint="/verify in a chat, and zkchat verify, show what your notes say of each.",
        )

    async def _replace(self, exchange: Exchange, user: ChatMessage, found: "Contradiction", emit: Emit) -> None:
        loop = self._loop
        first = loop.close(exchange)
        warnings = [loop.store(first, exchange), self._core.journal.append(HeadEntry(message_id=user.id))]
        text = "".join(piece.text for piece in quotations([found.evidence]))
        exchange.draft = self._core.journal.begin_answer(self._core.info)
        exchange.draft.add(text=text)
        exchange.finish = Finish()
        for warning in filter(None, warnings):
            await emit(warning)
        await emit(self._warning(found, first.id))
        await emit(AnswerReplaced(message_id=first.id))
        await emit(TextDelta(text=text))

    def _warning(self, found: "Contradiction", message_id: str) -> Warned:
        said = _shortened(found.said)
        return Warned(
            text=f"{self._core.info.name} said “{said}”, which contradicts {place_of(found.evidence)}.",
            hint=f"Its answer is kept: /branch {message_id} returns to it. references.check_answers = false shows it.",
        )


def _shortened(sentence: str) -> str:
    return shorten(" ".join(sentence.split()), MAX_QUOTED_CHARS)


class SecondLook:
    """Happens once in a session: from then on the model is given the evidence with the question.

    The first answer stays in the session, on a branch of its own, and is marked: the mark says that it has happened,
    to whoever goes on with the session.
    """

    def __init__(self, loop: ToolLoop) -> None:
        self._loop = loop
        self._core = loop.core

    @property
    def _has_happened(self) -> bool:
        return self._core.history.was_asked_again

    def expected(self, question: Question, references: Sequence[DocumentReference]) -> list[Evidence]:
        """What the notes say on it, in a session whose model would not look by itself."""
        return relevant_evidence(self._core.library, question, references) if self._has_happened else []

    def applies(self, plan: RequestPlan) -> bool:
        """Whether a model may be asked again after this request."""
        return self._core.settings.look_again and plan.offers_tools and not self._has_happened

    async def run(self, exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> None:
        """Ask again with evidence where the answer of the exchange was given without any."""
        loop = self._loop
        if question.has_material or not (self.applies(exchange.plan) and _may_be_unfounded(exchange, loop)):
            return
        found = relevant_evidence(self._core.library, question, user.references)
        if not found:
            return
        first = loop.close(exchange)
        if any(reference.cited and not reference.unverified for reference in first.references):
            return
        name = self._core.info.name
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
            self._core.journal.append(HeadEntry(message_id=user.id))
            exchange.plan = exchange.plan.with_items(map(_evidence_item, found))
            exchange.references = ReferenceList(user.references)
            await emit(EvidenceFound(evidence=tuple(found)))
            await self._loop.ask_again(exchange, user.id, [*map(as_reference, found)], emit)
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
        self._core.journal.append(HeadEntry(message_id=before.draft.message.id))
        exchange.draft, exchange.finish = before.draft, before.finish
        exchange.assembled, exchange.references = before.assembled, before.references
        return True


def _may_be_unfounded(exchange: Exchange, loop: ToolLoop) -> bool:
    """Whether a model that has tools used none so far, was given nothing to answer from, and yet has answered."""
    return (
        exchange.finish is not None
        and exchange.finish.reason == "stop"
        and not any(map(_is_given, exchange.assembled.context.items))
        and not any(message.role == "tool" for message in loop.core.history.newest_first)
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
