"""The units of a long text: where they stand, which cover most of what it says, and which bear on a question."""

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import log
from math import pow as power
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from zkchat.core import MessageExcerpt, lazy_pattern
from zkchat.index import UNSPACED_SCRIPTS, idf, own_terms, query_terms, query_words, stem, terms, words
from zkchat.language import (
    FIRST_PERSON,
    FOR_A_FAILURE,
    FOR_A_SUCCESS,
    NEGATORS,
    SIGNS_OF_FAILURE,
    STOP_WORDS,
    UNSPACED_FOR_A_FAILURE,
    UNSPACED_STATEMENTS,
)
from zkchat.notes import Span, sentence_spans

GAIN_BY_OCCURRENCE = (1.0, 0.15)
"""Of a term: for its first occurrence, for its second. After that it adds nothing."""
_WORD = lazy_pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_STOP_WORDS = " ".join(STOP_WORDS.values())
_NEGATORS = " ".join(NEGATORS.values())
_OWN = frozenset(FIRST_PERSON.split())


class CoverageItem(NamedTuple):
    """A text that can be selected."""

    terms: frozenset[str]
    weight: float
    cost: int


def coverage_item(sentence: str, cost: int, *, weight: float = 1.0) -> CoverageItem:
    return CoverageItem(content_terms(sentence), weight * sentence_weight(sentence), max(cost, 1))


def content_terms(text: str) -> frozenset[str]:
    """The terms of a text; none if it is made of stop words alone."""
    asked = query_words(text)
    return frozenset() if listed_words(_STOP_WORDS).issuperset(asked) else frozenset(map(stem, asked))


@cache
def listed_words(listed: str) -> frozenset[str]:
    """The words of a list that is written down in the code."""
    return frozenset(words(listed))


@cache
def listed_terms(listed: str) -> frozenset[str]:
    return frozenset(terms(listed))


def sentence_weight(sentence: str) -> float:
    """How much a sentence is likely to matter: names, numbers and what somebody says of themselves more."""
    written = _WORD.findall(sentence)
    value = 1.0
    if "[[" in sentence or any(len(word) > 1 and word[0].isupper() for word in written[1:]):  # a name
        value *= 1.3
    if any(character.isdigit() for character in sentence):
        value *= 1.3
    if any(word.lower() in _OWN for word in written) or any(sign in sentence for sign in UNSPACED_STATEMENTS):
        value *= 1.2
    return value


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’»)]*_」』 ").endswith(("?", "？", "؟", "\u037e"))


def idf_weights(items: Iterable[CoverageItem], focus: Collection[str] = ()) -> dict[str, float]:
    """The inverse document frequency of each term among the items, four times as high for terms in `focus`."""
    found = list(items)
    holding = Counter(term for each in found for term in each.terms)
    return {term: log(1 + len(found) / count) * (4 if term in focus else 1.0) for term, count in holding.items()}


def select_greedily(
    items: Sequence[CoverageItem],
    weights: Mapping[str, float],
    fits: Callable[[int], bool],
    *,
    covered: Iterable[frozenset[str]] = (),
) -> list[int]:
    """The selected items, by number and in the order of selection. Each is offered to `fits` at most once.

    `covered` are the terms of each text that already exists.
    """
    counts = Counter(term for each in covered for term in each)

    def gain(number: int) -> float:
        new: float = sum(
            weights[term] * GAIN_BY_OCCURRENCE[counts[term]]
            for term in items[number].terms
            if counts[term] < len(GAIN_BY_OCCURRENCE)
        )
        # A long sentence brings along what belongs together, and pays for its line once.
        return new * items[number].weight / power(items[number].cost, 0.7)

    taken: list[int] = []
    waiting = [(-gain(number), number) for number in range(len(items))]
    heapify(waiting)
    while waiting:
        _, number = heappop(waiting)
        value = gain(number)
        if waiting and value < -waiting[0][0]:  # lazy evaluation: its gain is lower now than when it was queued
            heappush(waiting, (-value, number))
        elif value > 0 and fits(number):
            taken.append(number)
            counts.update(items[number].terms)
    return taken


UnitKind = Literal["line", "row", "record"]

MAX_ROW: Final = 2_000
"""And of a row or a record, whose values belong together."""
WIDE: Final = 3
"""Where letters are written without spaces, a third of these limits: each says more."""
_NUMBER: Final = lazy_pattern(r"\d\d")
_LINE: Final = lazy_pattern(r"^.*\S.*", re.MULTILINE)
_JSON_SIGN: Final = lazy_pattern(r'"(?:[^"\\]|\\.)*"|[][{},]')


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
        spans = [found.span() for found in _LINE.finditer(text)]
        kind = "row" if _is_table(text, spans) else "line"
    most, piece = (480 if kind == "line" else MAX_ROW), 240
    if is_wide(text):
        most, piece = most // WIDE, piece // WIDE
    parts = [part for span in spans for part in split_span(text, span, most, piece)]
    group = -(-len(parts) // 100_000)  # of more, some are joined
    if group > 1:
        cuts = [*range(0, len(parts), group), len(parts)]
        parts = [(parts[first][0], parts[last - 1][1]) for first, last in pairwise(cuts)]
    return TextUnits(text, parts, kind)


def _json_records(text: str) -> list[Span]:
    """The records of a JSON document: what stands between the commas of its outer arrays and objects, down to the
    level at which they are short."""
    try:
        if not text.lstrip().startswith(("{", "[")) or not isinstance(json.loads(text), list | dict):
            return []
    except (ValueError, RecursionError):
        return []
    depth, commas = 0, list[tuple[int, int]]()
    for found in _JSON_SIGN.finditer(text):
        sign = found[0]
        depth += (sign in "{[") - (sign in "}]")
        if sign == ",":
            commas.append((found.start(), depth))
    spans: list[Span] = []
    for deepest in range(1, 8 + 1):
        ends = [*(place for place, depth in commas if depth <= deepest), len(text)]
        starts = [0, *(end + 1 for end in ends[:-1])]
        spans = [(end - len(text[start:end].lstrip()), end) for start, end in zip(starts, ends, strict=True)]
        if max(end - start for start, end in spans) <= MAX_ROW:
            break
    return spans if len(spans) > 1 else []


def _is_table(text: str, lines: Sequence[Span]) -> bool:
    """Whether most lines have as many delimiters as the first one, which has names and no numbers."""
    first = text[slice(*lines[0])] if lines else ""
    if len(lines) < 4 or _NUMBER.search(first):
        return False
    sample = [text[start:end] for start, end in lines[1 :: max(1, len(lines) // 60)]]
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
    """Pieces of a text without sentences, each cut after the last of the best separators in its second half."""
    separators = ("},", "\n", "；", ";", "，", "、", ", ", ",", " ", "\t", "|", "/")  # the best first
    while end - start > most:
        low, high = start + most // 2, start + most
        found = ((text.rfind(separator, low, high), separator) for separator in separators)
        cut = next((place + len(separator) for place, separator in found if place >= 0), high)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


_NEAR: Final = {1: 0.55, 2: 0.4, 3: 0.2, 4: 0.1, -1: 0.4, -2: 0.2, -3: 0.1}
"""What the units after and before a hit inherit of it, by how far away they are."""
MIN_SHARE: Final = 0.4
"""The least share of the question, by the weight of its terms, of a unit that answers it."""
MIN_SHARE_OF_BEST: Final = 0.7
"""And of what the best of them meets."""
_UNSPACED: Final = lazy_pattern(f"[{UNSPACED_SCRIPTS}]")
_PLURAL_END: Final = lazy_pattern(r"s(?![^\W_])")
_NONE_BEFORE: Final = lazy_pattern(r"(?:^|[^\w.])(?:0|no|without|zero)[ _-]$")
_NONE_AFTER: Final = lazy_pattern(r"\w{0,6}[\"']?[ \t]*[:=][ \t]*(?:0|none|null|false)(?![\w.])")
_SHAPELESS: Final = b"0123456789abcdefABCDEF \t.,:;-_/\\\"'()[]{}=+#@<>|"
"""Left out of a shape: digits, and all that hexadecimal numbers are made of."""
MAX_EXCERPTS: Final = 5


def rank_units(units: TextUnits, question: str) -> list[int]:
    """The numbers of the units that bear on the question, best first, then those that stand near them.

    Where none does, those that cover most of what the text says.
    """
    total = len(units.spans)
    scores: Counter[int] = Counter()
    for found in _occurrences(units, question):
        if len(found) <= max(50, 0.4 * total):  # one in more units tells nothing apart
            scores.update(dict.fromkeys(found, idf(total, len(found))))
    scores.update(_rare_units(units))
    if not scores:
        step = max(1, -(-total // 2_000))  # of a text with many, among some of them
        numbers = range(0, total, step)
        items = [coverage_item(text, len(text)) for text in (units.text[slice(*units.spans[each])] for each in numbers)]
        return [numbers[place] for place in select_greedily(items, idf_weights(items), lambda _: True)]
    ranked: dict[int, float] = dict(scores)
    if units.kind != "row":
        for number, score in scores.most_common(3_000):
            for distance, weight in _NEAR.items():
                if 0 <= number + distance < total:
                    ranked[number + distance] = max(ranked.get(number + distance, 0.0), weight * score)
    return sorted(ranked, key=lambda number: (-ranked[number], number))


def answering_units(units: TextUnits, question: str) -> list[int]:
    """The units that meet much of the question, best first; none where no unit does."""
    total = len(units.spans)
    found = [(numbers, idf(total, len(numbers))) for numbers in _occurrences(units, question)]
    whole = sum(weight for _, weight in found)
    met: Counter[int] = Counter()
    for numbers, weight in found:
        met.update(dict.fromkeys(numbers, weight / whole))
    least = max(MIN_SHARE, MIN_SHARE_OF_BEST * max(met.values(), default=0.0))
    return [number for number in rank_units(units, question) if met[number] >= least]


def _occurrences(units: TextUnits, question: str) -> Iterator[set[int]]:
    """For each term of the question the units that hold it, in any form; a failure is held by any sign of it."""
    asked = own_terms(question) or frozenset(query_terms(question))
    lowered = _lowered(units.text)
    asks_for_failure = _asks_for_failure(question)
    failure = listed_terms(FOR_A_FAILURE) if asks_for_failure else frozenset()
    for term in sorted(asked - failure)[:40]:
        yield _holding(units, _places(lowered, units.text, term))
    if asks_for_failure:
        signs = [*map(_lowered, SIGNS_OF_FAILURE), *(asked & failure)]
        yield {number for sign in signs for number in _holding(units, _signs(lowered, sign))}


def _holding(units: TextUnits, places: Iterator[int]) -> set[int]:
    starts = units.starts
    return {max(0, bisect_right(starts, place) - 1) for place in places}


def _places(lowered: str, text: str, term: str) -> Iterator[int]:
    """Where a term stands: a short one as a word, a longer one as the beginning of one, a long one anywhere.

    `Timeout` begins a word in `readTimeout` and in `read_timeout`.
    """
    needle = term[:-1] if len(term) > 4 and term[-1] in "iy" else term
    if _UNSPACED.match(needle) or (len(needle) > 5 and needle.isalpha()):
        yield from _literal_places(lowered, needle)
        return
    for place in _literal_places(lowered, needle):
        if place and _continues(text, place):
            continue
        end = place + len(needle)
        is_stem = len(needle) > 3 and needle.isalpha()
        if is_stem or not lowered[end : end + 1].isalnum() or _PLURAL_END.match(lowered, end):
            yield place


def _continues(text: str, place: int) -> bool:
    """Whether the letter at this place goes on with the word before it."""
    before, first = text[place - 1], text[place]
    return before.isdigit() if first.isdigit() else before.isalpha() and not (first.isupper() and before.islower())


def _literal_places(text: str, needle: str) -> Iterator[int]:
    place = text.find(needle)
    while place >= 0:
        yield place
        place = text.find(needle, place + len(needle))


def _signs(lowered: str, sign: str) -> Iterator[int]:
    """Where a sign of failure stands that is not denied: `0 errors` and `errors: 0` tell that all went well."""
    for place in _literal_places(lowered, sign):
        before, after = lowered[max(0, place - 8) : place], lowered[place + len(sign) : place + len(sign) + 12]
        if not (_NONE_BEFORE.search(before) or _NONE_AFTER.match(after)):
            yield place


def _lowered(text: str) -> str:
    """In lower case and without accents, each letter at its place."""
    lowered = text.lower() if len(text.lower()) == len(text) else text
    return lowered if lowered.isascii() else lowered.translate(_unaccented())


@cache
def _unaccented() -> dict[int, str]:
    letters = [*range(0xC0, 0x250), *range(0x1E00, 0x1F00)]
    found = {letter: words(chr(letter)) for letter in letters}
    return {letter: folded[0] for letter, folded in found.items() if len(folded) == 1 and len(folded[0]) == 1}


def _asks_for_failure(question: str) -> bool:
    """Whether it asks what went wrong, or what did not go well."""
    if any(word in question for word in UNSPACED_FOR_A_FAILURE.split()):
        return True
    asked = frozenset(terms(question))
    is_denied = "n't" in question or "n’t" in question or not listed_terms(_NEGATORS).isdisjoint(asked)
    signs = f"{FOR_A_FAILURE} {FOR_A_SUCCESS}" if is_denied else FOR_A_FAILURE
    return not asked.isdisjoint(listed_terms(signs))


def _rare_units(units: TextUnits) -> dict[int, float]:
    """The units unlike all others, without their numbers, in a text in which most look like many others, as a log."""
    shapes = [units.text[start:end].encode(errors="replace").translate(None, _SHAPELESS) for start, end in units.spans]
    counts, total = Counter(shapes), len(shapes)
    if sum(count for count in counts.values() if count >= 5) < total / 2:
        return {}
    most = max(2, total // 200)
    rare = ((number, counts[shape]) for number, shape in enumerate(shapes) if counts[shape] <= most)
    # A rare shape counts about a third of a term as rare.
    return {number: 0.35 * idf(total, count) for number, count in rare}


def find_in_text(text: str, question: str) -> tuple[MessageExcerpt, ...]:
    """The lines of a text that answer a question, in their order; none where none does.

    A table's header comes before its rows, and after a line that asks the next one.
    """
    if not text.strip() or not question.strip():
        return ()
    units = split_units(text)
    found = set(answering_units(units, question)[:MAX_EXCERPTS])
    if found and units.kind == "row":
        found.add(0)
    asking = (number for number in found if is_question(text[slice(*units.spans[number])]))
    found |= {number + 1 for number in [*asking] if number + 1 < len(units.spans)}
    return tuple(
        MessageExcerpt(
            text=text[start:end], first_line=1 + text.count("\n", 0, start), last_line=1 + text.count("\n", 0, end)
        )
        for start, end in (units.spans[number] for number in sorted(found))
    )
