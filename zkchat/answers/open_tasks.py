"""The open tasks of a vault: the dates and the priority that are written in their texts, and which are overdue or due.

The forms are those that are in use: of the plugin Tasks, of Dataview, and plain words.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple, TypeVar, get_args

from msgspec.structs import replace

from zkchat.core import BriefNote, FirstOf, Item, OpenTask, OpenTasks, Priority, lazy_pattern
from zkchat.index import Library
from zkchat.notes import PLACEHOLDER

_DAY_FORM: Final = r"(?:\[\[)?(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)(?:[T ]\d{1,2}:\d\d(?::\d\d)?)?(?:\]\])?"
_DAY: Final = lazy_pattern(_DAY_FORM)
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
_AT_END: Final = lazy_pattern(
    rf"(?<![\w-])(?:by|due(?: on| by)?|until|till|bis(?: zum)?|fällig(?: am)?) {_DAY_FORM}[.!)]?\s*\Z", re.IGNORECASE
)
"""`by 2026-03-08` at the end of a task, which counts where the task has no other day."""
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
Titled = TypeVar("Titled", BriefNote, OpenTask)
_RANKS: Final[Mapping[str, int]] = {name: rank for rank, name in enumerate(get_args(Priority))}


class TaskFields(NamedTuple):
    text: str
    """What is left."""
    priority: Priority = "normal"
    due: date | None = None
    scheduled: date | None = None
    start: date | None = None


def read_fields(text: str) -> TaskFields:
    """The fields of a task. What is no day of the calendar stays in its text."""
    priority: Priority = "normal"
    text = _OTHER.sub(" ", text)
    if match := _PRIORITY.search(text):
        priority = _PRIORITY_SIGNS[match["sign"]] if match["sign"] else _PRIORITIES[match["name"].lower()]
        text = _PRIORITY.sub(" ", text)
    text, days = _dates(text)
    at_end = _AT_END.search(text)
    if at_end and "due" not in days and len([*_DAY.finditer(text)]) == 1 and (day := _day(at_end)):
        text, days["due"] = text[: at_end.start()], day
    return TaskFields(" ".join(text.split()), priority, days.get("due"), days.get("scheduled"), days.get("start"))


def _dates(text: str) -> tuple[str, dict[str, date]]:
    """The text without its dates, and the first of each kind."""
    days: dict[str, date] = {}
    pieces: list[str] = []
    position = 0
    for match in _DAY.finditer(text):
        before = _BEFORE.search(text, max(position, match.start() - 24), match.start())
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


def all_tasks(library: Library) -> list[OpenTask]:
    """All open tasks of notes that may be named, without their titles."""
    found = [*_tasks(library)]
    named = {*library.confirmed([*dict.fromkeys(task.path for task in found)])}
    return [task for task in found if task.path in named]


def _tasks(library: Library) -> Iterator[OpenTask]:
    """All open tasks but those of placeholders, with dates and priority, without the titles of their notes."""
    for stored in library.tasks():
        if PLACEHOLDER.search(stored.text):
            continue
        fields = read_fields(stored.text)
        yield OpenTask(
            path=stored.path,
            title="",
            line=stored.line,
            text=fields.text or stored.text,
            is_begun=stored.state == "/",
            priority=fields.priority,
            due=fields.due,
            scheduled=fields.scheduled,
            start=fields.start,
        )


def open_tasks(library: Library, today: date, *, days: int, most: int, changed: Sequence[str]) -> OpenTasks:
    """`changed` are the notes whose tasks without a date are listed, in their order; of each list at most so many."""
    places = {path: place for place, path in enumerate(changed)}
    until = today + timedelta(days=days)
    by_time: dict[str, list[OpenTask]] = {"overdue": [], "due": [], "later": [], "undated": []}
    older = 0
    for task in _tasks(library):
        when = "due" if task.day else "undated"
        if task.day and task.day < today:
            when = "overdue"
        elif (task.start and task.start > today) or (task.day and task.day > until):
            when = "later"
        if when == "undated" and task.path not in places:
            older += 1
        else:
            by_time[when].append(task)

    def first(tasks: Iterable[OpenTask], key: Callable[[OpenTask], tuple[object, ...]]) -> FirstOf[OpenTask]:
        return first_titled(library, sorted(tasks, key=key), most)

    return OpenTasks(
        overdue=first(by_time["overdue"], lambda task: (_RANKS[task.priority], -_ordinal(task), task.path, task.line)),
        due=first(by_time["due"], lambda task: (_ordinal(task), _RANKS[task.priority], task.path, task.line)),
        undated=first(by_time["undated"], lambda task: (_RANKS[task.priority], places[task.path], task.line)),
        later=len(by_time["later"]),
        older=older,
    )


def _ordinal(task: OpenTask) -> int:
    return task.day.toordinal() if task.day else 0


def first_confirmed(library: Library, items: Sequence[Item], most: int) -> FirstOf[Item]:
    """The first items whose notes may be named, at most so many, and how many there are of all of them."""
    shown: list[Item] = []
    start = kept_back = 0
    while start < len(items) and len(shown) < most:
        some = items[start : start + most - len(shown)]
        named = {*library.confirmed(dict.fromkeys(item.path for item in some))}
        shown += [item for item in some if item.path in named]
        kept_back += sum(item.path not in named for item in some)
        start += len(some)
    return FirstOf(shown, len(items) - kept_back)


def first_titled(library: Library, items: Sequence[Titled], most: int) -> FirstOf[Titled]:
    """The same with the titles of their notes."""
    first = first_confirmed(library, items, most)
    return FirstOf([replace(item, title=library.title(item.path)) for item in first.items], first.total)
