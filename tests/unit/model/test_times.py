"""Times as they are typed on the command line."""

from datetime import UTC, datetime, time

import pytest

from zkchat.errors import UsageError
from zkchat.model.times import parse_time

NOW = datetime(2026, 3, 9, 12, 30, tzinfo=UTC)


def parsed(text: str, time_of_day: time = time.min) -> datetime | None:
    return parse_time("--since", text, time_of_day, NOW)


@pytest.mark.parametrize(
    ("text", "hours"), [("30m", 0.5), ("2h", 2), ("3d", 72), ("3 D", 72), ("1w", 168), ("0d", 0), (" 1h ", 1)]
)
def test_a_number_with_a_unit_is_so_long_ago(text: str, hours: float) -> None:
    at = parsed(text)
    assert at is not None
    assert (NOW - at).total_seconds() == hours * 3600


@pytest.mark.parametrize(("text", "day"), [("today", 9), ("Yesterday", 8), ("2026-03-08", 8)])
def test_a_day_begins_and_ends_in_local_time(text: str, day: int) -> None:
    assert parsed(text) == datetime(2026, 3, day).astimezone(UTC)
    assert parsed(text, time.max) == datetime.combine(datetime(2026, 3, day), time.max).astimezone(UTC)


def test_a_time_may_say_its_zone() -> None:
    assert parsed("2026-03-08T18:00+02:00") == datetime(2026, 3, 8, 16, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "d", "-3d", "3y", "999999w", "2026-02-30"])
def test_what_is_no_time_is_refused_with_the_forms_that_are_taken(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parsed(text)
    assert "today, yesterday" in error.value.hint
