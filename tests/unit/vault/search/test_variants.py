from hypothesis import given
from hypothesis import strategies as st

from zkchat.index.search.terms import is_english, rank_variants, variant_prefixes


def test_a_question_counts_as_english_unless_other_letters_or_stop_words_speak_against_it() -> None:
    english = ["Where does the compost go?", "What did the die cast mean to them", "", "42", "die hard — again"]
    others = ["Der Komposthaufen ist weg", "Gewächshaus", "¿Cómo?", "куда", "mantarların"]
    assert [question for question in (*english, *others) if is_english(question)] == english


def test_of_a_question_the_first_words_with_letters_have_variants() -> None:
    assert variant_prefixes("Gewächshaus", ["2024notes", "有什么主要的区别", "snake_case"]) == {}
    asked = [f"wörter{chr(97 + place % 26)}{chr(97 + place // 26)}" for place in range(100)]
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
