"""Whatever was said, a summary keeps within its budget, and is the same each time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.context.extractive import summarise
from zkchat.chat.context.tokens import Estimate
from zkchat.core.message import ChatMessage, TextPart

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
COUNTERS: list[Callable[[str], int]] = [
    Estimate().count,
    len,
    lambda text: len(text.split()),
    lambda text: len(text.encode("utf-8", "replace")) // 3 + 5 * bool(text),
]
PIECES = [
    "The budget is 4,000 euros.", "Marta decided it.", "why not?", "Hello!", "\n\n", "\n- ", "```\n", "[[Note|alias]]",
    "会议改到了下周四。", "да, конечно.", "https://x.y/z", "# Head\n", "| a | b |\n", "2026-03-01\n",
    "Open questions\n", "x" * 90,
]  # fmt: skip

texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=30).map(" ".join)
talks = st.lists(texts, max_size=8).map(
    lambda said: [
        ChatMessage(
            id=str(number),
            role="assistant" if number % 2 else "user",
            parts=(TextPart(text=text),),
            created_at=NOON + timedelta(hours=9 * number),
        )
        for number, text in enumerate(said)
    ]
)
budgets = st.integers(16, 300)
counters = st.sampled_from(COUNTERS)


@settings(max_examples=150, deadline=None)
@given(talks, budgets, counters, texts, st.sampled_from(["", "the budget"]))
def test_a_summary_is_never_over_its_budget_and_always_the_same(
    talk: list[ChatMessage], budget: int, count: Callable[[str], int], earlier: str, focus: str
) -> None:
    summary = summarise(talk, budget, count, focus=focus, earlier=earlier)
    assert count(summary) <= budget
    assert summarise(talk, budget, count, focus=focus, earlier=earlier) == summary
