"""A model that answers from nothing although it could look into the notes: zkchat looks for it, and asks once more."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from zkchat.chat.references import ReferenceList
from zkchat.chat.tool_loop import Exchange, ToolLoop
from zkchat.context.assembly import Piece, piece
from zkchat.context.formatting import format_evidence
from zkchat.context.relevance import topic_terms
from zkchat.errors import StorageError, VaultError, ZkchatError
from zkchat.model.events import Event, PromptReady, ReferenceFound, Warned
from zkchat.model.message import ChatMessage, DocumentReference, Evidence, RequestItem
from zkchat.model.prompt import ModelInfo
from zkchat.model.session import HeadEntry
from zkchat.vault.evidence import evidence_for
from zkchat.vault.library import Library
from zkchat.vault.search.terms import terms

MOST_FOR_A_MODEL = 3
"""Sentences of evidence that a model is handed: it is led astray by more than it needs."""
REASON = "the first answer was given without a look into the notes"


def evidence_on(library: Library, text: str, references: Iterable[DocumentReference]) -> list[Evidence]:
    """What the vault says on it, the best first; nothing where it cannot be asked."""
    linked = [(reference.relative_path, reference.anchor) for reference in references if reference.relative_path]
    try:
        return evidence_for(library, text, linked)
    except (VaultError, StorageError):
        return []


def as_reference(evidence: Evidence) -> DocumentReference:
    return DocumentReference(
        wikilink=evidence.wikilink,
        relative_path=evidence.relative_path,
        reference_type="search",
        via="evidence",
        title=evidence.title,
        anchor=evidence.heading,
        lines=evidence.lines,
        snippet=evidence.sentence,
        score=evidence.score,
        included=True,
    )


@dataclass(frozen=True, kw_only=True)
class SecondLook:
    """Happens once in a turn, and once for a model: from then on it is handed the evidence with the question.

    The first answer stays in the session, on a branch of its own.
    """

    library: Library
    is_wanted: bool = True
    _seen: set[str] = field(default_factory=set)
    """The models that have answered so."""

    def expected(self, info: ModelInfo, text: str, references: Iterable[DocumentReference]) -> tuple[Evidence, ...]:
        """What the notes say on it, for a model that would not look by itself."""
        return self.found(text, references) if info.name in self._seen else ()

    def found(self, text: str, references: Iterable[DocumentReference]) -> tuple[Evidence, ...]:
        """What the notes say on a message, if it asks for something that may stand there."""
        telling = topic_terms(text)
        found = evidence_on(self.library, text, references) if telling else []
        return tuple(each for each in found if _bears_on(telling, each))[:MOST_FOR_A_MODEL]

    async def run(
        self, loop: ToolLoop, exchange: Exchange, user: ChatMessage, closed: Callable[[Exchange], ChatMessage]
    ) -> AsyncGenerator[Event, None]:
        """The answer, and where it was given from nothing, another. `closed` gives an answer as it is to be stored."""
        async with aclosing(loop.run(exchange)) as events:
            async for event in events:
                yield event
        if not (self.is_wanted and _may_be_unfounded(exchange, loop)):
            return
        found = self.found(user.text, user.references)
        if not found:
            return
        first = closed(exchange)
        if any(reference.cited and not reference.unverified for reference in first.references):
            return
        self._seen.add(loop.provider.info.name)
        if warning := loop.journal.append_answer(first, exchange.assembled.contents):
            yield warning
        yield Warned(
            text=f"{loop.provider.info.name} answered without looking into your notes. They say something on this, so "
            "it is asked again.",
            hint="references.look_again = false leaves it at the first answer.",
        )
        async with aclosing(_again(loop, exchange, user, found)) as events:
            async for event in events:
                yield event


async def _again(
    loop: ToolLoop, exchange: Exchange, user: ChatMessage, found: Sequence[Evidence]
) -> AsyncGenerator[Event, None]:
    """Ask with the evidence. Where not a word comes of it, the first answer is the answer."""
    before = replace(exchange)
    try:
        loop.journal.append(HeadEntry(message_id=user.id))
        exchange.wanted = replace(exchange.wanted, pieces=(*exchange.wanted.pieces, *map(_piece, found)))
        exchange.references = ReferenceList(user.references)
        for reference in map(as_reference, found):
            exchange.references.add(reference)
            yield ReferenceFound(reference=reference)
        async with aclosing(loop.preparation.ready(exchange.wanted, exchange.use)) as events:
            async for event in events:
                yield event
        yield PromptReady(message_id=user.id, usage=exchange.assembled.usage)
        async with aclosing(loop.run(exchange)) as events:
            async for event in events:
                yield event
    except ZkchatError as error:
        if not _take_back(loop, exchange, before):
            raise
        yield Warned(text=f"It could not be asked again. {error.message}", hint=error.hint)
    except (asyncio.CancelledError, GeneratorExit):
        _take_back(loop, exchange, before)
        raise


def _may_be_unfounded(exchange: Exchange, loop: ToolLoop) -> bool:
    """Whether a model that has tools used none so far, was given nothing to answer from, and yet has answered."""
    return (
        exchange.wanted.offers_tools
        and exchange.finish is not None
        and exchange.finish.reason == "stop"
        and not any(map(_is_given, exchange.assembled.context.items))
        and not any(message.role == "tool" for message in loop.journal.history.newest_first)
    )


def _is_given(item: RequestItem) -> bool:
    """Whether it is there to be answered from: a note, or what is remembered on the question."""
    return item.type in {"reference", "evidence", "recall"} or (item.type == "memory" and item.include == "agent")


def _bears_on(telling: frozenset[str], evidence: Evidence) -> bool:
    """Whether it has more than one word with the question in common, or is from a note of that name.

    A single word is found anywhere, and what was no question about notes shall not be made one.
    """
    named = telling.intersection(terms(evidence.title))
    return bool(named) or len(telling.intersection(terms(f"{evidence.heading} {evidence.sentence}"))) > 1


def _take_back(loop: ToolLoop, exchange: Exchange, before: Exchange) -> bool:
    """Go on with the first answer, unless another has begun."""
    if exchange.draft and exchange.draft is not before.draft and exchange.draft.finished().parts:
        return False
    assert before.draft is not None
    loop.journal.append(HeadEntry(message_id=before.draft.message.id))
    exchange.draft, exchange.finish = before.draft, before.finish
    exchange.assembled, exchange.references = before.assembled, before.references
    return True


def _piece(evidence: Evidence) -> Piece:
    return piece(
        "evidence",
        evidence.relative_path,
        format_evidence([evidence]),
        include="agent",
        score=evidence.score,
        reason=REASON,
        passing=True,
    )
