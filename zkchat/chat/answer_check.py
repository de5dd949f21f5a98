"""Check an answer against the notes: what contradicts a passage is replaced by it, what they do not say is named."""

from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.chat.event_stream import Emit
from zkchat.chat.exchange import Exchange
from zkchat.chat.question import Question
from zkchat.chat.tool_loop import ToolLoop
from zkchat.context.assembly import AssembledRequest
from zkchat.context.selection import wants_evidence
from zkchat.model.entries import HeadEntry
from zkchat.model.events import AnswerReplaced, TextDelta, Warned
from zkchat.model.message import ChatMessage
from zkchat.model.parts import FilePart
from zkchat.model.prompt import Finish
from zkchat.model.quotation import place_of, quotations
from zkchat.model.text import counted, shorten

if TYPE_CHECKING:
    from zkchat.vault.verification.contradiction import Contradiction

MAX_QUOTED_CHARS = 160
"""Of each statement that a warning quotes."""
MAX_QUOTED_STATEMENTS = 3
"""Statements that a warning quotes."""


class AnswerCheck(Struct, frozen=True, kw_only=True):
    """Checks answers of models that were handed passages: small ones, and any in strict mode.

    Large models with tools are left alone: they read more than what was handed to them. The answer of the model stays
    in the session, on a branch of its own. In strict mode, statements that do not stand in the notes are named.
    """

    loop: ToolLoop
    is_wanted: bool = True

    def applies(self, assembled: AssembledRequest, *, strict: bool) -> bool:
        """Whether the answer to this request is checked."""
        info = self.loop.provider.info
        can_read = assembled.context.can_read
        is_handed_evidence = strict or wants_evidence(info, assembled.budget.window, can_read=can_read)
        return self.is_wanted and is_handed_evidence and not info.needs_notes and bool(assembled.request.evidence)

    async def run(self, exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> None:
        """Replace the answer of the exchange by the passage that it contradicts, if there is one."""
        if exchange.draft is None or exchange.made or not self.applies(exchange.assembled, strict=exchange.strict):
            return
        from zkchat.vault.verification.contradiction import find_contradiction

        documents = [part.text for part in user.parts if isinstance(part, FilePart)]
        text = exchange.draft.finished().text
        found = find_contradiction(text, exchange.assembled.request.evidence, question.prose, documents)
        if found:
            await self._replace(exchange, user, found, emit)
        elif exchange.strict and (warning := self._unsupported(text)):
            await emit(warning)

    def _unsupported(self, answer: str) -> Warned | None:
        """A warning that names the statements of an answer which do not stand in the notes; None if all do."""
        from zkchat.vault.verification.verify import verify

        statements = verify(self.loop.library, answer).statements
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
        loop = self.loop
        first = loop.close(exchange)
        warnings = [loop.store(first, exchange), loop.journal.append(HeadEntry(message_id=user.id))]
        text = "".join(piece.text for piece in quotations([found.evidence]))
        exchange.draft = loop.journal.begin_answer(loop.provider.info)
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
            text=f"{self.loop.provider.info.name} said “{said}”, which contradicts {place_of(found.evidence)}.",
            hint=f"Its answer is kept: /branch {message_id} returns to it. references.check_answers = false shows it.",
        )


def _shortened(sentence: str) -> str:
    return shorten(" ".join(sentence.split()), MAX_QUOTED_CHARS)
