import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from tests.support.changeable_files import FilesInMemory
from tests.support.libraries import Located, library_of
from zkchat.core.errors import EditRefused, NoteNotFound, OutsideVault, VaultError
from zkchat.index.daily_notes import DailyNoteSettings
from zkchat.index.library import Library
from zkchat.writing.editor import NoteEditor
from zkchat.writing.staging import StagedChanges
from zkchat.writing.targets import VaultConventions

NOW = datetime(2026, 2, 28, 20, 5, tzinfo=UTC)
"""Where the user is, it is five past nine on the next day."""
NOTES = {
    "Coffee.md": "# Coffee\n\nBeans and water.\n",
    "Inbox/Later.md": "- one\r\n- two",
    "A/Twin.md": "first\n",
    "B/Twin.md": "second\n",
    "Reading/Sleep.md": "---\naliases: [Rest]\n---\nSleep well.\n",
    "v1.x/Old.md": "old\n",
}


@pytest.fixture(autouse=True)
def in_auckland(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class Desk:
    """An editor over a small vault, and what it staged."""

    def __init__(self, library: Library, notes: dict[str, str], conventions: VaultConventions) -> None:
        self.staged = StagedChanges(FilesInMemory(notes))
        self.editor = NoteEditor(library, self.staged, conventions, lambda: NOW)

    @property
    def written(self) -> dict[str, str]:
        return {write.path: write.after.decode() for write in self.staged.change_set().writes}


@contextmanager
def open_desk(
    folder: Path, conventions: VaultConventions, notes: dict[str, str], model: Located | None = None
) -> Iterator[Desk]:
    with library_of(folder, notes) as library:
        yield Desk(library.guarded_for(model) if model else library, notes, conventions)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path, VaultConventions(new_note_folder="Inbox"), NOTES) as desk:
        yield desk


def test_a_new_note_has_the_path_that_was_meant(desk: Desk) -> None:
    for named, folder, path in (
        ("Tea", "", "Inbox/Tea.md"),
        ("Tea.md", "Reading", "Reading/Tea.md"),
        ("[[Tea]]", "", "Inbox/Tea.md"),
        ("reading/Tea", "", "Reading/Tea.md"),
        ("New/Deep/Tea", "", "New/Deep/Tea.md"),
        ("v2.0", "", "Inbox/v2.0.md"),
    ):
        assert desk.editor.create(named, "x\n", folder).path == path
        desk.staged.clear()


def test_of_two_folders_that_differ_in_case_the_one_that_was_named_is_meant(tmp_path: Path) -> None:
    with open_desk(tmp_path, VaultConventions(), {"Box/A.md": "", "box/B.md": ""}) as desk:
        for path in [row.path for row in desk.editor.library.files()]:  # one folder, where the disk ignores case
            assert desk.editor.move("Box/A.md", path[:3] + "/Deep").path == path[:3] + "/Deep/A.md"
            desk.staged.clear()


ODD_NAMES = ("What?", "a|b", "x#y", ".hidden", "dot.", "CON", "nul.md", "a" * 260, "  ", "a//b", "a\tb", "", "Bad:/x")


def test_no_note_is_created_over_another_outside_or_under_a_name_that_none_should_have(desk: Desk) -> None:
    for named in ("Reading/Sleep", "reading/SLEEP.md", "Reading/Sleep.md"):
        with pytest.raises(EditRefused, match=r"Reading/Sleep\.md already exists"):
            desk.editor.create(named, "x")
    for named in ODD_NAMES:
        with pytest.raises(EditRefused):
            desk.editor.create(named, "x")
    for named in ("../x", "/etc/x", "~/x", "a/../../x", "C:\\x", "\\\\host\\x"):
        with pytest.raises(OutsideVault):
            desk.editor.create(named, "x")
    assert not desk.staged


def test_a_target_is_found_by_path_link_and_alias_and_else_refused_with_the_closest(desk: Desk) -> None:
    for target in ("Reading/Sleep.md", "Reading/Sleep", "Sleep", "[[Sleep]]", "[[Sleep#x|y]]", "Rest"):
        assert desk.editor.append(target, target).path == "Reading/Sleep.md"
    with pytest.raises(NoteNotFound) as refusal:
        desk.editor.append("Cofee", "x")
    assert "[[Coffee]]" in refusal.value.hint


def test_of_many_notes_that_are_meant_or_would_lose_links_the_first_are_named(tmp_path: Path) -> None:
    notes = {f"{number:02}/Twin.md": "" for number in range(11)}
    with open_desk(tmp_path, VaultConventions(), notes) as desk, pytest.raises(EditRefused) as refusal:
        desk.editor.append("Twin", "x")
    assert refusal.value.message.count("Twin.md") == 10


DAILY = VaultConventions(daily=DailyNoteSettings(folder="Days", format="YYYY-MM-DD", template="Templates/Day"))
TEMPLATE = "# {{title}}\n{{date:dddd}} {{time}}\n\n## Log\n"


def test_todays_note_is_created_from_its_template(tmp_path: Path) -> None:
    with open_desk(tmp_path, DAILY, {"Templates/Day.md": TEMPLATE}) as desk:
        assert desk.editor.append_daily("- tea").path == "Days/2026-03-01.md"
        desk.editor.append_daily("- cake")
        assert desk.written == {"Days/2026-03-01.md": "# 2026-03-01\nSunday 09:05\n\n## Log\n- tea\n- cake\n"}


def test_a_template_with_code_is_refused_and_nothing_is_created(tmp_path: Path) -> None:
    with open_desk(tmp_path, DAILY, {"Templates/Day.md": "<% tp.date.now() %>\n"}) as desk:
        with pytest.raises(EditRefused, match="Templater"):
            desk.editor.append_daily("- tea")
        assert not desk.staged


TEMPLATES = VaultConventions(template_folders=("Templates/",), date_format="DD.MM.YYYY")


@pytest.mark.parametrize("named", ["[[Meeting]]", "Templates/Meeting"])
def test_a_note_is_created_from_a_template(tmp_path: Path, named: str) -> None:
    notes = {"Templates/Meeting.md": "---\ndate: {{date}}\n---\n# {{ Title }} {{VALUE}}\n", "Note.md": "x"}
    with open_desk(tmp_path, TEMPLATES, notes) as desk:
        made = desk.editor.create_from_template(named, "Work/Monday")
        assert made.remarks == ("Template placeholders not filled in: {{VALUE}}.",)
        assert desk.written == {"Work/Monday.md": "---\ndate: 01.03.2026\n---\n# Monday {{VALUE}}\n"}
        with pytest.raises(EditRefused, match="not a template"):
            desk.editor.create_from_template("Note", "Tuesday")
        with pytest.raises(NoteNotFound) as missing:
            desk.editor.create_from_template("Nowhere", "Tuesday")
        assert missing.value.hint == "Templates in Templates/: Meeting."


PRIVATE = {"Open.md": "open\n", "Secret.md": "---\nzkchat: local\n---\nQuoll\n", "Link.md": "[[Open]] [[Secret]]"}


def test_a_hidden_note_does_not_exist_for_a_model_elsewhere(tmp_path: Path) -> None:
    with open_desk(tmp_path, VaultConventions(), PRIVATE, Located(on_this_machine=False)) as desk:
        for target in ("Secret", "Secret.md", "[[Secret]]"):
            with pytest.raises(NoteNotFound):
                desk.editor.append(target, "x")
            with pytest.raises(NoteNotFound):
                desk.editor.delete(target)
        assert not desk.staged
        assert desk.editor.create("secret", "x").title == "Create secret.md"
        reason = "secret.md cannot be made: Secret.md already exists, and is private."
        assert desk.staged.refusals == {"Secret.md": reason}


def moves(desk: Desk) -> list[tuple[str, str]]:
    return [(move.source, move.target) for move in desk.staged.change_set().moves]


def test_a_file_or_folder_is_renamed(desk: Desk) -> None:
    for target, new, path in (
        ("Sleep", "Night", "Reading/Night.md"),
        ("Sleep", "[[Night]]", "Reading/Night.md"),
        ("Sleep", "Inbox/Night.md", "Inbox/Night.md"),
        ("Sleep", "sleep", "Reading/sleep.md"),
        ("Reading/Sleep.md", "v2.0", "Reading/v2.0.md"),
        ("A/", "C", "C"),
        ("v1.x/", "v2", "v2"),
    ):
        assert desk.editor.rename(target, new).path == path
        assert [each for _, each in moves(desk)] == [path]
        desk.staged.clear()


def test_a_note_is_moved_with_the_links_to_it(tmp_path: Path) -> None:
    with open_desk(tmp_path, VaultConventions(), {**NOTES, "Link.md": "See [[Reading/Sleep|rest]].\n"}) as desk:
        moved = desk.editor.move("Sleep", "inbox")
        assert moved.path == "Inbox/Sleep.md"
        assert moved.follow == "The links in 1 other note are changed too."
        assert moves(desk) == [("Reading/Sleep.md", "Inbox/Sleep.md")]
        assert desk.written == {"Link.md": "See [[Inbox/Sleep|rest]].\n"}
        assert desk.editor.move("Sleep", "/").path == "Sleep.md"


def test_an_odd_name_that_is_there_can_be_moved_and_is_kept(tmp_path: Path) -> None:
    with open_desk(tmp_path, VaultConventions(), {"What now?.md": "x", "pic #1.png": "y", "A/B.md": "z"}) as desk:
        assert desk.editor.move("What now?.md", "A").path == "A/What now?.md"
        assert desk.editor.move("pic #1.png", "A").path == "A/pic #1.png"
        with pytest.raises(EditRefused):
            desk.editor.rename("A/What now?.md", "Why?")


def test_one_alias_makes_a_list_and_a_link_of_a_note_to_itself_is_not_missed(tmp_path: Path) -> None:
    with open_desk(tmp_path, VaultConventions(), {"Loop.md": "[[Loop]]\n"}) as desk:
        desk.editor.set_property("Loop", "aliases", "Ring")
        assert desk.written["Loop.md"] == "---\naliases:\n  - Ring\n---\n[[Loop]]\n"
        assert desk.editor.delete("Loop").remarks == ()


def test_a_name_that_is_taken_or_bad_is_refused(desk: Desk) -> None:
    for new in ("A/Twin", "a/twin.md", "../x", "a:b", "", "Twin"):
        with pytest.raises(VaultError):
            desk.editor.rename("B/Twin.md", new)
    assert not desk.staged


def test_links_of_hidden_notes_follow_without_being_named(tmp_path: Path) -> None:
    notes = {**PRIVATE, "Secret.md": "---\nzkchat: local\n---\n[[Open]] Quoll\n"}
    with open_desk(tmp_path, VaultConventions(), notes, Located(on_this_machine=False)) as desk:
        assert desk.editor.rename("Open", "Public").follow == "The links in 1 other note are changed too."
        assert desk.written["Secret.md"] == "---\nzkchat: local\n---\n[[Public]] Quoll\n"


def test_a_new_note_that_would_take_over_links_is_refused_to_a_model(tmp_path: Path) -> None:
    with open_desk(tmp_path, VaultConventions(), {"Reference/Sleep.md": "", "A.md": "[[Sleep]]"}) as desk:
        library, staged = desk.editor.library, desk.staged
        editor = NoteEditor(library, staged, VaultConventions(), lambda: NOW, for_model=True)
        for create in (editor.create, partial(desk.editor.create, may_take_over=False)):
            with pytest.raises(EditRefused, match=r"links that now lead to Reference/Sleep\.md"):
                create("Sleep", "text")
        assert not staged.change_set()
        assert editor.create("Sleep well", "text").remarks == ()
