"""Which sentences of a user are proposed to be remembered."""

import pytest

from tests.support.memories import MemoriesInMemory
from zkchat.chat.memory import learning_points


@pytest.mark.parametrize(
    "sentence",
    [
        "I decided to write the thesis in English.",
        "My thesis is due on 30 June.",
        "Ich habe mich entschieden, nur noch auf Deutsch zu schreiben.",
        "我决定每天写一篇笔记，从三月开始。",
    ],
)
def test_what_somebody_says_of_themselves_is_proposed(sentence: str) -> None:
    assert learning_points([f"Hello there. {sentence}"]) == [sentence]


@pytest.mark.parametrize(
    "text",
    [
        "What did I decide about the thesis?",
        "Can you tell me what I need for the trip on 3 May.",
        "I want to know what my notes say about 1984.",
        "The deadline is 30 June.",
        "We decided to lend it to them on 3 May.",
        "I am here.",
        "I must " + "go on and on " * 30,
        "```\nI = 5  # my budget\n```",
    ],
)
def test_questions_wishes_and_small_talk_are_not(text: str) -> None:
    assert learning_points([text]) == []


def test_at_most_three_are_proposed_in_the_order_of_saying_and_the_most_telling_win() -> None:
    said = [
        "I have 2 cats.",
        "I decided that I prefer tea and never drink coffee.",
        "My goal is to run every day.",
        "We agreed on a budget of 500 euros because my rent is due.",
    ]
    points = learning_points(said)
    assert len(points) == 3
    assert points == said[1:]


def test_what_is_known_already_and_what_is_said_twice_is_not_proposed_again() -> None:
    facts = MemoriesInMemory("My thesis is due on 30 June").facts()
    said = ["My thesis is due on 30 June.", "I prefer tea.", "I prefer tea."]
    assert learning_points(said, facts) == ["I prefer tea."]
