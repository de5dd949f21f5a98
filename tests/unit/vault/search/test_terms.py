import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.index.search.terms import END, count_words, phrase_text, pieces, query_terms, stem, terms, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("running", "Runs"),
        ("кошками", "Кошка"),
        ("İstanbul", "istanbul"),
        ("schön", unicodedata.normalize("NFD", "Schön")),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other)


def test_a_run_without_spaces_gives_letters_and_pairs() -> None:
    assert terms("東京都") == ["東", "京", "都", "東京", "京都"]


def test_endless_words_are_cut() -> None:
    assert terms("a" * 65) == terms("a" * 5000) == ["a" * 64]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How do I name the notes?", ["name", "note"]),
        ("What is it about?", ["what", "is", "it", "about"]),
        ("die hard", ["die", "hard"]),
        ("was ist die beste Katze", ["best", "katz"]),
        ("что это такое кошка", ["так", "кошк"]),
    ],
)
def test_a_question_loses_the_stop_words_of_its_language_and_no_others(question: str, asked: list[str]) -> None:
    assert query_terms(question) == asked


def test_threads_do_not_spoil_each_others_stems() -> None:
    vocabulary = [f"{beginning}{ending}" for beginning in ("walk", "nation", "hopp") for ending in ("ing", "s", "ally")]
    expected = [stem.__wrapped__(word) for word in vocabulary]
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: [stem.__wrapped__(word) for word in vocabulary], range(20)):
            assert found == expected


@settings(deadline=None, max_examples=200)
@given(st.text())
def test_any_text_has_terms_and_each_word_asked_for_is_one_of_them(text: str) -> None:
    assert set(query_terms(text)) <= set(terms(text))
    assert len(words(text)) == len(terms(text))
    assert all(terms(text))
    assert phrase_text("") in phrase_text(text)


# How a capital sigma is lowered depends on the letters around it, and a piece does not know them.
without_sigma = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="Σ"))


@settings(max_examples=300, deadline=None)
@given(st.lists(without_sigma, max_size=4))
def test_the_words_of_pieces_are_those_of_the_texts(texts: list[str]) -> None:
    read = pieces(texts).split()
    assert read.count(END) == len(texts)
    found: list[list[str]] = [[]]
    for piece in read:
        if piece == END:
            found.append([])
        else:
            found[-1] += words(piece.decode())
    assert found == [*map(words, texts), []]


@pytest.mark.parametrize(
    ("written", "typed"), [("¿Cuánto?", "cuanto"), ("Việt", "viet"), ("u\u0308ber", "uber"), ("İzmir", "izmir")]
)
def test_latin_words_meet_whether_or_not_their_accents_are_typed(written: str, typed: str) -> None:
    assert terms(written) == terms(typed)
    assert terms("й") != terms("и"), "there, accents make other letters"
    assert terms("が") != terms("か")


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("…", 0), ("rye", 1), ("well-known facts", 3), ("黑曜石", 2), ("Notion 和 黑曜石", 4), ("ใบเตย", 3)],
)
def test_words_are_counted_as_a_reader_would(text: str, count: int) -> None:
    assert count_words(text) == count
