import sqlite3
from array import array
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import accumulate
from pathlib import Path

import pytest

from zkchat.core.errors import StorageDamaged, StorageError
from zkchat.core.index import CatalogRow, IndexBatch, IndexedNote, KnownNote, NoteFilter, Segment
from zkchat.core.note import (
    Ambiguous,
    Block,
    DayRange,
    External,
    FileStamp,
    Heading,
    KnownFolder,
    Link,
    Missing,
    Note,
    NoteWarning,
    Resolution,
    Resolved,
    Section,
)
from zkchat.index.note_index import SqliteNoteIndex


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "index.db"


@pytest.fixture
def index(path: Path) -> Iterator[SqliteNoteIndex]:
    with closing(SqliteNoteIndex(path)) as opened:
        yield opened


LINK = Link(text="[[b#H|x]]", target="b", anchor="H", display="x", start=3, end=12, line=2, in_frontmatter="up")
NOTE = Note(
    path="a.md",
    title="Title",
    aliases=("One", "Zwei, drei"),
    tags=("Plant/Herb", "plant/herb"),
    headings=(Heading(text="H", level=2, line=3, start=20),),
    blocks=(Block(id="b1", line=4, first_line=3, last_line=4),),
    links=(LINK,),
    warnings=(NoteWarning(path="a.md", text="Odd.", kind="excess"),),
)


def stored(note: Note, sections: int = 0, **stamp: int) -> IndexedNote:
    return IndexedNote(
        stamp=FileStamp(path=note.path, size=stamp.get("size", 1), modified_ns=stamp.get("modified_ns", 1)),
        digest=b"digest",
        note=note,
        sections=[section(f"text {number} of {note.path}") for number in range(sections)],
        link_keys=frozenset(link.target for link in note.links),
    )


def section(text: str) -> Section:
    return Section(heading_path=("A", "B"), text=text, start=0, end=9, first_line=1, last_line=2)


def segment(*terms: str, slots: int = 1) -> Segment:
    of_sections, of_names = ([f"{term} {kind}".encode() for term in terms] for kind in ("sections", "names"))
    return Segment(
        slots=slots,
        sections=b"s" * slots,
        lengths=b"l",
        names=b"n",
        terms=terms,
        section_postings=b"".join(of_sections),
        section_ends=[*accumulate(map(len, of_sections))],
        name_postings=b"".join(of_names),
        name_ends=[*accumulate(map(len, of_names))],
    )


def counts_of(index: SqliteNoteIndex) -> tuple[int, int, int]:
    counts = index.counts()
    return counts.notes, counts.links, counts.sections


def test_a_note_comes_back_as_it_was_stored(index: SqliteNoteIndex) -> None:
    index.apply(IndexBatch(notes=[stored(NOTE, sections=2, size=7, modified_ns=8)], added_files=["x.png"]))
    assert index.known("a.md") == KnownNote(
        digest=b"digest", title="Title", aliases=NOTE.aliases, headings=NOTE.headings, blocks=NOTE.blocks
    )
    assert index.known("b.md") is None
    assert index.stamps() == {"a.md": (7, 8, True)}
    assert index.files_in("").attachments == {"x.png"}
    assert index.catalog() == [CatalogRow(path="a.md", title="Title", aliases=NOTE.aliases), CatalogRow(path="x.png")]
    assert index.warnings() == [NoteWarning(path="a.md", text="Odd.", kind="excess")]
    assert counts_of(index) == (1, 1, 2)
    (link,) = index.links_from(["a.md"])
    assert (link.source, link.link, link.resolution) == ("a.md", LINK, None)


def test_numbers_of_sections_are_never_given_twice(path: Path, index: SqliteNoteIndex) -> None:
    batch = IndexBatch(notes=[stored(NOTE, sections=3)], segment=segment("a", slots=3))
    index.apply(batch)
    index.apply(IndexBatch(removed=["a.md"]))
    with closing(SqliteNoteIndex(path)) as other:
        other.apply(batch)
    assert [array("I", head.sections).tolist() for head in index.segment_heads()] == [[1, 2, 3], [4, 5, 6]]
    assert [found.id for found in index.sections(range(9))] == [4, 5, 6]


RESOLUTIONS: list[Resolution] = [
    Resolved(path="b.md", via="alias", anchor_found=False, line=None),
    Resolved(path="b.md", via="name", line=7),
    Ambiguous(path="b.md", via="name", others=("c/b.md", "d/b.md"), line=2),
    Ambiguous(path="b.md", via="alias", others=("long/b.md", "long/c.md", "c/b.md", "d/b.md"), line=2),
    Missing(target="b"),
    External(address="b"),
]


def test_what_a_link_leads_to_comes_back(index: SqliteNoteIndex) -> None:
    generation = index.apply(IndexBatch(notes=[stored(NOTE)]))
    (link,) = index.links_from(["a.md"])
    assert index.notes_to_resolve(9) == ["a.md"]
    for resolution in RESOLUTIONS:
        assert index.store_resolutions(generation, ["a.md"], [(link.id, resolution)])
        assert index.links_from(["a.md"])[0].resolution == resolution
        leads_to_b = isinstance(resolution, Resolved | Ambiguous)
        assert [each.source for each in index.links_to("b.md")] == (["a.md"] if leads_to_b else [])
    assert index.notes_to_resolve(9) == []


def test_resolutions_and_listings_of_an_earlier_generation_are_refused(index: SqliteNoteIndex) -> None:
    generation, seen = index.apply(IndexBatch(notes=[stored(NOTE)])), {"": KnownFolder(b"seen", 1)}
    assert index.store_folders(generation, seen, ())
    assert index.folders()[::2] == (generation, seen)
    index.apply(IndexBatch(added_files=["b.png"]))
    assert not index.store_resolutions(generation, ["a.md"], [])
    assert index.notes_to_resolve(9) == ["a.md"]
    assert not index.store_folders(generation, seen, ())
    assert index.folders()[::2] == (generation + 1, {"": KnownFolder(b"", 0)})


def test_the_files_of_a_folder_are_those_of_no_other(index: SqliteNoteIndex) -> None:
    paths = ["a.md", "b/a.md", "b/c/a.md", "b/c/z.md", "b/d.md", "b0.md", "b c/e.md", "z.md"]
    index.apply(IndexBatch(notes=[stored(Note(path=path, title="x")) for path in paths], added_files=["b/p.png", "q"]))
    assert [*index.files_in("").stamps] == ["a.md", "b0.md", "z.md"]
    assert [*index.files_in("b/").stamps] == ["b/a.md", "b/d.md"]
    assert [*index.files_in("b/c/").stamps] == ["b/c/a.md", "b/c/z.md"]
    assert index.files_in("b/").attachments == {"b/p.png"}
    assert index.files_in("").attachments == {"q"}


def test_counts_follow_what_is_added_and_removed(index: SqliteNoteIndex) -> None:
    notes = [stored(NOTE, sections=2), stored(Note(path="b.canvas", title="b"))]
    index.apply(IndexBatch(notes=notes, added_files=["p.png"], segment=segment("text", "more")))
    index.apply(IndexBatch(notes=[stored(NOTE, sections=1)], added_files=["p.png"], segment=segment("text")))
    assert (*counts_of(index), index.counts().attachments) == (1, len(NOTE.links), 1, 2)
    index.apply(IndexBatch(removed=["a.md", "b.canvas", "none.md"], removed_files=["p.png", "none.png"]))
    assert (*counts_of(index), index.counts().attachments) == (0, 0, 0, 0)


def test_notes_pass_a_filter_the_last_changed_first(index: SqliteNoteIndex) -> None:
    def note(path: str, *tags: str) -> Note:
        return Note(path=path, title=path, tags=tags)

    notes = [
        stored(note("a.md", "Plant"), 1, modified_ns=1),
        stored(note("Sub/b.md", "plant/herb", "green"), 3, modified_ns=10**18),
        stored(note("c.md", "planet"), 1, modified_ns=5),
    ]
    index.apply(IndexBatch(notes=notes))
    ranges = {
        NoteFilter(): [(2, 3), (5, 1), (1, 1)],
        NoteFilter(tags=("PLANT",)): [(2, 3), (1, 1)],
        NoteFilter(tags=("plant", "green")): [(2, 3)],
        NoteFilter(tags=("plan",)): [],
        NoteFilter(paths=("SUB/", "b")): [(2, 3)],
        NoteFilter(period=DayRange(first=date(2001, 9, 9)), zone=UTC): [(2, 3)],
        NoteFilter(period=DayRange(first=date(2001, 9, 10)), zone=UTC): [],
        NoteFilter(period=DayRange(end=date(2001, 9, 9)), zone=UTC): [(5, 1), (1, 1)],
        NoteFilter(within=frozenset({"c.md", "x.md"})): [(5, 1)],
        NoteFilter(within=frozenset()): [],
    }
    assert {wanted: index.section_ranges(wanted, newest_first=True) for wanted in ranges} == ranges


@pytest.mark.parametrize("hours", [-12, 14])
def test_notes_at_the_edges_of_a_period_are_those_of_its_days_in_the_time_zone(
    index: SqliteNoteIndex, hours: int
) -> None:
    zone = timezone(timedelta(hours=hours))
    times = [datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=number) for number in range(170)]
    notes = [Note(path=f"{number}.md", title="x") for number in range(len(times))]
    stamps = [int(at.timestamp()) * 1_000_000_000 for at in times]
    index.apply(IndexBatch(notes=[stored(note, 1, modified_ns=at) for note, at in zip(notes, stamps, strict=True)]))
    period = DayRange(date(2026, 3, 3), date(2026, 3, 7))
    expected = [(number, 1) for number, at in enumerate(times, 1) if at.astimezone(zone).date() in period]
    assert sorted(index.section_ranges(NoteFilter(period=period, zone=zone))) == expected


def test_a_batch_takes_effect_whole_or_not_at_all(index: SqliteNoteIndex) -> None:
    generation = index.generation()
    broken = segment(*["a"] * 100)
    with pytest.raises(StorageError):
        index.apply(IndexBatch(notes=[stored(NOTE)], added_files=["x.png"], segment=broken))
    assert counts_of(index) == (0, 0, 0)
    assert index.files_in("").attachments == set()
    assert index.generation() == generation


@pytest.mark.parametrize("content", [b"SQLite format 3\0" + b"\xff" * 5000, b"x"])
def test_a_file_that_is_no_index_is_begun_anew(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with closing(SqliteNoteIndex(path)) as index:
        assert counts_of(index) == (0, 0, 0)
        index.apply(IndexBatch(notes=[stored(NOTE)]))
        assert index.counts().notes == 1


@pytest.mark.parametrize(
    ("statement", "ask"),
    [
        ("UPDATE notes SET path = x'00'", SqliteNoteIndex.stamps),
        ("UPDATE notes SET title = x'00'", SqliteNoteIndex.catalog),
        ("UPDATE notes SET title = x'00'", lambda index: index.known("a.md")),
        ("UPDATE notes SET aliases = '[7]'", SqliteNoteIndex.catalog),
        ("UPDATE links SET target = x'00'", lambda index: index.links_from(["a.md"])),
        ("INSERT INTO attachments VALUES (x'00')", SqliteNoteIndex.catalog),
        ("UPDATE folders SET digest = 'old'", SqliteNoteIndex.folders),
        ("UPDATE notes SET first_section = x'00'", lambda index: index.section_ranges(NoteFilter())),
        ("UPDATE segments SET lengths = 7", SqliteNoteIndex.segment_heads),
        ("UPDATE sections SET first_line = 'one'", lambda index: index.sections([1])),
        ("UPDATE state SET value = 'new'", SqliteNoteIndex.generation),
    ],
)
def test_a_value_of_another_kind_in_a_column_is_damage(
    path: Path, index: SqliteNoteIndex, statement: str, ask: Callable[[SqliteNoteIndex], object]
) -> None:
    index.apply(IndexBatch(notes=[stored(NOTE, sections=1)], added_files=["p.png"], segment=segment("text")))
    assert ask(index)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)
    with pytest.raises(StorageDamaged):
        ask(index)


def test_readers_do_not_wait_for_a_writer(path: Path, index: SqliteNoteIndex) -> None:
    index.apply(IndexBatch(notes=[stored(NOTE)]))
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM notes")
        assert index.counts().notes == 1
        writer.execute("ROLLBACK")
