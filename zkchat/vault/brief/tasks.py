"""The open tasks of a vault by when they are due: overdue, soon, and without a date in notes that changed lately."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Final, Literal, get_args

from msgspec.structs import replace

from zkchat.model.daily_brief import FirstOf, OpenTask, OpenTasks, Priority
from zkchat.vault.brief.confirmed import first_confirmed
from zkchat.vault.library import Library
from zkchat.vault.notes.frontmatter import PLACEHOLDER
from zkchat.vault.stored_tasks import read_task
from zkchat.vault.task_fields import has_date

_When = Literal["overdue", "due", "later", "undated"]
_RANKS: Final[Mapping[str, int]] = {name: rank for rank, name in enumerate(get_args(Priority))}


def open_tasks(library: Library, today: date, *, days: int, most: int, changed: Sequence[str]) -> OpenTasks:
    """`changed` are the notes whose tasks without a date are listed, in their order; of each list at most so many."""
    places = {path: place for place, path in enumerate(changed)}
    until = today + timedelta(days=days)
    by_time: dict[_When, list[OpenTask]] = {"overdue": [], "due": [], "later": [], "undated": []}
    older = 0
    for stored in library.tasks():
        if PLACEHOLDER.search(stored.text):
            continue
        if not has_date(stored.text) and stored.path not in places:
            older += 1
            continue
        task = read_task(stored)
        when = _when(task, today, until)
        if when == "undated" and task.path not in places:
            older += 1
        else:
            by_time[when].append(task)

    def first(tasks: Iterable[OpenTask], key: Callable[[OpenTask], tuple[object, ...]]) -> FirstOf[OpenTask]:
        return _with_titles(library, first_confirmed(library, sorted(tasks, key=key), most))

    return OpenTasks(
        overdue=first(by_time["overdue"], lambda task: (_RANKS[task.priority], -_ordinal(task), task.path, task.line)),
        due=first(by_time["due"], lambda task: (_ordinal(task), _RANKS[task.priority], task.path, task.line)),
        undated=first(by_time["undated"], lambda task: (_RANKS[task.priority], places[task.path], task.line)),
        later=len(by_time["later"]),
        older=older,
    )


def _when(task: OpenTask, today: date, until: date) -> _When:
    if task.day and task.day < today:
        return "overdue"
    if (task.start and task.start > today) or (task.day and task.day > until):
        return "later"
    return "due" if task.day else "undated"


def _ordinal(task: OpenTask) -> int:
    return task.day.toordinal() if task.day else 0


def _with_titles(library: Library, tasks: FirstOf[OpenTask]) -> FirstOf[OpenTask]:
    return FirstOf([replace(task, title=library.title(task.path)) for task in tasks.items], tasks.total)
