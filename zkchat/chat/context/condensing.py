"""Condense a long text with a question in mind: its units, and those that cover most."""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise, zip_longest
from math import log
from math import pow as power
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from zkchat.core import counted, lazy_pattern
from zkchat.index import query_words, stem, words
from zkchat.language import FIRST_PERSON, STOP_WORDS, UNSPACED_STATEMENTS
from zkchat.notes import Span, sentence_spans

GAIN_BY_OCCURRENCE = (1.0, 0.15)
"""Of a term: for its first occurrence, for its second. After that it adds nothing."""
_WORD = lazy_pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


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
    return frozenset() if _stop_words().issuperset(asked) else frozenset(map(stem, asked))


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(word for listed in STOP_WORDS.values() for word in words(listed))


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
MAX_UNITS: Final = 100_000
"""Units of a text; those of a text with more are joined."""
MAX_DEPTH: Final = 8
"""Arrays and objects within each other in which records are looked for."""
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
    group = -(-len(parts) // MAX_UNITS)
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
    for deepest in range(1, MAX_DEPTH + 1):
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


Count = Callable[[str], int]

MAX_ATTEMPTS: Final = 12
"""Counts of a text by which the part is found that fits."""
MIN_MATERIAL: Final = 2_000
"""Characters of a message beside its question that are taken for material."""
MAX_QUESTION: Final = 1_200
"""Characters of a paragraph, the first or the last one, that is taken for the question."""
MAX_QUESTION_LINES: Final = 8
MARK: Final = lazy_pattern(r"(?<!\s)\s*\[… [\d,]+ (?:line|row|record|character)s? left out …\]\s*")
_RATE_SAMPLE: Final = 16
_PARAGRAPH_END: Final = lazy_pattern(r"\n[ \t\r]*\n\s*")
_QUESTION_END: Final = lazy_pattern(r"[?？؟](?=\s)|[？]|:(?=\s)|：")


class SplitMessage(Struct, frozen=True, kw_only=True):
    """A message as what was typed and the material it is about: `before + material + after` is the message."""

    before: str = ""
    material: str = ""
    after: str = ""

    @property
    def question(self) -> str:
        """What was typed."""
        return "\n\n".join(part.strip() for part in (self.before, self.after) if part.strip())


def split_question(text: str, *, least: int = MIN_MATERIAL) -> SplitMessage:
    """The typed question of a long message, its first and last paragraph where they are short, and the material.

    A message without so much material, or a single paragraph of a length that people type, is all question.
    """
    if len(text) < least:
        return SplitMessage(before=text)
    split = _split(text)
    is_paragraph = len(text) <= 20_000 and "\n" not in text.strip()
    if len(split.material) < least or (is_paragraph and not split.material.lstrip().startswith(("{", "["))):
        return SplitMessage(before=text)
    return split


def _split(text: str) -> SplitMessage:
    start = _end_of_opening(text)
    end = max(start, _start_of_closing(text, has_question=_asks(text[:start])))
    return SplitMessage(before=text[:start], material=text[start:end], after=text[end:])


def condense_message(text: str, budget: int, count: Count, *, remark: str = "") -> str:
    """A long message in at most `budget` tokens: the typed question whole where it fits, the material condensed.

    A remark, such as where the rest can be read, follows the material where something of it is left out.
    """
    if _fits(text, budget, count):
        return text
    split = _split(text)
    material = split.material.rstrip()
    after = (f"\n{remark}" if remark else "") + split.material[len(material) :] + split.after
    left = budget - count(split.before) - count(after)
    if not material or left < budget // 10:
        return condense_text(text, budget, count, question=split.question)
    while left > 0:
        short = split.before + condense_text(material, left, count, question=split.question) + after
        over = count(short) - budget
        if over <= 0:
            return short
        left -= over
    return condense_text(text, budget, count, question=split.question)


def condense_text(text: str, budget: int, count: Count, *, question: str = "") -> str:
    """The text in at most `budget` tokens: its head, its tail, and what bears on the question; as it is if it fits."""
    if _fits(text, budget, count):
        return text
    units = split_units(text)
    step = max(1, len(units.spans) // _RATE_SAMPLE)
    sample = "\n".join(text[start:end] for start, end in units.spans[::step][: 2 * _RATE_SAMPLE])
    characters_per_token = len(sample) / max(1, count(sample)) if sample else 1.0
    order = _order(units, question, budget * characters_per_token)
    return _fitting(units, order, budget, count) or truncate(text, budget, count)


def _fits(text: str, budget: int, count: Count) -> bool:
    # Of so long a text it is sure without counting.
    return len(text) <= max(budget, 0) * 128 and count(text) <= budget


def _end_of_opening(text: str) -> int:
    """Where the question ends that a message begins with; 0 if it begins with none."""
    body = len(text) - len(text.lstrip())
    found = _PARAGRAPH_END.search(text, body, body + MAX_QUESTION)
    if found and text.count("\n", body, found.start()) < MAX_QUESTION_LINES:
        return found.end()
    line = text.find("\n", body, body + MAX_QUESTION)
    if line >= 0 and _asks(text[body:line]):
        return line + 1
    asked = _QUESTION_END.search(text, body, body + MAX_QUESTION // 3)
    return asked.end() if asked and (line < 0 or asked.end() <= line) else 0


def _start_of_closing(text: str, *, has_question: bool) -> int:
    """Where the question begins that a message ends with; its length if it ends with none.

    Where it begins with one, the last paragraph is taken for the end of the material unless it asks too.
    """
    body = len(text.rstrip())
    ends = [*_PARAGRAPH_END.finditer(text, max(0, body - MAX_QUESTION), body)]
    if ends:
        closing = text[ends[-1].end() : body]
        lines = closing.count("\n") + 1
        if lines <= (MAX_QUESTION_LINES if _asks(closing) else 0 if has_question else 3):
            return ends[-1].end()
    line = text.rfind("\n", max(0, body - MAX_QUESTION), body) + 1
    return line if line and is_question(text[line:body]) else len(text)


def _asks(paragraph: str) -> bool:
    """Whether a line of it ends as a question does, or announces what follows."""
    lines = [line for line in paragraph.splitlines() if line.strip()]
    return any(map(is_question, lines)) or (bool(lines) and lines[-1].rstrip().endswith((":", "：")))


def _order(units: TextUnits, question: str, characters: float) -> list[int]:
    """The numbers of the units in the order in which they are kept: head, tail, what bears on the question, the rest.

    No more than may fit: `characters` are about as many as the budget holds.
    """
    from zkchat.chat.context.unit_ranking import rank_units

    total = len(units.spans)
    share = 0.1 * characters  # for the beginning, before anything that bears on the question; and for the end
    head = [*_within(units, range(total), share)]
    tail = [*_within(units, range(total - 1, -1, -1), share)]
    header = range(min(1, total)) if units.kind == "row" else range(0)
    rest = chain.from_iterable(zip_longest(range(total), range(total - 1, -1, -1)))
    order = dict.fromkeys(
        number for number in chain(header, head, tail, rank_units(units, question), rest) if number is not None
    )
    return [*_within(units, order, 4 * characters + 1_000)]


def _within(units: TextUnits, numbers: Sequence[int] | dict[int, None], characters: float) -> Iterator[int]:
    """The first of these units, as many as these characters hold."""
    for number in numbers:
        start, end = units.spans[number]
        characters -= end - start + 1
        if characters < 0:
            return
        yield number


def _fitting(units: TextUnits, order: Sequence[int], budget: int, count: Count) -> str:
    """As many units as fit, the first of the order first."""
    low, high = 0, len(order) + 1
    best = ""
    guess = max(1, len(order) // 4)
    for _ in range(MAX_ATTEMPTS):
        if high - low < 2:
            break
        text = _written(units, [units.spans[number] for number in order[:guess]])
        tokens = count(text)
        if tokens <= budget:
            low, best = guess, text
        else:
            high = guess
        guess = min(max(int(guess * budget / max(1, tokens)), low + 1), high - 1)
    return best


def _written(units: TextUnits, spans: Sequence[Span]) -> str:
    """These spans of the text in their order, with a mark wherever something is missing between them."""
    pieces: list[str] = []
    place = 0
    for start, end in sorted(spans):
        pieces += [_gap(units, place, start), units.text[start:end]]
        place = end
    return "".join([*pieces, _gap(units, place, len(units.text))])


def _gap(units: TextUnits, start: int, end: int) -> str:
    """The mark for what is left out between two places; the text itself where it is no longer than a mark."""
    missing = units.text[start:end]
    content = missing.strip()
    if not content:
        return missing
    lines = content.count("\n") + 1
    between = units.between(start, end)
    is_whole = (start == 0 or "\n" in missing[: len(missing) - len(missing.lstrip())]) and (
        end == len(units.text) or "\n" in missing[len(missing.rstrip()) :]
    )
    if units.kind == "record" and between:
        what = counted(between, "record")
    elif lines > 1 or is_whole:
        what = counted(lines, units.kind if units.kind == "row" else "line")
    else:
        what = counted(len(content), "character")
    mark = f"[… {what} left out …]"
    if len(missing) <= len(mark) + 2:
        return missing
    before = "" if start == 0 else "\n" if lines > 1 or is_whole else " "
    after = "" if end == len(units.text) else "\n" if lines > 1 or is_whole else " "
    return before + mark + after


def truncate(text: str, budget: int, count: Count) -> str:
    """As much of the beginning of a text as fits."""
    low, high = 0, min(len(text), 8 * max(budget, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if count(f"{text[:middle].rstrip()}…") <= budget:
            low = middle
        else:
            high = middle - 1
    return f"{text[:low].rstrip()}…" if low else ""
