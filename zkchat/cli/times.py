"""Times on the command line: as the user types them, and as lists show them."""

from datetime import UTC, date, datetime, time

from zkchat.errors import UsageError


def parse_time(option: str, text: str | None, time_of_day: time) -> datetime | None:
    """A point in time as the user writes it, in local time unless it says otherwise; a day begins or ends as asked."""
    if text is None:
        return None
    try:
        day_alone = len(text) <= len("2026-03-01")
        at = datetime.combine(date.fromisoformat(text), time_of_day) if day_alone else datetime.fromisoformat(text)
        return at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{option} {text!r} is not a time.", hint="Write a day or a time: 2026-03-01 or 2026-03-01T18:00"
        ) from error


def local_time(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"
