import pytest
from msgspec.structs import replace

from benchmarks.retrieval.newest import read_pairs
from tests.support.evidence import passage
from zkchat.answers.verification.contradiction import answer_differently


@pytest.mark.parametrize(("half", "missed"), [("dev", 1), ("test", 2)])
def test_pairs_of_the_benchmark_are_told_apart_as_they_are_today(half: str, missed: int) -> None:
    pairs = [each for each in read_pairs() if each.half == half]
    passages = [
        (passage(each.older[1], note=each.older[0]), passage(each.newer[1], note=each.newer[0])) for each in pairs
    ]
    found = [answer_differently(each.question, *both) for each, both in zip(pairs, passages, strict=True)]
    assert not [each.question for each, differs in zip(pairs, found, strict=True) if differs and not each.differs]
    assert sum(bool(each.differs) for each in pairs) - sum(found) == missed
    for each, (older, newer), differs in [*zip(pairs, passages, found, strict=True)][::8]:
        assert answer_differently(each.question, newer, older) == differs
        assert not answer_differently(each.question, older, older)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("The hall has 140 chairs.", "The hall has at least 100 chairs."),
        ("The hall has about 140 chairs.", "The hall has 138 chairs."),
        ("The hall has 140 chairs.", "Has the hall 150 chairs?"),
        ("The hall has 1.050 chairs.", "The hall has 1050 chairs."),
    ],
)
def test_what_is_unclear_is_no_other_answer(one: str, another: str) -> None:
    assert not answer_differently("How many chairs does the hall have?", passage(one), passage(another))


def test_a_number_may_leave_what_it_is_about_to_the_title() -> None:
    question = "What is the budget of the rooftop garden?"
    old = passage("The budget of the rooftop garden is 9,000 euros.", note="Rooftop garden")
    new = passage("The budget is 8,000 euros.", note="Rooftop garden, news")
    assert answer_differently(question, old, new)
    assert not answer_differently(question, old, replace(new, title="Cellar"))
