"""What the notes say of the statements of a text, as rows of a numbered list and as a sentence."""

from collections.abc import Sequence
from typing import Final

from zkchat.model.note import line_place, page_named
from zkchat.model.quotation import heading_of
from zkchat.model.text import counted, shorten
from zkchat.model.verification import CheckedStatement, Difference, SourcePlace, Verdict, Verification
from zkchat.render.numbered_rows import NumberedRow, Place

_MAX_SENTENCE: Final = 240
_MARKS: Final[dict[Verdict, str]] = {"quoted": "✓", "supported": "≈", "contradicted": "✗", "unsupported": "?"}
_DIFFERENCES: Final[dict[Difference, str]] = {
    "number": "another number",
    "name": "another name",
    "negation": "the opposite",
}


def statement_rows(statements: Sequence[CheckedStatement]) -> list[NumberedRow]:
    """A row for each statement: a mark, what it says, the verdict with the place, and what stands there."""
    return [_row(each) for each in statements]


def _row(statement: CheckedStatement) -> NumberedRow:
    best = statement.places[0] if statement.places else statement.nearest
    return NumberedRow(
        name=f"{_MARKS[statement.verdict]} {_shortened(statement.text)}",
        place=_verdict(statement),
        text=f"“{_shortened(best.quote)}”" if best and statement.verdict != "quoted" else "",
        is_doubtful=not statement.is_supported,
        to=Place(path=best.path, line=best.lines.first, name=best.title)
        if best
        else Place(path=None, name=statement.text, doubt="No note says it."),
        data=statement,
    )


def _verdict(statement: CheckedStatement) -> str:
    """The verdict with the place that it rests on."""
    if statement.nearest:
        return f"unsupported: no note says this so; nearest: {_location(statement.nearest)}"
    if statement.verdict == "unsupported":
        return "unsupported: no note says this"
    difference = f": {_DIFFERENCES[statement.difference]}" if statement.difference else ""
    locations = [_location(place) for place in statement.places[:1]]
    return " · ".join(filter(None, [f"{statement.verdict}{difference}", *locations, _others(statement)]))


def _location(place: SourcePlace) -> str:
    heading = heading_of(place.heading)
    if page := page_named(place.path, place.heading):
        return f"{place.path}#page={page}"
    return line_place(place.path, place.lines.first) + (f" › {heading}" if heading else "")


def _others(statement: CheckedStatement) -> str:
    return f"and {counted(len(statement.places) - 1, 'more place')}" if len(statement.places) > 1 else ""


def _shortened(text: str) -> str:
    return shorten(" ".join(text.split()), _MAX_SENTENCE)


def summary(verification: Verification) -> str:
    """How many of the statements stand in the notes, as a sentence."""
    total = len(verification.statements)
    if not total:
        return "The text states nothing that could be compared with your notes."
    stand = verification.count("quoted") + verification.count("supported")
    contradicted = verification.count("contradicted")
    ends = [f"{stand} of {counted(total, 'statement')} {'stands' if 1 in {stand, total} else 'stand'} in your notes"]
    if contradicted:
        ends.append(f"{contradicted} {'contradicts' if contradicted == 1 else 'contradict'} them")
    if left := verification.count("unsupported"):
        ends.append(f"{left} {'is' if left == 1 else 'are'} not there")
    rest = "" if verification.is_complete else " The text is longer than what was checked."
    return f"{', '.join(ends)}.{rest}"
