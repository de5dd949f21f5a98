from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.changeable_files import FilesInMemory
from tests.support.libraries import library_of
from zkchat.errors import EditRefused, NoteNotFound, OutsideVault
from zkchat.writing.conventions import VaultConventions
from zkchat.writing.editor import NoteEditor
from zkchat.writing.staging import StagedChanges

NOTES = {
    "Coffee.md": "# Coffee\n\nBeans and water.\n",
    "Inbox/Later.md": "- one\r\n- two",
    "A/Twin.md": "first\n",
    "B/Twin.md": "second\n",
    "Reading/Sleep.md": "---\naliases: [Rest]\n---\nSleep well.\n",
}


class Desk:
    """An editor over a small vault, and what it staged."""

    def __init__(self, folder: Path, conventions: VaultConventions) -> None:
        self._library = library_of(folder, NOTES)
        self.staged = StagedChanges(FilesInMemory(NOTES))
        self.editor = NoteEditor(
            self._library.__enter__(), self.staged, conventions, lambda: datetime(2026, 3, 1, tzinfo=UTC)
        )

    def close(self) -> None:
        self._library.__exit__(None, None, None)

    @property
    def written(self) -> dict[str, str]:
        return {write.path: write.after.decode() for write in self.staged.change_set().writes}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path, VaultConventions(new_note_folder="Inbox"))
    yield desk
    desk.close()


def test_a_new_note_by_title_goes_to_the_folder_of_new_notes(desk: Desk) -> None:
    assert desk.editor.create("Tea", "# Tea\n").path == "Inbox/Tea.md"
    assert desk.written == {"Inbox/Tea.md": "# Tea\n"}


@pytest.mark.parametrize(
    ("named", "folder", "path"),
    [
        ("Reading/Tea", "", "Reading/Tea.md"),
        ("Tea.md", "Reading", "Reading/Tea.md"),
        ("[[Tea]]", "", "Inbox/Tea.md"),
        ("reading/Tea", "", "Reading/Tea.md"),
        ("New/Deep/Tea", "", "New/Deep/Tea.md"),
        ("v2.0", "", "Inbox/v2.0.md"),
    ],
)
def test_a_new_note_has_the_path_that_was_meant(desk: Desk, named: str, folder: str, path: str) -> None:
    assert desk.editor.create(named, "x\n", folder).path == path


@pytest.mark.parametrize("named", ["Reading/Sleep", "reading/SLEEP.md", "Reading/Sleep.md"])
def test_no_note_is_created_over_another(desk: Desk, named: str) -> None:
    with pytest.raises(EditRefused, match=r"Reading/Sleep\.md is there already"):
        desk.editor.create(named, "x")
    assert not desk.staged


@pytest.mark.parametrize(
    "named", ["What?", "a|b", "x#y", ".hidden", "dot.", "CON", "nul.md", "a" * 260, "  ", "a//b", "a\tb", "", "Bad:/x"]
)
def test_names_that_no_note_should_have_are_refused(desk: Desk, named: str) -> None:
    with pytest.raises(EditRefused):
        desk.editor.create(named, "x")


@pytest.mark.parametrize("named", ["../x", "/etc/x", "~/x", "a/../../x", "C:\\x", "\\\\host\\x"])
def test_no_new_note_lies_outside(desk: Desk, named: str) -> None:
    with pytest.raises(OutsideVault):
        desk.editor.create(named, "x")


def test_lines_are_appended_as_the_note_ends_its_own(desk: Desk) -> None:
    desk.editor.append("Inbox/Later.md", "- three\n")
    desk.editor.append("Coffee", "Milk.")
    assert desk.written["Inbox/Later.md"] == "- one\r\n- two\r\n- three"
    assert desk.written["Coffee.md"] == "# Coffee\n\nBeans and water.\nMilk.\n"


def test_a_target_is_found_by_path_link_and_alias(desk: Desk) -> None:
    for target in ("Reading/Sleep.md", "Reading/Sleep", "Sleep", "[[Sleep]]", "[[Sleep#x|y]]", "Rest"):
        assert desk.editor.append(target, target).path == "Reading/Sleep.md"


def test_a_target_that_may_mean_several_notes_is_refused_with_them(desk: Desk) -> None:
    with pytest.raises(EditRefused, match=r"A/Twin.md, B/Twin.md"):
        desk.editor.append("Twin", "x")
    assert desk.editor.append("B/Twin.md", "x").path == "B/Twin.md"


def test_a_target_that_is_not_there_is_refused_with_the_closest(desk: Desk) -> None:
    with pytest.raises(NoteNotFound) as refusal:
        desk.editor.append("Cofee", "x")
    assert "[[Coffee]]" in refusal.value.hint


def test_edits_of_one_note_are_one_write(desk: Desk) -> None:
    desk.editor.edit("Coffee", "Beans", "Good beans")
    desk.editor.append("Coffee", "Milk.")
    assert desk.written == {"Coffee.md": "# Coffee\n\nGood beans and water.\nMilk.\n"}


def test_a_new_note_can_be_edited(desk: Desk) -> None:
    desk.editor.create("Tea", "# Tea\n")
    desk.editor.append("Inbox/Tea.md", "Leaves.")
    assert desk.written == {"Inbox/Tea.md": "# Tea\nLeaves.\n"}


def test_what_changes_nothing_is_refused(desk: Desk) -> None:
    with pytest.raises(EditRefused, match="nothing would change"):
        desk.editor.edit("Coffee", "Beans", "Beans")


def test_a_deleted_note_is_gone_for_what_follows(desk: Desk) -> None:
    desk.editor.delete("Coffee")
    with pytest.raises(NoteNotFound):
        desk.editor.append("Coffee", "x")
