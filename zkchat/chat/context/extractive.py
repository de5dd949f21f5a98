"""Extractive summaries, without a model: the sentences that cover most of what was said, in the fewest words. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from zkchat.chat.context.condensing import (
    MARK,
    Count,
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
from zkchat.notes import closes_fence, opens_fence, sentences

LEFT_OUT = "[…]"
OPEN_QUESTIONS = "Open questions"
OPEN_QUESTIONS_SHARE = 0.2
"""Of the budget, at most."""
MIN_TOKENS_FOR_HEADINGS = 64
"""Tokens from which a summary says who spoke and when."""
CARRIED_WEIGHT = 1.3
"""How much more a sentence counts that an earlier summary thought worth keeping."""
MATERIAL_WEIGHT = 0.3
"""And how much a line counts of a log, a table or a listing that came with a question."""
MIN_MATERIAL_TOKENS = 48
"""That are kept of such material at least, before its lines are weighed."""
REPETITION = 0.5
"""By how much a statement counts less with each one before it in its message that differs in numbers only."""

_DIGITS = lazy_pattern(r"\d+")
_DAY = lazy_pattern(r"\d{4}-\d\d-\d\d")
_LINE = lazy_pattern(r"(?:[-*+]\s+)?(?:(?P<speaker>[^\s:\[][^:\n\[]{0,30}):\s)?(?P<text>.*)")
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

    Grouped by day and speaker, with links as they were written and open questions at the end.
    """
    carried, open_before = _parse_summary(earlier)
    said = [*carried, *_split_messages(messages, budget, count)]
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
    return condense_text("\n".join(message.text for message in messages) or earlier, budget, count)


def excerpt(text: str, wanted: frozenset[str]) -> str:
    """The sentences that hold one of these terms, with `[…]` where others were left out; if none does, the text."""
    found = sentences(text)
    kept = [sentence if not wanted.isdisjoint(terms(sentence)) else LEFT_OUT for sentence in found]
    if {*kept} == {LEFT_OUT} or LEFT_OUT not in kept:
        return text
    return " ".join(piece for piece, _ in groupby(kept))


def _split_messages(messages: Sequence[ChatMessage], budget: int, count: Count) -> Iterator[_Sentence]:
    for turn, message in enumerate(messages):
        day, speaker = f"{message.created_at:%Y-%m-%d}", message.name or message.role
        alike: Counter[str] = Counter()
        for statement, weight in _weighted_statements(message.text, budget, count):
            shape = _DIGITS.sub("", statement)
            own = weight / (1 + REPETITION * alike[shape])
            alike[shape] += 1
            yield _Sentence(day, speaker, turn, " ".join(statement.split()), own)


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


def _format_summary(said: Sequence[_Sentence], questions: Sequence[str]) -> str:
    lines: list[str] = []
    for day, of_day in groupby(said, key=lambda each: each.day):
        lines += [day] if day else []
        for _, in_a_row in groupby(of_day, key=lambda each: each.speaker or each.turn):
            first, *more = in_a_row
            said_so = [first.text, *(each.text for each in more)]
            # One that has no end of its own is ended by a semicolon.
            ended = [each if each.endswith(_ENDS) else f"{each};" for each in said_so[:-1]]
            text = " ".join([*ended, said_so[-1]])
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


def statements(text: str, budget: int) -> Iterator[str]:
    """The statements of a text in order, cut so that several of them fit into so many tokens.

    Sentences, list items, table rows and headings; of what has no sentence ends its lines, and of long lines their
    clauses.
    """
    limit = min(MAX_STATEMENT, max(MIN_STATEMENT, 2 * budget))
    for unit in _units(text):
        most = limit // 3 if is_wide(unit) else limit
        if len(unit) <= most:
            yield unit
            continue
        for line in filter(None, map(str.strip, unit.splitlines())):
            pieces = (line[start:end].strip(" \t,，、;；") for start, end in split_span(line, (0, len(line)), most))
            yield from filter(None, pieces)


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
