import pytest

from zkchat.index.search.terms import query_words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("चाय में कितनी इलायची डालनी है?", ["चाय", "इलायची", "डालनी"]),
        ("सर्दियों में काली मिर्च क्यों डालते हैं?", ["सर्दियों", "काली", "मिर्च", "डालते"]),
        ("¿Cuántas patatas y cuántos huevos lleva la tortilla?", ["patatas", "huevos", "lleva", "tortilla"]),
        ("How many eggs are in the omelette?", ["many", "eggs", "omelette"]),
    ],
)
def test_small_words_of_a_question_are_not_looked_for(question: str, words: list[str]) -> None:
    assert query_words(question) == words


def test_one_small_word_of_another_language_is_no_proof_of_it() -> None:
    assert query_words("tortilla de patatas") == ["tortilla", "de", "patatas"]


def test_a_question_of_nothing_but_small_words_keeps_them() -> None:
    assert query_words("यह क्या है") == ["यह", "क्या", "है"]
