from datetime import date

import pytest

from zkchat.core.note import DayRange

MARCH = DayRange(date(2026, 3, 1), date(2026, 4, 1))


@pytest.mark.parametrize(
    ("days", "day", "expected"),
    [
        (MARCH, date(2026, 2, 28), False),
        (MARCH, date(2026, 3, 1), True),
        (MARCH, date(2026, 3, 31), True),
        (MARCH, date(2026, 4, 1), False),
        (DayRange(first=date(2026, 3, 1)), date(2999, 1, 1), True),
        (DayRange(end=date(2026, 3, 1)), date(1, 1, 1), True),
        (DayRange(), date(2026, 3, 1), True),
    ],
)
def test_a_range_holds_its_first_day_and_not_its_end(days: DayRange, day: date, expected: bool) -> None:
    assert (day in days) is expected
