import pytest

from zkchat.app.conversation import bounds_of
from zkchat.config.loading import make_settings
from zkchat.core.errors import UsageError


@pytest.mark.parametrize("minutes", [0.0, -1.0, float("nan")])
def test_a_goal_needs_some_time(minutes: float) -> None:
    with pytest.raises(UsageError, match="A goal needs some time"):
        bounds_of(make_settings({}), minutes=minutes)


def test_what_is_not_named_is_that_of_the_settings() -> None:
    bounds = bounds_of(make_settings({"goal": {"steps": 3, "minutes": 7}}), tokens=5, minutes=0.5)
    assert (bounds.steps, bounds.tokens, bounds.minutes) == (3, 5, 0.5)
