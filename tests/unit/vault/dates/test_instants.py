"""Points in time as they are typed on the command line."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from zkchat.core.errors import UsageError
from zkchat.core.note import Calendar
from zkchat.notes.dates.expressions import parse_instant

NOW = datetime(2026, 3, 9, 12, 30, tzinfo=ZoneInfo("America/Los_Angeles"))


def parsed(text: str, *, at_end: bool = False) -> datetime:
    at = parse_instant("--since", text, Calendar(NOW), at_end=at_end)
    assert at is not None
    return at


@pytest.mark.parametrize(
    ("text", "hours"), [("30m", 0.5), ("2h", 2), ("3d", 72), ("3 D", 72), ("1w", 168), ("0d", 0), (" 1h ", 1)]
)
def test_a_number_with_a_unit_is_so_long_ago_also_across_a_change_to_summer_time(text: str, hours: float) -> None:
    assert (NOW.astimezone(UTC) - parsed(text)).total_seconds() == hours * 3600


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("today", "2026-03-09T07:00", "2026-03-10T06:59"),
        ("Yesterday", "2026-03-08T08:00", "2026-03-09T06:59"),
        ("2026-03-08", "2026-03-08T08:00", "2026-03-09T06:59"),
        ("last week", "2026-03-02T08:00", "2026-03-09T06:59"),
        ("Februar", "2026-02-01T08:00", "2026-03-01T07:59"),
        ("2026-03-08T18:00", "2026-03-09T01:00", "2026-03-09T01:00"),
        ("2026-03-08T18:00+02:00", "2026-03-08T16:00", "2026-03-08T16:00"),
    ],
)
def test_a_period_begins_and_ends_where_the_user_is(text: str, begin: str, end: str) -> None:
    assert (f"{parsed(text):%Y-%m-%dT%H:%M}", f"{parsed(text, at_end=True):%Y-%m-%dT%H:%M}") == (begin, end)


@pytest.mark.parametrize("text", ["", "soon", "d", "-3d", "3y", "999999w", "2026-02-30", "before 2026"])
def test_what_is_no_time_is_refused_with_the_forms_that_are_taken(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parsed(text)
    assert "today, yesterday" in error.value.hint


def test_no_text_is_no_time() -> None:
    assert parse_instant("--since", None, Calendar(NOW)) is None
    with pytest.raises(UsageError):
        parsed("since 2026", at_end=True)
