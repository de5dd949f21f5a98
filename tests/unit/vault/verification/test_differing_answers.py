"""Whether two passages answer a question differently."""

import pytest
from msgspec.structs import replace

from tests.support.evidence import passage
from zkchat.answers.verification.contradiction import answer_differently


@pytest.mark.parametrize(
    ("question", "one", "another"),
    [
        ("How many chairs are in the hall?", "The hall has 140 chairs and a stage.", "Now the hall has 126 chairs."),
        ("Does the library lend tools?", "The library lends tools.", "The library no longer lends tools."),
        ("La piscine est-elle ouverte ?", "La piscine est ouverte.", "La piscine n'est plus ouverte."),
        ("礼堂有多少个座位？", "礼堂有80个座位。", "翻新以后，礼堂有110个座位。"),
        ("Wie hoch ist die Miete?", "Die Miete beträgt 980 Euro.", "Die Miete beträgt seit August 1.050 Euro."),
        ("Quel est le prix ?", "Le prix est de 950 euros par an.", "Le prix est de 1 080 euros à partir de mai."),
        ("When does the pier open?", "The pier opens in June 2026.", "The pier opens in June 2027."),
        ("What colour is the gate?", "The gate is green.", "The gate is now blue."),
        ("栅栏是什么颜色？", "栅栏的颜色是绿色。", "栅栏的颜色现在是灰色。"),
        ("Where is the spare key?", "The spare key is in the shed.", "The spare key is in the cellar now."),
    ],
)  # fmt: skip
def test_another_number_or_the_opposite_is_another_answer(question: str, one: str, another: str) -> None:
    assert answer_differently(question, passage(one), passage(another))
    assert answer_differently(question, passage(another), passage(one))
    assert not answer_differently(question, passage(one), passage(one))


@pytest.mark.parametrize(
    ("question", "one", "another"),
    [
        ("How long does bread bake?", "Rye bread bakes 60 minutes.", "Wheat bread bakes 45 minutes."),
        ("How many chairs does the hall have?", "The hall has 140 chairs.", "The hall has at least 100 chairs."),
        ("How many chairs does the hall have?", "The hall has about 140 chairs.", "The hall has 138 chairs."),
        ("What is the colour of the fence?", "The colour of the fence is green.", "The colour of the shed is brown."),
        ("What colour is the fence?", "The fence is green.", "The gate by the fence is grey."),
        ("What colour is the fence?", "The fence is green.", "The fence is green and white."),
        ("Where is the spare key?", "The spare key is in the shed.", "The spare key is in the shed on the left."),
        ("Where was the dinner?", "The dinner was in the garden.", "The dinner was in the kitchen."),
        ("How tall is the oak?", "Is the oak 12 metres tall?", "The oak is 18 metres tall."),
        ("Πόσο κοστίζει;", "Κοστίζει 5 ευρώ.", "Κοστίζει 6 ευρώ."),
    ],
)  # fmt: skip
def test_what_is_about_something_else_or_unclear_is_none(question: str, one: str, another: str) -> None:
    assert not answer_differently(question, passage(one), passage(another))


def test_a_number_may_leave_what_it_is_about_to_the_title() -> None:
    question = "What is the budget of the rooftop garden?"
    old = passage("The budget of the rooftop garden is 9,000 euros.", note="Rooftop garden")
    new = passage("The budget is 8,000 euros.", note="Rooftop garden, news")
    assert answer_differently(question, old, new)
    assert not answer_differently(question, old, replace(new, title="Cellar"))
