"""`zkchat brief`: what is printed, with a model and without."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.world import World

NOW = datetime(2026, 3, 8, 12, 0, tzinfo=UTC)
HOME = "- [ ] Pay the rent ⏫ 📅 2026-03-05\n- [ ] Call [[Ann Bell|Ann]] 📅 2026-03-09\n- [/] Paint the shed\n"
SECRET = "---\nzkchat: local\n---\n- [ ] See the doctor 📅 2026-03-07\n"


@pytest.fixture
def garden(tmp_path: Path) -> World:
    world = World(tmp_path, now=lambda: NOW, variables={"ZKCHAT_CALENDAR__TIME_ZONE": "UTC"})
    for path, text, days in (("Home.md", HOME, 0.1), ("Ann Bell.md", "# Ann Bell\n", 400), ("Secret.md", SECRET, 1)):
        changed = (NOW - timedelta(days=days)).timestamp()
        os.utime(world.note(path, text), (changed, changed))
    return world


def test_a_brief_needs_no_model(garden: World) -> None:
    found = garden.run("brief", "--no-model")
    assert found.code == 0
    assert (
        found.out
        == """\
Sunday, 8 March 2026

Tasks: 2 overdue · 1 due soon · 1 without a date in changed notes
! Pay the rent (due 3 days ago · Home.md:1)
See the doctor (due yesterday · Secret.md:4)
Call Ann (due tomorrow · Home.md:2)
Paint the shed (begun · Home.md:3)

Changed: 1 today · 1 yesterday · 2 in 7 days
Home (today 09:36 · Home.md)
Secret (yesterday 12:00 · Secret.md)

Without links: 1 note in 7 days
Secret (Secret.md)
"""
    )
    assert garden.run("brief", "--model", "quote").out == found.out


def test_days_bound_it_and_json_has_all_of_it(garden: World) -> None:
    found = garden.run("brief", "--no-model", "--days", "1", "--json").json
    assert (found["date"], found["days"], found["summary"]) == ("2026-03-08", 1, None)
    assert [each["path"] for each in found["changed"]["items"]] == ["Home.md"]
    (due,) = found["tasks"]["due"]["items"]
    assert due == {
        "path": "Home.md",
        "title": "Home",
        "line": 2,
        "text": "Call [[Ann Bell|Ann]]",
        "is_begun": False,
        "priority": "normal",
        "due": "2026-03-09",
        "scheduled": None,
        "start": None,
    }


def test_a_model_writes_a_paragraph_below_the_lists_where_it_is_asked_to(garden: World) -> None:
    model = garden.script([{"text": "Pay the rent, says [[Home]]."}, {"finish": "stop"}])
    for found in (garden.run("today", "--summary", "--model", model), garden.run("brief", "--model", model)):
        assert found.out.startswith("Sunday, 8 March 2026\n\nTasks: 2 overdue")
        assert found.out.endswith("Secret (Secret.md)\n\nPay the rent, says [[Home]].\n")
    garden.variables["ZKCHAT_MODEL"] = model
    assert garden.run("today").out == garden.run("brief", "--no-model").out
    assert garden.run("today", "--json").json["summary"] is None
    del garden.variables["ZKCHAT_MODEL"]
    summary = garden.run("brief", "--model", model, "--json").json["summary"]
    assert summary["text"] == "Pay the rent, says [[Home]]."
    assert [(each["relative_path"], each["cited"]) for each in summary["references"]] == [("Home.md", True)]
    drawn = garden.run("brief", "--model", model, terminal=True)
    link = r"\x1b\]8;[^;]*;file:[^\x1b]*/Home\.md\x1b\\(.*?)\x1b\]8;;"
    clickable = [re.sub(r"\x1b\[\d*m", "", each) for each in re.findall(link, drawn.out)]
    assert {"Home", "due 3 days ago · Home.md:1"} <= {*clickable}


def test_the_daily_note_is_listed_first_and_shown_where_it_is_asked_for(garden: World) -> None:
    assert garden.run("today", "--json").json["daily"] == {"path": None, "expected_path": "2026-03-08.md"}
    garden.note("2026-03-08.md", "Slept well.\n")
    assert "\nDaily note\n2026-03-08 (2026-03-08.md)\n\nTasks: " in garden.run("today").out
    assert garden.run("today", "--note").out == garden.run("daily").out == "Slept well.\n"


def test_what_sums_up_the_day_is_never_gone_on_with(garden: World) -> None:
    model = garden.script([{"text": "Well."}, {"finish": "stop"}])
    garden.run("ask", "How are you?", "--model", model)
    garden.run("today", "--summary", "--model", model)
    garden.run("ask", "-c", "And now?", "--model", model)
    shown = garden.run("context", "show").out
    assert "How are you?" in shown
    assert "And now?" in shown
    assert "Daily brief" not in shown


def test_a_model_that_fails_costs_a_word(garden: World) -> None:
    found = garden.run("brief", "--model", garden.script([{"text": "Pay"}, {"error": "The server is gone."}]))
    assert found.code == 0
    assert "wrote no summary: The server is gone." in found.err
    assert "Tasks: 2 overdue" in found.out
    garden.variables["ZKCHAT_MODEL"] = "scripted:/nowhere.json"
    unset = garden.run("brief")
    assert unset.code == 0
    assert unset.err
    assert "Tasks: 2 overdue" in unset.out
