"""Extractive summaries, without a model: the sentences that cover most of what was said, in the fewest words. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from zkchat.chat.context.condensing import (
    MARK,
    CoverageItem,
    condense_text,
    content_terms,
    coverage_item,
    idf_weights,
    is_question,
    is_wide,
    select_greedily,
    split_question,
    split_span,
)
from zkchat.core import ChatMessage, lazy_pattern
from zkchat.index import terms
from zkchat.language import FILLERS
from zkchat.notes import closes_fence, detect_language, opens_fence, sentences

Count = Callable[[str], int]

LEFT_OUT = "[…]"
OPEN_QUESTIONS = "Open questions"
OPEN_QUESTIONS_SHARE = 0.2
"""Of the budget, at most."""
MIN_TOKENS_FOR_HEADINGS = 64
"""Tokens from which a summary says who spoke and when."""
LANGUAGE_SAMPLE = 50
"""Messages from which the language of the conversation is detected."""
CARRIED_WEIGHT = 1.3
"""How much more a sentence counts that an earlier summary thought worth keeping."""
MAX_CHARS = 200_000
"""Characters among which sentences are chosen; each takes its time."""
MATERIAL_WEIGHT = 0.3
"""And how much a line counts of a log, a table or a listing that came with a question."""
MIN_MATERIAL_TOKENS = 48
"""That are kept of such material at least, before its lines are weighed."""
REPETITION = 0.5
"""By how much a statement counts less with each one before it in its message that differs in numbers only."""
FIRST_SENTENCE_WEIGHT = 1.5
"""How much more the first sentence of a text counts: it says what the text is about."""
HEAD_SHARE = 0.6
"""Of what is kept of a text without sentences; the rest is its end."""
MAX_CHARS_PER_TOKEN = 16
"""Of a token, so that a huge text is not counted whole again and again."""

_DIGITS = lazy_pattern(r"\d+")
_DAY = lazy_pattern(r"\d{4}-\d\d-\d\d")
_LINE = lazy_pattern(r"(?:[-*+]\s+)?(?:(?P<speaker>[^\s:\[][^:\n\[]{0,30}):\s)?(?P<text>.*)")
_PROTECTED = lazy_pattern(r"(\[\[[^\[\]]{1,300}\]\]|`[^`]*`|\b\w+://\S+)")
_WORD = lazy_pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
MAX_STATEMENT: Final = 240
MIN_STATEMENT: Final = 120
"""Characters of a statement at most, by the budget; where letters are written without spaces, a third."""
_HEADING: Final = lazy_pattern(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_ENDS: Final = (".", "!", "?", "…", "。", "！", "？", "｡", "।", ":", "：", ";", "；", ",", "，")


class _Sentence(NamedTuple):
    """A sentence as the summary would give it."""

    day: str
    speaker: str
    turn: int
    """The number of the message: each is counted as a line, though those of one speaker in a row share theirs."""
    text: str
    weight: float = 1.0
    """How much more or less it counts than another sentence of its words."""


def summarise(messages: Sequence[ChatMessage], budget: int, count: Count, *, focus: str = "", earlier: str = "") -> str:
    """What the messages, and the summary of those before them, say: never more than `budget` tokens.

    Grouped by day and speaker, in telegraphic form, with links as they were written and open questions at the end.
    """
    carried, open_before = _parse_summary(earlier)
    language = detect_language("\n".join(message.text for message in messages[:LANGUAGE_SAMPLE]) or earlier) or ""
    said = [*carried, *_split_messages(messages, language, budget, count)]
    questions: list[str] = []
    if budget >= MIN_TOKENS_FOR_HEADINGS:
        questions = _fit_lines(_open_questions(messages, open_before), int(OPEN_QUESTIONS_SHARE * budget), count)
    else:
        said = [_Sentence("", "", 0, each.text, each.weight) for each in said]
    # Lines cost a little less together than alone; if not, the last choices are taken back.
    taken = _select_sentences(said, int(1.05 * budget) - _cost_of(questions, count), count, focus)
    while taken:
        text = _format_summary([said[number] for number in sorted(taken)], questions)
        if count(text) <= budget:
            return text
        taken.pop()
    return _truncate_middle("\n".join(message.text for message in messages) or earlier, budget, count)


def condense(text: str, budget: int, count: Count, *, focus: str = "") -> str:
    """The best sentences of a long text in their order, or its beginning and end: never more than `budget` tokens.

    `[…]` stands where something was left out. A text that fits stays as it is. Of one without end, sentences are
    chosen from its beginning and its end.
    """
    if count(text) <= budget:
        return text
    if len(text) > MAX_CHARS:
        text = f"{text[: MAX_CHARS // 2]}\n\n{LEFT_OUT}\n\n{text[-MAX_CHARS // 2 :]}"
    found = sentences(text)
    if sum(map(len, found)) < len(text) / 2:
        return _truncate_middle(text, budget, count)
    empty = count("")  # some count a frame around the text too
    mark = count(f" {LEFT_OUT} ") - empty
    items = [
        coverage_item(sentence, count(sentence) - empty, weight=FIRST_SENTENCE_WEIGHT if number == 0 else 1.0)
        for number, sentence in enumerate(found)
    ]
    taken = _select_affordable(items, [each.cost + mark for each in items], budget - empty - mark, focus)
    while taken:
        shorter = _join_with_gaps(found, sorted(taken))
        if count(shorter) <= budget:
            return shorter
        taken.pop()
    return _truncate_middle(text, budget, count)


def excerpt(text: str, wanted: frozenset[str]) -> str:
    """The sentences that hold one of these terms, with `[…]` where others were left out; if none does, the text."""
    found = sentences(text)
    numbers = [number for number, sentence in enumerate(found) if not wanted.isdisjoint(terms(sentence))]
    return _join_with_gaps(found, numbers) if 0 < len(numbers) < len(found) else text


def _split_messages(messages: Sequence[ChatMessage], language: str, budget: int, count: Count) -> Iterator[_Sentence]:
    for turn, message in enumerate(messages):
        day, speaker = f"{message.created_at:%Y-%m-%d}", message.name or message.role
        alike: Counter[str] = Counter()
        for statement, weight in _weighted_statements(message.text, budget, count):
            shape = _DIGITS.sub("", statement)
            own = weight / (1 + REPETITION * alike[shape])
            alike[shape] += 1
            yield _Sentence(day, speaker, turn, _drop_fillers(statement, language), own)


def _weighted_statements(text: str, budget: int, count: Count) -> Iterator[tuple[str, float]]:
    """The statements of a message; of a log or a table that came with it, a few that bear on its question."""
    split = split_question(text)
    for statement in statements(split.before, budget):
        yield statement, 1.0
    if split.material:
        short = condense_text(split.material, max(MIN_MATERIAL_TOKENS, budget // 4), count, question=split.question)
        for statement in statements(MARK.sub("\n\n", short), budget):
            yield statement, MATERIAL_WEIGHT
    for statement in statements(split.after, budget):
        yield statement, 1.0


def _parse_summary(earlier: str) -> tuple[list[_Sentence], list[str]]:
    """Parse an earlier summary, ours or a model's: its sentences, and its open questions."""
    day, is_open = "", False
    said: list[_Sentence] = []
    questions: list[str] = []
    for place, line in enumerate(filter(None, map(str.strip, earlier.splitlines()))):
        title = line.strip("#*: ")
        if _DAY.fullmatch(title):
            day, is_open = title, False
        elif line.startswith("#") or title == OPEN_QUESTIONS:
            is_open = title.casefold() == OPEN_QUESTIONS.casefold()
        elif match := _LINE.fullmatch(line):
            found = [part for sentence in sentences(match["text"]) for part in sentence.split("; ")]
            if is_open:
                questions += sentences(match["text"])
            else:
                turn = place - len(earlier)  # before those of the messages
                said += [_Sentence(day, match["speaker"] or "", turn, sentence, CARRIED_WEIGHT) for sentence in found]
    return said, questions


def _open_questions(messages: Sequence[ChatMessage], before: Iterable[str]) -> list[str]:
    """Questions that were not answered, the newest first: an answer repeats a word of its question."""
    later: set[str] = set()
    questions: list[str] = []
    for message in reversed(messages):
        for sentence in reversed(sentences(split_question(message.text).question)):
            words = content_terms(sentence)
            if is_question(sentence) and len(words) > 1 and words.isdisjoint(later):
                questions.append(sentence)
        later |= content_terms(message.text)
    return [*questions, *(question for question in before if content_terms(question).isdisjoint(later))]


def _select_sentences(said: Sequence[_Sentence], budget: int, count: Count, focus: str) -> list[int]:
    items = [coverage_item(each.text, count(f" {each.text}"), weight=each.weight) for each in said]
    opened: set[tuple[str, int | None]] = set()
    left = budget

    def fits(number: int) -> bool:
        nonlocal left
        each = said[number]
        cost = items[number].cost
        if (each.day, None) not in opened:
            cost += count(f"\n{each.day}")
        if (each.day, each.turn) not in opened:
            cost += count(f"\n- {each.speaker}:")
        if cost > left:
            return False
        left -= cost
        opened.update({(each.day, None), (each.day, each.turn)})
        return True

    return select_greedily(items, idf_weights(items, content_terms(focus)), fits)


def _select_affordable(items: Sequence[CoverageItem], costs: Sequence[int], budget: int, focus: str) -> list[int]:
    left = budget

    def fits(number: int) -> bool:
        nonlocal left
        if costs[number] > left:
            return False
        left -= costs[number]
        return True

    return select_greedily(items, idf_weights(items, content_terms(focus)), fits)


def _format_summary(said: Sequence[_Sentence], questions: Sequence[str]) -> str:
    lines: list[str] = []
    for day, of_day in groupby(said, key=lambda each: each.day):
        lines += [day] if day else []
        for _, in_a_row in groupby(of_day, key=lambda each: each.speaker or each.turn):
            first, *more = in_a_row
            text = join_statements([first.text, *(each.text for each in more)])
            lines.append(f"- {first.speaker}: {text}" if first.speaker else f"- {text}")
    if questions:
        lines += [OPEN_QUESTIONS, *(f"- {question}" for question in questions)]
    return "\n".join(lines)


def _fit_lines(lines: Iterable[str], budget: int, count: Count) -> list[str]:
    """Deduplicate, and keep as many as fit, the first ones first."""
    kept: list[str] = []
    for line in dict.fromkeys(lines):
        if _cost_of([*kept, line], count) <= budget:
            kept.append(line)
    return kept


def _cost_of(questions: Sequence[str], count: Count) -> int:
    return count("\n".join(["", OPEN_QUESTIONS, *(f"- {question}" for question in questions)])) if questions else 0


def _drop_fillers(sentence: str, language: str) -> str:
    """Remove filler words; links, code and addresses stay as they were written."""
    fillers = _FILLERS.get(language, frozenset())

    def shorter(match: re.Match[str]) -> str:
        word = match[0]
        is_name = not word[0].islower() and (match.start() > 0 or word.isupper())
        return word if is_name or word.lower() not in fillers else ""

    pieces = _PROTECTED.split(" ".join(sentence.split()))
    pieces[::2] = [_WORD.sub(shorter, piece) for piece in pieces[::2]]
    text = re.sub(r"\s+(?=[\s,.;:!?…)])", "", "".join(pieces)).strip(" ,;")
    return text if any(character.isalnum() for character in text) else sentence


def _join_with_gaps(found: Sequence[str], numbers: Sequence[int]) -> str:
    pieces: list[str] = []
    following = 0
    for number in numbers:
        pieces += [found[number]] if number == following else [LEFT_OUT, found[number]]
        following = number + 1
    return " ".join([*pieces, LEFT_OUT] if following < len(found) else pieces)


def _truncate_middle(text: str, budget: int, count: Count) -> str:
    """As much of the beginning and the end as fits, found by bisection."""
    if count(text) <= budget:
        return text
    low, high = 0, min(len(text), max(budget, 0) * MAX_CHARS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_head_and_tail(text, middle)) <= budget:
            low = middle
        else:
            high = middle - 1
    while low and count(_head_and_tail(text, low)) > budget:  # more characters are sometimes fewer tokens
        low -= 1
    return _head_and_tail(text, low) if low else ""


def _head_and_tail(text: str, characters: int) -> str:
    head = int(HEAD_SHARE * characters)
    tail = characters - head
    return f"{text[:head].rstrip()}\n{LEFT_OUT}\n{text[len(text) - tail :].lstrip()}"


_FILLERS = {language: frozenset(listed.split()) for language, listed in FILLERS.items()}


def statements(text: str, budget: int) -> Iterator[str]:
    """The statements of a text in order, cut so that several of them fit into so many tokens.

    Sentences, list items, table rows and headings; of what has no sentence ends its lines, and of long lines their
    clauses.
    """
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
