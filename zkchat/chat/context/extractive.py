"""Extractive summaries, without a model: the sentences that cover most of what was said, in the fewest words. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from zkchat.chat.context.condensing import MARK, Count, condense_text, split_question
from zkchat.chat.context.unit_ranking import (
    content_terms,
    coverage_item,
    idf_weights,
    is_question,
    is_wide,
    select_greedily,
    split_span,
)
from zkchat.core import ChatMessage, lazy_pattern
from zkchat.index import own_terms, query_words, stem, terms
from zkchat.notes import closes_fence, opens_fence, sentences

LEFT_OUT = "[…]"
OPEN_QUESTIONS = "Open questions"
MAX_TOPIC = 30
TOPIC_TURNS = 2
"""Turns that make a topic; fewer are told without its line."""

_LINE = lazy_pattern(r"(?:[-*+]\s+)?(?:(?P<speaker>[^\s:\[][^:\n\[]{0,30}):\s)?(?P<text>.*)")
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
    topic: str = ""
    """What its turn is about, where the conversation was about several things."""


def summarise(messages: Sequence[ChatMessage], budget: int, count: Count, *, focus: str = "", earlier: str = "") -> str:
    """What the messages, and the summary of those before them, say: never more than `budget` tokens.

    Grouped by day, topic and speaker, with links as they were written and open questions at the end.
    """
    carried, open_before = _parse_summary(earlier)
    said = [*carried, *_split_messages(messages, budget, count)]
    questions: list[str] = []
    if budget >= 64:  # else it does not say who spoke and when
        topics = _topics(messages, carried)
        said = [each if each.turn < 0 else each._replace(topic=topics[each.turn]) for each in said]
        lines = {(each.day, each.topic) for each in said if each.topic}
        if sum(count(f"\n{topic}:") for _, topic in lines) > 0.1 * budget:  # what was said matters more
            said = [each._replace(topic="") for each in said]
        for line in dict.fromkeys(_open_questions(messages, open_before)):  # as many as fit, the first ones first
            if _cost_of([*questions, line], count) <= int(0.2 * budget):
                questions.append(line)
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
    return text if {*kept} == {LEFT_OUT} or LEFT_OUT not in kept else " ".join(piece for piece, _ in groupby(kept))


def _split_messages(messages: Sequence[ChatMessage], budget: int, count: Count) -> Iterator[_Sentence]:
    """The statements of messages; of a log or a table that came with one, a few that bear on its question."""
    for turn, message in enumerate(messages):
        day, speaker = f"{message.created_at:%Y-%m-%d}", message.name or message.role
        split, short = split_question(message.text), ""
        if split.material:
            short = condense_text(split.material, max(48, budget // 4), count, question=split.question)
        parts = ((split.before, 1.0), (MARK.sub("\n\n", short), 0.3), (split.after, 1.0))
        alike: Counter[str] = Counter()
        for statement, weight in ((each, weight) for part, weight in parts for each in statements(part, budget)):
            shape = re.sub(r"\d+", "", statement)
            own = weight / (1 + 0.5 * alike[shape])  # those before it differ in numbers only
            alike[shape] += 1
            yield _Sentence(day, speaker, turn, " ".join(statement.split()), own)


def _parse_summary(earlier: str) -> tuple[list[_Sentence], list[str]]:
    """Parse an earlier summary, ours or a model's: its sentences, and its open questions."""
    day, topic, is_open = "", "", False
    said: list[_Sentence] = []
    questions: list[str] = []
    for place, line in enumerate(filter(None, map(str.strip, earlier.splitlines()))):
        title = line.strip("#*: ")
        if re.fullmatch(r"\d{4}-\d\d-\d\d", title):
            day, topic, is_open = title, "", False
        elif line.startswith("#") or title == OPEN_QUESTIONS:
            topic, is_open = "", title.casefold() == OPEN_QUESTIONS.casefold()
        elif line == f"{title}:" and 0 < len(title) <= MAX_TOPIC:
            topic, is_open = title, False
        elif match := _LINE.fullmatch(line):
            found = [part for sentence in sentences(match["text"]) for part in sentence.split("; ")]
            if is_open:
                questions += sentences(match["text"])
            else:
                turn = place - len(earlier)  # before those of the messages; what was worth keeping counts more
                speaker = match["speaker"] or ""
                said += [_Sentence(day, speaker, turn, sentence, 1.3, topic) for sentence in found]
    return said, questions


def _topics(messages: Sequence[ChatMessage], carried: Sequence[_Sentence]) -> list[str]:
    """The topic of each message, where there were several: a word of questions that comes up again in other turns.

    A turn without one that hardly says anything by itself goes on with that before it.
    """
    before = {each.topic: " ".join(one.text for one in carried if one.topic == each.topic) for each in carried}
    turns = [[topic, text] for topic, text in before.items() if topic]
    known, of_message = len(turns), []
    for message in messages:
        if message.role == "user" or len(turns) == known:
            turns.append([message.text, ""])
        elif message.role == "assistant":
            turns[-1][1] += message.text
        of_message.append(len(turns) - 1)
    asked = [own_terms(question) for question, _ in turns]
    wanted = Counter(term for each in asked for term in each if term.isalpha())
    places: dict[str, list[int]] = {term: [] for term in wanted}
    for place, (question, answer) in enumerate(turns):
        for term in content_terms(f"{question} {answer}") & wanted.keys():
            places[term].append(place)
    about = [""] * len(turns)

    def gaps(found: Sequence[int]) -> int:
        """Turns that follow each other are rather about one thing than those that share a word."""
        return sum(later - earlier > 1 for earlier, later in pairwise(found))

    def is_topic(found: Sequence[int]) -> bool:
        is_known = bool(found) and found[0] < known
        return len(found) >= TOPIC_TURNS and (is_known or 2 * len(found) >= 3 * (1 + gaps(found)))

    # What all of it is about tells nothing apart.
    places = {term: found for term, found in places.items() if is_topic(found) and len(found) < len(turns)}
    while places:
        best = max(places, key=lambda term: (len(places[term]) + wanted[term] - gaps(places[term]), term))
        forms = Counter(word for turn, _ in turns for word in query_words(turn) if stem(word) == best)
        first = places[best][0]
        topic = turns[first][0] if first < known else forms.most_common(1)[0][0][:MAX_TOPIC].capitalize()
        for place in places[best]:
            about[place] = topic
        left = {term: [place for place in found if not about[place]] for term, found in places.items()}
        places = {term: found for term, found in left.items() if is_topic(found)}
    for place in range(known, len(turns)):
        if place and not about[place] and len(asked[place]) < TOPIC_TURNS:
            about[place] = about[place - 1]
    has_several = len({*about, *before} - {""}) > 1
    return [about[place] if has_several else "" for place in of_message]


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
    opened: set[tuple[str, object]] = set()
    left = budget

    def fits(number: int) -> bool:
        nonlocal left
        each = said[number]
        lines: dict[tuple[str, object], str] = {(each.day, None): f"\n{each.day}"}
        lines[each.day, each.turn] = f"\n- {each.speaker}:"
        if each.topic:
            lines[each.day, each.topic] = f"\n{each.topic}:"
        cost = items[number].cost + sum(count(line) for key, line in lines.items() if key not in opened)
        if cost > left:
            return False
        left -= cost
        opened.update(lines)
        return True

    return select_greedily(items, idf_weights(items, content_terms(focus)), fits)


def _format_summary(said: Sequence[_Sentence], questions: Sequence[str]) -> str:
    lines: list[str] = []
    days = {day: number for number, day in reversed([*enumerate(each.day for each in said)])}
    topics = {topic: number for number, topic in reversed([*enumerate(each.topic for each in said)])} | {"": -1}
    day = topic = ""
    by_topic = sorted(said, key=lambda each: (days[each.day], topics[each.topic]))
    for _, in_a_row in groupby(by_topic, key=lambda each: (each.day, each.topic, each.speaker or each.turn)):
        found = [*in_a_row]
        first = found[0]
        if first.day != day:
            day, topic = first.day, ""
            lines.append(day)
        if first.topic != topic:
            topic = first.topic
            lines.append(f"{topic}:")
        # One that has no end of its own is ended by a semicolon.
        ended = [each.text if each.text.endswith(_ENDS) else f"{each.text};" for each in found[:-1]]
        text = " ".join([*ended, found[-1].text])
        lines.append(f"- {first.speaker}: {text}" if first.speaker else f"- {text}")
    if questions:
        lines += [OPEN_QUESTIONS, *(f"- {question}" for question in questions)]
    return "\n".join(lines)


def _cost_of(questions: Sequence[str], count: Count) -> int:
    return count("\n".join(["", OPEN_QUESTIONS, *(f"- {question}" for question in questions)])) if questions else 0


def statements(text: str, budget: int) -> Iterator[str]:
    """The statements of a text in order, cut so that several of them fit into so many tokens."""
    # Where letters are written without spaces, it is a third.
    limit = min(240, max(120, 2 * budget))
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
        heading = re.match(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$", line)
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
