from datetime import datetime, timedelta, timezone

import pytest

from zkchat.index.daily_notes import format_moment

AT = datetime(2026, 3, 1, 15, 4, 9, 7_000, tzinfo=timezone(timedelta(hours=-2, minutes=-30)))


@pytest.mark.parametrize(
    ("notation", "written"),
    [
        ("HH:mm", "15:04"),
        ("h:mm:ss a", "3:04:09 pm"),
        ("H m s SSS A", "15 4 9 007 PM"),
        ("YYYY-MM-DDTHH:mmZ", "2026-03-01T15:04-02:30"),
        ("ZZ X", "-0230 1772386449"),
        ("[HH] dddd", "HH Sunday"),
    ],
)
def test_a_moment_is_written_in_the_notation_of_templates(notation: str, written: str) -> None:
    assert format_moment(notation, AT) == written
