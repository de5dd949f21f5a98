"""The user's calendar: the day it is in their time zone, and the day on which their weeks begin."""

from datetime import tzinfo
from pathlib import Path
from typing import get_args

from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.environment import Environment, SystemTimeZone
from zkchat.model.choices import Weekday
from zkchat.model.dates import Calendar


def calendar_of(workspace: Workspace) -> Calendar:
    """By the settings and the clock, as they are now."""
    settings = workspace.settings.calendar
    now = workspace.environment.now().astimezone(_zone(settings.time_zone))
    return Calendar(now, first_weekday=get_args(Weekday).index(settings.first_day_of_week))


def calendar_for(environment: Environment, vault: Path | None) -> Calendar:
    """The calendar that counts in a vault."""
    return calendar_of(load_workspace(environment, vault))


def _zone(name: str) -> tzinfo:
    if not name:
        return SystemTimeZone()
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)
