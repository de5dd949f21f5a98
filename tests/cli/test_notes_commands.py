"""`zkchat show`, `recent`, `tags` and `daily`, for people and for scripts; and notes with another suffix."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.screens import without_sequences
from tests.support.world import World
from zkchat.core.errors import ExitCode

SLEEP = "---\ntags: [health/night]\n---\n# Sleep\n\nAdults need seven hours.\n\n## Phases\n\nDeep, see [[Nowhere]].\n"


@pytest.fixture
def garden(world: World) -> World:
    world.note("Body/Sleep.md", SLEEP)
    world.note("Coffee.md", "# Coffee\n\nIt is hot. #drink #health\n")
    world.note("Secret.md", "---\nzkchat: never\n---\nUnsaid.\n")
    return world


def test_show_prints_the_text_of_a_note_or_a_section_in_a_pipe(garden: World) -> None:
    assert garden.run("show", "Sleep").out == SLEEP
    assert garden.run("show", "[[Sleep#Phases]]").out == "## Phases\n\nDeep, see [[Nowhere]].\n"
    shown = garden.run("show", "Sleep#Dreams")
    assert (shown.out, shown.err) == (SLEEP, "There is no “Dreams” in Body/Sleep.md; this is the whole note.\n")


def test_search_names_the_line_where_the_words_are(garden: World) -> None:
    garden.note("Long.md", "# Long\n\nZebra.\n\n" + "- and so on\n" * 30 + "- the zebra is striped\n")
    assert "(Long.md:35 · text)" in garden.run("search", "striped zebra").out
    assert "(Long.md:1 · title, " in garden.run("search", "long").out


def test_show_says_that_there_is_no_text(garden: World) -> None:
    garden.note("Empty.canvas", "{}")
    garden.note("Blank.md", "\n")
    for name in ("Empty.canvas", "Blank.md"):
        shown = garden.run("show", name)
        assert (shown.code, shown.out, shown.err) == (0, "", f"{name} has no text.\n")


def test_show_draws_a_note_on_a_terminal(garden: World) -> None:
    rows = without_sequences(garden.run("show", "Sleep", terminal=True).out).splitlines()
    assert [row.rstrip() for row in rows] == [
        "Sleep",
        "Body/Sleep.md · #health/night",
        "",
        "Adults need seven hours.",
        "",
        "Phases",
        "",
        "Deep, see Nowhere[?].",
    ]


def test_show_for_scripts(garden: World) -> None:
    os.utime(garden.vault / "Body" / "Sleep.md", (1_700_000_000, 1_700_000_000))
    date = {"at": "2023-11-14T22:13:20", "origin": "file"}
    assert garden.run("show", "[[Sleep#Phases]]", "--json").json == {
        "path": "Body/Sleep.md",
        "title": "Sleep",
        "anchor": "Phases",
        "line": 8,
        "tags": [],
        "written": date,
        "changed": date,
        "text": "## Phases\n\nDeep, see [[Nowhere]].\n",
    }


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [
        ("Slep", ExitCode.VAULT, "Closest: [[Sleep]]."),
        ("Secret", ExitCode.USAGE, "Secret.md is never to be read by zkchat, and is not shown."),
    ],
)
def test_what_cannot_be_shown_is_told_with_its_exit_code(garden: World, name: str, code: int, told: str) -> None:
    result = garden.run("show", name)
    assert result.code == code
    assert told in result.err
    assert result.out == ""


def test_recent_lists_the_notes_that_changed_in_a_time(world: World) -> None:
    world.note("Old.md", "---\nupdated: 2026-03-08\n---\nold")
    world.note("Older.md", "---\nupdated: 2026-02-01\n---\nolder")
    world.now = lambda: datetime(2026, 3, 10, 12, tzinfo=UTC)

    def listed(*options: str) -> list[str]:
        return [each["path"] for each in world.run("recent", *options, "--json").json]

    assert listed("--on", "february") == ["Older.md"]
    assert listed("--since", "last-week") == ["Old.md"]
    assert listed("--since", "2026-02", "--on", "8 march") == ["Old.md"]
    assert listed("--since", "2026-03", "--on", "2026") == ["Old.md"]
    assert world.run("recent", "--on", "yesterday").err == "No note changed yesterday (2026-03-09).\n"
    cut = world.run("recent", "--since", "2026", "--limit", "1")
    assert (cut.out, cut.err) == ("2026-03-08  Old (Old.md · frontmatter)\n", "… and 1 more\n")
    assert world.run("recent", "--since", "2026", "--limit", "2").err == ""
    refused = world.run("recent", "--since", "whenever")
    assert (refused.code, "'whenever' is not a time." in refused.err) == (2, True)


def test_tags_are_counted_with_those_below_them(garden: World) -> None:
    assert garden.run("tags").out == "2  #health\n1    #health/night\n1  #drink\n"
    assert garden.run("tags", "#DR").out == "1  #drink\n"
    assert garden.run("tags", "drink", "--json").json == [{"tag": "drink", "notes": 1}]
    assert garden.run("tags", "x").out == ""


def test_daily_shows_the_note_of_today_or_how_it_would_be_called(garden: World) -> None:
    none = garden.run("daily")
    assert (none.code, none.out) == (ExitCode.VAULT, "")
    told = re.fullmatch(r"There is no daily note for (\S{10}) yet\. Its path would be (\S{10})\.md\.\n", none.err)
    assert told
    assert told[1] == told[2]
    garden.note(f"Days/{told[1]}.md", "Fireworks.\n")
    garden.note(f"Days/{date.fromisoformat(told[1]) + timedelta(days=1)}.md", "Fireworks.\n")  # should it be midnight
    assert garden.run("daily").out == "Fireworks.\n"
    found = garden.run("daily", "--json").json
    assert found["path"] == found["expected_path"] == f"Days/{found['date']}.md"


def test_settings_are_read_through_no_link(garden: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text('{"folder": "Elsewhere"}')
    (garden.vault / ".obsidian").mkdir()
    (garden.vault / ".obsidian" / "daily-notes.json").symlink_to(outside)
    found = garden.run("daily", "--json").json
    assert found["expected_path"] == f"{found['date']}.md"


def settings(world: World, name: str, value: dict[str, object]) -> None:
    file = world.vault / ".obsidian" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def daily(world: World) -> tuple[str, str]:
    """Today, and how the note of today would be called."""
    found = world.run("daily", "--json").json
    return found["date"], found["expected_path"]


def test_daily_notes_are_named_by_the_settings_of_obsidian(garden: World) -> None:
    periodic = "plugins/periodic-notes/data.json"
    settings(garden, "daily-notes.json", {"folder": "Journal/", "format": "YYYY/[on the day] YYYY-MM-DD"})
    today, path = daily(garden)
    assert path == f"Journal/{today[:4]}/on the day {today}.md"
    for is_on in ({}, {"enabled": True}):
        settings(garden, periodic, {"daily": {"folder": "P", "format": "[x]YYYY-MM-DD", **is_on}})
        today, path = daily(garden)
        assert path == f"P/x{today}.md"
    settings(garden, periodic, {"daily": {"folder": "P", "enabled": False}})
    assert daily(garden)[1].startswith("Journal/")


WITH_ANOTHER_SUFFIX = """
from zkchat.core import note
note.NOTE_SUFFIXES = (".md", ".markdown")
from zkchat.__main__ import main
main()
"""


def test_notes_with_a_second_suffix_are_found_linked_and_searched(world: World) -> None:
    world.note("Compost.markdown", "# Compost\n\nWarm and dark. See [[Soil]].\n")
    world.note("Soil.md", "# Soil\n\nFed by [[Compost]].\n")

    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", WITH_ANOTHER_SUFFIX, *arguments, "--vault", str(world.vault)]
        root = Path(__file__).parents[2]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=root, env={"HOME": str(world.home)}
        )
        return done.stdout

    assert "Compost.markdown" in run("resolve", "[[Compost]]")
    assert "[[Soil]]" in run("links", "Compost")
