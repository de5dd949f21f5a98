"""Slash commands that list places of the vault: /search /links /backlinks /tags /recent."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.command_harness import CommandHarness
from tests.support.libraries import library_of
from zkchat.core.events import Warned
from zkchat.core.message import DocumentReference
from zkchat.index.library import Library
from zkchat.notes.dates.expressions import PERIOD_FORMS
from zkchat.repl.commands.table import completions

NOTES = {
    "Body/Sleep.md": "---\ntags: [health]\n---\n# Sleep\n\nAdults need seven hours of sleep. [[Coffee]] [[Nowhere]]\n",
    "Coffee.md": "# Coffee\n\nCoffee is the enemy of sleep. #drink/hot See [[Sleep#Phases]] and [there](https://x.org).\n",
    "Tea.md": "# Tea\n\nTea is mild. #drink/hot #drink/cold\n",
}

NO_TIME = f"is not a time. Write {PERIOD_FORMS}."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vault")


@pytest.fixture(scope="module")
def library(folder: Path) -> Iterator[Library]:
    with library_of(folder, NOTES) as library:
        for age, path in enumerate(NOTES):
            os.utime(folder / "vault" / path, (1_700_000_000 - 86_400 * age,) * 2)
        library.refresh()
        yield library


@pytest.fixture
def harness(library: Library) -> CommandHarness:
    return CommandHarness(library=library)


def test_search_numbers_its_hits_and_the_numbers_can_be_shown(harness: CommandHarness) -> None:
    assert harness.typed("/search sleep tag:drink").splitlines() == [
        "1. Coffee (Coffee.md:3 · text)",
        "   Coffee is the enemy of sleep. #drink/hot See [[Sleep#Phases]] and [there](https://x.org).",
        "/show N reads entry N, /open N opens it.",
    ]
    assert "sleep" in harness.surface.marked
    assert harness.typed("/show 1").splitlines()[0] == "Coffee"


def test_the_last_numbered_list_counts(harness: CommandHarness) -> None:
    harness.exchange("Tea?", "See [[Tea]].", DocumentReference(wikilink="[[Tea]]", relative_path="Tea.md"))
    assert harness.typed("/show 1").splitlines()[0] == "Tea"
    harness.typed("/search tag:health")
    assert harness.typed("/show 1").splitlines()[0] == "Sleep"
    harness.typed("/refs")
    assert harness.typed("/show 1").splitlines()[0] == "Tea"
    harness.typed("/recent")
    assert harness.typed("/show 2").splitlines()[0] == "Coffee"
    harness.exchange("And?", "Tea.", DocumentReference(wikilink="[[Tea]]", relative_path="Tea.md"))
    assert harness.typed("/show 1").splitlines()[0] == "Tea"
    assert harness.typed("/show 2") == "There is no hit 2: there is one. /search and /sources show the numbers."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/search", 'What do you want to search for? For example: /search tag:idea path:Projects "a phrase" -without'),
        ("/search offe", "Nothing matches offe. Names that contain it: [[Coffee]]."),
        ("/search after:2026 before:2025", "No day fits after:2026 and before:2025."),
        ("/search tag:xyzzy", "Nothing matches tag:xyzzy. Try fewer or other words."),
        ("/links", "Which note? /links [[Note]], a path, or the number of a hit of /search WORDS."),
        ("/links Tea", "Tea links to nothing, and nothing links to it."),
        ("/backlinks Tea", "No other note links to Tea. To see which mention it: zkchat show 'Tea.md' --mentions"),
        ("/tags x", "No note has a tag that begins with 'x'. /tags lists all."),
        ("/recent 1999", "No note changed from 1999-01-01 to 1999-12-31."),
        (f"/recent {'9' * 5_000}", f"'{'9' * 5_000}' {NO_TIME}"),
    ],
)
def test_what_cannot_be_listed_is_answered_with_a_way_out(harness: CommandHarness, line: str, told: str) -> None:
    assert harness.typed(line) == told


def test_links_tell_where_each_leads_and_which_are_broken(harness: CommandHarness) -> None:
    assert harness.typed("/links Sleep").splitlines() == [
        "Sleep (Body/Sleep.md)",
        "",
        "Links (2), 1 broken",
        "1. line 6  [[Coffee]] → Coffee.md",
        "2. line 6  [[Nowhere]] → nothing",
        "",
        "Backlinks (1)",
        "3. Coffee.md:3",
        "   Coffee is the enemy of sleep. #drink/hot See [[Sleep#Phases]] and [there](https://x.org).",
        "/show N reads entry N, /open N opens it.",
    ]
    assert harness.typed("/show 2") == "[[Nowhere]] does not lead to a note. It leads to nothing."
    assert harness.typed("/links 1").splitlines()[:5] == [
        "Coffee",
        "",
        "Links (2), 1 broken",
        "1. line 3  [[Sleep#Phases]] → Body/Sleep.md (no such place in it)",
        "2. line 3  [there](https://x.org) → outside the vault",
    ]
    assert harness.typed("/open 2") == "[there](https://x.org) does not lead to a note. It leads to outside the vault."


def test_a_link_to_a_heading_leads_to_its_section(tmp_path: Path) -> None:
    tea = "# Tea\n\nGreen.\n\n## Black\n\nFour minutes.\n\n## White\n\nFive.\n"
    with library_of(tmp_path, {"Tea.md": tea, "Cup.md": "[[Tea#Black]]"}) as library:
        harness = CommandHarness(library=library)
        harness.typed("/links Cup")
        assert harness.typed("/show 1") == "Tea › Black\nTea.md:5"
        assert harness.surface.drawn == ["Four minutes."]


def test_a_line_that_many_notes_have_is_listed_once_and_further_hits_are_mentioned(tmp_path: Path) -> None:
    daily = {f"Daily/2026-01-{day:02}.md": "- Tea with **honey**.\n" for day in range(1, 11)}
    others = {f"Bees {number}.md": f"Of bees {number}, and of honey too.\n" for number in range(1, 8)}
    with library_of(tmp_path, daily | others) as library:
        told = CommandHarness(library=library).typed("/search honey").splitlines()
    assert sum("Tea with honey." in line for line in told) == 1
    assert any(line.endswith(".md:1 · text · and 9 more with the same text)") for line in told)
    assert told[-2].startswith("   There are more hits: ")
    assert told[-3].startswith("   Of bees")


def test_backlinks_are_those_of_the_note_that_is_shown(harness: CommandHarness) -> None:
    harness.typed("/show Sleep")
    assert harness.typed("/backlinks").splitlines()[:2] == [
        "Sleep (Body/Sleep.md): 1 link from other notes",
        "1. Coffee.md:3",
    ]
    harness.typed("/show 1")
    assert harness.surface.read[-1] == ("Coffee.md", 3)


def test_tags_are_nested_and_counted(harness: CommandHarness) -> None:
    assert harness.typed("/tags").splitlines() == [
        "2  #drink",
        "2    #drink/hot",
        "1    #drink/cold",
        "1  #health",
        "/search tag:drink lists the notes with that tag.",
    ]
    assert harness.typed("/tags #HEA").splitlines()[0] == "1  #health"


def test_recent_lists_the_notes_changed_last(harness: CommandHarness) -> None:
    told = harness.typed("/recent 2").splitlines()
    assert [line.partition("  ")[2] for line in told[:2]] == ["Sleep (Body/Sleep.md)", "Coffee (Coffee.md)"]
    assert told[0].startswith("1. 2023-11-1")
    assert harness.typed("/recent since 2023").splitlines()[:2] == told[:2]


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("/tags d", ["drink/cold", "drink/hot"]),
        ("/search sleep tag:he", ["sleep tag:health"]),
        ("/search xtag:h", []),
        ("/search tag:health sleep", []),
    ],
)
def test_tags_are_completed(harness: CommandHarness, line: str, completed: list[str]) -> None:
    assert completions(harness.context, line) == completed


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("tag:# /path\"'-\x1b[]|0129²^:.md\n"), max_size=20))
def test_no_argument_ends_in_an_error_of_ours_and_a_completion_continues_it(harness: CommandHarness, text: str) -> None:
    for command in ("recent", "search", "tags", "show", "open", "links", "backlinks"):
        harness.typed(f"/{command} {text}")
        begun = text.lstrip().removeprefix("#").casefold() if command == "tags" else text.lstrip()
        for completion in completions(harness.context, f"/{command} {text}"):
            assert completion.startswith(begun)


def test_the_numbers_of_a_timeline_are_places(tmp_path: Path) -> None:
    notes = {"Ann.md": "---\ndate: 2026-03-08\nupdated: 2026-03-10\n---\nx", "2026-03-09.md": "[[Ann]]"}
    with library_of(tmp_path, notes) as library:
        harness = CommandHarness(library=library)
        shown = harness.typed("/timeline Ann")
        harness.typed("/show 2")
    assert "1. 2026-03-08  written (date from its properties)\n" in shown
    assert "2026-03-09.md links here" in shown
    assert harness.surface.read[0][0] == "2026-03-09.md"


def test_the_summary_follows_the_brief_whose_numbers_are_places(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Home.md": "- [ ] Pay the rent\n"}) as library:
        harness = CommandHarness(library=library)
        assert harness.played("/brief 3") == [Warned(text="summary of 3 days")]
        assert "1. Pay the rent (Home.md:1)" in harness.surface.text
        assert "2. Home (today" in harness.surface.text
        harness.typed("/show 2")
    assert harness.surface.read[0][0] == "Home.md"


@pytest.mark.parametrize("days", ["0", "367", "٣"])
def test_a_number_of_days_is_wanted(days: str) -> None:
    assert "is not a number of days up to 366" in CommandHarness().typed(f"/brief {days}")


@pytest.mark.parametrize(
    ("now", "earlier"),
    [("/show Home --links", "/links Home"), ("/show --timeline Home", "/timeline Home"), ("/today 3", "/today  3")],
)
def test_a_view_of_a_note_is_shown_as_by_its_earlier_name(tmp_path: Path, now: str, earlier: str) -> None:
    with library_of(tmp_path, {"Home.md": "- [ ] Pay the rent, see [[Ann]]\n", "Ann.md": "[[Home]]\n"}) as library:
        shown = CommandHarness(library=library).typed(now)
        assert shown == CommandHarness(library=library).typed(earlier) != ""


def test_of_a_long_list_fifty_rows_are_shown(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Hub.md": "".join(f"[[N{number}]]\n" for number in range(51))}) as library:
        shown = CommandHarness(library=library).typed("/links Hub")
    assert (shown.count("[[N"), "… and 1 more" in shown) == (50, True)
