"""`zkchat timeline`: what happened to a note, in order of time."""

import os
import shutil

import pytest

from tests.support.git_repository import commit, repository
from tests.support.world import World


@pytest.fixture
def world(world: World) -> World:
    world.note("Ann.md", "---\ncreated: 8.3.2026\n---\nSee [[2026-03-10]] and [[Plain]].")
    world.note("2026-03-10.md", "x")
    world.note("2026-03-09 Meeting with Ann.md", "With [[Ann]].")
    world.note("Plain.md", "[[Ann]] without a date")
    os.utime(world.vault / "Ann.md", (1_780_000_000, 1_780_000_000))
    return world


def test_dates_of_a_note_and_of_those_around_it_are_in_order_of_time(world: World) -> None:
    assert world.run("timeline", "[[Ann]]").out == (
        "2026-03-08        written (date from its properties)\n"
        "2026-03-09        2026-03-09 Meeting with Ann.md links here\n"
        "2026-03-10        links to 2026-03-10.md\n"
        "2026-05-28 20:26  changed (date of its file)\n"
    )
    last = world.run("timeline", "[[Ann]]", "--limit", "3")
    assert (len(last.out.splitlines()), last.err) == (3, "1 earlier events: --limit 4 shows them\n")


def test_changes_of_zkchat_are_in_it_also_under_an_earlier_name(world: World) -> None:
    world.run("note", "append", "Ann", "More.", "--yes")
    world.run("note", "rename", "Ann", "Anna", "--yes")
    found = world.run("timeline", "Anna", "--json").json
    edits = [(event["text"], event["id"]) for event in found["events"] if event["kind"] == "edit"]
    assert [number for _, number in edits] == ["1", "2"]
    assert (found["path"], found["title"], found["earlier"]) == ("Anna.md", "Anna", 0)
    assert found["events"][0] == {
        "date": "2026-03-08", "time": None, "kind": "written", "text": "frontmatter", "path": None, "id": None,
    }  # fmt: skip


@pytest.mark.outside
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_commits_are_in_it_and_doctor_says_that_git_is_used(world: World) -> None:
    world.variables["PATH"] = os.environ["PATH"]
    repository(world.vault)
    last = commit(world.vault, "2026-04-01T12:00Z", "-m", "evil \x1b[31m title")
    events = world.run("timeline", "Ann", "--json").json["events"]
    assert [(each["date"], each["kind"], each["id"]) for each in events[-2:]] == [
        ("2026-04-01", "changed", None),
        ("2026-04-01", "commit", last),
    ]
    shown = world.run("timeline", "Ann").out
    assert f"2026-04-01 12:00  commit {last[:7]}: at 2026-04-01T12:00Z" in shown
    assert "date from git" in shown
    rows = {each["subject"]: each for each in world.run("doctor", "--json").json}
    assert rows["git"]["state"] == "ok"
    (world.vault / ".git" / "objects" / "info" / "alternates").write_text("/elsewhere\n")
    rows = {each["subject"]: each for each in world.run("doctor", "--json").json}
    assert "in another repository" in rows["git"]["text"]
    assert world.run("recent").out.count("git") == 0
