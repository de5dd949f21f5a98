"""Rank the units of a long text by how much they bear on a question, and find those that answer it."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Final

from zkchat.chat.context.condensing import (
    TextUnits,
    coverage_item,
    idf_weights,
    is_question,
    select_greedily,
    split_question,
    split_units,
)
from zkchat.core import MessageExcerpt, lazy_pattern
from zkchat.index import UNSPACED_SCRIPTS, idf, query_terms, terms, topic_of, topic_terms, words
from zkchat.language import FOR_A_FAILURE, FOR_A_SUCCESS, NEGATORS, SIGNS_OF_FAILURE, UNSPACED_FOR_A_FAILURE

MAX_TERMS: Final = 40
"""Terms of a question that are looked for."""
MAX_SHARE: Final = 0.4
"""Of the units of a long text: a term that more of them hold tells nothing apart."""
MIN_COMMON: Final = 50
"""Units that may hold a term in any case."""
MAX_HITS: Final = 3_000
"""Units, the best ones, whose neighbours are ranked too."""
CONTEXT_WEIGHT: Final = 0.3
"""What a term counts that stands in the next units only."""
RARITY_WEIGHT: Final = 0.35
"""What a rare shape counts beside a term as rare."""
REPETITION: Final = 0.25
"""By how much each unit of a shape counts less than the better one before it."""
AFTER: Final = (0.55, 0.4, 0.2, 0.1)
BEFORE: Final = (0.4, 0.2, 0.1)
"""What the units after and before a hit inherit of it."""
SECTION_WEIGHT: Final = 0.6
"""And what the lines inherit that say where a hit stands."""
MAX_ABOVE: Final = 200
"""Lines before an indented one among which those are looked for that it belongs to."""
MAX_INDENTATION: Final = 80
MIN_SHARE: Final = 0.4
"""The least share of the question, by the weight of its terms, of a unit that answers it."""
MIN_SHARE_OF_BEST: Final = 0.7
"""And of what the best of them meets."""
MAX_COVERED: Final = 2_000
"""Units of a text without hits among which those are chosen that cover most of it."""
_UNSPACED: Final = lazy_pattern(f"[{UNSPACED_SCRIPTS}]")
_PLURAL_END: Final = lazy_pattern(r"s(?![^\W_])")
_NONE_BEFORE: Final = lazy_pattern(r"(?:^|[^\w.])(?:0|no|without|zero)[ _-]$")
_NONE_AFTER: Final = lazy_pattern(r"\w{0,6}[\"']?[ \t]*[:=][ \t]*(?:0|none|null|false)(?![\w.])")
_SECTION: Final = lazy_pattern(r"^(?:commit [0-9a-f]{7,40}\b|diff --git |#{1,6} )", re.MULTILINE)
_SHAPELESS: Final = b"0123456789abcdefABCDEF \t.,:;-_/\\\"'()[]{}=+#@<>|"
"""Left out of a shape: digits, and all that hexadecimal numbers are made of."""
MAX_EXCERPTS: Final = 5
MIN_MATERIAL: Final = 200
"""Characters of material beside the question, from which on it is looked for in them."""


def rank_units(units: TextUnits, question: str) -> list[int]:
    """The numbers of the units that bear on the question, best first, then those that stand near them.

    Where none does, those that cover most of what the text says.
    """
    shapes = _shapes(units)
    scores = _scores(units, question, shapes)
    if not scores:
        return _covering(units)
    seen: Counter[bytes] = Counter()
    ranked: dict[int, float] = {}
    for number in sorted(scores, key=lambda each: (-scores[each], each)):
        shape = shapes[number]
        ranked[number] = scores[number] / (1 + REPETITION * seen[shape])
        seen[shape] += 1
    best = sorted(ranked, key=lambda each: (-ranked[each], each))
    if units.kind != "row":
        sections = _section_lines(units)
        for number in best[:MAX_HITS]:
            above = ((place, SECTION_WEIGHT) for place in _above(number, units, sections))
            for near, weight in chain(_near(number, len(units.spans)), above):
                ranked[near] = max(ranked.get(near, 0.0), weight * ranked[number])
    return sorted(ranked, key=lambda each: (-ranked[each], each))


def _near(number: int, units: int) -> Iterator[tuple[int, float]]:
    for distance, weight in enumerate(AFTER, start=1):
        if number + distance < units:
            yield number + distance, weight
    for distance, weight in enumerate(BEFORE, start=1):
        if number >= distance:
            yield number - distance, weight


def _section_lines(units: TextUnits) -> dict[str, list[int]]:
    """The units that begin a section, in order, by what they begin with: commits, files of a diff, headings."""
    found: dict[str, list[int]] = defaultdict(list)
    for match in _SECTION.finditer(units.text):
        found[match[0][:4]].append(bisect_right(units.starts, match.start()) - 1)
    return found


def _above(number: int, units: TextUnits, sections: Mapping[str, Sequence[int]]) -> Iterator[int]:
    """The lines that say where a unit stands: the last commit, file and heading, and those it is indented below."""
    for listed in sections.values():
        if place := bisect_right(listed, number):
            yield listed[place - 1]
    depth = _indentation(units, number)
    for before in range(number - 1, max(-1, number - MAX_ABOVE), -1):
        if not depth:
            return
        if (outer := _indentation(units, before)) < depth:
            depth = outer
            yield before


def _indentation(units: TextUnits, number: int) -> int:
    start, end = units.spans[number]
    text = units.text[start : min(end, start + MAX_INDENTATION)]
    return len(text) - len(text.lstrip(" \t"))


def answering_units(units: TextUnits, question: str) -> list[int]:
    """The units that meet much of the question, best first; none where no unit does."""
    total = len(units.spans)
    found = [*_occurrences(units, question)]
    weights = [idf(total, len(numbers)) for _, numbers in found]
    met: Counter[int] = Counter()
    for (_, numbers), weight in zip(found, weights, strict=True):
        met.update(dict.fromkeys(numbers, weight / sum(weights)))
    least = max(MIN_SHARE, MIN_SHARE_OF_BEST * max(met.values(), default=0.0))
    return [number for number in rank_units(units, question) if met[number] >= least]


def _scores(units: TextUnits, question: str, shapes: Sequence[bytes]) -> dict[int, float]:
    """By unit, how much it bears on the question; units that do not are missing."""
    total = len(units.spans)
    held: dict[int, dict[str, float]] = defaultdict(dict)
    for term, numbers in _occurrences(units, question):
        if len(numbers) > max(MIN_COMMON, MAX_SHARE * total):
            continue
        weight = idf(total, len(numbers))
        for number in numbers:
            held[number][term] = weight
    scores = {number: _score(number, held) for number in [*held]}
    for number, rarity in _rare_shapes(shapes):
        scores[number] = scores.get(number, 0.0) + RARITY_WEIGHT * rarity
    return scores


def _score(number: int, held: dict[int, dict[str, float]]) -> float:
    own = held[number]
    around = {
        term: weight
        for near in (number - 2, number - 1, number + 1, number + 2)
        for term, weight in held.get(near, {}).items()
        if term not in own
    }
    return sum(own.values()) + CONTEXT_WEIGHT * sum(around.values())


def _occurrences(units: TextUnits, question: str) -> Iterator[tuple[str, set[int]]]:
    """Each term of the question with the units that hold it, in any form; a failure is held by any sign of it."""
    asked = topic_terms(topic_of(question)) or frozenset(query_terms(question))
    lowered = _lowered(units.text)
    asks_for_failure = _asks_for_failure(question)
    failure = _terms(FOR_A_FAILURE) if asks_for_failure else frozenset()
    for term in sorted(asked - failure)[:MAX_TERMS]:
        yield term, _holding(units, _places(lowered, units.text, term))
    if asks_for_failure:
        signs = [*map(_lowered, SIGNS_OF_FAILURE), *(asked & failure)]
        yield "", {number for sign in signs for number in _holding(units, _signs(lowered, sign))}


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
    if first.isdigit():
        return before.isdigit()
    return before.isalpha() and not (first.isupper() and before.islower())


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
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text
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
    is_denied = "n't" in question or "n’t" in question or not _terms(" ".join(NEGATORS.values())).isdisjoint(asked)
    return not asked.isdisjoint(_terms(FOR_A_FAILURE) | (_terms(FOR_A_SUCCESS) if is_denied else frozenset()))


@cache
def _terms(listed: str) -> frozenset[str]:
    return frozenset(terms(listed))


def _shapes(units: TextUnits) -> Sequence[bytes]:
    """What the units look like without their numbers and identifiers."""
    text = units.text
    return [text[start:end].encode(errors="replace").translate(None, _SHAPELESS) for start, end in units.spans]


def _rare_shapes(shapes: Sequence[bytes]) -> Iterator[tuple[int, float]]:
    """The units of rare shapes in a text in which most units look like many others, as in a log."""
    counts = Counter(shapes)
    total = len(shapes)
    if sum(count for count in counts.values() if count >= 5) < total / 2:
        return
    most = max(2, total // 200)
    for number, shape in enumerate(shapes):
        if counts[shape] <= most:
            yield number, idf(total, counts[shape])


def _covering(units: TextUnits) -> list[int]:
    """The units that together cover most of what the text says; of a text with many, among some of them."""
    step = -(-len(units.spans) // MAX_COVERED)
    numbers = range(0, len(units.spans), max(1, step))
    texts = [units.text[slice(*units.spans[number])] for number in numbers]
    items = [coverage_item(text, len(text)) for text in texts]
    return [numbers[place] for place in select_greedily(items, idf_weights(items), lambda _: True)]


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
