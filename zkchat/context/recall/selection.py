"""Recall: which archived messages come back into the prompt, and which sentences of each."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from zkchat.context.condensing import condense_text
from zkchat.context.coverage import CoverageItem, content_terms, idf_weights, select_greedily
from zkchat.context.extractive import excerpt
from zkchat.context.formatting import format_quote
from zkchat.context.recall.search import ConversationSearch
from zkchat.model.message import ChatMessage

# Chosen with benchmarks/memory and with public conversations that are not part of it.
MIN_SCORE = 0.25
"""The score from which a message is worth recalling without being asked for."""
MIN_SHARE_OF_BEST = 0.3
"""The share of the best score that the others must reach."""
BEST_SHARE = 0.5
"""Of the budget, for the messages that score best; the rest is for the most informative ones."""
MAX_MESSAGE_SHARE = 0.4
"""Of the budget, for one recalled message; a longer one is condensed."""
MAX_CANDIDATES = 200
"""Archived messages that are looked at, the best by rank."""
MAX_CHARS = 100_000
"""Read at most to find the most informative messages, so that an archive of long messages costs no more time."""

Count = Callable[[str], int]


class Recalled(Struct, frozen=True):
    """An archived message that comes back into the prompt."""

    message: ChatMessage
    text: str
    """What of it comes back: all, or the sentences on the question."""
    score: float

    @property
    def quoted(self) -> str:
        return format_quote(self.message, self.text)


def recall(
    search: ConversationSearch,
    query: str,
    archived: Mapping[str, ChatMessage],
    *,
    session: str,
    budget: int,
    count: Count,
    asked_in: str = "",
) -> list[Recalled]:
    """The archived messages that the user's text is about: quoted, in so many tokens; none that say too little.

    First those that score best. Where many share a word with the question, scores say little: the rest of the
    budget goes to those that say most beside that word, each with its sentences on the question alone.
    """
    ranked = search.ranked(query, session=session, limit=MAX_CANDIDATES, among=archived, asked_in=asked_in)
    lowest = max([MIN_SCORE, *(MIN_SHARE_OF_BEST * each.score for each in ranked)])
    found = _deduplicate(
        Recalled(archived[id_], archived[id_].text, score) for _, id_, score in ranked if score >= lowest
    )
    best = [*_best(found, query, budget, count)]
    left = budget - sum(count(each.quoted) for each in best)
    return [*best, *_most_informative(found, best, query, left, count)]


def _deduplicate(found: Iterable[Recalled]) -> list[Recalled]:
    """Deduplicate by text; the best of each is kept."""
    by_text: dict[str, Recalled] = {}
    for each in found:
        by_text.setdefault(each.text, each)
    return [*by_text.values()]


def _best(found: Sequence[Recalled], query: str, budget: int, count: Count) -> Iterator[Recalled]:
    """The first ones until their share is used up, each as much of it as one message may take."""
    left = budget
    for each in found:
        if left <= (1 - BEST_SHARE) * budget:
            return
        room = min(int(MAX_MESSAGE_SHARE * budget), left)
        text = condense_text(each.text, room, _count_quoted(each.message, count), question=query)
        if text:
            shorter = replace(each, text=text)
            left -= count(shorter.quoted)
            yield shorter


def _count_quoted(message: ChatMessage, count: Count) -> Count:
    return lambda text: count(format_quote(message, text))


def _most_informative(
    found: Sequence[Recalled], best: Sequence[Recalled], query: str, budget: int, count: Count
) -> list[Recalled]:
    """Of those that are not among the best, what covers most that was not said yet, the nearer the better.

    The first in the order counts half as much again as its words are worth, the last no more than they are.
    """
    asked = content_terms(query)
    worth = {each.message.id: each.score * (1.5 - 0.5 * place / len(found)) for place, each in enumerate(found)}
    known = {each.message.id for each in best}
    readable = _within_reading_limit(each for each in found if each.message.id not in known)
    others = _deduplicate(replace(each, text=excerpt(each.text, asked)) for each in readable)
    items = [CoverageItem(content_terms(each.text), worth[each.message.id] ** 2, count(each.quoted)) for each in others]
    left = budget

    def fits(number: int) -> bool:
        nonlocal left
        if items[number].cost > left:
            return False
        left -= items[number].cost
        return True

    covered = [content_terms(each.text) for each in best]
    return [others[number] for number in select_greedily(items, idf_weights(items), fits, covered=covered)]


def _within_reading_limit(found: Iterable[Recalled]) -> Iterator[Recalled]:
    """The first ones, without those that would take the others' time."""
    left = MAX_CHARS
    for each in found:
        if len(each.text) <= min(left, MAX_CHARS // 10):
            left -= len(each.text)
            yield each
