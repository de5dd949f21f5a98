"""Find the lines of a message that answer its question, for an answer that no model writes."""

from typing import Final

from zkchat.context.condensing import split_question
from zkchat.context.coverage import is_question
from zkchat.context.text_units import TextUnits, split_units
from zkchat.context.unit_ranking import answering_units
from zkchat.model.evidence import MessageExcerpt

MAX_EXCERPTS: Final = 5
MIN_MATERIAL: Final = 200
"""Characters of material beside the question, from which on it is looked for in them."""


def find_excerpts(message: str) -> tuple[MessageExcerpt, ...]:
    """The lines of the material of a message that answer its question, in their order; none where none does.

    A table's header comes before its rows, and after a line that asks the next one.
    """
    split = split_question(message, least=MIN_MATERIAL)
    return find_in_text(split.material, split.question)


def find_in_text(text: str, question: str) -> tuple[MessageExcerpt, ...]:
    """The same of a text and a question about it."""
    if not text.strip() or not question.strip():
        return ()
    units = split_units(text)
    found = set(answering_units(units, question)[:MAX_EXCERPTS])
    if not found:
        return ()
    found |= {number + 1 for number in found if number + 1 < len(units.spans) and is_question(_text(units, number))}
    found |= {0} if units.kind == "row" else set()
    return tuple(_excerpt(units, number) for number in sorted(found))


def _text(units: TextUnits, number: int) -> str:
    start, end = units.spans[number]
    return units.text[start:end]


def _excerpt(units: TextUnits, number: int) -> MessageExcerpt:
    start, end = units.spans[number]
    return MessageExcerpt(
        text=units.text[start:end],
        first_line=1 + units.text.count("\n", 0, start),
        last_line=1 + units.text.count("\n", 0, end),
    )
