"""The daily brief as lines for a model: each with the link to its note."""

from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import Final

from zkchat.model.daily_brief import DailyBrief, OpenTask
from zkchat.model.text import shorten

MAX_LISTED: Final = 30
"""Lines of one list."""
_MAX_LINE: Final = 300


def report_section(title: str, lines: Iterable[str], total: int = 0) -> str:
    """A list below its title, each item on one line; nothing where there is none."""
    every = [" ".join(line.split()) for line in lines]
    more = max(total, len(every)) - len(every[:MAX_LISTED])
    shown = [f"- {shorten(line, _MAX_LINE)}" for line in every[:MAX_LISTED]]
    return "\n".join([f"{title}:", *shown, *([f"- and {more:,} more"] if more else [])]) if every else ""


def as_data(report: str) -> str:
    """A report in marks that nothing in it can end."""
    return f"<vault_report>\n{escape(report, quote=False)}\n</vault_report>"


def report_brief(brief: DailyBrief, link_to: Callable[[str], str]) -> str:
    """What a brief says of tasks and notes, in sections."""
    tasks = brief.tasks
    sections = (
        report_section("overdue tasks", _tasks(tasks.overdue.items, link_to), tasks.overdue.total),
        report_section("tasks due soon", _tasks(tasks.due.items, link_to), tasks.due.total),
        report_section("open tasks without a date", _tasks(tasks.undated.items, link_to), tasks.undated.total),
        report_section(
            "changed notes, the latest first",
            (f"{each.date.day} {link_to(each.path)}" for each in brief.changed.items),
            brief.changed.total,
        ),
        report_section(
            "notes of this day in the past",
            (f"{each.date.day} {link_to(each.path)}: {each.beginning}" for each in brief.past.items),
            brief.past.total,
        ),
    )
    return "\n\n".join(filter(None, sections))


def _tasks(tasks: Iterable[OpenTask], link_to: Callable[[str], str]) -> Iterator[str]:
    for task in tasks:
        due = f" (due {task.due})" if task.due else f" (scheduled {task.scheduled})" if task.scheduled else ""
        yield f"{link_to(task.path)}: {task.text}{due}"
