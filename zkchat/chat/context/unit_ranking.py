"""Rank the units of a long text by how much they bear on a question, and find those that answer it."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache
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
from zkchat.index import UNSPACED_SCRIPTS, idf, own_terms, query_terms, terms, words
from zkchat.language import FOR_A_FAILURE, FOR_A_SUCCESS, NEGATORS, SIGNS_OF_FAILURE, UNSPACED_FOR_A_FAILURE

MAX_SHARE: Final = 0.4
"""Of the units of a long text: a term that more of them hold tells nothing apart."""
MAX_HITS: Final = 3_000
"""Units, the best ones, whose neighbours are ranked too."""
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
MIN_MATERIAL: Final = 200
"""Characters of material beside the question, from which on it is looked for in them."""


def rank_units(units: TextUnits, question: str) -> list[int]:
    """The numbers of the units that bear on the question, best first, then those that stand near them.

    Where none does, those that cover most of what the text says.
    """
    total = len(units.spans)
    scores: Counter[int] = Counter()
    for found in _occurrences(units, question):
        if len(found) <= max(50, MAX_SHARE * total):
            scores.update(dict.fromkeys(found, idf(total, len(found))))
    scores.update(_rare_units(units))
    if not scores:
        step = max(1, -(-total // 2_000))  # of a text with many, among some of them
        numbers = range(0, total, step)
        items = [coverage_item(text, len(text)) for text in (units.text[slice(*units.spans[each])] for each in numbers)]
        return [numbers[place] for place in select_greedily(items, idf_weights(items), lambda _: True)]
    ranked: dict[int, float] = dict(scores)
    if units.kind != "row":
        for number, score in scores.most_common(MAX_HITS):
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
    failure = _terms(FOR_A_FAILURE) if asks_for_failure else frozenset()
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
