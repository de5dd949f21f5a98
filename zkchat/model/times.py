"""Points in time as lists show them."""

from datetime import datetime


def local_time(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"
