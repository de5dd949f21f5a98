import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.vault.search import vocabulary as vocabularies
from zkchat.vault.search.terms import terms
from zkchat.vault.search.vocabulary import TermLists, Vocabulary, vocabulary

TEXTS = ["Running notes, running!", "", "naïve “quotes” – and 笔记 too", "note", "the notes\u2014of\u00a0notes", "笔"]


def as_terms(known: Vocabulary, lists: TermLists) -> list[list[str]]:
    every = [*known.numbers]
    return [[every[term] for term in part] for part in np.split(lists.terms, lists.ends[1:-1])]


def test_texts_that_were_read_give_their_terms_in_order() -> None:
    known = Vocabulary()
    for _ in range(2):  # the second time nothing is new
        assert as_terms(known, known.lists(known.read(TEXTS))) == [terms(text) for text in TEXTS]


LETTERS = st.sampled_from(
    ["a", "b", "ab", "é", "и", "笔", "x" * 7, "y" * 8, "z" * 9, " ", " ", ", ", "\0", "\xff", "\n"]
)


READ_TOGETHER = st.lists(st.lists(LETTERS, max_size=20).map("".join) | st.text(max_size=30), max_size=5)


@settings(max_examples=300, deadline=None)
@given(st.lists(READ_TOGETHER, min_size=1, max_size=3))
def test_whatever_is_read_in_whatever_order_gives_its_terms(read: list[list[str]]) -> None:
    known = Vocabulary()
    for texts in [*read, *read]:
        lists = known.lists(known.read(texts))
        assert not texts or as_terms(known, lists) == [terms(text) for text in texts]


def test_no_texts_have_no_terms() -> None:
    known = Vocabulary()
    lists = known.lists(known.read([]))
    assert (len(lists.terms), [*lists.ends]) == (0, [0])


def test_a_lone_surrogate_is_no_word() -> None:
    known = Vocabulary()
    assert as_terms(known, known.lists(known.read(["a\ud800b"]))) == [["a", "b"]]


def test_texts_with_words_that_are_not_asked_for_are_known() -> None:
    known = Vocabulary()
    names = ["Plain words", "The garden", "笔记本", "", "Straße nach Süden"]
    assert known.wordy(known.read(names)).tolist() == [1, 2, 4]


def test_lists_can_be_picked_more_than_once_and_followed_by_others() -> None:
    lists = TermLists(np.array([7, 8, 9]), np.array([0, 2, 2, 3])).followed_by([[5], [], [6, 6]])
    picked = lists.of(np.array([5, 0, 1, 0]))
    assert picked.terms.tolist() == [6, 6, 7, 8, 7, 8]
    assert picked.lengths.tolist() == [2, 2, 0, 2]
    assert picked.places.tolist() == [0, 0, 1, 1, 3, 3]


def test_a_vocabulary_is_kept_until_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    known = vocabulary()
    known.read(["some words"])
    assert vocabulary() is known
    monkeypatch.setattr(vocabularies, "_MAX_PIECES", 1)
    assert vocabulary() is not known
