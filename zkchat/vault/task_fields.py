"""The dates and the priority that are written in the text of a task, in the forms that are in use."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final, NamedTuple

from zkchat.model.daily_brief import Priority
from zkchat.model.patterns import lazy_pattern

_DAY: Final = lazy_pattern(
    r"(?:\[\[)?(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)(?:[T ]\d{1,2}:\d\d(?::\d\d)?)?(?:\]\])?"
)
_MAYBE_DAY: Final = lazy_pattern(r"\d{4}[-/.]\d")
_SIGNS: Final[Mapping[str, str]] = {
    **dict.fromkeys("📅📆🗓", "due"),
    **dict.fromkeys("⏳⌛", "scheduled"),
    "🛫": "start",
    **dict.fromkeys("➕✅❌", ""),
}
"""Of the plugin Tasks, by what the date after it says; of the last, nothing that matters of an open task."""
_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("due", "deadline"), "due"),
    "scheduled": "scheduled",
    "start": "start",
    **dict.fromkeys(("created", "completion", "completed", "done", "cancelled"), ""),
}
_BEFORE: Final = lazy_pattern(
    rf"(?:(?P<sign>[{''.join(_SIGNS)}])\ufe0f?\s*"
    rf"|(?P<open>[\[(]\s*|@|(?<![\w-]))(?P<name>{'|'.join(_NAMES)})(?P<mark>\s*::\s*|:\s*|\(\s*)"
    r"|(?<!\S)@(?P<brace>\{)?)\Z",
    re.IGNORECASE,
)
"""`📅 2026-03-08`, `[due:: 2026-03-08]`, `(due:: …)`, `@due(2026-03-08)`, `due: 2026-03-08`, `@{2026-03-08}`."""
_AFTER: Final = lazy_pattern(r"\s*[\])}]")
_MAX_BEFORE: Final = 24
"""Characters in which what a date says is looked for."""
_PRIORITY_SIGNS: Final[Mapping[str, Priority]] = {
    "🔺": "highest",
    "⏫": "high",
    "🔼": "medium",
    "🔽": "low",
    "⏬": "lowest",
}
_PRIORITIES: Final[Mapping[str, Priority]] = {each: each for each in (*_PRIORITY_SIGNS.values(), "normal")}
_PRIORITY: Final = lazy_pattern(
    rf"(?P<sign>[{''.join(_PRIORITY_SIGNS)}])\ufe0f?|[\[(]\s*priority\s*::\s*(?P<name>{'|'.join(_PRIORITIES)})\s*[\])]",
    re.IGNORECASE,
)
_OTHER: Final = lazy_pattern(
    r"🔁\ufe0f?\s*(?:every\b[^\u2190-\U0001ffff\[(#@]*)?|[🆔⛔🏁]\ufe0f?\s*[\w,-]*"
    r"|[\[(]\s*(?:repeat|id|dependsOn|onCompletion)\s*::[^\])\n]{0,100}[\])]|(?:^|\s)\^[A-Za-z0-9-]+\s*$",
    re.IGNORECASE,
)
"""How it is repeated, what it waits for, and the id of its block."""
_MARKS: Final = lazy_pattern(r"::|[\u2190-\U0001ffff^]")
"""No field but a date is written without one of these."""


class TaskFields(NamedTuple):
    text: str
    """What is left."""
    priority: Priority = "normal"
    due: date | None = None
    scheduled: date | None = None
    start: date | None = None


def has_date(text: str) -> bool:
    """Whether the text of a task has a date that may be one of its fields."""
    return _MAYBE_DAY.search(text) is not None


def read_fields(text: str) -> TaskFields:
    """The fields of a task. What is no day of the calendar stays in its text."""
    priority: Priority = "normal"
    if _MARKS.search(text):
        text = _OTHER.sub(" ", text)
        if match := _PRIORITY.search(text):
            priority = _PRIORITY_SIGNS[match["sign"]] if match["sign"] else _PRIORITIES[match["name"].lower()]
            text = _PRIORITY.sub(" ", text)
    text, days = _dates(text)
    return TaskFields(" ".join(text.split()), priority, days.get("due"), days.get("scheduled"), days.get("start"))


def _dates(text: str) -> tuple[str, dict[str, date]]:
    """The text without its dates, and the first of each kind."""
    days: dict[str, date] = {}
    pieces: list[str] = []
    position = 0
    for match in _DAY.finditer(text):
        before = _BEFORE.search(text, max(position, match.start() - _MAX_BEFORE), match.start())
        day = _day(match)
        if before is None or day is None:
            continue
        key = _NAMES[before["name"].lower()] if before["name"] else _SIGNS.get(before["sign"] or "", "due")
        days.setdefault(key, day)
        is_enclosed = before["brace"] or (before["open"] or "").strip("@ ") or (before["mark"] or "").startswith("(")
        closing = _AFTER.match(text, match.end()) if is_enclosed else None
        pieces += (text[position : before.start()], " ")
        position = closing.end() if closing else match.end()
    return "".join([*pieces, text[position:]]), days


def _day(match: re.Match[str]) -> date | None:
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        return None
