from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from zkchat.core.index import DateFacts
from zkchat.core.note import NoteDate
from zkchat.notes.dates.day_texts import note_dates

BERLIN, NEW_YORK, KIRITIMATI = map(ZoneInfo, ("Europe/Berlin", "America/New_York", "Pacific/Kiritimati"))
NOWHEN = DateFacts(None, None, None, None, None, 0)


def nanoseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * 1_000_000_000


def test_the_most_trusted_origin_counts() -> None:
    march = 1_772_500_000
    facts = DateFacts("2026-01-01", "2026-02-02", "2026-03-03", march, march, nanoseconds("2026-11-11T11:11Z"))
    without = [
        facts,
        facts._replace(named=None),
        facts._replace(named=None, created=None),
        facts._replace(named=None, created=None, updated=None),
        facts._replace(named=None, created=None, updated=None, committed=None),
        facts._replace(named=None, created=None, updated=None, committed=None, first_committed=None),
    ]
    dates = [note_dates(each, UTC) for each in without]
    assert [(each.written.origin, each.changed.origin) for each in dates] == [
        ("name", "frontmatter"),
        ("frontmatter", "frontmatter"),
        ("frontmatter", "frontmatter"),
        ("git", "git"),
        ("git", "file"),
        ("file", "file"),
    ]


def test_the_latest_of_properties_and_commits_is_the_change() -> None:
    """Editors forget to update a property."""
    facts = NOWHEN._replace(updated="2026-03-08", committed=nanoseconds("2026-03-09T08:00Z") // 1_000_000_000)
    dates = note_dates(facts, UTC)
    assert dates.changed == NoteDate(date(2026, 3, 9), time(8), "git")
    assert dates.updated == dates.written == NoteDate(date(2026, 3, 8), None, "frontmatter")
    for text in ("2026-03-09", "2026-03-09T07:59:00", "2026-04-01"):
        assert note_dates(facts._replace(updated=text), UTC).changed.origin == "frontmatter"
    assert note_dates(facts._replace(updated=None), UTC).changed.origin == "git"


def test_days_as_written_are_the_same_in_every_zone_and_instants_are_not() -> None:
    stated = NOWHEN._replace(named="2026-03-08", updated="2026-03-08T23:30:00")
    for zone in (UTC, BERLIN, NEW_YORK, KIRITIMATI):
        dates = note_dates(stated, zone)
        assert dates.written == NoteDate(date(2026, 3, 8), None, "name")
        assert dates.changed == NoteDate(date(2026, 3, 8), time(23, 30), "frontmatter")
    instant = NOWHEN._replace(updated="2026-12-31T23:30:00Z", committed=int(nanoseconds("2026-12-31T23:30Z") / 1e9))
    days = {zone.key: note_dates(instant, zone).changed.day for zone in (BERLIN, NEW_YORK)}
    assert days == {"Europe/Berlin": date(2027, 1, 1), "America/New_York": date(2026, 12, 31)}
    assert note_dates(instant._replace(updated=None), BERLIN).changed == NoteDate(date(2027, 1, 1), time(0, 30), "git")


@pytest.mark.parametrize(
    ("at", "local"),
    [
        ("2026-03-29T00:59:59Z", time(1, 59, 59)),
        ("2026-03-29T01:00:00Z", time(3, 0)),
        ("2026-10-25T01:30:00Z", time(2, 30)),
    ],
)
def test_the_clock_of_the_user_counts_where_it_is_changed(at: str, local: time) -> None:
    assert note_dates(NOWHEN._replace(modified_ns=nanoseconds(at)), BERLIN).changed.time == local


def test_a_time_that_no_calendar_holds_is_the_beginning_of_1970() -> None:
    for far in (1 << 62, -(1 << 62)):
        assert note_dates(NOWHEN._replace(modified_ns=far * 1000), UTC).changed.day == date(1970, 1, 1)
