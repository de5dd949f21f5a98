"""Dates of notes in a library: where they come from, and what filters make of them."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.git_repository import commit, git, repository
from zkchat.core.index import DateFacts, IndexBatch, IndexedNote, NoteFilter, StatedDates
from zkchat.core.note import Calendar, DayRange, FileStamp, Note, NoteDates, Section
from zkchat.index.indexing.indexer import DateSources
from zkchat.index.library import Library, LibraryOptions
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.notes.dates.day_texts import note_dates
from zkchat.storage.git import GitHistory
from zkchat.storage.vault_files import VaultFiles

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Vault:
    """A vault with a library, whose settings may change."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.zone: tzinfo = UTC
        self.formats: Sequence[str] = ()
        self.index = SqliteNoteIndex(root.parent / "index.db")
        sources = DateSources(
            name_formats=lambda: self.formats, history=GitHistory(root, {"PATH": os.environ["PATH"]}, [root.parent])
        )
        options = LibraryOptions(calendar=lambda: Calendar(NOW.astimezone(self.zone)), dates=sources)
        files = VaultFiles(root, exclude=(), max_note_bytes=100_000)
        self.library = Library.over(files, self.index, options=options)

    def write(self, at: str = "", **notes: str) -> None:
        for name, text in notes.items():
            (self.root / f"{name}.md").write_text(text)
            self.touch(name, at or "2026-11-01T00:00Z")

    def touch(self, name: str, at: str) -> None:
        seconds = datetime.fromisoformat(at).timestamp()
        os.utime(self.root / f"{name}.md", (seconds, seconds))

    def refresh(self) -> int:
        """How many notes were read."""
        return self.library.refresh().changed

    def written(self) -> dict[str, str]:
        return {
            path.removesuffix(".md"): f"{each.written} {each.written.origin}" for path, each in self.dates().items()
        }

    def changed(self) -> dict[str, str]:
        return {
            path.removesuffix(".md"): f"{each.changed} {each.changed.origin}" for path, each in self.dates().items()
        }

    def dates(self) -> Mapping[str, NoteDates]:
        return self.library.dates()

    def between(self, first: date | None, end: date | None) -> set[str]:
        found = self.library.documents("", limit=99, period=DayRange(first, end))
        return {passage.path.removesuffix(".md") for passage in found}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    (tmp_path / "vault").mkdir()
    vault = Vault(tmp_path / "vault")
    with closing(vault.index), closing(vault.library):
        yield vault


def test_names_properties_and_files_tell_when_a_note_was_written_and_changed(vault: Vault) -> None:
    vault.write(
        "2026-05-05T10:00Z",
        **{
            "2026-03-08": "---\ndate: 2026-03-09\nupdated: 2026-04-01 12:00\n---\n",
            "stated": "---\ncreated: 8.3.2026\n---\n",
            "changed": "---\nlast modified: 2026-03-08T23:30:00Z\n---\n",
            "plain": "text",
        },
    )
    vault.refresh()
    assert vault.written() == {
        "2026-03-08": "2026-03-08 name",
        "stated": "2026-03-08 frontmatter",
        "changed": "2026-03-08 23:30 frontmatter",
        "plain": "2026-05-05 10:00 file",
    }
    assert vault.changed() == {
        "2026-03-08": "2026-04-01 12:00 frontmatter",
        "stated": "2026-05-05 10:00 file",
        "changed": "2026-03-08 23:30 frontmatter",
        "plain": "2026-05-05 10:00 file",
    }


def test_another_time_zone_needs_no_reading(vault: Vault) -> None:
    vault.write("2026-03-08T23:30Z", plain="text", utc="---\ndate: 2026-03-08T23:30:00Z\n---\n", **{"2026-03-08": "x"})
    vault.refresh()
    eighth = (date(2026, 3, 8), date(2026, 3, 9))
    assert vault.between(*eighth) == {"plain", "utc", "2026-03-08"}
    vault.zone = ZoneInfo("Asia/Tokyo")
    assert vault.refresh() == 0
    assert vault.between(*eighth) == {"2026-03-08"}
    assert vault.written()["plain"] == "2026-03-09 08:30 file"


def test_another_format_of_daily_notes_dates_all_names_anew_and_reads_none(vault: Vault) -> None:
    vault.write(**{"03-08-2026": "x", "note": "y"})
    vault.refresh()
    assert vault.written()["03-08-2026"] == "2026-08-03 name"
    vault.formats = ["MM-DD-YYYY"]
    before = vault.library.generation()
    assert vault.refresh() == 0
    assert vault.written()["03-08-2026"] == "2026-03-08 name"
    assert vault.library.generation() == before + 1
    assert vault.refresh() == 0
    assert vault.library.generation() == before + 1


@needs_git
@pytest.mark.outside
def test_git_tells_when_a_note_was_written_and_changed_as_long_as_it_holds_what_was_committed(vault: Vault) -> None:
    repository(vault.root)
    commit(vault.root, "2026-01-01T12:00Z", a="one", b="two", c="\ufeffmarked")
    commit(vault.root, "2026-02-02T12:00Z", b="changed", d="later")
    vault.write("2026-06-06T12:00Z", a="not committed", new="neither")
    vault.touch("d", "2026-10-10T12:00Z")
    vault.refresh()
    written = {
        "a": "2026-01-01 12:00 git",
        "b": "2026-01-01 12:00 git",
        "c": "2026-01-01 12:00 git",
        "d": "2026-02-02 12:00 git",
        "new": "2026-06-06 12:00 file",
    }
    assert vault.written() == written
    changed = {
        "a": "2026-06-06 12:00 file",
        "b": "2026-02-02 12:00 git",
        "c": "2026-01-01 12:00 git",
        "d": "2026-02-02 12:00 git",
        "new": "2026-06-06 12:00 file",
    }
    assert vault.changed() == changed
    assert vault.between(date(2026, 1, 1), date(2026, 1, 2)) == {"a", "b", "c"}
    git(vault.root, "mv", "b.md", "moved.md")
    commit(vault.root, "2026-07-07T12:00Z")
    assert vault.refresh() == 1
    moved = {"moved": written.pop("b"), "new": "2026-07-07 12:00 git"}
    assert vault.written() == written | moved
    assert vault.changed()["a"] == "2026-07-07 12:00 git"
    vault.index.close()
    (vault.root.parent / "index.db").unlink()
    anew = Vault(vault.root)
    with closing(anew.index), closing(anew.library):
        anew.refresh()
        assert anew.written() == written | moved
        git(vault.root, "rm", "-q", "--cached", "d.md")
        git(vault.root, "commit", "-q", "-m", "untrack", at="2026-09-09T12:00Z")
        anew.refresh()
        assert anew.written()["d"] == "2026-10-10 12:00 file"
        git(vault.root, "reset", "-q", "--hard", "HEAD~2")
        anew.refresh()
        assert anew.changed()["a"] == "2026-01-01 12:00 git"
        (vault.root / ".git").rename(vault.root / ".gone")
        anew.refresh()
        assert {each.rpartition(" ")[2] for each in anew.changed().values()} == {"file"}


def test_a_date_that_nobody_stored_is_damage_that_is_repaired(vault: Vault) -> None:
    vault.write("2026-05-05T10:00Z", plain="text")
    vault.refresh()
    for value in ("'soon'", "x'00'", "5"):
        with vault.index._writing() as database:
            database.execute(f"UPDATE notes SET created = {value}")
        assert vault.written() == {"plain": "2026-05-05 10:00 file"}


ZONES = [UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("America/Sao_Paulo")]
stated = st.one_of(
    st.none(),
    st.dates(date(2017, 10, 1), date(2018, 3, 1)).map(str),
    st.datetimes(datetime(2017, 10, 1), datetime(2018, 3, 1)).map(lambda at: at.isoformat(timespec="seconds")),
    st.datetimes(datetime(2017, 10, 1), datetime(2018, 3, 1)).map(lambda at: f"{at.isoformat(timespec='seconds')}Z"),
)
seconds = st.integers(1_506_816_000, 1_519_862_400)
facts = st.builds(
    DateFacts,
    stated,
    stated,
    stated,
    st.none() | seconds,
    st.none() | seconds,
    seconds.map(lambda each: each * 1_000_000_000),
).filter(lambda each: each.committed is None or each.first_committed is not None)
"""What has a last commit has a first one."""


headings = st.lists(st.none() | st.dates(date(2017, 10, 1), date(2018, 3, 1)), max_size=4)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(facts, headings), min_size=1, max_size=8),
    st.dates(date(2017, 10, 1), date(2018, 3, 1)),
    st.integers(0, 60),
)
def test_a_filter_lets_through_what_the_dates_say(
    tmp_path_factory: pytest.TempPathFactory, notes: list[tuple[DateFacts, list[date | None]]], first: date, days: int
) -> None:
    """In zones whose clocks change, and where that leaves a day without a midnight."""
    section = Section(heading_path=(), text="x", start=0, end=1, first_line=1, last_line=1)
    with closing(SqliteNoteIndex(tmp_path_factory.mktemp("index") / "index.db")) as index:
        rows = [
            IndexedNote(
                FileStamp(f"{number}.md", 1, each.modified_ns, True), b"", Note(path=f"{number}.md", title=""),
                [section] * len(told), dates=StatedDates(each.named, each.created, each.updated),
                section_days={at: day.isoformat() for at, day in enumerate(told) if day},
            )
            for number, (each, told) in enumerate(notes)
        ]  # fmt: skip
        index.apply(IndexBatch(notes=rows))
        with index._writing() as database:
            database.executemany(
                "UPDATE notes SET committed = ?, first_committed = ? WHERE path = ?",
                [(each.committed, each.first_committed, f"{at}.md") for at, (each, _) in enumerate(notes)],
            )
        for zone in ZONES:
            for period in (DayRange(first), DayRange(None, first), DayRange(first, first + timedelta(days=days))):
                written = [day or note_dates(each, zone).written.day for each, told in notes for day in told]
                expected = {number for number, day in enumerate(written, 1) if day in period}
                found = index.section_ranges(NoteFilter(period=period, zone=zone))
                assert [*sorted(number for start, count in found for number in range(start, start + count))] == [
                    *sorted(expected)
                ]
                ordered = index.section_ranges(NoteFilter(period=period, zone=zone), newest_first=True)
                assert sorted(ordered) == sorted(found)
            changed = [note_dates(each, zone).changed.day for each, told in notes if told]
            ordered = [row for row in index.section_ranges(NoteFilter(zone=zone), newest_first=True) if row[1]]
            assert [changed[sorted(ordered).index(row)] for row in ordered] == sorted(changed, reverse=True)
