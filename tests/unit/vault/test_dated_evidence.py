"""Questions that ask for a time are answered from the notes of that time, and say so."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tests.support.libraries import Located, library_of
from tests.support.world import GARDEN
from zkchat.answers.dated_evidence import find_evidence
from zkchat.core.index import NoteFilter
from zkchat.core.note import DayRange
from zkchat.index.library import Library

NOTES = {
    "Daily/2026-03-08.md": "Turned the compost heap; it was steaming. Soup with Paul.\n",
    "Daily/2026-03-09.md": "Rain all day. Read about rye.\n",
    "Daily/2026-11-15.md": "Sieved the compost for the raised bed.\n",
    "Daily/2026-11-10.md": "Long walk along the river.\n",
    "Meetings/2026-02-03 Ann.md": "# Meeting with Ann\n\nThe roof is to be paid in two parts.\n",
    "Meetings/2026-09-21 Ann.md": "# Meeting with Ann\n\nThe roof is finished.\n",
    "Meetings/2026-12-24 Ann.md": "# Meeting with Ann\n\nTo be planned.\n",
    "Meetings/2026-09-29 Bob.md": "# Meeting with Bob\n\nHandover to Ann.\n",
    "Compost.md": "---\ndate: 2024-05-01\n---\n# Compost\n\nTurn the compost heap when it is no longer warm.\n",
    "Ann.md": "---\ndate: 2024-05-01\n---\n# Ann\n\nEvery meeting with Ann is about the roof.\n",
    "Monday routine.md": "---\ndate: 2024-05-01\n---\n# Monday routine\n\nSweep the shed first.\n",
    "Diary/Secret.md": "---\ndate: 2026-11-14\nzkchat: local\n---\nThe secret picnic.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    now = datetime(2026, 11, 16, 12, tzinfo=UTC)
    with library_of(tmp_path_factory.mktemp("dated"), NOTES, lambda: now) as library:
        yield library


@pytest.mark.parametrize(
    ("question", "path", "remark"),
    [
        ("What did I write on 8 March?", "Daily/2026-03-08.md", "Notes of 2026-03-08."),
        ("What did I do with the compost yesterday?", "Daily/2026-11-15.md", "Notes of 2026-11-15."),
        ("上周写了什么？", "Daily/2026-11-15.md", "Notes of 2026-11-09 to 2026-11-15."),
        ("last meeting with Ann", "Meetings/2026-09-21 Ann.md", "The newest passage found is from 2026-09-21."),
        ("When did I last write about compost?", "Daily/2026-11-15.md", "The last time was on Sunday, 2026-11-15."),
        (
            "What did I write about the compost heap last month?",
            "Compost.md",
            "No note is dated 2026-10-01 to 2026-10-31. These are from other days.",
        ),
        (
            "What did I say about rye last week?",
            "Daily/2026-11-15.md",
            "Notes of 2026-11-09 to 2026-11-15 say nothing about “rye”; this is how they begin. From other days: "
            "[[2026-03-09]].",
        ),
        ("What comes first in my Monday routine?", "Monday routine.md", ""),
    ],
)
def test_the_note_of_that_time_answers(library: Library, question: str, path: str, remark: str) -> None:
    found = find_evidence(library, question, ())
    assert (found.evidence[0].relative_path, found.remark) == (path, remark)


def test_few_notes_of_a_time_are_shown_where_none_holds_the_topic_and_many_are_not(
    library: Library, tmp_path: Path
) -> None:
    found = find_evidence(library, "What did I knit in March?", ())
    assert [each.relative_path for each in found.evidence] == ["Daily/2026-03-09.md", "Daily/2026-03-08.md"]
    assert found.is_doubtful
    days = "Notes of 2026-03-01 to 2026-03-31"
    assert found.remark == f"{days} say nothing about “knit”; this is how they begin."
    notes = {f"Daily/2026-03-{day:02}.md": f"Walk number {day}.\n" for day in range(1, 13)}
    now = datetime(2026, 11, 16, 12, tzinfo=UTC)
    with library_of(tmp_path, notes, lambda: now) as walks:
        assert find_evidence(walks, "What did I knit in March?", ()).evidence == ()
        assert find_evidence(walks, "What did I knit on 3 March?", ()).evidence


def test_where_no_note_is_of_a_day_those_before_and_after_it_are_named(library: Library) -> None:
    found = find_evidence(library, "What did I write on 1 September?", ())
    assert (found.evidence, found.remark) == ((), "No note is dated 2026-09-01.")
    assert [each.relative_path for each in found.nearest] == ["Daily/2026-03-09.md", "Meetings/2026-09-21 Ann.md"]


def test_a_linked_note_is_not_narrowed(library: Library) -> None:
    found = find_evidence(library, "What did it say last week?", [("Compost.md", "")])
    assert (found.evidence[0].relative_path, found.remark) == ("Compost.md", "")


def test_further_notes_of_a_time_follow(library: Library) -> None:
    first = find_evidence(library, "What did I write in March?", (), limit=1)
    rest = find_evidence(library, "What did I write in March?", (), limit=1, skip=1)
    assert [each.relative_path for each in (*first.evidence, *rest.evidence)] == [
        "Daily/2026-03-09.md",
        "Daily/2026-03-08.md",
    ]
    assert (first.more, rest.more) == (1, 0)


def test_a_model_elsewhere_sees_no_local_note_of_a_day(library: Library) -> None:
    question = "What did I write on 14 November?"
    assert find_evidence(library, question, ()).evidence[0].relative_path == "Diary/Secret.md"
    guarded = find_evidence(library.guarded_for(Located(on_this_machine=False)), question, ())
    assert "Secret" not in repr(guarded)


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    notes = {str(file.relative_to(GARDEN)): file.read_text("utf-8") for file in GARDEN.rglob("*.md")}
    notes["Meetings/2026-09-21 Ann.md"] = "# Meeting with Ann\n\nThe roof is finished.\n"
    notes["Diary/2026-03-30.md"] = (
        "Rain.\n\n## 2026-05-02: Bees\n\nThe bees moved in.\n\n## 2026-03-30\n\nNo bees yet.\n"
    )
    notes["Log.md"] = "---\nzkchat: local\n---\n# Log\n\n## 2026-01-02: Wasps\n\nThe wasps moved out.\n"
    now = datetime(2026, 11, 16, 12, tzinfo=UTC)
    with library_of(tmp_path_factory.mktemp("garden"), notes, lambda: now) as library:
        yield library


def test_a_section_is_of_the_day_of_its_heading(garden: Library) -> None:
    found = find_evidence(garden, "When did I last write about heating?", ())
    first = found.evidence[0]
    assert (first.relative_path, first.heading) == ("Projects/Greenhouse decisions.md", "2026-03-05: No heating")
    assert found.remark == "The last time was on Thursday, 2026-03-05."


def test_dated_sections_of_a_local_note_stay_here(garden: Library) -> None:
    elsewhere = garden.guarded_for(Located(on_this_machine=False))
    assert [each.path for each in garden.search("on:2026-01-02", limit=3)] == ["Log.md"]
    assert elsewhere.search("on:2026-01-02", limit=3) == []
    of_day = NoteFilter(period=DayRange(date(2026, 1, 2), date(2026, 1, 3)))
    assert len(garden._ports.text.section_ranges(of_day)) == 1
    assert elsewhere._ports.text.section_ranges(of_day) == []


@pytest.mark.parametrize(
    ("question", "day"), [("last meeting with Tomás", "2026-03-19"), ("first meeting with Mara", "2026-03-05")]
)
def test_the_newest_note_that_holds_the_name_comes_first(garden: Library, question: str, day: str) -> None:
    found = find_evidence(garden, question, ())
    assert day in found.evidence[0].relative_path
    assert found.remark.endswith(f"is from {day}.")


def test_a_name_that_no_note_holds_leaves_the_newest(garden: Library) -> None:
    found = find_evidence(garden, "last meeting with Zebedee", ())
    assert found.remark == "The newest passage found is from 2026-09-21."


@pytest.mark.parametrize(
    ("question", "has_evidence", "remark"),
    [
        ("compost on:foo", True, "on:foo is not a time."),
        ("compost after:2026-06-01 before:2026-05-01", False, "No day fits after:2026-06-01 and before:2026-05-01."),
        ('the compost "turned on:foo"', True, ""),
        ("What did I write on 30 February?", False, "There is no 30 February."),
        ("What did I write about the compost heap on 30 February?", True, "There is no 30 February."),
        ("What did I write tomorrow?", False, "No note is dated 2026-11-17, which is in the future."),
        ("What did I write before March 2026?", True, "Notes from before 2026-03-01."),
    ],
)
def test_the_remark_tells_of_days_and_of_filters_that_name_none(
    library: Library, question: str, has_evidence: bool, remark: str
) -> None:
    found = find_evidence(library, question, ())
    assert (bool(found.evidence), found.remark) == (has_evidence, remark)


def test_a_doubtful_last_time_is_not_claimed(library: Library) -> None:
    found = find_evidence(library, "When did I last read about rye bread crust?", ())
    assert found.is_doubtful
    assert found.remark == "No note says exactly when. The newest passage found is from Monday, 2026-03-09."


def test_the_language_of_most_notes_is_that_of_more_than_half(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    german, french = "Der Hund schläft in der Küche und träumt.", "Le chien dort dans la cuisine et il rêve."
    with library_of(tmp_path, {"A.md": german, "B.md": french}) as library:
        assert find_evidence(library, "What are the green bicycles for?", ()).remark == ""
        (tmp_path / "vault" / "C.md").write_text(german)
        library.refresh()
        remark = find_evidence(library, "What are the green bicycles for?", ()).remark
        assert remark.startswith("Your notes are mostly in German, the question is in English")
