from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.notes.dates.day_texts import parse_property

DAY = "2026-03-08"


@pytest.mark.parametrize(
    "text",
    [
        DAY, "2026/3/8", "2026.03.08", "20260308", "8.3.2026", "08.03.2026", "8. 3. 2026", "08/03/2026", "08-03-2026",
        "March 8, 2026", "March 8th, 2026", "Mar 8 2026", "8 March 2026", "8th of March 2026", "08-Mar-2026",
        "2026 March 8", "Sunday, March 8th, 2026", "2026-03-08 Sunday", "2026-03-08 (Sun)",
        "8. März 2026", "Sonntag, 8. März 2026", "8 mars 2026", "dimanche 8 mars 2026", "8 de marzo de 2026",
        "domingo, 8 de marzo de 2026", "8 de março de 2026", "8 marzo 2026", "8 maart 2026", "8 марта 2026",
        "2026年3月8日", "2026年3月8日（日）", "2026年3月8日星期日", "2026 年 3 月 8 号", "2026년 3월 8일",
        "[[2026-03-08]]", "  2026-03-08 ", "MARCH 8, 2026",
    ],
)  # fmt: skip
def test_a_day_is_understood_as_people_write_it(text: str) -> None:
    assert parse_property(text) == DAY


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-08T12:30", f"{DAY}T12:30:00"),
        ("March 8, 2026 at 12:30 am", f"{DAY}T00:30:00"),
        ("Sunday, March 8th 2026, 1:02:03 pm", f"{DAY}T13:02:03"),
        ("2026-03-08T23:30:00+01:00", f"{DAY}T23:30:00"),
        ("Sun Mar 08 2026 23:30:00 GMT+0100 (Central European Standard Time)", f"{DAY}T23:30:00"),
        ("2026-03-08T23:30:00Z", f"{DAY}T23:30:00Z"),
        ("2026-03-08 23:30:00 UTC", f"{DAY}T23:30:00Z"),
        ("2026-03-08 25:99", DAY),
        ("2026-W10", "2026-03-02"),
        ("2026-03", "2026-03-01"),
        ("March 2026", "2026-03-01"),
        ("2026-Q2", "2026-04-01"),
        # Of two numbers before the year the first is the day, unless it cannot be.
        ("03/08/2026", "2026-08-03"),
        ("03/25/2026", "2026-03-25"),
        ("25/03/2026", "2026-03-25"),
        ("3-25-2026", "2026-03-25"),
        ("3.25.2026", None),
    ],
)
def test_times_zones_and_stretches_are_understood(text: str, moment: str | None) -> None:
    """With an offset it is the day as it was written; in UTC it is a point in time."""
    assert parse_property(text) == moment


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (date(2026, 3, 8), DAY),
        (datetime(2026, 3, 8, 23, 30), f"{DAY}T23:30:00"),
        (datetime(2026, 3, 8, 23, 30, tzinfo=UTC), f"{DAY}T23:30:00Z"),
        (20260308, DAY),
        (1772973000, f"{DAY}T12:30:00Z"),
        (1772973000123, f"{DAY}T12:30:00Z"),
        ([date(2026, 3, 8), date(2027, 1, 1)], DAY),
        ([["2026-03-08"]], DAY),
    ],
)
def test_values_of_yaml_are_understood(value: object, moment: str) -> None:
    assert parse_property(value) == moment


@pytest.mark.parametrize(
    "value",
    [
        "", "8.3.26", "26-03-08", "2026-02-30", "2023-02-29", "2026-13-01", "32.1.2026", "0000-00-00", "2026", "March",
        "12:30", "hello", "2026-03-08 Meeting", "2025-W53", "2026-W00", "2026-Q5", "8 jui 2026", "1789-07-14",
        "2200-01-01", "99999999", "123456789012", "20261308", "x" * 500, 2026, 12345678, True, 3.5, None, [], {},
        {"a": 1}, -5, 10**30, "13/13/2026", "2026-03-08-09", "March 8", "8/3", "٨",
    ],
)  # fmt: skip
def test_what_is_no_day_is_none(value: object) -> None:
    assert parse_property(value) is None


@given(st.text() | st.integers() | st.floats() | st.text(alphabet="0123456789-/.:TZ年月日 March"))
def test_nothing_that_a_property_holds_raises(value: object) -> None:
    found = parse_property(value)
    assert found is None or datetime.fromisoformat(found).year >= 1900
