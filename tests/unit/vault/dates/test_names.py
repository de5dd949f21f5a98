import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.index.daily_notes import format_day
from zkchat.notes.dates.day_texts import moment_format, name_date

DAY = "2026-03-08"


@pytest.mark.parametrize(
    "name",
    [
        DAY, "20260308", "2026_03_08", "2026.03.08", "2026 03 08", "08-03-2026", "08.03.2026", "8.3.2026",
        "March 8th, 2026", "8 March 2026", "8. März 2026", "2026年3月8日", "2026年3月8日会议",
        "Sunday, March 8th, 2026", "2026-03-08 Sunday", "2026-03-08 Meeting with Ann", "2026-03-08-meeting",
        "2026-03-08_Meeting", "20260308 Meeting", "20260308_meeting", "Meeting 2026-03-08", "Meeting_2026-03-08",
        "daily.journal.2026.03.08", "Journal/2026/03/08", "2026/03/2026-03-08", "2026-02/2026-03-08",
    ],
)  # fmt: skip
def test_a_day_is_found_in_a_name(name: str) -> None:
    assert name_date(f"{name}.md") == DAY
    assert name_date(f"Folder 2024-01-01/{name}.md") == DAY


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("20260308123045-title", f"{DAY}T12:30:45"),
        ("2026-03-08T1230", f"{DAY}T12:30:00"),
        ("2026-03-08 12.30 Call", f"{DAY}T12:30:00"),
        ("2026-03-08-12-30", f"{DAY}T12:30:00"),
        ("2026-03-08 9999 steps", DAY),
        ("2026-W10", "2026-03-02"),
        ("2026-03", "2026-03-01"),
        ("2026-Q1", "2026-01-01"),
    ],
)
def test_zettel_ids_times_weeks_and_months_are_found(name: str, moment: str) -> None:
    assert name_date(f"{name}.md") == moment


@pytest.mark.parametrize(
    "name",
    [
        "Note", "2026", "1984", "Chapter 12", "2010-11 season", "2026-03 Budget", "99-01-01", "12345678", "20261308",
        "202613081230", "202603082530", "2026-02-30", "2023-02-29", "2026-03-08abc", "20260308Meeting", "a2026-03-08",
        "Version 2024.01.15", "v1.2.3", "123456789012345", "1789-07-14 Bastille", "26-03-08", "2026-W60",
        "x" * 300 + DAY,
    ],
)  # fmt: skip
def test_other_numbers_are_no_dates(name: str) -> None:
    assert name_date(f"{name}.md") is None


def test_a_name_without_end_is_not_looked_at() -> None:
    assert [name_date(f"{'x' * length} 2026-03-01.md") for length in (239, 240)] == ["2026-03-01", None]


@pytest.mark.parametrize(
    ("notation", "path"),
    [
        ("YYYY/MM/DD", "Journal/2026/03/08.md"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "J/2026/03-March/2026-03-08-Sunday.md"),
        ("YY-MM-DD", "26-03-08.md"),
        ("[Daily] Do [of] MMMM YYYY", "Daily 8th of March 2026.md"),
        ("YYYY-DDDD", "2026-067.md"),
        ("GGGG-[W]WW-E", "2026-W10-7.md"),
        ("YYYY-MM-DD HHmm", "2026-03-08 1230.md"),
    ],
)
def test_the_formats_of_obsidian_are_read_back(notation: str, path: str) -> None:
    assert name_date(path, [notation]) == DAY


@pytest.mark.parametrize(
    ("notation", "path"),
    [("DD", "08.md"), ("", "x8.md"), ("YYYY", "2026.md"), ("MM-DD", "03-08.md"), ("M" * 150, "1" * 200 + ".md")],
)
def test_formats_that_tell_no_day_find_none(notation: str, path: str) -> None:
    assert name_date(path, [notation]) is None


@given(
    st.dates(date(1900, 1, 1), date(2199, 12, 31)),
    st.sampled_from(
        ["YYYY-MM-DD", "DD.MM.YYYY", "YYYY/MM/DD", "dddd, MMMM Do, YYYY", "YYYY-DDDD", "GGGG-[W]WW-E", "D-M-YYYY"]
    ),
)  # fmt: skip
def test_what_a_format_writes_it_reads(day: date, notation: str) -> None:
    assert name_date(f"{format_day(notation, day)}.md", [notation]) == str(day)


@given(st.text(max_size=60), st.text(alphabet="YMDdoWwgGQEHhmsSAaZXx[]/-. ", max_size=200))
def test_no_name_and_no_format_raises(name: str, notation: str) -> None:
    found = name_date(f"{name}.md", [notation])
    assert found is None or re.match(r"\d{4}-\d\d-\d\d", found)


def test_a_format_with_many_tokens_is_refused_because_it_could_be_compared_for_ever() -> None:
    assert moment_format("YYYY MM DD " + "MMMM" * 20) is None
    assert moment_format("YYYY" + "M" * 40 + "-DD") is None
    for token, most in ((" HH", 9), (" dddd", 3)):
        assert [moment_format("YYYY-MM-DD" + token * more) is None for more in (most, most + 1)] == [False, True]
