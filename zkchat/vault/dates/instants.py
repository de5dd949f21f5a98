"""Points in time as the user types them: a day or period, how long ago, or a date with a time of day."""

import re
from datetime import UTC, datetime, time, timedelta
from typing import Final

from zkchat.errors import UsageError
from zkchat.model.dates import Calendar
from zkchat.vault.dates.calendar_ranges import plus
from zkchat.vault.dates.expressions import filter_period

TIME_FORMS: Final = "2026-03-01, 2026-03-01T18:00, today, yesterday, last week, March, or how long ago: 30m, 2h, 3d, 1w"
_AGO: Final = re.compile(r"(?P<count>[0-9]{1,6})\s*(?P<unit>[mhdw])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DATE_LENGTH: Final = len("2026-03-01")


def parse_instant(
    option: str, text: str | None, calendar: Calendar, *, at_end: bool = False, is_since: bool = True
) -> datetime | None:
    """The point in time that a text names, where the user is unless it says otherwise: where all days since a period
    begin, or its own first day, or its end. `3d` is exactly three times 24 hours ago.

    Raises `UsageError` for a text that names no time."""
    if text is None:
        return None
    try:
        return _parse(text.strip(), calendar, at_end=at_end, is_since=is_since and not at_end).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{option} {text!r} is not a time.", hint=f"Write {TIME_FORMS}.") from error


def _parse(text: str, calendar: Calendar, *, at_end: bool, is_since: bool) -> datetime:
    """Raises `ValueError` for what is none, `OverflowError` for what is too long ago."""
    zone = calendar.now.tzinfo
    if ago := _AGO.fullmatch(text.casefold()):
        return calendar.now.astimezone(UTC) - timedelta(**{_UNITS[ago["unit"]]: int(ago["count"])})
    if period := filter_period("after" if is_since else "on", text, calendar):
        if at_end:
            if period.end is None:
                raise ValueError(text)
            return datetime.combine(plus(period.end, -1), time.max, zone)
        if period.first is None:
            raise ValueError(text)
        return datetime.combine(period.first, time.min, zone)
    if len(text) <= _DATE_LENGTH:
        raise ValueError(text)
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=zone)
