"""Condense a long text with a question in mind: its units, and those that cover most."""

import json
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
from zkchat.language import DECISIONS, FIRST_PERSON, GREETINGS, STOP_WORDS, UNSPACED_STATEMENTS
from zkchat.notes import Span, sentence_spans

GAIN_BY_OCCURRENCE = (1.0, 0.15)
"""Of a term: for its first occurrence, for its second. After that it adds nothing."""
COST_EXPONENT = 0.7
"""Below 1, because a long sentence brings along what belongs together, and pays for its line once."""
FOCUS_WEIGHT = 4.0
"""How much more a term counts that was asked for."""
_WORD = lazy_pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DECIDED, _OWN, _GREETING = (frozenset(listed.split()) for listed in (DECISIONS, FIRST_PERSON, GREETINGS))
_QUESTION = ("?", "？", "؟", "\u037e")


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
    """How much a sentence is likely to matter, by its kind: facts and decisions more, questions and greetings less."""
    written = _WORD.findall(sentence)
    lowered = [word.lower() for word in written]
    value = 1.0
    if "[[" in sentence or any(len(word) > 1 and word[0].isupper() for word in written[1:]):  # a name
        value *= 1.3
    if any(character.isdigit() for character in sentence):
        value *= 1.3
    if not _DECIDED.isdisjoint(lowered):
        value *= 1.2
    if not _OWN.isdisjoint(lowered) or any(sign in sentence for sign in UNSPACED_STATEMENTS):
        value *= 1.2
    if is_question(sentence):
        value *= 0.5
    if len(lowered) <= 6 and not _GREETING.isdisjoint(lowered):
        value *= 0.4
    return value


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’»)]*_」』 ").endswith(_QUESTION)


def idf_weights(items: Iterable[CoverageItem], focus: Collection[str] = ()) -> dict[str, float]:
    """The inverse document frequency of each term among the items, higher for terms in `focus`."""
    found = list(items)
    holding = Counter(term for each in found for term in each.terms)
    return {
        term: log(1 + len(found) / count) * (FOCUS_WEIGHT if term in focus else 1.0) for term, count in holding.items()
    }


def select_greedily(
    items: Sequence[CoverageItem],
    weights: Mapping[str, float],
    fits: Callable[[int], bool],
    *,
    covered: Iterable[frozenset[str]] = (),
) -> list[int]:
    """The selected items, by number and in the order of selection. Each is offered to `fits` at most once.

    `covered` are the terms of each text that is there already.
    """
    counts = Counter(term for each in covered for term in each)

    def gain(number: int) -> float:
        new: float = sum(
            weights[term] * GAIN_BY_OCCURRENCE[counts[term]]
            for term in items[number].terms
            if counts[term] < len(GAIN_BY_OCCURRENCE)
        )
        return new * items[number].weight / power(items[number].cost, COST_EXPONENT)

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


Count = Callable[[str], int]

MAX_CHARS_PER_TOKEN: Final = 128
"""Of a text of which more tokens than the budget are sure without counting them."""
HEAD_SHARE: Final = 0.1
"""Of the budget, for the beginning, before anything that bears on the question; and for the end."""
MAX_ATTEMPTS: Final = 12
"""Counts of a text by which the part is found that fits."""
MIN_MATERIAL: Final = 2_000
"""Characters of a message beside its question that are taken for material."""
MAX_PARAGRAPH: Final = 20_000
"""Characters of a message without a line break that may have been typed."""
MAX_QUESTION: Final = 1_200
"""Characters of a paragraph, the first or the last one, that is taken for the question."""
MAX_QUESTION_LINES: Final = 8
MAX_CLOSING_LINES: Final = 3
"""Of a last paragraph that does not ask."""
MARK: Final = lazy_pattern(r"(?<!\s)\s*\[… [\d,]+ (?:line|row|record|character)s? left out …\]\s*")
_RATE_SAMPLE: Final = 16
_MIN_REST: Final = 12
"""Characters of a unit below which no part of it is kept."""
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
    is_paragraph = len(text) <= MAX_PARAGRAPH and "\n" not in text.strip()
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
    order = _order(units, question, budget * _characters_per_token(units, count))
    return _fitting(units, order, budget, count) or _truncated(text, budget, count)


def _fits(text: str, budget: int, count: Count) -> bool:
    return len(text) <= max(budget, 0) * MAX_CHARS_PER_TOKEN and count(text) <= budget


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
        if lines <= (MAX_QUESTION_LINES if _asks(closing) else 0 if has_question else MAX_CLOSING_LINES):
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
    share = HEAD_SHARE * characters
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


def _characters_per_token(units: TextUnits, count: Count) -> float:
    """About how many characters a token has, by a sample."""
    step = max(1, len(units.spans) // _RATE_SAMPLE)
    sample = "\n".join(units.text[start:end] for start, end in units.spans[::step][: 2 * _RATE_SAMPLE])
    return len(sample) / max(1, count(sample)) if sample else 1.0


def _fitting(units: TextUnits, order: Sequence[int], budget: int, count: Count) -> str:
    """As many units as fit, the first of the order first, and a part of the next one."""
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
    return _with_part(units, order, low, budget, count) or best


def _with_part(units: TextUnits, order: Sequence[int], kept: int, budget: int, count: Count) -> str:
    """The first units of the order with as much of the next one as fits; empty where nothing of it does."""
    if kept >= len(order):
        return ""
    spans = [units.spans[number] for number in order[:kept]]
    start, end = units.spans[order[kept]]
    best, low, high = "", _MIN_REST, end - start
    while low < high - 1:
        length = (low + high) // 2
        space = units.text.rfind(" ", start + length // 2, start + length)
        text = _written(units, [*spans, (start, start + length if space < 0 else space)])
        if count(text) <= budget:
            best, low = text, length
        else:
            high = length
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


def _truncated(text: str, budget: int, count: Count) -> str:
    """The beginning of a text, where not even one unit fits."""
    length = min(len(text), max(budget, 0) * MAX_CHARS_PER_TOKEN)
    while length > 0:
        short = f"{text[:length].rstrip()}…"
        if count(short) <= budget:
            return short
        length = length * 3 // 4
    return ""
