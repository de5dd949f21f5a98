"""Notes of some days in order: the days that the index keeps lead to the same notes as the dates of all of them."""

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from tests.support.libraries import Located
from zkchat.core.index import IndexBatch, IndexedNote, NotesOfDays, StatedDates
from zkchat.core.note import Calendar, CommittedFile, CommittedFiles, DayRange, FileStamp, Note, is_note, newness
from zkchat.index.library import Library, LibraryOptions
from zkchat.index.listings import count_changed, notes_by_day, recent_notes
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.storage.vault_files import VaultFiles

FIRST, LAST = date(2017, 10, 10), date(2017, 10, 24)
PATHS = [f"{number}.md" for number in range(6)] + ["t/a.md", "t/b.md", "t/c.md", "p.pdf"]
BLOB = b"held" * 5
ZONES = [UTC, ZoneInfo("America/Sao_Paulo"), ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Pago_Pago")]

moments = st.datetimes(datetime(2017, 10, 10), datetime(2017, 10, 24))
texts = st.one_of(
    st.none(),
    st.dates(FIRST, LAST).map(str),
    moments.map(lambda at: at.isoformat(timespec="seconds")),
    moments.map(lambda at: f"{at.isoformat(timespec='seconds')}Z"),
)
seconds = st.one_of(moments.map(lambda at: int(at.replace(tzinfo=UTC).timestamp())), st.sampled_from([-1, 0, 1 << 40]))
paths = st.sampled_from(PATHS)


def stamp(path: str, at: int) -> FileStamp:
    return FileStamp(path, 1, at * 1_000_000_000 if at < 1 << 33 else at, True)


def note(path: str, at: int, *told: object) -> IndexedNote:
    return IndexedNote(stamp(path, at), b"", Note(path=path, title=""), dates=StatedDates._make(told))


def notes_at(path: st.SearchStrategy[str]) -> st.SearchStrategy[IndexedNote]:
    return st.builds(note, path, seconds, texts, texts, texts, st.sampled_from([None, BLOB, BLOB]))


class Named(Struct, frozen=True):
    days: dict[str, str | None]


committed = st.builds(lambda last, first: CommittedFile(BLOB, last, first, ""), seconds, seconds)
edits = st.lists(
    st.one_of(
        notes_at(paths).map(lambda each: IndexBatch(notes=[each])),
        st.builds(stamp, paths, seconds).map(lambda each: IndexBatch(restamped=[each])),
        paths.map(lambda path: IndexBatch(removed=[path])),
        st.dictionaries(paths, texts, min_size=1).map(Named),
        st.builds(
            lambda files, is_whole: CommittedFiles(head="x", files=files, is_whole=is_whole),
            st.dictionaries(paths, committed, min_size=1),
            st.booleans(),
        ),
    ),
    max_size=6,
)
days = st.one_of(
    st.just(DayRange()),
    st.builds(DayRange, st.dates(FIRST, LAST)),
    st.builds(DayRange, st.none(), st.dates(FIRST, LAST)),
    st.builds(lambda first, count: DayRange(first, first + timedelta(count)), st.dates(FIRST, LAST), st.integers(0, 9)),
)
asked = st.builds(
    NotesOfDays, days=days, by_change=st.booleans(), oldest_first=st.booleans(), most=st.none() | st.integers(1, 5)
)


def library_over(folder: Path, index: SqliteNoteIndex, zone: tzinfo) -> Library:
    calendar = Calendar(datetime(2017, 10, 20, tzinfo=zone))
    options = LibraryOptions(calendar=lambda: calendar, templates=lambda: ["t/"], local_only=["t"])
    return Library.over(VaultFiles(folder, exclude=(), max_note_bytes=9_999), index, options=options)


def one_day(day: date) -> DayRange:
    return DayRange(day, day + timedelta(1))


def expected(library: Library, wanted: NotesOfDays) -> list[str]:
    """By the dates of all notes."""
    dates = {path: each.changed if wanted.by_change else each.written for path, each in library.dates().items()}
    found = [
        ((not wanted.by_change and each.origin in {"git", "file"}), each.day, path)
        for path, each in dates.items()
        if is_note(path) and not path.startswith("t/") and each.day in wanted.days
    ]
    found.sort(key=lambda each: each[2])
    found.sort(key=lambda each: each[1], reverse=not wanted.oldest_first)
    return [path for _, _, path in sorted(found, key=lambda each: each[0])][: wanted.most]


def last_changed(library: Library, wanted: NotesOfDays) -> list[str]:
    """By the dates of all notes."""
    dates = library.dates()
    paths = [path for path in sorted(dates) if is_note(path) and dates[path].changed.day in wanted.days]
    return sorted(paths, key=lambda path: newness(dates[path]), reverse=True)[: wanted.most]


@settings(max_examples=20)
@given(st.tuples(*(notes_at(st.just(path)) for path in PATHS)), edits, st.lists(asked, min_size=3, max_size=6))
def test_the_days_that_are_kept_follow_every_edit(
    tmp_path_factory: pytest.TempPathFactory,
    at_first: tuple[IndexedNote, ...],
    changes: Sequence[IndexBatch | Named | CommittedFiles],
    questions: list[NotesOfDays],
) -> None:
    folder = tmp_path_factory.mktemp("vault")
    with closing(SqliteNoteIndex(folder / "index.db")) as index:
        index.apply(IndexBatch(notes=at_first))
        for number, change in enumerate(changes, start=1):
            if isinstance(change, Named):
                index.store_names(number, change.days)
            elif isinstance(change, CommittedFiles):
                index.store_commits(change)
            else:
                index.apply(change)
        for zone in ZONES:
            library = library_over(folder, index, zone)
            for path, each in library.dates().items():
                assert path in index.facts_of_days(NotesOfDays(days=one_day(each.written.day)))
                assert path in index.facts_of_days(NotesOfDays(days=one_day(each.changed.day), by_change=True))
            for wanted in questions:
                assert [*notes_by_day(library, wanted)] == expected(library, wanted)
        library = library_over(folder, index, UTC)
        for wanted in questions:
            found = recent_notes(library, wanted.most or 99, wanted.days)
            assert [each.path for each in found] == last_changed(library, wanted)
            assert count_changed(library, wanted.days) == len(last_changed(library, NotesOfDays(days=wanted.days)))


@pytest.mark.parametrize(("zone", "at"), [(ZONES[2], "2026-03-07T23:00:00Z"), (ZONES[3], "2026-03-09T01:00:00Z")])
def test_of_two_notes_of_one_day_for_the_user_the_first_by_path_counts_whatever_their_day_in_utc(
    tmp_path: Path, zone: tzinfo, at: str
) -> None:
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        told = {"a.md": "2026-03-08", "b.md": at}
        index.apply(IndexBatch(notes=[note(path, 0, day, None, None, None) for path, day in told.items()]))
        wanted = NotesOfDays(most=1, oldest_first=at < "2026-03-08")
        assert [*notes_by_day(library_over(tmp_path, index, zone), wanted)] == ["a.md"]


def test_templates_that_are_the_newest_do_not_take_the_place_of_notes(tmp_path: Path) -> None:
    names = [f"t/2026-03-{day:02}.md" for day in range(1, 29)] + ["2026-01-01.md", "2026-01-02.md"]
    for name in names:
        (tmp_path / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / name).write_text("text")
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        library = library_over(tmp_path / "vault", index, ZONES[0])
        library.refresh()
        assert [*notes_by_day(library, NotesOfDays(most=1))] == ["2026-01-02.md"]
        assert [*notes_by_day(library.guarded_for(Located(False)), NotesOfDays(most=1))] == ["2026-01-02.md"]


def test_of_a_limit_no_more_is_read_than_the_days_around_it(tmp_path: Path) -> None:
    rows = [
        IndexedNote(FileStamp(f"{day}.md", 1, 0, True), b"", Note(path=f"{day}.md", title=""), dates=StatedDates(day))
        for day in (str(date(2026, 1, 1) + timedelta(number)) for number in range(300))
    ]
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as index:
        index.apply(IndexBatch(notes=rows))
        wanted = NotesOfDays(days=DayRange(date(2026, 2, 1), date(2026, 9, 1)), most=5)
        assert len(index.facts_of_days(wanted)) == 5 + 2 + 2
        assert len(index.facts_of_days(NotesOfDays(days=DayRange(date(2026, 2, 1), date(2026, 2, 8))))) == 7 + 2
