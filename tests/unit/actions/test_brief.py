"""The daily brief as parts of a list."""

from datetime import date

from zkchat.actions.brief import task_section
from zkchat.core.reports import DailyBrief, FirstOf, OpenTask, OpenTasks


def test_what_is_long_overdue_tells_its_date_and_tasks_without_one_tell_of_which_notes() -> None:
    days = [date(2026, 11, 13), date(2026, 10, 1), date(2026, 3, 15)]
    overdue = [OpenTask(path="Home.md", title="Home", line=1, text="Paint", due=day) for day in days]
    undated = [OpenTask(path="Home.md", title="Home", line=2, text="Sweep")]
    tasks = OpenTasks(overdue=FirstOf(overdue, 3), undated=FirstOf(undated, 1), older=2)
    brief = DailyBrief(today=date(2026, 11, 16), days=7, week_begins=date(2026, 11, 16), tasks=tasks)
    section = task_section(brief)
    assert [row.place.partition(" · ")[0] for row in section.rows[:3]] == [
        "due 3 days ago",
        "due on 2026-10-01, 46 days ago",
        "due on 2026-03-15, 246 days ago",
    ]
    assert section.summary == "3 overdue · 1 without a date in changed notes"
    assert section.rest == "… and 2 without a date in older notes"
