"""The open tasks that a question asks for, in words and in their order."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from zkchat.model.daily_brief import OpenTask
from zkchat.model.dates import Calendar, DayRange
from zkchat.model.text import counted
from zkchat.vault.catalog.query import CatalogQuery
from zkchat.vault.dates.expressions import describe_period
from zkchat.vault.library import Library
from zkchat.vault.stored_tasks import all_tasks

_DAYS_SOON: Final = 7


def tasks_asked_for(
    library: Library, query: CatalogQuery, calendar: Calendar, path: str = ""
) -> tuple[str, Sequence[OpenTask]]:
    """A heading, and the tasks: with a date by it, the earliest first, those without one after them; of all notes, or
    of the one of this path."""
    today = calendar.today
    tasks = [task for task in all_tasks(library) if not (task.start and task.start > today)]
    tasks = [task for task in tasks if task.path == path] if path else tasks
    place = f" in {library.link_to(path)}" if path else ""
    overdue = [task for task in tasks if task.day and task.day < today]
    if query.tasks == "overdue":
        found, what = overdue, "overdue"
    elif query.tasks == "open" and query.period is None:
        found, what = tasks, "open"
    else:
        period = query.period or DayRange(today, today + timedelta(days=_DAYS_SOON + 1))
        found = [task for task in tasks if task.day and task.day in period]
        what = f"due {describe_period(query.period, calendar) if query.period else 'in the next days'}"
    found = sorted(found, key=lambda task: (task.day is None, task.day or today, task.path, task.line))
    others = len({*overdue} - {*found})
    more = f", {others:,} more {'is' if others == 1 else 'are'} overdue" if others else ""
    more = f", {len(overdue):,} of them overdue" if overdue and query.tasks == "open" and not others else more
    if not found:
        return f"No task is {what}{place}{more.replace(' more ', ' ')}.", []
    return f"{counted(len(found), 'task')} {'is' if len(found) == 1 else 'are'} {what}{place}{more}:", found


def describe_task(task: OpenTask) -> str:
    """What is to be done, by when, and its line."""
    due = f"{'due' if task.due else 'scheduled'} {task.day}" if task.day else ""
    return ", ".join(filter(None, (task.text, due, f"line {task.line}")))
