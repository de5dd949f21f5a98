"""A strategy is complete when the closed set, the planners and the documentation know it."""

from typing import get_args

import pytest

from tests.support.doc_examples import DOCS
from zkchat.chat.context.strategies import PLANNERS
from zkchat.config.sections import Context
from zkchat.core.choices import CompactionStrategy


def test_there_is_a_planner_for_every_strategy() -> None:
    assert list(PLANNERS) == list(get_args(CompactionStrategy))


@pytest.mark.parametrize("strategy", get_args(CompactionStrategy))
def test_every_strategy_can_be_set(strategy: CompactionStrategy) -> None:
    assert Context(strategy=strategy).strategy == strategy


@pytest.mark.parametrize("strategy", get_args(CompactionStrategy))
def test_every_strategy_is_documented(strategy: CompactionStrategy) -> None:
    assert f"`{strategy}`" in (DOCS / "context.md").read_text("utf-8")
