"""The scores of messages by their words, against the formula written out."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.chat.message_ranking import GAP, K1, NEAR_WEIGHT, UNSEEN_WEIGHT, B, MessageRanking, pack_terms
from zkchat.index.search.terms import idf

Said = tuple[list[str], list[str]]
WORDS = st.lists(st.sampled_from(["heron", "fish", "boat", "tar", "roof"]), max_size=6)
MESSAGES = st.lists(st.tuples(WORDS, WORDS), max_size=12)


def expected(messages: Sequence[Said], asked: Counter[str], question: int | None) -> list[float]:
    def said_near(place: int) -> list[list[str]]:
        return [[] if each == question else messages[each][0] for each in near(place)]

    def near(place: int) -> list[int]:
        return [place + step for step in (-2, -1, 1, 2) if 0 <= place + step < len(messages)]

    def own(place: int) -> list[str]:
        return [] if place == question else [*messages[place][0], *messages[place][1]]

    lengths = [len(said) + len(labels) for said, labels in messages]
    beside = [sum(len(messages[each][0]) for each in near(place)) for place in range(len(messages))]
    whole = [length + NEAR_WEIGHT * around for length, around in zip(lengths, beside, strict=True)]
    count = sum(length > 0 for length in lengths)
    mean = max(sum(each for each, length in zip(whole, lengths, strict=True) if length) / max(count, 1), 1)
    scores, mass = [0.0] * len(messages), 0.0
    for term, times in asked.items():
        holding = sum(term in own(place) for place in range(len(messages)))
        weight = times * idf(count, holding)
        mass += weight if holding else UNSEEN_WEIGHT * weight
        for place in range(len(messages)):
            frequency = own(place).count(term) + NEAR_WEIGHT * sum(said.count(term) for said in said_near(place))
            scores[place] += weight * frequency / (frequency + K1 * (1 - B + B * whole[place] / mean)) if holding else 0
    return [score * (1 + K1) / mass for score in scores] if mass else scores


@given(MESSAGES, WORDS, st.integers(0, 30))
def test_scores_follow_the_formula(messages: list[Said], asked: list[str], question: int) -> None:
    place = question if question < len(messages) else None
    rows = [GAP._replace(said=pack_terms(said), labels=pack_terms(labels)) for said, labels in messages]
    found = MessageRanking(rows).scores(Counter(asked), place)
    assert found.tolist() == pytest.approx(expected(messages, Counter(asked), place), rel=1e-4)
