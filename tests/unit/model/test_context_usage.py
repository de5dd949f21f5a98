import pytest

from zkchat.core import BudgetUse, ContextUsage

SHARE = {"messages": BudgetUse(limit=300)}


@pytest.mark.parametrize(
    ("usage", "mark"),
    [
        (ContextUsage(), 0),
        (ContextUsage(window=1_000, reserve=100), 850),
        (ContextUsage(window=1_000, reserve=200), 800),
        (ContextUsage(window=1_000, threshold=1.5), 1_000),
        (ContextUsage(window=1_000, threshold=-1.0), 0),
        (ContextUsage(window=1_000, system=100, tools=50, budgets=SHARE), 450),
        (ContextUsage(window=1_000, system=500, tools=500, budgets=SHARE), 850),
        (ContextUsage(window=100, reserve=200), 0),
    ],
)
def test_older_messages_leave_at_the_threshold_or_where_their_share_ends(usage: ContextUsage, mark: int) -> None:
    assert usage.compacts_at == mark


def test_what_is_left_of_a_window_is_without_its_reserve() -> None:
    held = ContextUsage(window=100, reserve=10, system=1, tools=2, messages=4, memory=8, references=16, images=32)
    assert (held.total, held.available) == (63, 27)
