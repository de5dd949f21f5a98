"""Which answers contradict the passages they were given, and which do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from benchmarks.retrieval.contradictions import measure, read_pairs
from tests.support.evidence import passage
from zkchat.answers.verification.contradiction import Contradiction, find_contradiction


def check(answer: str, *passages: str, question: str = "", documents: tuple[str, ...] = ()) -> str:
    """The kind of contradiction, or nothing."""
    found = find_contradiction(answer, [*map(passage, passages)], question, documents)
    return found.kind if found else ""


ENCRYPTED = "Obsidian Sync is end-to-end encrypted: only you hold the password."
RYE = "Rye bread takes two days from start to slice."


@pytest.mark.parametrize(
    ("answer", "source", "kind"),
    [
        ("Obsidian Sync is not end-to-end encrypted.", ENCRYPTED, "negation"),
        ("You can't enter the shed in winter.", "You can enter the shed in winter by the back door.", "negation"),
        ("Rye bread takes three days.", RYE, "number"),
        ("The frost is over for good in April.", "The frost is over for good in May.", "number"),
        ("The roof is repaired by Marta.", "The roof is repaired by Jonas.", "name"),
    ],
)
def test_contradictions_are_noticed(answer: str, source: str, kind: str) -> None:
    assert check(answer, source) == kind


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("Obsidian Sync is end-to-end encrypted.", ENCRYPTED),
        ("Is Obsidian Sync not end-to-end encrypted?", ENCRYPTED),
        ("Obsidian Sync is not encrypted without a password.", ENCRYPTED),
        ("Not all of Obsidian Sync is end-to-end encrypted.", ENCRYPTED),
        ("The rent is 1.250 euros.", "The rent is 1250 euros."),
        ("Крыша протекает.", "Крыша протекает с марта."),
    ],
)
def test_other_answers_are_not_accused(answer: str, source: str) -> None:
    assert check(answer, source) == ""


def test_the_sentence_and_the_passage_are_named() -> None:
    passages = [passage("The roof leaks."), passage(RYE, note="Bread")]
    found = find_contradiction("Bread is good. Rye bread takes four days. Enjoy.", passages)
    assert found == Contradiction("number", "Rye bread takes four days.", passages[1])


def test_what_an_answer_leaves_out_is_in_the_question() -> None:
    assert check("It takes 5 days.", RYE, question="How long does rye bread take?") == "number"
    assert check("It takes 5 days.", RYE, question="How long does a letter to Chile take?") == ""
    assert check("In April.", "The frost is over in May.", question="When is the frost over?") == "number"


def test_the_heading_says_what_a_passage_is_about() -> None:
    source = replace(passage("It is open until 18:30."), heading="Opening hours of the reading room")
    assert find_contradiction("The reading room is open until 20:30.", [source]) is None  # a bound is met by others
    exact = replace(passage("It opens at 9:30."), heading="Reading room")
    found = find_contradiction("The reading room opens at 8:30.", [exact])
    assert found
    assert found.kind == "number"


def test_what_another_passage_or_a_document_says_is_no_contradiction() -> None:
    answer = "The cellar is heated."
    denied = "The cellar is not heated."
    assert check(answer, denied) == "negation"
    assert check(answer, denied, "Since May the cellar is heated.") == ""
    assert check(answer, denied, documents=("# House\n\nSince May the cellar is heated.\n",)) == ""
    assert check("Rye bread takes three days.", RYE, "In winter the bread takes three days.") == ""


def test_of_languages_that_are_not_known_nothing_is_said() -> None:
    assert check("Taget er ikke utæt.", "Taget er utæt over vinduet, fordi det er gammelt, og det siden marts.") == ""


VOCABULARY = (
    "the roof leaks not never no garden Jonas Marta Leeds in by 12 3 two days may May Monday 1987 € % [[Note]] 不 没有 "
    '屋顶 漏水 三天 nicht kein Dach leckt unless only uncovered covered , . ; : ? ( " “ ”'
)
WORDS = st.sampled_from(VOCABULARY.split())
TEXTS = st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(max_size=120))


@given(st.lists(TEXTS.filter(str.strip), min_size=1, max_size=4), st.data())
def test_whoever_quotes_a_passage_does_not_contradict_it(passages: list[str], data: st.DataObject) -> None:
    assert find_contradiction(data.draw(st.sampled_from(passages)), [*map(passage, passages)]) is None


def test_pairs_of_the_benchmark_are_judged_as_they_are_today() -> None:
    chosen_on, unseen = map(measure, read_pairs())
    assert (chosen_on.noticed, chosen_on.missed, chosen_on.accused) == (44, 2, 1)
    assert (unseen.noticed, unseen.missed, unseen.accused) == (43, 5, 1)
