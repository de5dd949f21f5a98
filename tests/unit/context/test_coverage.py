"""How much a sentence matters, and which are taken."""

import pytest

from zkchat.chat.context.condensing import (
    content_terms,
    coverage_item,
    idf_weights,
    is_question,
    select_greedily,
    sentence_weight,
)


@pytest.mark.parametrize(
    ("lesser", "better"),
    [
        ("The bridge behind the city is closed.", "The bridge behind Lisbon is closed."),
        ("The bridge is in the notes.", "The bridge is in [[notes]]."),
        ("The bridge closes late.", "The bridge closes at 14."),
        ("The bridge fell.", "My bridge fell."),
        ("Мост закрыт.", "Наш мост закрыт."),
        ("橋梁關閉了。", "我們關閉了橋梁。"),
    ],
)
def test_facts_and_what_is_ones_own_come_before_the_rest(lesser: str, better: str) -> None:
    assert sentence_weight(lesser) < sentence_weight(better)


@pytest.mark.parametrize("question", ["Why?", 'Why?"', "(or not?)", "为什么？", "لماذا؟", "Γιατί\u037e"])
def test_a_question_is_known_by_its_mark(question: str) -> None:
    assert is_question(question)
    assert not is_question(f"{question} No.")


def taken(*sentences: str, room: int = 1, focus: str = "") -> list[int]:
    """Those that are chosen where there is room for so many."""
    items = [coverage_item(sentence, len(sentence)) for sentence in sentences]
    left = iter(range(room))
    return select_greedily(items, idf_weights(items, content_terms(focus)), lambda _: next(left, None) is not None)


def test_what_was_said_adds_little_the_second_time() -> None:
    assert set(taken("nine red fish swim", "nine red fish dive", "pale oaks", room=2)) in ({0, 2}, {1, 2})


def test_what_stands_there_already_is_not_new() -> None:
    items = [coverage_item("nine red fish", 3), coverage_item("pale oaks", 3)]
    telling = idf_weights(items)
    fish = content_terms("nine red fish")
    assert select_greedily(items, telling, lambda _: True) == [0, 1]
    assert select_greedily(items, telling, lambda _: True, covered=[fish]) == [1, 0]
    assert select_greedily(items, telling, lambda _: True, covered=[fish, fish]) == [1]
