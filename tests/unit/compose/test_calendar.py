import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.world import World
from zkchat.app.workspace import calendar_of, load_workspace
from zkchat.core.environment import SystemTimeZone
from zkchat.core.errors import ConfigError

NEW_YEAR = datetime(2025, 12, 31, 23, 30, tzinfo=UTC)


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Pacific/Auckland", date(2026, 1, 1)), ("America/Los_Angeles", date(2025, 12, 31)), ("UTC", date(2025, 12, 31))],
)
def test_today_is_the_day_in_the_zone_that_is_set(tmp_path: Path, zone: str, day: date) -> None:
    variables = {"ZKCHAT_CALENDAR__TIME_ZONE": zone, "ZKCHAT_CALENDAR__FIRST_DAY_OF_WEEK": "sunday"}
    world = World(tmp_path, variables=variables, now=lambda: NEW_YEAR)
    calendar = calendar_of(load_workspace(world.environment(), None))
    assert (calendar.today, calendar.first_weekday) == (day, 6)


def test_a_zone_that_is_none_is_refused_in_a_sentence(tmp_path: Path) -> None:
    world = World(tmp_path, variables={"ZKCHAT_CALENDAR__TIME_ZONE": "../etc/passwd"})
    with pytest.raises(ConfigError) as refused:
        load_workspace(world.environment(), None)
    assert "such as Europe/Berlin" in refused.value.message


@pytest.mark.usefixtures("in_berlin")
def test_the_zone_of_the_system_knows_summer_and_winter(tmp_path: Path) -> None:
    now = calendar_of(load_workspace(World(tmp_path, now=lambda: NEW_YEAR).environment(), None)).now
    assert (now.date(), now.utcoffset(), now.tzname()) == (date(2026, 1, 1), timedelta(hours=1), "CET")
    summer = datetime(2026, 7, 1, 22, 30, tzinfo=UTC).astimezone(now.tzinfo)
    assert (summer.date(), summer.utcoffset()) == (date(2026, 7, 2), timedelta(hours=2))


@pytest.mark.usefixtures("in_berlin")
def test_the_hour_that_there_is_twice_is_told_apart() -> None:
    first, second = (datetime(2026, 10, 25, hour, 30, tzinfo=UTC).astimezone(SystemTimeZone()) for hour in (0, 1))
    assert (first.hour, second.hour) == (2, 2)
    assert (first.utcoffset(), second.utcoffset()) == (timedelta(hours=2), timedelta(hours=1))
