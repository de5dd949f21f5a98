import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from tests.support.libraries import Located
from tests.support.world import World
from zkchat.answers.brief import make_brief
from zkchat.app.library import open_library
from zkchat.core.reports import BriefNote, DailyBrief, FirstOf
from zkchat.index.library import Library

NOW = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)
"""A Sunday."""


@contextmanager
def vault_of(folder: Path, notes: dict[str, str], ages: dict[str, float] | None = None) -> Iterator[Library]:
    """A library over notes that changed so many days ago; a year ago where nothing is said."""
    world = World(folder, now=lambda: NOW)
    for path, text in notes.items():
        changed = (NOW - timedelta(days=(ages or {}).get(path, 365))).timestamp()
        os.utime(world.note(path, text), (changed, changed))
    environment = replace(world.environment(), variables={**world.variables, "TZ": "UTC"})
    with open_library(environment, world.vault) as (_, library):
        library.refresh()
        yield library


def brief_of(library: Library, days: int = 7, most: int = 5, now: datetime = NOW) -> DailyBrief:
    return make_brief(library, replace(library.calendar(), now=now), days=days, most=most)


def paths(found: FirstOf[BriefNote]) -> list[str]:
    return [item.path for item in found.items]


def test_changed_notes_are_those_of_the_last_days_latest_first(tmp_path: Path) -> None:
    ages = {"Now.md": 0.1, "Yesterday.md": 1.1, "Week.md": 6.2, "Before.md": 7.9, "Templates/New.md": 0.1}
    notes = dict.fromkeys(ages, "text") | {".obsidian/templates.json": '{"folder": "Templates"}', "ZKCHAT.md": "x"}
    with vault_of(tmp_path, notes, ages) as library:
        found = brief_of(library)
        assert paths(found.changed) == ["Now.md", "Yesterday.md", "Week.md"]
        assert (found.changed_today, found.changed_yesterday, found.changed.total) == (1, 1, 3)
        assert paths(brief_of(library, most=1).changed) == ["Now.md"]
        assert brief_of(library, most=1).changed.more == 2
        assert paths(brief_of(library, days=1).changed) == ["Now.md"]
        assert found.week_begins == date(2026, 3, 2)
        for first, day in ((5, date(2026, 3, 7)), (6, NOW.date())):
            calendar = replace(library.calendar(), now=NOW, first_weekday=first)
            assert make_brief(library, calendar).week_begins == day


def test_tasks_are_overdue_due_soon_or_of_notes_that_changed(tmp_path: Path) -> None:
    home = """\
- [ ] low 🔽
- [ ] plain
- [ ] high ⏫
- [ ] last year 📅 2025-03-01
- [ ] yesterday 📅 2026-03-07
- [ ] important 🔺 📅 2026-01-01
- [ ] scheduled ⏳ 2026-03-09
- [ ] today 📅 2026-03-08
- [ ] a week 📅 2026-03-15
- [ ] far off 📅 2026-03-16
- [ ] not yet 🛫 2026-03-09 📅 2026-03-10
- [ ] may begin 🛫 2026-03-01
- [ ] begins 🛫 2026-03-08
- [ ] written {{date}}
"""
    notes = {"Home.md": home, "Old.md": "- [ ] old\n- [ ] old but due 📅 2026-03-08\n"}
    with vault_of(tmp_path, notes, {"Home.md": 1}) as library:
        tasks = brief_of(library, most=20).tasks
        assert [task.text for task in tasks.overdue.items] == ["important", "yesterday", "last year"]
        assert [task.text for task in tasks.due.items] == ["today", "old but due", "scheduled", "a week"]
        assert [task.text for task in tasks.undated.items] == ["high", "plain", "may begin", "begins", "low"]
        assert (tasks.later, tasks.older) == (2, 1)
        first = tasks.overdue.items[0]
        assert (first.path, first.title, first.line, first.due) == ("Home.md", "Home", 6, date(2026, 1, 1))


def test_on_this_day_are_notes_dated_to_it_in_earlier_years(tmp_path: Path) -> None:
    notes = {
        "2024-03-08.md": "# Friday\n\nIt rained. Nothing else.\n",
        "Trip.md": "---\ndate: 2022-03-08\n---\nWe went by [[Train]].\n",
        "2025-03-09.md": "x",
        "2026-03-08.md": "today",
        "2026-02-08.md": "a month ago",
    }
    with vault_of(tmp_path, notes) as library:
        found = brief_of(library)
        assert [(note.path, note.beginning) for note in found.past.items] == [
            ("2024-03-08.md", "It rained."),
            ("Trip.md", "We went by [[Train]]."),
        ]
        assert found.past_day == "year"


def test_where_no_year_has_this_day_it_is_a_month_or_a_week_ago(tmp_path: Path) -> None:
    notes = ["2024-02-29.md", "2026-02-08.md", "2026-03-01.md", "2026-03-02.md"]
    with vault_of(tmp_path, dict.fromkeys(notes, "x")) as library:

        def past(now: datetime) -> tuple[str, list[str]]:
            found = brief_of(library, now=now)
            return found.past_day, paths(found.past)

        assert past(NOW) == ("month", ["2026-02-08.md"])
        assert past(NOW.replace(day=31)) == ("year", [])
        assert past(NOW.replace(day=9)) == ("week", ["2026-03-02.md"])
        assert past(NOW.replace(month=2, day=28)) == ("year", ["2024-02-29.md"]), "a leap day counts on the 28th"
        assert past(NOW.replace(year=2028, month=2, day=28)) == ("year", [])


def test_a_model_is_told_nothing_of_notes_that_it_may_not_see(tmp_path: Path) -> None:
    local = "---\nzkchat: local\n---\n- [ ] see the doctor 📅 2026-03-07\nGreen tea\n"
    notes = {"Secret plan.md": local, "Open.md": "Secret plan and Green tea\n", "Green tea.md": "x"}
    with vault_of(tmp_path, notes, dict.fromkeys(notes, 0.1)) as library:
        here, elsewhere = (library.guarded_for(Located(on_this_machine=there)) for there in (True, False))
        assert "Secret plan.md" in repr(brief_of(here))
        assert "Secret" not in repr(brief_of(elsewhere))
        # also one that became local after it was read
        (file,) = tmp_path.rglob("Open.md")
        file.write_text("---\nzkchat: local\n---\n- [ ] a secret\nGreen tea\n")
        found = brief_of(elsewhere)
        assert "Open.md" not in repr(found)
        assert found.changed.total == 1  # nor is it counted


def test_notes_that_became_local_after_they_were_read_take_no_place_in_a_list(tmp_path: Path) -> None:
    ages = {"A.md": 0.1, "B.md": 0.2, "C.md": 0.3, "D.md": 0.4}
    with vault_of(tmp_path, dict.fromkeys(ages, "x"), ages) as library:
        for name in ("A.md", "C.md"):
            (tmp_path / "vault" / name).write_text("---\nzkchat: local\n---\n")
        found = brief_of(library.guarded_for(Located(on_this_machine=False)), most=2).changed
    assert (paths(found), found.total) == (["B.md", "D.md"], 2)


def test_of_the_changed_notes_those_without_links_and_what_they_name(tmp_path: Path) -> None:
    notes = {
        "Alone.md": "Ann Bell said that Green tea helps.\nGreen tea again.",
        "Linked.md": "See [[Green tea]] and Ann Bell.",
        "Green tea.md": "x",
        "People/Ann Bell.md": "x",
        "2026-03-08.md": "a daily note needs no link",
        "Old.md": "Green tea",
    }
    with vault_of(tmp_path, notes, {"Alone.md": 0.1, "Linked.md": 0.2, "2026-03-08.md": 0.1}) as library:
        found = brief_of(library)
        assert paths(found.orphans) == ["Alone.md"]
        assert [(each.path, each.line, each.target) for each in found.mentions.items] == [
            ("Alone.md", 1, "People/Ann Bell.md"),
            ("Alone.md", 1, "Green tea.md"),
            ("Linked.md", 1, "People/Ann Bell.md"),
        ]
