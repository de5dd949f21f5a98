"""A strategy is complete when the closed set, the planners and the documentation know it."""

from typing import get_args

import pytest

from tests.support.doc_examples import DOCS
from zkchat.chat.context.strategies import LiveMessage, Retention, TokenLimits, plan_compaction
from zkchat.config.sections import Context
from zkchat.core.choices import CompactionStrategy


@pytest.mark.parametrize("strategy", get_args(CompactionStrategy))
def test_every_strategy_can_be_set_and_is_documented(strategy: CompactionStrategy) -> None:
    assert Context(strategy=strategy).strategy == strategy
    assert f"`{strategy}`" in (DOCS / "context.md").read_text("utf-8")


@pytest.mark.parametrize(("older", "newer", "kept"), [(6, 5, "a"), (5, 5, "b"), (4, 3, "a"), (3, 3, "b")])
def test_by_importance_an_older_turn_stays_before_a_newer_one(older: int, newer: int, kept: str) -> None:
    sizes = [("a", 500, older), ("b", 500, newer), ("c", 10, 5)]
    messages = [LiveMessage(id=id_, tokens=size, opens_turn=True, priority=priority) for id_, size, priority in sizes]
    limits = TokenLimits(cap=1000, goal=1000, trigger=100, summary_cap=200)
    found = plan_compaction("hybrid", messages, limits, Retention())
    assert found
    assert found.kept == (kept, "c")
    assert found.summary_budget == 200


@pytest.mark.parametrize(("goal", "kept"), [(700, 4), (450, 3), (350, 2), (100, 4)])
def test_as_many_of_the_last_messages_stay_word_for_word_as_fit(goal: int, kept: int) -> None:
    messages = [LiveMessage(id=str(number), tokens=100, opens_turn=True) for number in range(10)]
    limits = TokenLimits(cap=900, goal=goal, trigger=100, summary_cap=100)
    found = plan_compaction("summarize", messages, limits, Retention(recent=4, least=2))
    assert found
    assert [*found.kept] == [str(number) for number in range(10 - kept, 10)]
    assert found.condensed == {}
