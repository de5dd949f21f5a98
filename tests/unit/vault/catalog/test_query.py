"""Times by the calendar."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.vault.catalog.query import Period

NOW = datetime(2026, 3, 4, 15, 30, tzinfo=timezone(timedelta(hours=2)))
"""A Wednesday."""


@pytest.mark.parametrize(
    ("period", "first", "end", "words"),
    [
        (Period(unit="day"), "2026-03-04", None, "today (2026-03-04)"),
        (Period(unit="day", back=1), "2026-03-03", "2026-03-04", "yesterday (2026-03-03)"),
        (Period(unit="day", back=1, is_open=True), "2026-03-03", None, "since yesterday (2026-03-03)"),
        (Period(unit="week"), "2026-03-02", None, "this week (since Monday 2026-03-02)"),
        (Period(unit="week", back=1), "2026-02-23", "2026-03-02", "last week (2026-02-23 to 2026-03-01)"),
        (Period(unit="month"), "2026-03-01", None, "this month (since Sunday 2026-03-01)"),
        (Period(unit="month", back=1), "2026-02-01", "2026-03-01", "last month (2026-02-01 to 2026-02-28)"),
        (Period(unit="year"), "2026-01-01", None, "this year (since Thursday 2026-01-01)"),
        (Period(unit="year", back=1), "2025-01-01", "2026-01-01", "last year (2025-01-01 to 2025-12-31)"),
        (Period(unit="day", weekday=0), "2026-03-02", "2026-03-03", "on Monday (2026-03-02)"),
        (Period(unit="day", weekday=0, is_open=True), "2026-03-02", None, "since Monday (2026-03-02)"),
        (Period(unit="day", weekday=2), "2026-03-04", None, "on Wednesday (2026-03-04)"),
        (Period(unit="day", weekday=2, is_open=True), "2026-02-25", None, "since Wednesday (2026-02-25)"),
        (Period(unit="day", back=7, rolling=True), "2026-02-25", None, "in the last 7 days (since 2026-02-25)"),
        (Period(unit="month", back=1, rolling=True), "2026-02-04", None, "in the last month (since 2026-02-04)"),
        (Period(unit="month", back=13, rolling=True), "2025-02-04", None, "in the last 13 months (since 2025-02-04)"),
        (Period(unit="day", day=date(2026, 2, 1)), "2026-02-01", "2026-02-02", "on 2026-02-01"),
        (Period(unit="day", day=date(2026, 2, 1), is_open=True), "2026-02-01", None, "since 2026-02-01"),
    ],
)
def test_a_time_has_bounds_and_words(period: Period, first: str, end: str | None, words: str) -> None:
    start, stop = period.bounds(NOW)
    assert (start.isoformat(), stop and stop.isoformat()) == (
        f"{first}T00:00:00+02:00",
        end and f"{end}T00:00:00+02:00",
    )
    assert period.describe(NOW) == words


periods = st.builds(
    Period,
    unit=st.sampled_from(["day", "week", "month", "year"]),
    back=st.integers(0, 9999),
    rolling=st.booleans(),
    is_open=st.booleans(),
    weekday=st.none() | st.integers(0, 6),
    day=st.none() | st.dates(),
)


@settings(max_examples=50)
@given(periods, st.datetimes(timezones=st.just(UTC)))
def test_every_time_has_a_beginning(period: Period, now: datetime) -> None:
    start, end = period.bounds(now)
    assert end is None or start <= end
    assert period.describe(now)
