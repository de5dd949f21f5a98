"""Whatever a long text holds, what is made of it keeps to its budget, uses it, and invents nothing."""

import json
import re
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.context.condensing import condense_message, condense_text, split_question
from zkchat.chat.context.tokens import Estimate

COUNTERS: list[Callable[[str], int]] = [
    Estimate().count,
    len,
    lambda text: len(text.encode("utf-8", "replace")) // 3 + 5 * bool(text),
]
PIECES = [
    "2026-03-01 INFO step 12 finished\n", "ERROR job failed\n", "a,b,c\n", "1,2,3\n", "会议改到了下周四", "。", "\n\n",
    "The budget is 4,000 euros. ", "Who pays?", "```\n", "[{\"a\": 1}, ", "{\"b\": [1, 2]}", "x" * 300, "   ", "\r\n",
    "é",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=60).map("".join)
documents = st.recursive(
    st.none() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=5), inner, max_size=8),
    max_leaves=60,
).map(lambda value: json.dumps([value] * 40, indent=2 if isinstance(value, dict) else None))
questions = st.sampled_from(["", "Which job failed?", "Who pays?", "会议是什么时候？"])
MARK = re.compile(r"\s*\[… [\d,]+ (?:line|row|record|character)s? left out …\]\s*")


@settings(max_examples=100, deadline=None)
@given(texts | documents, st.integers(0, 400), st.sampled_from(COUNTERS), questions)
def test_a_condensed_text_keeps_to_its_budget_and_uses_it(
    text: str, budget: int, count: Callable[[str], int], question: str
) -> None:
    short = condense_text(text, budget, count, question=question)
    assert short == "" or count(short) <= budget
    assert (short == text) or count(text) > budget
    assert short == condense_text(text, budget, count, question=question)
    for kept in MARK.split(short.removesuffix("…")):
        assert kept.strip() in text


@settings(max_examples=100, deadline=None)
@given(texts, st.integers(100, 400), questions)
def test_a_condensed_text_takes_what_there_is(text: str, budget: int, question: str) -> None:
    long = text + "\n".join(f"{number} goes on, and {text[:40]!r} is said again" for number in range(200))
    short = condense_text(long, budget, Estimate().count, question=question)
    assert Estimate().count(short) >= 0.5 * budget


@settings(max_examples=200, deadline=None)
@given(texts, st.integers(0, 400), st.sampled_from(COUNTERS))
def test_a_condensed_message_keeps_to_its_budget(text: str, budget: int, count: Callable[[str], int]) -> None:
    short = condense_message(text, budget, count)
    assert short == "" or count(short) <= budget
    split = split_question(text)
    assert split.before + split.material + split.after == text
