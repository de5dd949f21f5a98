"""Split a long text into units that can be left out one by one: lines, table rows, JSON records, sentences, pieces."""

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal

from msgspec import Struct

from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.markdown import Span
from zkchat.vault.notes.sentences import sentence_spans

UnitKind = Literal["line", "row", "record"]

MAX_LINE: Final = 480
"""Characters of a line that stays one unit; a longer one is split into sentences or pieces."""
MAX_ROW: Final = 2_000
"""And of a row or a record, whose values belong together."""
MAX_PIECE: Final = 240
"""Characters of a piece of what has no sentences."""
WIDE: Final = 3
"""Where letters are written without spaces, a third of these limits: each says more."""
MAX_UNITS: Final = 100_000
"""Units of a text; those of a text with more are joined."""
MAX_DEPTH: Final = 8
"""Arrays and objects within each other in which records are looked for."""
_SAMPLE: Final = 60
_SEPARATORS: Final = ("},", "\n", "；", ";", "，", "、", ", ", ",", " ", "\t", "|", "/")
"""Where a long piece is cut, the best first."""
_NUMBER: Final = lazy_pattern(r"\d\d")
_DECODER: Final = json.JSONDecoder()


class TextUnits(Struct, frozen=True, dict=True):
    """Where the units of a text stand, in order; between them are separators only."""

    text: str
    spans: Sequence[Span]
    kind: UnitKind = "line"

    @cached_property
    def starts(self) -> list[int]:
        return [start for start, _ in self.spans]

    def between(self, start: int, end: int) -> int:
        """How many units begin between two places."""
        return bisect_left(self.starts, end) - bisect_left(self.starts, start)


def split_units(text: str) -> TextUnits:
    """The units of a text: records of a JSON document, else lines; of long ones their parts."""
    spans: Sequence[Span] = _json_records(text)
    kind: UnitKind = "record"
    if not spans:
        spans = [*_lines(text)]
        kind = "row" if _is_table(text, spans) else "line"
    most = MAX_LINE if kind == "line" else MAX_ROW
    piece = MAX_PIECE
    if is_wide(text):
        most, piece = most // WIDE, piece // WIDE
    return TextUnits(text, _joined([part for span in spans for part in split_span(text, span, most, piece)]), kind)


def _lines(text: str) -> Iterator[Span]:
    """The lines that are not blank; of a text with too many of them, several as one."""
    start, least = 0, len(text) // MAX_UNITS if text.count("\n") > MAX_UNITS else 0
    while start < len(text):
        end = text.find("\n", start + least)
        end = len(text) if end < 0 else end
        if not text[start:end].isspace() and end > start:
            yield start, end
        start = end + 1


def _json_records(text: str) -> list[Span]:
    """The records of a JSON document: the members of its arrays and objects, down to those that are short."""
    start = _after_space(text, 0)
    if text[start : start + 1] not in ("{", "["):
        return []
    try:
        spans, end = _members(text, start, depth=0)
    except (ValueError, IndexError, RecursionError):
        return []
    return spans if len(spans) > 1 and not text[end:].strip() else []


def _members(text: str, start: int, depth: int) -> tuple[list[Span], int]:
    """Where the members of an array or object stand that begins at `start`, brackets included, and where it ends."""
    spans: list[Span] = []
    closing = "}" if text[start] == "{" else "]"
    begin, place = start, _after_space(text, start + 1)
    while text[place] != closing:
        if closing == "}":
            _, place = _DECODER.raw_decode(text, place)
            place = _after_space(text, _after(":", text, place))
        _, end = _DECODER.raw_decode(text, place)
        if end - place > MAX_ROW and text[place] in "{[" and depth < MAX_DEPTH:
            inner, _ = _members(text, place, depth + 1)
            spans += [(begin, inner[0][1]), *inner[1:]] if inner else [(begin, end)]
        else:
            spans.append((begin, end))
        place = _after_space(text, end)
        if text[place] != closing:
            place = begin = _after_space(text, _after(",", text, place))
    if spans:
        spans[-1] = (spans[-1][0], place + 1)
    return spans, place + 1


def _after(sign: str, text: str, place: int) -> int:
    place = _after_space(text, place)
    if text[place] != sign:
        raise ValueError(sign)
    return place + 1


def _after_space(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n":
        place += 1
    return place


def _is_table(text: str, lines: Sequence[Span]) -> bool:
    """Whether most lines have as many delimiters as the first one, which has names and no numbers."""
    first = text[slice(*lines[0])] if lines else ""
    if len(lines) < 4 or _NUMBER.search(first):
        return False
    sample = [text[start:end] for start, end in lines[1 :: max(1, len(lines) // _SAMPLE)]]
    for delimiter in "\t,;|":
        columns = first.count(delimiter)
        alike = sum(line.count(delimiter) == columns for line in sample) / len(sample)
        if columns and alike >= (0.7 if columns > 1 else 0.95):
            return True
    return False


def is_wide(text: str) -> bool:
    """Whether it is mostly in a script of which a letter takes three bytes, such as Chinese."""
    sample = text[:: max(1, len(text) // 2_000)]
    return len(sample.encode(errors="replace")) > 2 * len(sample)


def split_span(text: str, span: Span, most: int, piece: int = 0) -> Iterator[Span]:
    """A span as it is, or if it is longer than that, its sentences; a sentence that is longer still in pieces."""
    start, end = span
    if end - start <= most:
        yield span
        return
    for first, last in sentence_spans(text, start, end):
        yield from _pieces(text, first, last, piece or most) if last - first > most else ((first, last),)


def _pieces(text: str, start: int, end: int, most: int) -> Iterator[Span]:
    while end - start > most:
        cut = _cut(text, start + most // 2, start + most)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _cut(text: str, low: int, high: int) -> int:
    """Where to cut between two places: after the last of the best separators, else at the end."""
    for separator in _SEPARATORS:
        place = text.rfind(separator, low, high)
        if place >= 0:
            return place + len(separator)
    return high


def _joined(spans: Sequence[Span]) -> Sequence[Span]:
    """As many neighbours as one as there are too many of them."""
    group = -(-len(spans) // MAX_UNITS)
    if group <= 1:
        return spans
    cuts = [*range(0, len(spans), group), len(spans)]
    return [(spans[first][0], spans[last - 1][1]) for first, last in pairwise(cuts)]
