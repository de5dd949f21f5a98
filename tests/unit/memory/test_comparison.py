import pytest

from tests.support.sessions import NOON
from zkchat.chat.memory import compare_fact
from zkchat.core.profile import Fact


def fact(text: str) -> Fact:
    return Fact(id="f1", text=text, at=NOON)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I like tea", "Remember that I like the tea!"),
        ("The user prefers short answers", "User prefers short answer"),
        ("我喜欢喝茶", "我喜欢喝茶。"),
    ],
)
def test_two_facts_that_say_the_same_are_one(old: str, new: str) -> None:
    assert compare_fact(new, [fact(old)]).same == fact(old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I like tea", "I do not like tea"),
        ("Anna likes Bob", "Bob likes Anna"),
        ("My name is Kim", "Her name is Kim"),
        ("The budget is 300 euros", "The budget is 400 euros"),
    ],
)
def test_two_facts_of_the_same_words_may_say_something_else(old: str, new: str) -> None:
    assert compare_fact(new, [fact(old)]).same is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My favourite colour is blue", "My favourite colour is green."),
        ("Anna's birthday is 3 May", "Anna's birthday is on 4 May"),
        ("The meeting is at 3", "The meeting is at 4"),
        ("我的生日是五月三日", "我的生日是六月四日"),
    ],
)
def test_what_there_is_one_of_has_the_newer_value(old: str, new: str) -> None:
    assert compare_fact(new, [fact("I like tea"), fact(old)]).contradicted == (fact(old),)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Anna is tall", "Anna is a doctor"),
        ("My favourite colour is blue", "My favourite colour is also green"),
        ("My favourite colour is blue", "My favourite colour is not green"),
        ("Anna's birthday is 3 May", "Bob's birthday is 4 May"),
        ("is 3", "is 4"),
    ],
)
def test_facts_that_can_both_be_true_both_stay(old: str, new: str) -> None:
    assert compare_fact(new, [fact(old)]).contradicted == ()
