"""However a vault came to be what it is, its index is the one that would be built from nothing."""

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.in_memory_files import MemoryFiles
from zkchat.index.indexing import reader
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex

NAMES = ("a", "B", "sub/a", "sub/c", "202401011200 d", "deep/er/e")
PATHS = st.sampled_from([*(f"{name}.md" for name in NAMES), "p.png", "sub/p.png"])
PIECES = st.sampled_from(
    [
        "garden plants",
        "[[a]] [[sub/a|x]]",
        "[[b#One]] [[C^b1]]",
        "[[202401011200]]",
        "[[Nick]] [[The title]]",
        "![[p.png]]",
        "# One\n\nbeds",
        "## Two\n\n東京の庭",
        "# The title",
        "para ^b1",
        "#tag/sub",
        "[x](sub/c.md) [y](https://x.y)",
    ]
)
TEXTS = st.builds(
    lambda alias, pieces: ("---\naliases: [Nick]\n---\n" if alias else "") + "\n\n".join(pieces),
    st.booleans(),
    st.lists(PIECES, max_size=4),
)
CHANGES = st.one_of(
    st.tuples(st.just("write"), PATHS, TEXTS),
    st.tuples(st.just("remove"), PATHS, st.just("")),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("refresh"), st.just(""), st.just("")),
)
QUERIES = (
    "garden plants",
    "one",
    "title",
    "庭",
    "nick",
    '"garden plants"',
    "tag:tag",
    "plants -beds",
    "path:sub garden",
)


def change(files: MemoryFiles, kind: str, path: str, argument: str) -> None:
    if kind == "write":
        files.write(path, argument)
    elif path in files.notes and kind == "remove":
        files.remove(path)
    elif path in files.notes and kind == "rename" and path.endswith(".md") == argument.endswith(".md"):
        files.rename(path, argument)


def contents(library: Library, index: SqliteNoteIndex) -> dict[str, object]:
    """Everything that can be asked of an index, without the numbers it gives to things."""
    notes = sorted(index.catalog(), key=lambda row: row.path)
    return {
        "catalog": notes,
        "stamps": index.stamps(),
        "notes": [index.known(row.path) for row in notes],
        "links": [
            (stored.source, stored.link, stored.resolution) for row in notes for stored in index.links_from([row.path])
        ],
        "backlinks": [[stored.source for stored in index.links_to(row.path)] for row in notes],
        "warnings": index.warnings(),
        "counts": (index.counts().notes, index.counts().links, index.counts().sections),
        "found": [library.search(query, limit=50) for query in QUERIES],
        "documents": [library.documents(query, limit=3) for query in QUERIES],
        "complete": index.is_complete(),
        "to resolve": index.notes_to_resolve(99),
    }


@settings(deadline=None, max_examples=60)
@given(changes=st.lists(CHANGES, max_size=25), batch=st.sampled_from([1, 2, 1000]))
def test_changes_and_refreshes_in_any_order_end_in_the_index_of_a_rebuild(
    changes: list[tuple[str, str, str]], batch: int
) -> None:
    files = MemoryFiles()
    usual = reader.MAX_PART_NOTES
    reader.MAX_PART_NOTES = batch
    try:
        with TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "lived.db")) as lived:
            library = Library.over(files, lived)
            for kind, path, argument in changes:
                if kind == "refresh":
                    library.refresh()
                else:
                    change(files, kind, path, argument)
            library.refresh()
            with closing(SqliteNoteIndex(Path(folder) / "fresh.db")) as fresh:
                rebuilt = Library.over(files, fresh)
                rebuilt.refresh()
                assert contents(library, lived) == contents(rebuilt, fresh)
    finally:
        reader.MAX_PART_NOTES = usual
