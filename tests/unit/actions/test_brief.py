from datetime import date

from zkchat.actions.brief import task_section
from zkchat.core.reports import DailyBrief, FirstOf, OpenTask, OpenTasks


def test_what_is_long_overdue_tells_its_date_and_tasks_without_one_tell_of_which_notes() -> None:
    days = [date(2026, 11, 10), date(2026, 11, 9), date(2026, 3, 15)]
    overdue = [OpenTask(path="Home.md", title="Home", line=1, text="Paint", due=day) for day in days]
    undated = [OpenTask(path="Home.md", title="Home", line=2, text="Sweep")]
    tasks = OpenTasks(overdue=FirstOf(overdue, 3), undated=FirstOf(undated, 1), older=2)
    brief = DailyBrief(today=date(2026, 11, 16), days=7, week_begins=date(2026, 11, 16), tasks=tasks)
    section = task_section(brief)
    assert [row.place.partition(" · ")[0] for row in section.rows[:3]] == [
        "due 6 days ago",
        "due on 2026-11-09, 7 days ago",
        "due on 2026-03-15, 246 days ago",
    ]
    assert section.summary == "3 overdue · 1 without a date in changed notes"
    assert section.rest == "… and 2 without a date in older notes"


def test_a_long_task_is_cut_and_more_of_them_are_counted() -> None:
    today = date(2026, 11, 16)
    task = OpenTask(path="A.md", title="A", line=1, text="word " * 30, due=today)
    tasks = OpenTasks(due=FirstOf([task], 3), later=4)
    section = task_section(DailyBrief(today=today, days=7, week_begins=today, tasks=tasks))
    assert section.rows[0].name == "word " * 26 + "word…"
    assert section.rest == "… and 2 more due soon, 4 due later"


def test_what_is_due_within_a_week_tells_its_weekday() -> None:
    days = [date(2026, 11, day) for day in (16, 17, 18, 22, 23)]
    tasks = OpenTasks(due=FirstOf([OpenTask(path="A.md", title="A", line=1, text="x", due=day) for day in days], 5))
    section = task_section(DailyBrief(today=days[0], days=7, week_begins=days[0], tasks=tasks))
    told = ["due today", "due tomorrow", "due on Wednesday", "due on Sunday", "due 2026-11-23"]
    assert [row.place.partition(" · ")[0] for row in section.rows] == told
