"""Tokens of images: the examples that OpenAI publishes, and what holds for every size."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.core.prompt import LEAST_SIDE, ImageRule, fitted
from zkchat.models.openai import openai_vision

SIDES = st.integers(1, 70_000)
RULES = [
    *(openai_vision(name) for name in ("gpt-4o", "gpt-5.4", "gpt-5-nano")),
    ImageRule(),
    ImageRule(kind="fixed", base=258),
]


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("gpt-4o", (1024, 1024), 765),
        ("gpt-4o", (2048, 4096), 1105),
        ("gpt-4.1", (2049, 513), 85 + 8 * 170),
        ("gpt-4.1", (2050, 513), 85 + 4 * 170),
        ("gpt-5.4", (1024, 1024), 1229),
        ("gpt-5.4", (2048, 2048), 3000),
        ("gpt-5-nano", (1024, 1024), 1536),
        ("o4-mini", (1800, 2400), 2498),  # 1,452 patches, each 1.72 tokens
        ("gpt-4o-mini", (128, 64), 2833 + 5667),
        ("o3", (128, 64), 75 + 150),
    ],
)
def test_published_examples(model: str, size: tuple[int, int], tokens: int) -> None:
    rule = openai_vision(model)
    assert rule is not None
    assert rule.tokens(*size) == tokens


@pytest.mark.parametrize("rule", RULES, ids=str)
@given(width=SIDES, height=SIDES, room=st.integers(0, 6_000))
@settings(max_examples=50)
def test_an_image_that_is_made_to_fit_takes_no_more_than_there_is_room(
    rule: ImageRule, width: int, height: int, room: int
) -> None:
    size = rule.fitting(width, height, room)
    whole = rule.sized(width, height)
    if size is None:
        least = fitted(width, height, LEAST_SIDE)
        assert rule.tokens(*least) > room or rule.tokens(*whole) > room
        return
    assert 0 < rule.tokens(*size) <= room
    assert max(size) <= max(whole) <= max(rule.max_side, 1)
    if rule.tokens(*whole) <= room:
        assert size == whole


def test_an_image_is_made_smaller_step_by_step_but_not_beyond_all_use() -> None:
    rule = ImageRule()
    assert rule.sized(2_688, 1_344) == (1_344, 672)
    fitting = [rule.fitting(1_344, 672, room) for room in (1_152, 1_151, 55, 54)]
    assert fitting == [(1_344, 672), (1_075, 538), (281, 140), None]
    assert ImageRule(detail="low").sized(1_024, 512) == (512, 256)
