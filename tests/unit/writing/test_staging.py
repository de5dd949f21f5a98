import pytest

from tests.support.changeable_files import FilesInMemory
from zkchat.core.changes import ChangeSet, FileMove, FileWrite, direct_moves
from zkchat.core.errors import EditRefused, NoteNotFound, VaultError
from zkchat.writing.staging import StagedChanges, rebase_content
from zkchat.writing.undo import reversal


@pytest.fixture
def files() -> FilesInMemory:
    return FilesInMemory({"A.md": "a", "Folder/B.md": "b", "Folder/Deep/C.md": "c"})


@pytest.fixture
def staged(files: FilesInMemory) -> StagedChanges:
    return StagedChanges(files)


def tree(files: FilesInMemory, staged: StagedChanges) -> dict[str, str]:
    files.apply(staged.change_set())
    return {path: content.decode() for path, content in files.files.items()}


def test_writes_of_one_file_are_one_and_none_where_it_gets_its_own_text_back(staged: StagedChanges) -> None:
    staged.write("A.md", "one", made_from="a", title="One")
    staged.write("A.md", "two", made_from="a", title="Two")
    changes = staged.change_set()
    assert changes.writes == (FileWrite(path="A.md", before=b"a", after=b"two"),)
    assert changes.title == "One, and 1 more"
    staged.write("A.md", "a", made_from="a", title="Three")
    assert not staged


def test_what_is_no_text_is_neither_read_nor_written_as_such(files: FilesInMemory, staged: StagedChanges) -> None:
    files.put("Latin.md", b"caf\xe9")
    with pytest.raises(EditRefused):
        staged.read("Latin.md")
    assert staged.read_bytes("Latin.md") == b"caf\xe9"
    for text in ("half \ud800", "nul \0"):
        with pytest.raises(EditRefused):
            staged.create("X.md", text, title="Create")
        with pytest.raises(EditRefused):
            staged.write("A.md", text, made_from="a", title="Write")
    assert not staged


def test_nothing_is_created_or_moved_over_a_file_or_a_folder_nor_below_a_file(
    files: FilesInMemory, staged: StagedChanges
) -> None:
    files.put("a.md", b"another")
    for source, target in (
        ("Folder", "Folder/Sub"), ("Folder", "folder/Sub"), ("Folder", "A.md"), ("Folder", "A.md/B"), ("A.md", "a.md")
    ):  # fmt: skip
        with pytest.raises(VaultError):
            staged.move(source, target, title="Move")
    assert not staged
    staged.create("New/X.md", "x", title="Create")
    for path in ("A.md", "Folder", "New", "New/X.md", "A.md/B.md", "New/X.md/Y.md"):
        with pytest.raises(VaultError):
            staged.create(path, "x", title="Create")


def test_the_trash_gets_a_file_as_it_is_on_disk(files: FilesInMemory, staged: StagedChanges) -> None:
    files.put(".trash/A.md", b"older")
    staged.write("A.md", "edited", made_from="a", title="Write")
    staged.trash("A.md", title="Trash")
    assert tree(files, staged).items() >= {".trash/A.md": "older", ".trash/A 2.md": "a"}.items()
    with pytest.raises(NoteNotFound):
        staged.trash("A.md", title="Trash")


def test_a_file_that_changes_after_it_was_read_is_compared_with_what_was_read(
    files: FilesInMemory, staged: StagedChanges
) -> None:
    text = staged.read("A.md") or ""
    files.put("A.md", b"theirs")
    staged.write("A.md", text + " and more", made_from=text, title="Write")
    assert staged.change_set().writes == (FileWrite(path="A.md", before=b"a", after=b"a and more"),)
    with pytest.raises(VaultError):
        files.apply(staged.change_set())
    assert files.files["A.md"] == b"theirs"


BASE = "# Note\n\none\ntwo\nthree\n\nlast\n"


@pytest.mark.parametrize(
    ("before", "after", "found", "rebased"),
    [
        (BASE, BASE.replace("two", "2"), BASE.replace("last", "end"), BASE.replace("two", "2").replace("last", "end")),
        (BASE, BASE.replace("two", "2"), "New first line\n" + BASE, "New first line\n" + BASE.replace("two", "2")),
        (BASE, BASE + "ours\n", BASE + "theirs\n", BASE + "theirs\nours\n"),
        (BASE, BASE + "ours\n", BASE.replace("one", "1"), BASE.replace("one", "1") + "ours\n"),
        ("a\r\nb\r\nc\r\nd\r\n", "a\r\nX\r\nc\r\nd\r\n", "a\r\nb\r\nc\r\nd\r\ne\r\n", "a\r\nX\r\nc\r\nd\r\ne\r\n"),
        (BASE, BASE.replace("two", "2"), BASE.replace("two", "2"), BASE.replace("two", "2")),
        (BASE, BASE.replace("two\n", ""), BASE + "more\n", BASE.replace("two\n", "") + "more\n"),
        # What is touched or not unique clashes.
        (BASE, BASE.replace("two", "2"), BASE.replace("two", "II"), None),
        (BASE, BASE.replace("two", "2"), BASE.replace("one", "1"), None),
        (BASE, BASE.replace("two", "2"), BASE + BASE, None),
        (BASE, BASE.replace("two", "2"), "", None),
        (BASE, BASE + "ours\n", BASE.replace("last\n", "last"), None),
        ("x\nx\n", "x\ny\nx\n", "x\nx\nx\n", None),
    ],
)
def test_only_a_passage_that_is_untouched_and_unique_is_changed_in_the_present_text(
    before: str, after: str, found: str, rebased: str | None
) -> None:
    expected = None if rebased is None else rebased.encode()
    assert rebase_content(before.encode(), after.encode(), found.encode()) == expected


def test_files_that_are_gone_new_or_no_text_clash() -> None:
    assert rebase_content(b"a\n", b"b\n", None) is None
    assert rebase_content(None, b"b\n", b"a\n") is None
    assert rebase_content(b"a\n", b"b\n", b"\xff\n") is None


def test_the_undo_of_moves_one_after_the_other_is_shown_as_one() -> None:
    moves = (FileMove(source="A.md", target="B.md"), FileMove(source="B.md", target="C.md"))
    undone = reversal(ChangeSet(title="x", moves=moves))
    assert [*direct_moves(undone)] == [FileMove(source="C.md", target="A.md")]
