"""Points in time: as the user types them, and as lists show them."""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from zkchat.errors import UsageError

TIME_FORMS: Final = "2026-03-01, 2026-03-01T18:00, today, yesterday, or how long ago: 30m, 2h, 3d, 1w"
_DAYS_BACK: Final = {"today": 0, "yesterday": 1}
_AGO: Final = re.compile(r"(?P<count>[0-9]{1,6})\s*(?P<unit>[mhdw])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_time(option: str, text: str | None, time_of_day: time, now: datetime) -> datetime | None:
    """A point in time as the user writes it, in local time unless it says otherwise; a day begins or ends as asked.

    `3d` is exactly three times 24 hours before `now`.
    """
    if text is None:
        return None
    try:
        return _parse(text.strip(), time_of_day, now).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{option} {text!r} is not a time.", hint=f"Write {TIME_FORMS}.") from error


def _parse(text: str, time_of_day: time, now: datetime) -> datetime:
    """Raises `ValueError` for what is none, `OverflowError` for what is too long ago."""
    word = text.casefold()
    if ago := _AGO.fullmatch(word):
        return now - timedelta(**{_UNITS[ago["unit"]]: int(ago["count"])})
    if word in _DAYS_BACK:
        return datetime.combine(now.astimezone().date() - timedelta(days=_DAYS_BACK[word]), time_of_day)
    if len(text) <= len("2026-03-01"):
        return datetime.combine(date.fromisoformat(text), time_of_day)
    return datetime.fromisoformat(text)


def local_time(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"
