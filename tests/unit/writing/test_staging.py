import pytest

from tests.support.changeable_files import FilesInMemory
from zkchat.core.changes import FileWrite
from zkchat.core.errors import EditRefused, NoteNotFound, VaultError
from zkchat.writing.staging import StagedChanges


@pytest.fixture
def files() -> FilesInMemory:
    return FilesInMemory({"A.md": "a", "Folder/B.md": "b", "Folder/Deep/C.md": "c"})


@pytest.fixture
def staged(files: FilesInMemory) -> StagedChanges:
    return StagedChanges(files)


def tree(files: FilesInMemory, staged: StagedChanges) -> dict[str, str]:
    files.apply(staged.change_set())
    return {path: content.decode() for path, content in files.files.items()}


def test_writes_of_one_file_are_one(staged: StagedChanges) -> None:
    staged.write("A.md", "one", made_from="a", title="One")
    staged.write("A.md", "two", made_from="a", title="Two")
    changes = staged.change_set()
    assert changes.writes == (FileWrite(path="A.md", before=b"a", after=b"two"),)
    assert changes.title == "One, and 1 more"


def test_a_file_that_gets_its_own_text_back_is_not_written(staged: StagedChanges) -> None:
    staged.write("A.md", "one", made_from="a", title="One")
    staged.write("A.md", "a", made_from="a", title="Two")
    assert not staged


def test_only_what_is_utf_8_is_read_as_text(files: FilesInMemory, staged: StagedChanges) -> None:
    files.put("Latin.md", b"caf\xe9")
    with pytest.raises(EditRefused):
        staged.read("Latin.md")
    assert staged.read_bytes("Latin.md") == b"caf\xe9"


@pytest.mark.parametrize("text", ["half \ud800", "nul \0"])
def test_text_that_no_note_can_hold_is_refused(staged: StagedChanges, text: str) -> None:
    with pytest.raises(EditRefused):
        staged.create("X.md", text, title="Create")
    with pytest.raises(EditRefused):
        staged.write("A.md", text, made_from="a", title="Write")
    assert not staged


def test_nothing_is_created_over_a_file_or_a_folder_nor_below_a_file(staged: StagedChanges) -> None:
    staged.create("New/X.md", "x", title="Create")
    for path in ("A.md", "Folder", "New", "New/X.md", "A.md/B.md", "New/X.md/Y.md"):
        with pytest.raises(VaultError):
            staged.create(path, "x", title="Create")


@pytest.mark.parametrize("target", ["Folder/Sub", "folder/Sub", "A.md", "A.md/B"])
def test_a_folder_moves_neither_into_itself_nor_onto_or_below_a_file(staged: StagedChanges, target: str) -> None:
    with pytest.raises(VaultError):
        staged.move("Folder", target, title="Move")
    assert not staged


def test_a_name_that_differs_in_case_is_taken_where_another_file_has_it(
    files: FilesInMemory, staged: StagedChanges
) -> None:
    files.put("a.md", b"another")
    with pytest.raises(VaultError):
        staged.move("A.md", "a.md", title="Move")


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
