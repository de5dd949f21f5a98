import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.index.search import postings as vocabularies
from zkchat.index.search.postings import TermLists, Vocabulary, vocabulary
from zkchat.index.search.terms import pieces, terms

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
def test_pieces_that_are_the_same_have_one_number_and_others_have_others(read: list[list[str]]) -> None:
    known = Vocabulary()
    for texts in [*read, *read]:
        assert known.read(texts).tolist() == [known[piece] for piece in pieces(texts).split()]


def test_pieces_are_told_apart_though_they_share_a_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabularies, "_MIXING", np.uint64(0))
    known = Vocabulary()
    text = "ab cd ab abc abcdefghi abcdefghj abcdefgh"
    wanted = [*[known[piece.encode()] for piece in text.split()], known[b"\xff"]]
    for _ in range(2):
        assert known.read([text]).tolist() == wanted


def test_a_long_piece_is_not_taken_for_its_beginning_or_for_another() -> None:
    known = Vocabulary()
    sixteen = "x" * 16
    for _ in range(2):
        *read, _ = known.read([f"{sixteen}y {sixteen} {sixteen}z"]).tolist()
        assert read == [known[piece.encode()] for piece in (f"{sixteen}y", sixteen, f"{sixteen}z")]
        assert len({*read}) == 3


def test_a_lone_surrogate_is_no_word() -> None:
    known = Vocabulary()
    assert as_terms(known, known.lists(known.read(["a\ud800b"]))) == [["a", "b"]]


def test_texts_with_words_that_are_not_asked_for_are_known() -> None:
    known = Vocabulary()
    names = ["Plain words", "The garden", "笔记本", "", "Straße nach Süden"]
    assert known.wordy(known.read(names)).tolist() == [1, 2, 4]


def test_a_vocabulary_is_kept_until_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    known = vocabulary()
    known.read(["some words"])
    assert vocabulary() is known
    monkeypatch.setattr(vocabularies, "_MAX_PIECES", 1)
    assert vocabulary() is not known
