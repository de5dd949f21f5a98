import pytest

from zkchat.index.search.terms import query_words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("चाय में कितनी इलायची डालनी है?", ["चाय", "इलायची", "डालनी"]),
        ("¿Cuántas patatas y cuántos huevos lleva la tortilla?", ["patatas", "huevos", "lleva", "tortilla"]),
        ("How many eggs are in the omelette?", ["many", "eggs", "omelette"]),
        ("tortilla de patatas", ["tortilla", "de", "patatas"]),  # one small word is no proof of its language
        ("यह क्या है", ["यह", "क्या", "है"]),
    ],
)
def test_small_words_of_a_question_are_not_looked_for_unless_there_are_no_others(
    question: str, words: list[str]
) -> None:
    assert query_words(question) == words
