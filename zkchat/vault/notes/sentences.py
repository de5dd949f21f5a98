"""Sentence segmentation: a passage in units that can be quoted alone (sentences, list items, table rows, listings)."""

from collections.abc import Iterator
from itertools import pairwise

from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.markdown import Span
from zkchat.vault.notes.runs import closes_fence, opens_fence

_HEADING_OR_ID = lazy_pattern(r"\s{0,3}#{1,6}\s|\s*\^[\w-]+\s*$")
_STARTS_A_UNIT = lazy_pattern(r"^\s*(?:[-*+]\s|\d{1,9}[.)]\s|\|)")
_MARKER = lazy_pattern(r"^(?:\s*>)*\s*(?:\[![\w-]+\][+-]?\s*)?(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?")
"""Quote marks, call-outs, list bullets, check boxes: they frame a sentence and are no part of it."""
_MARKS = ".!?…。！？｡।॥؟۔։።។៕။"
_END = lazy_pattern(
    rf"[{_MARKS}](?<![{_MARKS}].)[{_MARKS}]*"
    r"(?:(?<=[.!?…])[\"'”’»)\]*_]*(?=\s)|(?<=[。！？｡])[」』”’）]*|(?<=[।॥؟۔։።])(?=\s|$)|(?<=[។៕။]))"
)
_ABBREVIATION = lazy_pattern(
    r"(?:\b(?:e\.g|i\.e|z\.B|d\.h|u\.a|cf|vs|ca|bzw|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Fig|p|pp|vol|ed|bspw|evtl|ggf|inkl|approx|"
    r"incl|Sra?|стр|рис|ул|им|т\.е|(?<![\d:.,])(?:[12]\d|3[01]))|(?<!°)\b\w)\.$"
)
_WITHOUT_ENDS = "\u0e01-\u0e45\u0e47-\u0e4e\u0e81-\u0ec5\u0ec7-\u0ecd\u1000-\u103f\u1780-\u17d3"
"""Letters of Thai, Lao, Burmese and Khmer: a space there ends a clause, and often nothing else ends a sentence."""
_CLAUSE_END = lazy_pattern(f"(?<=[{_WITHOUT_ENDS}])[ \u00a0\u200b]+(?=[{_WITHOUT_ENDS}])(?!ฯ)")
_MIN_CLAUSE = 40
"""Characters of a piece that is cut off at such a space."""
_MAX_UNCUT = 90
"""Characters of a text without sentence ends that is left as it is."""
_WORD_CHARACTER = lazy_pattern(r"[^\W_]")
_NO_SPACE = lazy_pattern(r"\S")
_BLOCK_ID = lazy_pattern(r"\s\^[\w-]+\s*$")
_MAX_LISTING_LINES = 12


def sentences(text: str) -> list[str]:
    """In order, each exactly as it is written, soft line breaks included."""
    return [sentence for unit in _units(text) for sentence in _split(unit)]


def _units(text: str) -> Iterator[str]:
    """Paragraphs, list items and table rows; a short code listing is one unit with its fences."""
    unit: list[str] = []
    fence = ""
    for line in text.splitlines():
        if fence:
            unit.append(line)
            if closes_fence(line, fence):
                yield from _taken(unit) if len(unit) <= _MAX_LISTING_LINES else ()
                unit, fence = [], ""
            continue
        opened = opens_fence(line)
        is_prose = not _is_frame(line)
        if opened or not is_prose or _STARTS_A_UNIT.match(line):
            yield from _taken(unit)
            unit = []
        fence = opened
        if is_prose:
            unit.append(line)
    yield from _taken(unit) if not fence else ()


def _is_frame(line: str) -> bool:
    """Blank lines, headings, rulers, the second row of a table, a lonely block id."""
    marks = "".join(line.split())
    if not marks.strip("-*_"):
        return len(marks) != 1 and len(marks) != 2
    is_second_row = "|" in line[1:] and not marks.strip(":|-")
    return is_second_row or _HEADING_OR_ID.match(line) is not None


def _taken(unit: list[str]) -> Iterator[str]:
    if unit:
        yield "\n".join(unit)


def _split(unit: str) -> Iterator[str]:
    if opens_fence(unit.partition("\n")[0]) or unit.lstrip().startswith("|"):
        yield unit.strip()
        return
    unit = _BLOCK_ID.sub("", _MARKER.sub("", unit, count=1))
    for start, end in sentence_spans(unit, 0, len(unit)):
        yield unit[start:end]


def sentence_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """Where the sentences of `text[start:end]` stand, a paragraph without its markers; without space around them."""
    ends = (match.end() for match in _END.finditer(text, start, end))
    cuts = [start, *(place for place in ends if _is_end(text, place, end)), end]
    for first, last in pairwise(cuts):
        for span in _clauses(text, first, last) if last - first > _MAX_UNCUT else ((first, last),):
            sentence = text[span[0] : span[1]]
            if _WORD_CHARACTER.search(sentence):
                begin = span[0] + len(sentence) - len(sentence.lstrip())
                yield begin, begin + len(sentence.strip())


def _clauses(text: str, start: int, end: int) -> Iterator[Span]:
    """The pieces of a long text in a script without sentence ends, cut at spaces outside brackets; other text whole."""
    depth, seen = 0, start
    for match in _CLAUSE_END.finditer(text, start, end):
        depth += sum(text.count(sign, seen, match.start()) for sign in "([")
        depth -= sum(text.count(sign, seen, match.start()) for sign in ")]")
        seen = match.start()
        if depth <= 0 and match.start() - start >= _MIN_CLAUSE <= end - match.end():
            yield start, match.start()
            start = match.end()
            depth = 0
    yield start, end


def _is_end(text: str, place: int, end: int) -> bool:
    """A full stop after an abbreviation, or before a small letter, ends nothing."""
    following = _NO_SPACE.search(text, place, end)
    return not (following and following[0].islower()) and not _ABBREVIATION.search(text, max(0, place - 12), place)
