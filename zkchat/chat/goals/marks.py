"""How the answer to a step says that the step is done, or that it cannot be. Pure."""

import re
from typing import Final, Literal

from msgspec import Struct

from zkchat.model.patterns import lazy_pattern

DONE: Final = "DONE"
BLOCKED: Final = "BLOCKED"
MAX_LINES_AFTER: Final = 3
"""Lines of text that may follow the mark: where more do, it was no end."""
WORDS: Final = ("done", "blocked", "erledigt", "blockiert", "fait", "hecho")
_MARK: Final = lazy_pattern(
    rf"\s*(?P<bullet>[-*+•]\s+)?[*_`\[(#\s]*(?P<word>{'|'.join(WORDS)})[\])*_`]*"
    r"(?:\s*[:：—–-]+[*_`]*\s*(?P<text>.*)|\s*[.!]?[*_`]*\s*)$",
    re.IGNORECASE,
)
_BLOCKING: Final = frozenset({"blocked", "blockiert"})
FENCE: Final = lazy_pattern(r"\s*(?:```|~~~)")
_EMPHASIS: Final = "*_` "


class StepAnswer(Struct, frozen=True):
    """What an answer says of its step."""

    state: Literal["done", "blocked"]
    summary: str
    """What was found or done, or why it was not: in the words after the mark, else the whole answer."""
    text: str
    """The answer without the mark."""
    body: str
    """What stands before the mark, else the words after it."""


def parse_answer(text: str) -> StepAnswer:
    """Read the mark at the end of an answer. Without one, a finished answer is the step's result; an empty one is none.

    A mark inside a quotation or a listing is what a note says, and no mark.
    """
    lines = text.strip().splitlines()
    place = mark_at(lines)
    if place is None:
        whole = text.strip()
        return StepAnswer("done" if whole else "blocked", whole, whole, whole)
    match = match_mark(lines[place])
    assert match is not None
    said = "\n".join([(match["text"] or "").strip(), *lines[place + 1 :]]).strip().rstrip(_EMPHASIS)
    before = "\n".join(lines[:place]).strip()
    is_blocked = match["word"].casefold() in _BLOCKING
    kept = "\n\n".join(filter(None, [before, said]))
    return StepAnswer("blocked" if is_blocked else "done", said or before, kept, before or said)


def match_mark(line: str) -> re.Match[str] | None:
    """A line as a mark, if it is one. An item of a list is none unless it is in capitals: `- Done: 5` is a result."""
    match = _MARK.match(line)
    return match if match and (not match["bullet"] or match["word"].isupper()) else None


def mark_at(lines: list[str]) -> int | None:
    """The line of the last mark, if it ends the answer."""
    found: int | None = None
    is_listing = False
    for place, line in enumerate(lines):
        if FENCE.match(line):
            is_listing = not is_listing
        elif not is_listing and match_mark(line):
            found = place
    if found is None or sum(bool(line.strip()) for line in lines[found + 1 :]) > MAX_LINES_AFTER:
        return None
    return found
