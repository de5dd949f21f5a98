"""Planners over thousands of histories: the cap holds, calls stay with results, planning twice changes nothing."""

from itertools import pairwise
from typing import get_args

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from zkchat.chat.context.strategies import (
    MIN_DOCUMENT_TOKENS,
    MIN_MESSAGE_TOKENS,
    CompactionPlan,
    LiveMessage,
    Retention,
    TokenLimits,
    TooFull,
    plan_compaction,
)
from zkchat.core.choices import CompactionStrategy

SIZES = st.one_of(st.integers(1, 60), st.integers(60, 900), st.integers(900, 60_000))


@st.composite
def histories(draw: st.DrawFn) -> list[LiveMessage]:
    """Turns of a question, some rounds of tools, and an answer; the last one may be under way."""
    messages: list[LiveMessage] = []

    def add(*, opens_turn: bool = False, has_tools: bool = False) -> None:
        tokens = draw(SIZES)
        brings = opens_turn or has_tools
        messages.append(
            LiveMessage(
                id=f"m{len(messages)}",
                tokens=tokens,
                attached=draw(st.integers(0, tokens - 1)) if brings and draw(st.booleans()) else 0,
                opens_turn=opens_turn,
                has_tools=has_tools,
                pinned=draw(st.integers(0, 9)) == 0,
                priority=draw(st.sampled_from([5, 5, 5, 5, 3, 6, 8, 10])),
            )
        )

    turns = draw(st.integers(1, 14))
    for number in range(turns):
        add(opens_turn=True)
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
            add(has_tools=True)
            add(has_tools=True)
        if number < turns - 1 or draw(st.booleans()):
            add()
    return messages


@st.composite
def limits(draw: st.DrawFn) -> TokenLimits:
    window = draw(st.sampled_from([512, 2_048, 4_096, 8_192, 32_768, 200_000]))
    cap = int(window * draw(st.floats(0.3, 0.9)))
    trigger = int(cap * draw(st.floats(0.7, 1.0)))
    summary_cap = int(window * 0.3)
    return TokenLimits(
        cap=cap,
        trigger=trigger,
        goal=int(trigger * draw(st.floats(0.4, 1.0))),
        summary_cap=summary_cap,
        summary=draw(st.integers(0, min(summary_cap, cap // 2))),
    )


STRATEGIES = st.sampled_from(get_args(CompactionStrategy))
KEEPS = st.builds(lambda least, more: Retention(recent=least + more, least=least), st.integers(1, 4), st.integers(0, 8))


def planned(
    strategy: CompactionStrategy, messages: list[LiveMessage], limits: TokenLimits, keep: Retention
) -> CompactionPlan | None:
    try:
        return plan_compaction(strategy, messages, limits, keep)
    except TooFull:
        last = [m for place, m in enumerate(messages) if all(not later.opens_turn for later in messages[place + 1 :])]
        least = sum(min(message.own, MIN_MESSAGE_TOKENS) for message in last)
        assert least > limits.cap, "it would have fitted"
        assume(False)
        raise


def after(messages: list[LiveMessage], found: CompactionPlan) -> list[LiveMessage]:
    kept = [message for message in messages if message.id in found.kept]
    return [_shortened(message, found.condensed.get(message.id, message.tokens)) for message in kept]


def _shortened(message: LiveMessage, tokens: int) -> LiveMessage:
    assert tokens <= message.tokens
    return replace(message, tokens=tokens, attached=max(0, tokens - message.own))


@settings(max_examples=300, deadline=None)
@given(STRATEGIES, histories(), limits(), KEEPS)
def test_the_cap_always_holds_and_planning_twice_changes_nothing(
    strategy: CompactionStrategy, messages: list[LiveMessage], limits: TokenLimits, keep: Retention
) -> None:
    found = planned(strategy, messages, limits, keep)
    total = limits.summary + sum(message.tokens for message in messages)
    if found is None:
        assert total - limits.summary <= limits.cap, "the summary alone is left out of a request, without a compaction"
        return
    event(f"{strategy}, condensed: {bool(found.condensed)}")
    assert total > limits.trigger
    left = after(messages, found)
    assert sum(message.tokens for message in left) + found.summary_budget <= limits.cap
    assert found.summary_budget <= limits.summary_cap
    again = plan_compaction(strategy, left, replace(limits, summary=found.summary_budget), keep)
    assert again is None or (strategy != "summarize" and not again.condensed)


@settings(max_examples=200, deadline=None)
@given(STRATEGIES, histories(), limits(), KEEPS)
def test_nothing_is_lost_or_parted_and_the_last_turn_and_pins_stay(
    strategy: CompactionStrategy, messages: list[LiveMessage], limits: TokenLimits, keep: Retention
) -> None:
    found = planned(strategy, messages, limits, keep)
    if found is None:
        return
    assert sorted((*found.kept, *found.archived)) == sorted(message.id for message in messages)
    assert {*found.condensed} <= {*found.kept}
    for call, result in pairwise(messages):
        if call.has_tools and result.has_tools:
            assert (call.id in found.kept) == (result.id in found.kept)
    *earlier, current = turns_of(messages)
    assert {message.id for message in current} <= {*found.kept}
    for turn in (*earlier, current):
        kept = [message for message in turn if message.id in found.kept]
        if kept:
            assert kept[0] is turn[0]
            assert kept[-1] is turn[-1] or turn[-1].has_tools
    check_pins(found, earlier, current, limits)
    if strategy == "summarize" and found.archived:
        check_one_run(found, messages)


def check_pins(
    found: CompactionPlan, earlier: list[list[LiveMessage]], current: list[LiveMessage], limits: TokenLimits
) -> None:
    """They stay word for word while all fit beside the question."""
    pins = [message for turn in earlier for message in turn if message.pinned]
    event(f"pins: {bool(pins)}, left out: {bool(found.unpinned)}")
    for pin in pins:
        if pin.id in found.kept:
            assert found.condensed.get(pin.id, pin.tokens) >= pin.own
        else:
            assert pin.id in found.unpinned
    with_pins = [turn for turn in earlier if any(message.pinned for message in turn)]
    needed = sum(message.own for turn in with_pins for message in turn) + current[0].own
    if needed + sum(min(message.own, MIN_MESSAGE_TOKENS) for message in current[1:]) <= limits.cap:
        assert not found.unpinned


def check_one_run(found: CompactionPlan, messages: list[LiveMessage]) -> None:
    """What is summarised is one run, but for turns that the user wants kept."""
    end = max(place for place, message in enumerate(messages) if message.id in found.archived)
    for turn in turns_of(messages):
        if messages.index(turn[0]) > end:
            break
        assert any(message.stays for message in turn) or not any(message.id in found.kept for message in turn)


def turns_of(messages: list[LiveMessage]) -> list[list[LiveMessage]]:
    turns: list[list[LiveMessage]] = []
    for message in messages:
        if message.opens_turn or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


@settings(max_examples=300, deadline=None)
@given(STRATEGIES, histories(), limits(), KEEPS)
def test_each_thing_gives_way_only_after_what_comes_before_it(
    strategy: CompactionStrategy, messages: list[LiveMessage], limits: TokenLimits, keep: Retention
) -> None:
    found = planned(strategy, messages, limits, keep)
    if found is None:
        return
    left = {message.id: message for message in after(messages, found)}
    by_id = {message.id: message for message in messages}
    *_, current = turns_of(messages)
    question = current[0]
    earlier = [
        message for message in left.values() if message not in current and message.id not in {m.id for m in current}
    ]
    loose = [message for message in earlier if not message.pinned]
    is_question_cut = left[question.id].tokens < question.own
    are_documents_cut = any(left[message.id].tokens < message.tokens for message in current)
    event(f"question cut: {is_question_cut}, documents cut: {are_documents_cut}")
    if are_documents_cut:
        assert not any(message.attached for message in loose), "documents of earlier turns go first"
        used = sum(message.tokens for message in left.values()) + found.summary_budget
        spared = len(messages) + MIN_DOCUMENT_TOKENS * len(current)
        assert used >= limits.cap - spared, "and then all the room is used"
    if any(message.tokens < by_id[message.id].own for message in loose):
        assert all(left[m.id].attached <= MIN_DOCUMENT_TOKENS for m in current), "documents linked now go before words"
    if is_question_cut:
        assert question.own + sum(min(m.own, MIN_MESSAGE_TOKENS) for m in current[1:]) > limits.cap - sum(
            by_id[m.id].own if m.pinned else min(by_id[m.id].own, MIN_MESSAGE_TOKENS) for m in earlier
        )
        assert not found.summary_budget


@settings(max_examples=100, deadline=None)
@given(histories(), KEEPS)
def test_under_the_trigger_nothing_happens(messages: list[LiveMessage], keep: Retention) -> None:
    total = sum(message.tokens for message in messages)
    limits = TokenLimits(cap=2 * total, goal=total, trigger=total, summary_cap=total)
    assert plan_compaction("summarize", messages, limits, keep) is None
