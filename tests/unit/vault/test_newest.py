"""The newest counts: which passage comes first, and which is said to be outdated."""

import os
from datetime import date, time
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support import evidence
from tests.support.libraries import library_of
from zkchat.answers.evidence import find_undated_evidence as find_evidence
from zkchat.answers.evidence_by_date import DatedPassage, are_worth_showing, chronology, date_of, is_newer
from zkchat.core.note import DateOrigin, NoteDate, NoteDates

RENT = "How high is the rent of the workshop?"
OLD = "The rent of the workshop is 640 euros a month."
NEW = "The rent of the workshop is now 710 euros a month."


def dated(day: str, origin: DateOrigin = "frontmatter") -> NoteDate:
    return NoteDate(date.fromisoformat(day), None, origin)


def passage(
    text: str, day: str = "", score: float = 1.0, *, linked: bool = False, origin: DateOrigin = "name"
) -> DatedPassage:
    said = evidence.passage(text, note=text, linked=linked, score=score)
    return DatedPassage(replace(said, title="Workshop"), dated(day, origin) if day else None)


def test_a_newer_passage_that_says_otherwise_comes_first() -> None:
    found = chronology(RENT, [passage(OLD, "2024-05-02"), passage(NEW, "2026-02-03", 0.8)])
    assert (found.order, found.outdated) == ((1, 0), {0: 1})
    found = chronology(RENT, [passage(NEW, "2026-02-03"), passage(OLD, "2024-05-02")])
    assert (found.order, found.outdated) == ((0, 1), {1: 0})


def test_of_several_the_newest_comes_first_and_outdates_all() -> None:
    middle = "The rent of the workshop is 680 euros a month."
    texts = [(OLD, "2024-05-02"), (NEW, "2026-02-03"), (middle, "2025-01-01"), ("The workshop is dry.", "2026-03-01")]
    found = chronology(RENT, [passage(text, day) for text, day in texts])
    assert (found.order, found.outdated) == ((1, 2, 0, 3), {0: 1, 2: 1})


@pytest.mark.parametrize(
    "second",
    [
        passage(NEW, "2026-02-03", 0.3),  # far behind
        passage(NEW, "2024-05-02"),  # of the same day
        passage(NEW),  # of no date
        passage(NEW, "2026-02-03", origin="file"),  # a copy of the file would change it
        passage(NEW, "2026-02-03", linked=True, score=0.9),
        passage("The rent of the garage is 80 euros a month.", "2026-02-03"),
        passage("We talked about the rent of the workshop.", "2026-02-03"),
        passage("The rent of the workshop is still 640 euros a month.", "2026-02-03"),
    ],
)
def test_nothing_else_comes_first(second: DatedPassage) -> None:
    assert chronology(RENT, [passage(OLD, "2024-05-02"), second]).order == (0, 1)


def test_dates_are_compared_as_far_as_they_tell() -> None:
    assert is_newer(dated("2026-01-02"), dated("2026-01-01", "git"))
    assert not is_newer(dated("2026-01-02", "file"), dated("2026-01-01", "file"))
    assert is_newer(dated("2026-01-03", "file"), dated("2026-01-01", "file"))
    assert not is_newer(dated("2026-01-03"), dated("2020-01-01", "file"))
    assert are_worth_showing([dated("2026-01-03"), dated("2026-01-01", "name"), None])
    assert not are_worth_showing([dated("2026-01-03"), dated("2026-01-03", "name"), dated("2020-01-01", "file")])


def test_the_date_of_what_a_note_says() -> None:
    file = NoteDate(date(2026, 5, 5), time(10), "file")
    written = dated("2024-01-01")
    assert date_of(NoteDates(dated("2024-01-01", "name"), file), ()) == dated("2024-01-01", "name")
    assert date_of(NoteDates(written, file), ()) == written
    assert date_of(NoteDates(written, dated("2025-01-01")), ()) == dated("2025-01-01")
    assert date_of(NoteDates(file, file), ()) == file
    assert date_of(NoteDates(written, dated("2026-01-01", "git"), dated("2025-01-01")), ()) == dated("2025-01-01")
    assert date_of(NoteDates(written, file), ("Log 2025-06-01",)) == dated("2025-06-01", "name")
    assert date_of(NoteDates(written, file), ("Log 2025-06-31",)) == written
    assert date_of(None, ()) is None


def test_evidence_has_the_newest_first_with_dates_and_links(tmp_path: Path) -> None:
    log = f"# Lease\n\n## 2024-05-02\n\n{OLD}\n\n## 2026-02-03\n\n{NEW}\n"
    with library_of(tmp_path, {"Lease.md": log, "Garden.md": "# Garden\n\nBeans and peas.\n"}) as library:
        first, second = find_evidence(library, RENT, ()).evidence
        assert (first.text, str(first.date), first.outdates) == (NEW, "2026-02-03", ("[[Lease]]",))
        assert (second.text, str(second.date), second.outdated_by) == (OLD, "2024-05-02", "[[Lease]]")
        assert not any(each.date for each in find_evidence(library, "What is in the garden?", ()).evidence)


def test_when_files_changed_is_shown_where_one_contradicts_another(tmp_path: Path) -> None:
    talk = "We talked about the rent of the workshop."
    with library_of(tmp_path, {"Old.md": OLD, "New.md": NEW, "Talk.md": talk}) as library:
        os.utime(tmp_path / "vault/Old.md", (1_700_000_000, 1_700_000_000))
        library.refresh()
        found = find_evidence(library, RENT, ()).evidence
    assert {each.text: bool(each.date) for each in found} == {NEW: True, OLD: True, talk: False}
