import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.index.search.terms import is_english, rank_variants, variant_prefixes


@pytest.mark.parametrize(
    "question",
    ["Where does the compost go?", "compost heap", "What did the die cast mean to them", "", "42", "die hard — again"],
)
def test_a_question_counts_as_english_unless_something_speaks_against_it(question: str) -> None:
    assert is_english(question)


@pytest.mark.parametrize("question", ["Der Komposthaufen ist weg", "Gewächshaus", "¿Cómo?", "куда", "mantarların"])
def test_other_letters_or_more_stop_words_of_another_language_speak_against_it(question: str) -> None:
    assert not is_english(question)


@pytest.mark.parametrize("term", ["2024notes", "有什么主要的区别", "snake_case"])
def test_numbers_names_of_code_and_scripts_without_spaces_have_no_variants(term: str) -> None:
    assert variant_prefixes("Gewächshaus", [term]) == {}


def test_a_question_without_end_asks_for_the_variants_of_its_beginning_only() -> None:
    asked = [f"wörter{chr(97 + place % 26)}{chr(97 + place // 26)}" for place in range(500)]
    assert [*variant_prefixes("wörter", asked)] == asked[:24]


@given(st.text("abc", min_size=6, max_size=12), st.sets(st.text("abc", min_size=1, max_size=16), max_size=30))
def test_variants_are_other_known_terms_that_begin_alike_in_an_order_that_is_always_the_same(
    term: str, known: set[str]
) -> None:
    (prefix,) = variant_prefixes("é", [term]).values()
    found = [*rank_variants(term, known)]
    assert found == [*rank_variants(term, sorted(known))]
    assert len(found) == len({*found})
    for variant in found:
        assert variant in known
        assert variant != term
        assert variant.startswith(prefix)
        assert max(len(variant), len(term)) * 0.6 <= min(len(variant), len(term))
