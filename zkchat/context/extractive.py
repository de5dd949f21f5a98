"""Summaries without a model: the sentences that cover most of what was said, in the fewest words (SPEC 4.4). Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from zkchat.context.coverage import (
    CoverageItem,
    content_terms,
    coverage_item,
    idf_weights,
    is_question,
    select_greedily,
)
from zkchat.context.language import detect_language
from zkchat.lexicon.fillers import FILLERS
from zkchat.model.message import ChatMessage
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.search.terms import terms

Count = Callable[[str], int]

LEFT_OUT = "[…]"
OPEN_QUESTIONS = "Open questions"
_OPEN_SHARE = 0.2
"""Of the budget, at most, for open questions."""
_ROOM_FOR_HEADS = 64
"""Tokens from which a summary says who spoke and when."""
_LISTENED_TO = 50
"""Messages that tell in which language the conversation is."""
_CARRIED = 1.3
"""How much more a sentence counts that an earlier summary thought worth keeping."""
_MOST_READ = 200_000
"""Characters among which sentences are chosen; each takes its time."""
_FIRST = 1.5
"""How much more the first sentence of a text counts: it says what the text is about."""
_HEAD_SHARE = 0.6
"""Of what is kept of a text without sentences; the rest is its end."""
_MOST_CHARACTERS = 16
"""Of a token, so that a huge text is not counted whole again and again."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LINE = re.compile(r"(?:[-*+]\s+)?(?:(?P<speaker>[^\s:\[][^:\n\[]{0,30}):\s)?(?P<text>.*)")
_KEPT_WHOLE = re.compile(r"(\[\[[^\[\]]{1,300}\]\]|`[^`]*`|\b\w+://\S+)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class _Said(NamedTuple):
    """A sentence as the summary would give it."""

    day: str
    speaker: str
    turn: int
    """Of which message: each is reckoned to need a line, though those of one speaker in a row share theirs."""
    text: str
    is_carried: bool = False


def summarise(messages: Sequence[ChatMessage], budget: int, count: Count, *, focus: str = "", earlier: str = "") -> str:
    """What the messages, and the summary of those before them, say: never more than `budget` tokens.

    Grouped by day and speaker, in telegraphic form, with links as they were written and open questions at the end.
    """
    carried, open_before = _carried(earlier)
    language = detect_language("\n".join(message.text for message in messages[:_LISTENED_TO]) or earlier) or ""
    said = [*carried, *_said(messages, language)]
    questions: list[str] = []
    if budget >= _ROOM_FOR_HEADS:
        questions = _fitting(_still_open(messages, open_before), int(_OPEN_SHARE * budget), count)
    else:
        said = [_Said("", "", 0, each.text, each.is_carried) for each in said]
    # Lines cost a little less together than alone; if not, the last choices are taken back.
    taken = _covering(said, int(1.05 * budget) - _cost_of(questions, count), count, focus)
    while taken:
        text = _written([said[number] for number in sorted(taken)], questions)
        if count(text) <= budget:
            return text
        taken.pop()
    return _ends_of("\n".join(message.text for message in messages) or earlier, budget, count)


def condense(text: str, budget: int, count: Count, *, focus: str = "") -> str:
    """The best sentences of a long text in their order, or its beginning and end: never more than `budget` tokens.

    `[…]` stands where something was left out. A text that fits stays as it is. Of one without end, sentences are
    chosen from its beginning and its end.
    """
    if count(text) <= budget:
        return text
    if len(text) > _MOST_READ:
        text = f"{text[: _MOST_READ // 2]}\n\n{LEFT_OUT}\n\n{text[-_MOST_READ // 2 :]}"
    found = sentences(text)
    if sum(map(len, found)) < len(text) / 2:
        return _ends_of(text, budget, count)
    empty = count("")  # some count a frame around the text too
    mark = count(f" {LEFT_OUT} ") - empty
    items = [
        coverage_item(sentence, count(sentence) - empty, weight=_FIRST if number == 0 else 1.0)
        for number, sentence in enumerate(found)
    ]
    taken = _affordable(items, [each.cost + mark for each in items], budget - empty - mark, focus)
    while taken:
        shorter = _joined(found, sorted(taken))
        if count(shorter) <= budget:
            return shorter
        taken.pop()
    return _ends_of(text, budget, count)


def excerpt(text: str, wanted: frozenset[str]) -> str:
    """The sentences that hold one of these terms, with `[…]` where others were left out; if none does, the text."""
    found = sentences(text)
    numbers = [number for number, sentence in enumerate(found) if not wanted.isdisjoint(terms(sentence))]
    return _joined(found, numbers) if 0 < len(numbers) < len(found) else text


def _said(messages: Sequence[ChatMessage], language: str) -> Iterator[_Said]:
    for turn, message in enumerate(messages):
        speaker = message.name or message.role
        for sentence in sentences(message.text):
            yield _Said(f"{message.created_at:%Y-%m-%d}", speaker, turn, _telegram(sentence, language))


def _carried(earlier: str) -> tuple[list[_Said], list[str]]:
    """The sentences of an earlier summary, ours or a model's, and the questions that were open in it."""
    day, is_open = "", False
    said: list[_Said] = []
    questions: list[str] = []
    for place, line in enumerate(filter(None, map(str.strip, earlier.splitlines()))):
        title = line.strip("#*: ")
        if _DAY.fullmatch(title):
            day, is_open = title, False
        elif line.startswith("#") or title == OPEN_QUESTIONS:
            is_open = title.casefold() == OPEN_QUESTIONS.casefold()
        elif match := _LINE.fullmatch(line):
            found = sentences(match["text"])
            if is_open:
                questions += found
            else:
                turn = place - len(earlier)  # before those of the messages
                said += [_Said(day, match["speaker"] or "", turn, sentence, is_carried=True) for sentence in found]
    return said, questions


def _still_open(messages: Sequence[ChatMessage], before: Iterable[str]) -> list[str]:
    """Questions that nobody took up, the newest first: an answer repeats a word of its question."""
    later: set[str] = set()
    questions: list[str] = []
    for message in reversed(messages):
        for sentence in reversed(sentences(message.text)):
            words = content_terms(sentence)
            if is_question(sentence) and len(words) > 1 and words.isdisjoint(later):
                questions.append(sentence)
        later |= content_terms(message.text)
    return [*questions, *(question for question in before if content_terms(question).isdisjoint(later))]


def _covering(said: Sequence[_Said], budget: int, count: Count, focus: str) -> list[int]:
    items = [
        coverage_item(each.text, count(f" {each.text}"), weight=_CARRIED if each.is_carried else 1.0) for each in said
    ]
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


def _affordable(items: Sequence[CoverageItem], costs: Sequence[int], budget: int, focus: str) -> list[int]:
    left = budget

    def fits(number: int) -> bool:
        nonlocal left
        if costs[number] > left:
            return False
        left -= costs[number]
        return True

    return select_greedily(items, idf_weights(items, content_terms(focus)), fits)


def _written(said: Sequence[_Said], questions: Sequence[str]) -> str:
    lines: list[str] = []
    for day, of_day in groupby(said, key=lambda each: each.day):
        lines += [day] if day else []
        for _, in_a_row in groupby(of_day, key=lambda each: each.speaker or each.turn):
            first, *more = in_a_row
            text = " ".join([first.text, *(each.text for each in more)])
            lines.append(f"- {first.speaker}: {text}" if first.speaker else f"- {text}")
    if questions:
        lines += [OPEN_QUESTIONS, *(f"- {question}" for question in questions)]
    return "\n".join(lines)


def _fitting(lines: Iterable[str], budget: int, count: Count) -> list[str]:
    """As many as there is room for, the first ones first."""
    kept: list[str] = []
    for line in dict.fromkeys(lines):
        if _cost_of([*kept, line], count) <= budget:
            kept.append(line)
    return kept


def _cost_of(questions: Sequence[str], count: Count) -> int:
    return count("\n".join(["", OPEN_QUESTIONS, *(f"- {question}" for question in questions)])) if questions else 0


def _telegram(sentence: str, language: str) -> str:
    """Without the words that say nothing; links, code and addresses stay as they were written."""
    fillers = _FILLERS.get(language, frozenset())

    def shorter(match: re.Match[str]) -> str:
        word = match[0]
        is_name = not word[0].islower() and (match.start() > 0 or word.isupper())
        return word if is_name or word.lower() not in fillers else ""

    pieces = _KEPT_WHOLE.split(" ".join(sentence.split()))
    pieces[::2] = [_WORD.sub(shorter, piece) for piece in pieces[::2]]
    text = re.sub(r"\s+(?=[\s,.;:!?…)])", "", "".join(pieces)).strip(" ,;")
    return text if any(character.isalnum() for character in text) else sentence


def _joined(found: Sequence[str], numbers: Sequence[int]) -> str:
    pieces: list[str] = []
    following = 0
    for number in numbers:
        pieces += [found[number]] if number == following else [LEFT_OUT, found[number]]
        following = number + 1
    return " ".join([*pieces, LEFT_OUT] if following < len(found) else pieces)


def _ends_of(text: str, budget: int, count: Count) -> str:
    """As much of the beginning and the end as fits."""
    if count(text) <= budget:
        return text
    low, high = 0, min(len(text), max(budget, 0) * _MOST_CHARACTERS)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_ends(text, middle)) <= budget:
            low = middle
        else:
            high = middle - 1
    while low and count(_ends(text, low)) > budget:  # more characters are sometimes fewer tokens
        low -= 1
    return _ends(text, low) if low else ""


def _ends(text: str, characters: int) -> str:
    head = int(_HEAD_SHARE * characters)
    tail = characters - head
    return f"{text[:head].rstrip()}\n{LEFT_OUT}\n{text[len(text) - tail :].lstrip()}"


_FILLERS = {language: frozenset(listed.split()) for language, listed in FILLERS.items()}
