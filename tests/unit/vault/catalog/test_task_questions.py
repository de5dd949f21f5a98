from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.libraries import library_of
from tests.unit.vault.catalog.test_questions import Names
from zkchat.answers.catalog import answer_query
from zkchat.answers.catalog_parser import LINK_MARK, parse_question
from zkchat.core.note import Calendar
from zkchat.notes.dates.expressions import period_text

CALENDAR = Calendar(datetime(2026, 11, 18, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "which", "has_period"),
    [
        ("Which tasks are due this week?", "due", True),
        ("overdue tasks", "overdue", False),
        ("anything due soon?", "due", False),
        ("what's due this week", "due", True),
        ("is anything overdue?", "overdue", False),
        ("What do I have to do today?", "due", True),
        ("What is left to do this week?", "due", True),
        ("O que falta fazer?", "open", False),
        ("まだやること", "open", False),
        ("überfällige Aufgaben", "overdue", False),
        ("Was muss ich heute tun?", "due", True),
        ("Quelles tâches sont en retard ?", "overdue", False),
        ("¿Qué tareas están atrasadas?", "overdue", False),
        ("zaległe zadania", "overdue", False),
        ("Co muszę zrobić jutro?", "due", True),
        ("Wat moet ik morgen doen?", "due", True),
        ("Что нужно сделать завтра?", "due", True),
        ("有哪些逾期的任务？", "overdue", False),
    ],
)
def test_questions_for_tasks_are_known(text: str, which: str, has_period: bool) -> None:
    query = parse_question(text, [], Names(), CALENDAR)
    assert query
    assert (query.kind, query.tasks, query.period is not None) == ("tasks", which, has_period)


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("Which tasks are due on Friday?", "2026-11-20"),
        ("Which tasks are due on the 8th?", "2026-12-08"),
        ("Which tasks are due in the last week of November?", "2026-11-24 to 2026-11-30"),
        ("Which tasks are due before Friday?", "before 2026-11-20"),
        ("Which tasks are overdue since Friday?", "since 2026-11-13"),
        ("Which tasks are due this week?", "2026-11-16 to 2026-11-22"),
    ],
)
def test_tasks_are_due_on_coming_days(text: str, period: str) -> None:
    query = parse_question(text, [], Names(), CALENDAR)
    assert query
    assert query.period
    assert period_text(query.period) == period


@pytest.mark.parametrize(
    "text",
    [
        "What is the task of the roof?",
        "What are tasks?",
        "Which tasks did Ann get?",
        "What is left to do for the roof?",
        "What should I do about the roof today?",
        "Is the shop open today?",
        "Was habe ich heute gemacht?",
        "今天做了什么？",
    ],
)
def test_other_questions_are_not_taken_for_them(text: str) -> None:
    query = parse_question(text, [], Names(), CALENDAR)
    assert query is None or query.kind != "tasks"
    assert parse_question(f"Which tasks did Ann get in {LINK_MARK}?", ["Roof.md"], Names(), CALENDAR) is None


def test_tasks_are_listed_with_their_places_the_earliest_first(tmp_path: Path) -> None:
    notes = {
        "Home.md": "- [ ] Paint 📅 2026-11-20\n- [x] Done 📅 2026-11-19\n- [ ] Sweep\n- [ ] Later 📅 2027-01-01",
        "Work.md": "- [ ] Report 📅 2026-11-02\n- [ ] Call 📅 2026-11-18\n- [ ] Not yet 🛫 2026-12-01",
    }
    with library_of(tmp_path, notes) as library:

        def answer(text: str) -> tuple[str, list[tuple[str | None, str]]]:
            query = parse_question(text, [], Names(), CALENDAR)
            assert query
            found = answer_query(library, query, "", CALENDAR)
            return found.heading, [(row.path, row.details) for row in found.rows]

        heading, rows = answer("Which tasks are due this week?")
        assert heading.startswith("2 tasks are due this week")
        assert heading.endswith("1 more is overdue, 1 open task has no due date:")
        assert rows == [("Work.md", "Call, due 2026-11-18, line 2"), ("Home.md", "Paint, due 2026-11-20, line 1")]
        overdue = [("Work.md", "Report, due 2026-11-02, line 1")]
        assert answer("overdue tasks") == ("1 task is overdue, 1 open task has no due date:", overdue)
        heading, rows = answer("open tasks")
        assert heading == "5 tasks are open, 1 of them overdue:"
        assert rows[0] == overdue[0]
        assert rows[-1] == ("Home.md", "Sweep, line 3")
        nothing = answer("Which tasks are due tomorrow?")[0]
        assert nothing.startswith("No task is due tomorrow")
        assert "1 open task has no due date that zkchat reads. Write one as 📅 2026-" in nothing


@pytest.mark.parametrize("text", [f"open tasks in {LINK_MARK}", f"Aufgaben von {LINK_MARK}"])
def test_the_tasks_of_a_linked_note_are_listed_alone(tmp_path: Path, text: str) -> None:
    query = parse_question(text, ["Roof.md"], Names(), CALENDAR)
    assert query
    with library_of(tmp_path, {"Roof.md": "- [ ] tiles\n- [x] beams\n", "Shed.md": "- [ ] door\n"}) as library:
        found = answer_query(library, query, "Roof.md", CALENDAR)
        gone = answer_query(library, query, "", CALENDAR)
    assert found.heading == "1 task is open in [[Roof]]:"
    assert [row.details for row in found.rows] == ["tiles, line 1"]
    assert (gone.heading, gone.rows) == ("There is no note “Roof.md”.", ())
