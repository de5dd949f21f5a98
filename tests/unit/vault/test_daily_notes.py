"""Names of daily notes in the notation of moment.js, and the note that they lead to."""

from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.libraries import library_of
from zkchat.index.daily_notes import DailyNoteSettings, find_daily_note, format_day, format_moment

SUNDAY = date(2026, 11, 1)
AT = datetime(2026, 3, 1, 15, 4, 9, 7_000, tzinfo=timezone(timedelta(hours=-2, minutes=-30)))


@pytest.mark.parametrize(
    ("notation", "name"),
    [
        ("YYYY-MM-DD", "2026-11-01"),
        ("YY.M.D", "26.11.1"),
        ("dddd, MMMM Do YYYY", "Sunday, November 1st 2026"),
        ("ddd dd d E", "Sun Su 0 7"),
        ("[Day] DDDD [of] YYYY", "Day 305 of 2026"),
        ("GGGG-[W]WW W", "2026-W44 44"),
        ("gggg-ww w", "2026-45 45"),
        ("Q MMM Mo DDD", "4 Nov 11th 305"),
        ("YYYY/MM/YYYY-MM-DD", "2026/11/2026-11-01"),
        ("[unclosed", "[unclos00"),
        ("", ""),
    ],
)
def test_a_day_is_named_as_moment_does(notation: str, name: str) -> None:
    assert format_day(notation, SUNDAY) == name


def test_ordinals() -> None:
    days = [format_day("Do", date(2026, 1, day)) for day in (2, 3, 4, 11, 12, 13, 21, 30)]
    assert days == ["2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "30th"]


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


@settings(max_examples=50)
@given(day=st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_weeks_follow_each_other(day: date) -> None:
    assert format_day("GGGG WW", day) == f"{day.isocalendar().year} {day.isocalendar().week:02}"
    following = day + timedelta(days=7)
    this, then = format_day("gggg ww", day), format_day("gggg ww", following)
    assert this < then
    assert format_day("gggg ww", date(day.year, 1, 1)) == f"{day.year} 01"


def test_the_note_is_found_where_the_settings_put_it_and_else_by_its_name(tmp_path: Path) -> None:
    notes = {
        "Journal/2026-10-31.md": "",
        "Journal/2026-10-29.md": "",
        "Other/2026-11-01.md": "",
        "Old/20261102.md": "",
        "Old/2026-10-30.md": "",
    }
    with library_of(tmp_path, notes) as library:
        journal = DailyNoteSettings(folder="Other", format="YYYY-MM-DD")
        assert find_daily_note(library, journal, SUNDAY).path == "Other/2026-11-01.md"
        assert find_daily_note(library, DailyNoteSettings(folder="Gone"), SUNDAY).path == "Other/2026-11-01.md"
        monday = find_daily_note(library, DailyNoteSettings(), SUNDAY + timedelta(days=1))
        assert (monday.path, monday.expected_path) == ("Old/20261102.md", "Journal/2026-11-02.md")
        named = DailyNoteSettings(format="YYYY_MM_DD")
        assert find_daily_note(library, named, date(2020, 1, 1)).expected_path == "2020_01_01.md"
        outside = DailyNoteSettings(folder="../..", format="[etc/passwd]")
        assert find_daily_note(library, outside, date(2020, 1, 1)).path is None


def test_noon_and_midnight() -> None:
    times = [datetime(2026, 3, 1, hour, 5) for hour in (0, 11, 12, 23)]
    assert [format_moment("h A a", at) for at in times] == ["12 AM am", "11 AM am", "12 PM pm", "11 PM pm"]
