import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.in_memory_files import MemoryFiles
from zkchat.core.errors import NoteNotFound, StorageDamaged
from zkchat.core.note import Ambiguous, KnownFolders, Link, Missing, NoteWarning, Resolved
from zkchat.index.indexing.background import INDEX_WAS_DAMAGED
from zkchat.index.indexing.reader import is_source
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex


def library_of(index: SqliteNoteIndex, **notes: str) -> tuple[Library, MemoryFiles]:
    files = MemoryFiles(**notes)
    library = Library.over(files, index)
    library.refresh()
    return library, files


def link(target: str, anchor: str = "") -> Link:
    return Link(text=f"[[{target}]]", target=target, anchor=anchor)


def test_links_are_resolved_against_the_vault_as_it_is(index: SqliteNoteIndex) -> None:
    library, files = library_of(index, Naming="# Naming things", a="x")
    assert library.resolve(link("naming")) == Resolved(path="Naming.md", via="name")
    assert library.resolve(link("Naming things")) == Resolved(path="Naming.md", via="title")
    assert library.resolve(link(""), "a.md") == Resolved(path="a.md", via="self")
    files.write("sub/Naming.md", "x")
    files.write("waits.md", "[[Later^b1]]")
    files.remove("a.md")
    library.refresh()
    files.write("Later.md", "A block. ^b1")
    library.refresh()
    assert [each.resolution for each in library.links_from("waits.md")] == [
        Resolved(path="Later.md", via="name", line=1)
    ]
    assert library.resolve(link("naming")) == Ambiguous(path="Naming.md", via="name", others=("sub/Naming.md",))
    assert isinstance(library.resolve(link("a")), Missing)


def test_the_shortest_link_that_leads_to_a_note_is_given(index: SqliteNoteIndex) -> None:
    library, _ = library_of(index, **{"sub/Alone": "x", "one/Twin": "x", "two/Twin": "x"})
    assert library.link_to("sub/Alone.md") == "[[Alone]]"
    assert library.link_to("two/Twin.md") == "[[two/Twin]]"
    assert library.link_to("media/picture.png") == "[[media/picture.png]]"


def test_a_note_that_is_not_there_comes_with_the_closest_names(index: SqliteNoteIndex) -> None:
    library, _ = library_of(index, Evergreen="x", note="y")
    with pytest.raises(NoteNotFound) as missing:
        library.read("Evergren.md")
    assert missing.value.hint == "Closest: [[Evergreen]]."
    with pytest.raises(NoteNotFound) as missing:
        library.read("sub/note.md")
    assert missing.value.hint == "Closest: [[note]]."
    with pytest.raises(NoteNotFound) as missing:
        library.read("qqqq.md")
    assert missing.value.hint == ""


SECTIONS = """---
title: T
---
intro %% secret %%

# One

first

## Inner

inner %%
long secret
%% text

# Two

a block
of lines ^b1

last
"""


def test_a_section_is_what_stands_under_its_heading_without_comments_and_else_the_whole_note(
    index: SqliteNoteIndex,
) -> None:
    library, _ = library_of(index, a=SECTIONS)
    inner = "## Inner\n\ninner \n\n text\n\n"
    assert library.section("a.md", "One") == f"# One\n\nfirst\n\n{inner}"
    assert library.section("a.md", "One#Inner") == inner
    assert library.section("a.md", "^b1") == "a block\nof lines ^b1\n"
    whole = library.section("a.md")
    assert whole == library.section("a.md", "Nowhere")
    assert whole.startswith("---\ntitle: T\n---\nintro \n")
    assert "secret" not in whole
    assert whole.count("\n") == SECTIONS.count("\n")


def test_warnings_are_all_there_is_to_say_and_a_refresh_tells_only_the_news(index: SqliteNoteIndex) -> None:
    library, files = library_of(index, a="---\nx: [\n---\n", b="fine")
    files.unlisted = [NoteWarning(path="pipe.md", text="It is not a regular file.", kind="unlisted")]
    assert [warning.path for warning in library.refresh().warnings] == ["pipe.md"]
    assert library.refresh().warnings == ()
    assert [warning.path for warning in library.warnings()] == ["a.md", "pipe.md"]
    assert library.note_count() == 2


def test_a_damaged_index_is_built_again_by_the_first_who_asks(tmp_path: Path, index: SqliteNoteIndex) -> None:
    library, files = library_of(index, a="garden")
    files.write("b.md", "the garden again")
    index.close()
    _damage(tmp_path / "index.db")
    assert sorted(passage.path for passage in library.search("garden")) == ["a.md", "b.md"]
    assert library.resolve(link("b")) == Resolved(path="b.md", via="name")
    assert [library.refresh().warnings for _ in range(2)] == [(INDEX_WAS_DAMAGED,), ()]


def _damage(path: Path) -> None:
    """Leave the header and the schema, and of no table and no index its first page."""
    with closing(sqlite3.connect(path)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
        roots = [root for (root,) in database.execute("SELECT rootpage FROM sqlite_master WHERE rootpage > 1")]
    content = bytearray(path.read_bytes())
    for root in roots:
        content[(root - 1) * size : root * size] = b"\x5a" * size
    path.write_bytes(content)


def test_an_index_that_cannot_be_mended_is_an_error(tmp_path: Path) -> None:
    class Hopeless(SqliteNoteIndex):
        def folders(self) -> KnownFolders:
            raise StorageDamaged("index.db is damaged.")

    with closing(Hopeless(tmp_path / "index.db")) as index, pytest.raises(StorageDamaged):
        Library.over(MemoryFiles(), index).refresh()


def test_one_thread_asks_while_another_refreshes(index: SqliteNoteIndex) -> None:
    library, files = library_of(index, **{f"n{number}": f"garden [[n{number + 1}]]" for number in range(30)})
    failures: list[BaseException] = []

    def change() -> None:
        try:
            for number in range(15):
                files.write(f"m{number}.md", f"garden {number}")
                library.refresh()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=change)
    thread.start()
    while thread.is_alive():
        assert len(library.search("garden", limit=5)) == 5
        assert library.resolve(link("n1")) == Resolved(path="n1.md", via="name")
        library.resolve(link("not there"))
    thread.join()
    assert failures == []
    assert library.note_count() == 45


def test_a_saved_answer_is_linked_and_not_searched_until_its_mark_is_gone(index: SqliteNoteIndex) -> None:
    answer = "---\nzkchat-note: answer\n---\nHerons sleep on one leg, says [[Herons]].\n"
    library, files = library_of(index, Herons="Herons sleep standing.\n", Saved=answer)
    assert [found.path for found in library.search("herons sleep")] == ["Herons.md"]
    assert [link.source for link in library.links_to("Herons.md")] == ["Saved.md"]
    assert library.title("Saved.md") == "Saved"
    files.write("Saved.md", answer.replace("zkchat-note: answer", "mine: yes"))
    library.refresh()
    assert {found.path for found in library.search("herons sleep")} == {"Herons.md", "Saved.md"}


def test_a_saved_answer_takes_no_name_from_another_note(index: SqliteNoteIndex) -> None:
    answer = "---\nzkchat-note: answer\n---\n# Herons\n\nHerons sleep on one leg.\n"
    library, files = library_of(index, Pond="See [[Herons]].\n")
    files.write("Birds/Herons.md", "Herons sleep standing.\n")
    files.write("Herons.md", answer)
    library.refresh()
    real = Resolved(path="Birds/Herons.md", via="name")
    assert library.resolve(link("Herons")) == real
    assert [stored.resolution for stored in library.links_from("Pond.md")] == [real]
    assert library.link_to("Birds/Herons.md") == "[[Herons]]"
    assert library.link_to("Herons.md") == "[[/Herons]]"
    assert library.resolve(link("/Herons")) == Resolved(path="Herons.md", via="path")
    assert {found.path for found in library.search("herons sleep")} == {"Birds/Herons.md", "Pond.md"}
    files.write("Herons.md", answer.replace(": answer", ": myself"))
    library.refresh()
    both = Ambiguous(path="Herons.md", via="name", others=("Birds/Herons.md",))
    assert [stored.resolution for stored in library.links_from("Pond.md")] == [both]
    files.write("Herons.md", answer)
    library.refresh()
    assert [stored.resolution for stored in library.links_from("Pond.md")] == [real]


def test_a_note_is_a_source_unless_its_property_says_what_it_was_saved_of(index: SqliteNoteIndex) -> None:
    saved: list[object] = ["answer", "conversation", "Answer ", ["answer"]]
    sources: list[object] = [None, "mine", [["answer"]], {"answer": 1}, 1]
    assert [value for value in (*saved, *sources) if is_source({"zkchat-note": value})] == sources
    odd = "---\nzkchat-note: [a, {b: c}]\n---\nHerons sleep.\n"
    library, _ = library_of(index, Odd=odd, Listed="---\nzkchat-note:\n  - answer\n---\nHerons sleep.\n")
    assert [found.path for found in library.search("herons sleep")] == ["Odd.md"]
