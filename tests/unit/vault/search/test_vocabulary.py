import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.index.search.postings import TermLists, Vocabulary
from zkchat.index.search.terms import pieces, terms

TEXTS = [
    "Running notes, running!",
    "",
    "naïve “quotes” – and 笔记 too",
    "note",
    "the notes\u2014of\u00a0notes",
    "笔",
    "a\ud800b",
]


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
def test_pieces_that_are_the_same_have_one_number_and_others_have_others(read: list[list[str]]) -> None:
    known = Vocabulary()
    for texts in [*read, *read]:
        assert known.read(texts).tolist() == [known[piece] for piece in pieces(texts).split()]


def test_texts_with_words_that_are_not_asked_for_are_known() -> None:
    known = Vocabulary()
    names = ["Plain words", "The garden", "笔记本", "", "Straße nach Süden"]
    assert known.wordy(known.read(names)).tolist() == [1, 2, 4]
