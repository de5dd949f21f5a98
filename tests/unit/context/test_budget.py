import pytest

from zkchat.context.budget import DEFAULT_WINDOW, LARGEST_BY_DEFAULT, Shares, budget_for, usage_of
from zkchat.errors import ConfigError
from zkchat.model.prompt import ModelInfo


def info(limit: int | None = None) -> ModelInfo:
    return ModelInfo(provider="scripted", id="x", context_limit=limit)


@pytest.mark.parametrize(
    ("limit", "wanted", "window"),
    [(None, None, DEFAULT_WINDOW), (4096, None, 4096), (None, 2000, 2000), (4096, 2000, 2000), (2000, 4096, 2000)],
)
def test_the_window_is_the_smaller_of_what_the_model_takes_and_the_user_allows(
    limit: int | None, wanted: int | None, window: int
) -> None:
    assert budget_for(info(limit), Shares(max_tokens=wanted)).window == window


def test_a_model_on_this_machine_gets_a_huge_window_only_on_request() -> None:
    here = ModelInfo(provider="ollama", id="x", context_limit=131_072, on_this_machine=True)
    assert budget_for(here, Shares()).window == LARGEST_BY_DEFAULT
    assert budget_for(here, Shares(max_tokens=100_000)).window == 100_000
    unknown = ModelInfo(provider="quote", id="", on_this_machine=True)
    assert budget_for(unknown, Shares()).window == DEFAULT_WINDOW


def test_shares_are_taken_of_what_the_reserve_leaves() -> None:
    budget = budget_for(info(10_512), Shares(reserve=512))
    assert (budget.system, budget.tools, budget.messages) == (1000, 3000, 6000)


def test_what_system_and_tools_do_not_use_flows_to_messages() -> None:
    budget = budget_for(info(10_512), Shares(reserve=512))
    assert budget.left_for_messages(system=100, tools=0) == 9900


def test_a_window_too_small_for_the_fixed_parts_is_an_error_with_the_numbers() -> None:
    budget = budget_for(info(1000), Shares(reserve=512))
    with pytest.raises(ConfigError, match=r"1,000 tokens is too small.*400.*100.*512") as caught:
        budget.left_for_messages(system=400, tools=100)
    assert "context.max_tokens" in caught.value.hint


def test_usage_adds_up() -> None:
    budget = budget_for(info(10_512), Shares(reserve=512))
    usage = usage_of(budget, system=100, tools=200, messages=3000, references=700, exact=True)
    assert (usage.total, usage.available) == (4000, 6000)
    assert usage.budgets["messages"].percent == pytest.approx(100 * 3700 / 6000)
    assert not usage.estimated
