"""Words that say the same as a word of a question."""

import pytest

from zkchat.index.search.terms import query_terms
from zkchat.index.search.weighted_question import synonyms_of, with_synonyms
from zkchat.language.words import SYNONYMS


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("bikes", "bicycle"),
        ("decided", "decisions"),
        ("ran", "running"),
        ("Beschluss", "entschieden"),
        ("cuesta", "precio"),
        ("kosztuje", "cena"),
    ],
)
def test_a_word_has_its_synonyms_in_either_direction(asked: str, said: str) -> None:
    one, other = query_terms(asked)[0], query_terms(said)[0]
    assert other in synonyms_of(one)
    assert one in synonyms_of(other)


def test_a_topic_keeps_its_words_before_what_they_could_be_called() -> None:
    assert with_synonyms("zettelkasten slips") == "zettelkasten slips"
    topic, _, added = with_synonyms("kid zettelkasten").partition("kid zettelkasten")
    assert topic == ""
    assert {"child", "children"} <= {*added.split()}


def test_few_words_are_added_to_a_topic() -> None:
    long = " ".join(word for group in SYNONYMS["english"].split("|") for word in group.split()[:1])
    assert len(with_synonyms(long).split()) == len(long.split()) + 24


def test_every_group_says_more_than_one_word() -> None:
    groups = [group for listed in SYNONYMS.values() for group in listed.strip().replace("\n", "|").split("|")]
    assert all(len({*group.split()}) > 1 for group in groups)
