"""Split what was said into statements that a summary can keep one by one, whatever it was written as.

Sentences, list items, table rows and headings; of what has no sentence ends its lines, and of long lines their clauses.
"""

from collections.abc import Iterator
from typing import Final

from zkchat.context.text_units import is_wide, split_span
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.runs import closes_fence, opens_fence
from zkchat.vault.notes.sentences import sentences

MAX_STATEMENT: Final = 240
MIN_STATEMENT: Final = 120
"""Characters of a statement at most, by the budget; where letters are written without spaces, a third."""
_HEADING: Final = lazy_pattern(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_ENDS: Final = (".", "!", "?", "…", "。", "！", "？", "｡", "।", ":", "：", ";", "；", ",", "，")


def statements(text: str, budget: int) -> Iterator[str]:
    """The statements of a text in order, cut so that several of them fit into so many tokens."""
    limit = min(MAX_STATEMENT, max(MIN_STATEMENT, 2 * budget))
    for unit in _units(text):
        yield from _short(unit, limit)


def join_statements(said: list[str]) -> str:
    """Statements as running text: one that has no end of its own is ended by a semicolon."""
    ended = [each if each.endswith(_ENDS) else f"{each};" for each in said[:-1]]
    return " ".join([*ended, *said[-1:]])


def _units(text: str) -> Iterator[str]:
    """Sentences as they are told apart in notes, with the headings and the lines of listings, which notes frame."""
    prose: list[str] = []
    fence = ""
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if fence or opens_fence(line) or heading:
            yield from sentences("\n".join(prose))
            prose.clear()
        if fence:
            if closes_fence(line, fence):
                fence = ""
            elif line.strip():
                yield line.strip()
        elif heading:
            yield heading[1]
        elif not (fence := opens_fence(line)):
            prose.append(line)
    yield from sentences("\n".join(prose))


def _short(unit: str, limit: int) -> Iterator[str]:
    if len(unit) <= limit // 3:
        yield unit
        return
    limit = limit // 3 if is_wide(unit) else limit
    if len(unit) <= limit:
        yield unit
        return
    lines = [line.strip() for line in unit.splitlines() if line.strip()]
    for line in lines:
        for start, end in split_span(line, (0, len(line)), limit):
            if piece := line[start:end].strip(" \t,，、;；"):
                yield piece
