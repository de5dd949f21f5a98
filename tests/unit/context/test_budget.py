import pytest
from msgspec.structs import replace

from zkchat.chat.context.assembly import Shares, budget_for, is_full, usage_of
from zkchat.core.errors import ConfigError
from zkchat.core.prompt import ModelInfo


def info(limit: int | None = None) -> ModelInfo:
    return ModelInfo(provider="scripted", id="x", context_limit=limit)


@pytest.mark.parametrize(
    ("limit", "wanted", "window"),
    [(None, None, 8192), (4096, None, 4096), (None, 2000, 2000), (4096, 2000, 2000), (2000, 4096, 2000)],
)
def test_the_window_is_the_smaller_of_what_the_model_takes_and_the_user_allows(
    limit: int | None, wanted: int | None, window: int
) -> None:
    assert budget_for(info(limit), Shares(max_tokens=wanted)).window == window


def test_a_model_on_this_machine_gets_a_huge_window_only_on_request() -> None:
    here = ModelInfo(provider="ollama", id="x", context_limit=131_072, on_this_machine=True)
    assert budget_for(here, Shares()).window == 32_768
    assert budget_for(here, Shares(max_tokens=100_000)).window == 100_000
    declared = replace(here, is_limit_declared=True)
    assert budget_for(declared, Shares()).window == 131_072
    assert budget_for(declared, Shares(max_tokens=100_000)).window == 100_000
    unknown = ModelInfo(provider="quote", id="", on_this_machine=True)
    assert budget_for(unknown, Shares()).window == 8192


def test_what_system_and_tools_do_not_use_flows_to_messages() -> None:
    budget = budget_for(info(10_512), Shares(reserve=512))
    assert (budget.system, budget.tools, budget.messages) == (1000, 3000, 6000)
    assert budget.left_for_messages(system=100, tools=0) == 9900
    assert budget.messages_limit(system=100, tools=0) == 6000 + 900 + 3000
    assert budget.messages_limit(system=1000, tools=3000) == 6000
    assert budget.messages_limit(system=4000, tools=3000) == 3000  # what is left at all
    assert budget.memory_limit == 2102


def test_a_window_too_small_for_the_fixed_parts_is_an_error_with_the_numbers() -> None:
    budget = budget_for(info(1000), Shares(reserve=512))
    with pytest.raises(ConfigError, match=r"1,000 tokens is too small.*400.*100.*512") as caught:
        budget.left_for_messages(system=400, tools=100)
    assert "context.max_tokens" in caught.value.hint


@pytest.mark.parametrize(
    ("window", "system", "core", "limit"),
    [
        (10_512, 100, 130, 3000),
        (10_512, 1400, 130, 2600),  # what the instructions take beyond their share
        (10_512, 9358, 130, 130),
        (10_512, 9359, 130, 0),  # 511 are left for a conversation
        (2_048, 136, 130, 460),
        (1_024, 136, 130, 0),
        (2_048, 136, 461, 0),  # not within their share
    ],
)
def test_tools_have_their_share_and_the_core_ones_whatever_leaves_a_conversation(
    window: int, system: int, core: int, limit: int
) -> None:
    assert budget_for(info(window), Shares(reserve=512)).tools_limit(system=system, core=core) == limit


COUNTS = {"system": 100, "tools": 200, "messages": 2600, "memory": 400, "references": 700}


def test_usage_adds_up() -> None:
    budget = budget_for(info(10_512), Shares(reserve=512))
    usage = usage_of(budget, COUNTS, expected=4000, exact=True)
    assert (usage.total, usage.available, usage.counted) == (4000, 6000, 4000)
    assert usage.budgets["messages"].used == 3700
    assert usage.budgets["messages"].limit == 6000 + 900 + 2800
    assert usage.budgets["memory"].percent == pytest.approx(100 * 400 / 2102)
    assert not usage.estimated
    reported = usage_of(budget, COUNTS, expected=4801, exact=False)  # as the model's server counts them
    assert (reported.total, reported.counted, reported.tools, reported.estimated) == (4801, 4000, 240, True)


@pytest.mark.parametrize(("expected", "full"), [(8900, False), (8936, True), (10_000, True)])
def test_a_window_is_full_above_the_threshold(expected: int, full: bool) -> None:
    budget = budget_for(info(10_512), Shares(reserve=512, system=0.01, tools=0.01, messages=0.98))
    counts = {"system": 10, "tools": 0, "messages": 990, "memory": 0}
    assert is_full(usage_of(budget, counts, expected=expected, exact=True), budget) is full


def test_a_window_is_full_when_messages_take_more_than_their_share() -> None:
    budget = budget_for(info(10_512), Shares(reserve=512))
    used_up = {"system": 1000, "tools": 3000, "messages": 6001, "memory": 0}
    assert is_full(usage_of(budget, used_up, expected=10_001, exact=True), budget)
    roomy = budget_for(info(100_512), Shares(reserve=512, threshold=1.0))
    for messages, full in ((59_000, False), (60_001, True)):
        counts = {"system": 10_000, "tools": 30_000, "messages": messages, "memory": 0}
        assert is_full(usage_of(roomy, counts, expected=sum(counts.values()), exact=True), roomy) is full
