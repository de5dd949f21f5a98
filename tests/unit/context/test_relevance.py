from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from zkchat.chat.context.selection import Relevance
from zkchat.core.errors import ProviderError
from zkchat.models.static_vectors import StaticVectors, installed

TEXTS = ("Cooking recipes and oven temperature", "Trains, flights and hotels", "做菜的菜谱")


class Counting:
    """The real vectors, and how many texts they were made for."""

    name = StaticVectors.name
    dimensions = StaticVectors.dimensions

    def __init__(self) -> None:
        self.made = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.made += len(texts)
        return vectors().embed(texts)


class Broken(Counting):
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ProviderError("There are no word vectors.")


@lru_cache
def vectors() -> StaticVectors:
    return installed()


@lru_cache
def by_both() -> Relevance:
    return Relevance(vectors())


@pytest.mark.parametrize(
    ("question", "nearest"), [("How hot must the oven be?", 0), ("railway journey", 1), ("红烧肉的菜谱", 2)]
)
def test_the_text_on_the_same_subject_is_the_nearest(question: str, nearest: int) -> None:
    scores = by_both().scores(question, TEXTS)
    assert max(range(3), key=scores.__getitem__) == nearest


def test_without_vectors_or_where_they_cannot_be_made_words_alone_count() -> None:
    scores = Relevance().scores("oven", TEXTS)
    assert scores[0] > 0
    assert scores[1:] == [0, 0]
    assert Relevance().scores("railway journey", TEXTS) == [0, 0, 0]
    assert Relevance(Broken()).scores("oven", TEXTS) == Relevance().scores("oven", TEXTS)


def test_vectors_are_made_once_for_each_text() -> None:
    embedder = Counting()
    relevance = Relevance(embedder)
    for question in ("oven", "hotel"):
        relevance.scores(question, TEXTS)
    relevance.scores("oven", [*TEXTS, "Planting seeds"])
    assert embedder.made == 3 + 1 + 3  # the texts, one of them later, and each question
    early = Counting()
    Relevance(early).preload()()
    assert early.made == 1, "it can be made ready before it is needed"


@given(st.text(), st.lists(st.text(), max_size=8))
@settings(max_examples=100, deadline=None)
def test_scores_lie_between_0_and_1_whatever_the_texts(question: str, texts: list[str]) -> None:
    scores = by_both().scores(question, texts)
    assert len(scores) == len(texts)
    assert all(0 <= score <= 1 for score in scores)
