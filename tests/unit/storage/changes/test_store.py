"""Change sets over real files: applied whole or not at all, undone to the last byte."""

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.change_disk import HERE, NOON, Disk, Killed, change, move, write
from zkchat.core.changes import ChangeOrigin, ChangeSet, FileMove, FileWrite
from zkchat.core.errors import (
    FilesChanged,
    NoteNotFound,
    OutsideVault,
    StorageError,
    UsageError,
    VaultError,
    ZkchatError,
)
from zkchat.writing.changes import files
from zkchat.writing.changes.files import Place
from zkchat.writing.changes.journal import ContentChange


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path)
    yield disk
    disk.store.close()


def kill_at(disk: Disk, step: int, *steps: FileWrite | FileMove, is_done_first: bool = True) -> None:
    """Apply a change set in a process that is killed at one of its steps."""
    disk.files.stop(step, Killed(), is_done_first=is_done_first)
    with pytest.raises(Killed):
        disk.apply(*steps)


def wide_change(disk: Disk) -> ChangeSet:
    """Moves of a file, of a folder and to the trash, edits of what was moved, and a new file in a new folder."""
    disk.note("A.md", b"\xef\xbb\xbfone\r\ntwo\n", mode=0o600)
    disk.note("Old/B.md", b"[[A]]", mode=0o640)
    disk.note("Gone.md", b"gone")
    (disk.vault / "Old/empty").mkdir()
    return change(
        move("A.md", "New/Deep/A2.md"),
        move("Old", "Older"),
        move("Gone.md", ".trash/Gone.md"),
        write("New/Deep/A2.md", b"\xef\xbb\xbfone\r\ntwo\n", b"\xef\xbb\xbfone\r\nthree\n"),
        write("Older/B.md", b"[[A]]", b"[[A2]]"),
        write("Older/More/C.md", None, b"new"),
        title="Rename A",
    )


def test_a_change_set_is_applied_and_undone(disk: Disk) -> None:
    changes = wide_change(disk)
    before = disk.tree
    origin = ChangeOrigin(command="rename_document", session_id="s1", message_id="m1")
    record = disk.store.apply(changes, origin)
    assert (record.at, record.state, record.origin, record.remarks) == (NOON, "applied", origin, ())
    assert disk.contents == {
        "New/Deep/A2.md": b"\xef\xbb\xbfone\r\nthree\n",
        "Older/B.md": b"[[A2]]",
        "Older/More/C.md": b"new",
        ".trash/Gone.md": b"gone",
    }
    assert (disk.tree["New/Deep/A2.md"][1], disk.tree["Older/B.md"][1]) == (0o600, 0o640)
    assert disk.store.records() == [record]
    assert record.changes == changes
    undone = disk.store.undo(record.id)
    assert (undone.id, undone.state, undone.changes) == (record.id, "undone", changes)
    assert disk.tree == before
    assert disk.store.records() == [undone]


def test_the_journal_is_listed_from_the_latest_on(disk: Disk) -> None:
    assert disk.store.records() == []
    assert not disk.journal.exists()  # it is made with the first change
    numbers = [disk.apply(write(f"{name}.md", None, b"x"), title=name) for name in "abc"]
    assert [(each.id, each.changes.title) for each in disk.store.records()] == [*zip(numbers, "abc", strict=True)][::-1]
    assert [each.id for each in disk.store.records(limit=1)] == numbers[-1:]
    assert len(disk.store.records(since=NOON)) == 3
    assert disk.store.records(since=NOON + timedelta(seconds=1)) == []


def test_one_record_is_found_and_a_list_can_do_without_contents(disk: Disk) -> None:
    with pytest.raises(UsageError, match="no change 1"):
        disk.store.record(1)
    assert not disk.journal.exists()
    disk.note("A.md", b"a")
    number = disk.apply(write("A.md", b"a", b"b"), write("B.md", None, b"b"))
    (whole,) = disk.store.records()
    assert disk.store.record(number) == whole
    (listed,) = disk.store.records(with_contents=False)
    assert listed == replace(
        whole, changes=replace(whole.changes, writes=(write("A.md", b"", b""), write("B.md", None, b"")))
    )
    with pytest.raises(UsageError, match=f"no change {number + 1}"):
        disk.store.record(number + 1)


def test_the_last_change_in_force_that_made_a_move_is_found(disk: Disk) -> None:
    assert disk.store.last_move(move("A.md", 'é "B".md')) is None
    disk.note("A.md", b"x")
    disk.note("Other.md", b"[[A]]")
    moves = move("A.md", 'é "B".md'), move('é "B".md', "A.md")
    first = disk.apply(moves[0], write("Other.md", b"[[A]]", b"[[B]]"))
    disk.apply(moves[1])
    found = disk.store.last_move(moves[0])
    assert found is not None
    assert [(each.before, each.after) for each in found.writes] == [(b"[[A]]", b"[[B]]")]
    last = disk.apply(moves[0])
    assert disk.store.last_move(moves[0]) == next(each for each in disk.store.records() if each.id == last).changes
    disk.store.undo(last)
    assert disk.store.last_move(moves[0]) == next(each for each in disk.store.records() if each.id == first).changes
    assert disk.store.last_move(move("A.md", "B.md")) is None


def test_a_file_that_changed_is_left_and_shown_and_nothing_is_written(disk: Disk) -> None:
    disk.note("A.md", b"mine")
    disk.note("B.md", b"b")
    before = disk.tree
    with pytest.raises(FilesChanged, match=r"A\.md changed meanwhile") as raised:
        disk.apply(write("B.md", b"b", b"b2"), write("A.md", b"seen", b"wanted"), write("C.md", None, b"c"))
    (conflict,) = raised.value.conflicts
    assert (conflict.path, conflict.expected, conflict.wanted, conflict.found) == ("A.md", b"seen", b"wanted", b"mine")
    with pytest.raises(FilesChanged) as raised:
        disk.apply(write("Gone.md", b"seen", b"wanted"))
    assert raised.value.conflicts[0].found is None
    assert (disk.tree, disk.states) == (before, [])


@pytest.mark.parametrize("taken", ["file", "folder", "link to nothing"])
def test_a_new_file_never_replaces_another(disk: Disk, taken: str) -> None:
    match taken:
        case "file":
            disk.note("A.md", b"mine")
        case "folder":
            (disk.vault / "A.md").mkdir()
        case _:
            (disk.vault / "A.md").symlink_to("nowhere.md")
    with pytest.raises(VaultError, match=r"A\.md already exists"):
        disk.apply(write("A.md", None, b"new"))
    assert [file.name for file in disk.vault.iterdir()] == ["A.md"]
    assert disk.contents.get("A.md", b"mine") == b"mine"
    assert disk.states == []


def test_a_new_note_may_be_read_by_whom_the_user_allows(disk: Disk) -> None:
    before = os.umask(0o027)
    try:
        disk.apply(write("A.md", None, b"x"))
    finally:
        os.umask(before)
    assert disk.tree["A.md"] == (b"x", 0o640)


def test_a_file_system_without_hard_links_gets_the_note_too(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(Place, "_rename_by", lambda *_: False)
    disk.apply(write("A.md", None, b"x"))
    with pytest.raises(VaultError):
        disk.apply(write("A.md", None, b"y"))
    assert disk.contents == {"A.md": b"x"}


def test_where_folders_cannot_be_held_open_the_path_is_checked(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_HAS_FOLDER_HANDLES", False)
    changes = wide_change(disk)
    before = disk.tree
    disk.store.undo(disk.store.apply(changes, HERE).id)
    assert disk.tree == before
    (disk.folder / "outside").mkdir()
    (disk.vault / "linked").symlink_to(disk.folder / "outside")
    with pytest.raises(OutsideVault):
        disk.apply(write("linked/A.md", None, b"x"))
    assert [*(disk.folder / "outside").iterdir()] == []


def test_what_another_program_writes_between_the_check_and_the_writing_is_kept(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.note("A.md", b"a")
    disk.note("B.md", b"b")
    prepare = disk.files.prepare

    def prepare_and_disturb(step: ContentChange, temporary: str) -> None:
        prepare(step, temporary)
        if step.path == "B.md":
            disk.note("B.md", b"theirs")

    monkeypatch.setattr(disk.files, "prepare", prepare_and_disturb)
    with pytest.raises(FilesChanged) as raised:
        disk.apply(write("A.md", b"a", b"a2"), write("B.md", b"b", b"b2"), write("New/C.md", None, b"c"))
    assert [each.found for each in raised.value.conflicts] == [b"theirs"]
    assert (disk.contents, disk.states) == ({"A.md": b"a", "B.md": b"theirs"}, [])


@pytest.mark.parametrize("way", ["into the file", "as a new file"])
def test_what_another_program_writes_at_the_moment_of_the_rename_is_put_back(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    file = disk.note("A.md", b"a", mode=0o600)
    looked: list[str] = []
    status = Place.status
    rename = Place.rename_to

    def look_and_disturb(place: Place) -> os.stat_result | None:
        looked.append(place.name)
        if way == "as a new file" and place.name == "A.md" and looked.count("A.md") == len(looked) > 1:
            disk.note("theirs.md", b"theirs").replace(file)
        return status(place)

    def disturb_and_rename(place: Place, target: Place) -> None:
        if way == "into the file" and target.name == "A.md" and file.read_bytes() == b"a":
            file.write_bytes(b"theirs")
        rename(place, target)

    monkeypatch.setattr(Place, "_rename_by", lambda *_: False)  # as on a system without it
    monkeypatch.setattr(Place, "status", look_and_disturb)
    monkeypatch.setattr(Place, "rename_to", disturb_and_rename)
    with pytest.raises(FilesChanged) as raised:
        disk.apply(write("A.md", b"a", b"a2"))
    assert [each.found for each in raised.value.conflicts] == [b"theirs"]
    assert disk.contents == {"A.md": b"theirs"}
    if way == "into the file":
        assert disk.tree["A.md"][1] == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="names are swapped on Linux")
@pytest.mark.parametrize("saves", [("theirs",), ("1", "2", "3")])
def test_what_an_editor_saves_between_the_last_look_and_the_new_name_is_put_back(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, saves: tuple[str, ...]
) -> None:
    file = disk.note("A.md", b"a")
    swap_with, coming = Place.swap_with, [*saves]

    def save_and_swap(place: Place, other: Place) -> bool:
        if coming:
            disk.note(".saving", coming.pop(0).encode()).replace(file)
        return swap_with(place, other)

    monkeypatch.setattr(Place, "swap_with", save_and_swap)
    with pytest.raises(FilesChanged) as raised:
        disk.apply(write("A.md", b"a", b"a2"))
    assert [each.found for each in raised.value.conflicts] == [saves[-1].encode()]
    assert (disk.contents, disk.states) == ({"A.md": saves[-1].encode()}, [])


@pytest.mark.skipif(sys.platform != "linux", reason="Linux renames without a second name")
def test_what_an_editor_saves_while_a_file_is_moved_stays(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = disk.note("A.md", b"a")
    unlink, saved = Place.unlink, []

    def save_and_unlink(place: Place) -> None:
        if place.name == "A.md":
            saved.append(disk.note(".saving", b"theirs").replace(file))
        unlink(place)

    monkeypatch.setattr(Place, "unlink", save_and_unlink)
    disk.apply(move("A.md", "B.md"))
    assert disk.contents == {"B.md": b"a"} | ({"A.md": b"theirs"} if saved else {})


def test_a_file_that_stays_the_same_is_not_written(disk: Disk) -> None:
    same, other = disk.note("Same.md", b"same").stat(), disk.note("A.md", b"a").stat()
    disk.apply(write("Same.md", b"same", b"same"), write("A.md", b"a", b"b"))
    now = (disk.vault / "Same.md").stat()
    assert (now.st_ino, now.st_mtime_ns) == (same.st_ino, same.st_mtime_ns)
    assert (disk.vault / "A.md").stat().st_ino != other.st_ino
    with pytest.raises(VaultError, match="nothing to change"):
        disk.apply(write("Same.md", b"same", b"same"))


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes here")
def test_extended_attributes_are_kept(disk: Disk, tmp_path: Path) -> None:
    file = disk.note("A.md", b"a")
    try:
        os.setxattr(file, "user.colour", b"red")
    except OSError:
        pytest.skip("the disk has no extended attributes")
    number = disk.apply(write("A.md", b"a", b"b"))
    assert os.getxattr(file, "user.colour") == b"red"
    disk.store.undo(number)
    assert os.getxattr(file, "user.colour") == b"red"


def test_where_a_note_is_a_link_the_file_that_it_leads_to_is_written(disk: Disk) -> None:
    disk.note("Real/A.md", b"a")
    (disk.vault / "A.md").symlink_to("Real/A.md")
    (disk.vault / "Linked").symlink_to("Real")
    number = disk.apply(write("A.md", b"a", b"b"), write("Linked/New.md", None, b"n"))
    assert (disk.vault / "A.md").is_symlink()
    assert ((disk.vault / "Real/A.md").read_bytes(), (disk.vault / "Real/New.md").read_bytes()) == (b"b", b"n")
    disk.store.undo(number)
    assert (disk.vault / "Real/A.md").read_bytes() == b"a"
    assert not (disk.vault / "Real/New.md").exists()


def test_a_relative_link_is_not_moved_to_where_it_would_lead_elsewhere(disk: Disk) -> None:
    disk.note("A.md", b"a")
    (disk.vault / "L.md").symlink_to("A.md")
    with pytest.raises(VaultError, match=r"link to A\.md"):
        disk.apply(move("L.md", "Folder/L.md"))
    disk.apply(move("L.md", "M.md"))
    assert (disk.vault / "M.md").read_bytes() == b"a"


RESTS_ON_MOVES = {
    "moves follow each other": (
        (move("A.md", "T.md"), move("B.md", "A.md"), move("T.md", "B.md"), write("B.md", b"a", b"a2")),
        {"A.md": b"b", "B.md": b"a2"},
    ),
    "a new file in the place of a moved one": (
        (move("A.md", "C.md"), write("A.md", None, b"new")),
        {"A.md": b"new", "B.md": b"b", "C.md": b"a"},
    ),
    "folders in a folder that then moves": (
        (move("A.md", "New/A.md"), move("New", "Other/Newer"), write("Other/Newer/in/C.md", None, b"c")),
        {"B.md": b"b", "Other/Newer/A.md": b"a", "Other/Newer/in/C.md": b"c"},
    ),
}


@pytest.mark.parametrize("case", RESTS_ON_MOVES)
def test_what_rests_on_moves_is_applied_and_undone(disk: Disk, case: str) -> None:
    steps, after = RESTS_ON_MOVES[case]
    disk.note("A.md", b"a")
    disk.note("B.md", b"b")
    before = disk.tree
    number = disk.apply(*steps)
    assert disk.contents == after
    disk.store.undo(number)
    assert disk.tree == before


def test_a_new_folder_may_take_the_place_of_one_that_is_moved(disk: Disk) -> None:
    disk.note("Folder/A.md", b"a")
    before = disk.tree
    number = disk.apply(move("Folder", "Other"), write("Folder/New.md", None, b"new"))
    assert disk.contents == {"Other/A.md": b"a", "Folder/New.md": b"new"}
    after_note = disk.note("Folder/Theirs.md", b"theirs")
    after = disk.tree
    with pytest.raises(VaultError, match="Folder already exists"):
        disk.store.undo(number)
    assert (disk.tree, disk.states) == (after, ["applied"])
    after_note.unlink()
    disk.store.undo(number)
    assert disk.tree == before


@pytest.mark.parametrize(
    ("source", "target", "kind", "said"),
    [
        ("Missing.md", "B.md", NoteNotFound, "no file Missing.md"),
        ("A.md", "Taken.md", VaultError, "Taken.md already exists"),
        ("Folder", "Folder/Inner/Folder", VaultError, "into itself"),
        ("A.md", "Taken.md/A.md", VaultError, "Taken.md"),
        ("A.md", ".trash/in/A.md", VaultError, "not a name"),
        ("A.md", ".trash/../A.md", OutsideVault, "leads out"),
        ("A.md", "/etc/new.md", OutsideVault, r"'/etc/new\.md' leads out"),
        ("A.md", "Private/A.md", VaultError, "not a name"),
        (".trash/T.md", "T.md", VaultError, "not a name"),
    ],
)
def test_a_move_that_cannot_be_made_is_refused(
    disk: Disk, source: str, target: str, kind: type[ZkchatError], said: str
) -> None:
    for path in ("A.md", "Taken.md", "Folder/F.md", ".trash/T.md"):
        disk.note(path, path.encode())
    before = disk.tree
    with pytest.raises(kind, match=said):
        disk.apply(move(source, target))
    assert (disk.tree, disk.states) == (before, [])


@pytest.mark.parametrize("there", [None, b"of somebody else"])
def test_a_trashed_file_comes_from_the_journal_where_the_trash_has_lost_it(disk: Disk, there: bytes | None) -> None:
    content = b"\xef\xbb\xbfone\r\ntwo\xff"
    disk.note("In/A.md", content)
    disk.note("In/B.md", b"b")
    number = disk.apply(move("In/B.md", ".trash/B.md"), move("In/A.md", "Out/A2.md"), move("Out/A2.md", ".trash/A2.md"))
    (disk.vault / ".trash/A2.md").unlink()
    (disk.vault / "In").rmdir()
    if there is not None:
        disk.note(".trash/A2.md", there)
    disk.restart()
    disk.store.undo(number)
    others = {} if there is None else {".trash/A2.md": there}
    assert disk.contents == {"In/A.md": content, "In/B.md": b"b", **others}
    assert (disk.vault / "Out").exists() is False
    assert disk.states == ["undone"]


def test_what_is_too_large_for_the_journal_or_a_folder_is_lost_with_the_trash(disk: Disk) -> None:
    disk.note("Folder/A.md", b"a")
    disk.note("Large.pdf", b"x" * 1_000_001)
    numbers = [disk.apply(move(name, f".trash/{name}")) for name in ("Folder", "Large.pdf")]
    (disk.vault / ".trash/Folder").rename(disk.vault / "Elsewhere")
    with pytest.raises(FilesChanged, match=r"\.trash/Folder is no longer there, and zkchat has no copy of it"):
        disk.store.undo(numbers[0])
    disk.store.undo(numbers[1])
    assert {*disk.contents} == {"Elsewhere/A.md", "Large.pdf"}


def test_what_was_undone_cannot_be_undone_again(disk: Disk) -> None:
    number = disk.apply(write("A.md", None, b"a"))
    disk.store.undo(number)
    with pytest.raises(UsageError, match="was undone already"):
        disk.store.undo(number)
    with pytest.raises(UsageError, match="no change 77"):
        disk.store.undo(77)


def test_nothing_is_undone_where_a_file_changed_since(disk: Disk) -> None:
    disk.note("A.md", b"a")
    number = disk.apply(write("A.md", b"a", b"b"), write("New.md", None, b"n"))
    disk.note("A.md", b"theirs")
    before = disk.tree
    with pytest.raises(FilesChanged) as raised:
        disk.store.undo(number)
    (conflict,) = raised.value.conflicts
    assert (conflict.expected, conflict.wanted, conflict.found) == (b"b", b"a", b"theirs")
    assert (disk.tree, disk.states) == (before, ["applied"])
    disk.note("A.md", b"b")
    (disk.vault / "New.md").unlink()
    with pytest.raises(FilesChanged, match=r"New\.md changed"):
        disk.store.undo(number)


def test_a_moved_file_goes_back_with_what_was_edited_since_and_with_its_folder(disk: Disk) -> None:
    disk.note("Old/Deep/A.md", b"a")
    number = disk.apply(move("Old/Deep/A.md", "New/A.md"))
    disk.note("New/A.md", b"edited")
    shutil.rmtree(disk.vault / "Old")
    disk.store.undo(number)
    assert disk.contents == {"Old/Deep/A.md": b"edited"}
    assert not (disk.vault / "New").exists()


def test_a_file_that_cannot_go_back_stays(disk: Disk) -> None:
    disk.note("A.md", b"a")
    disk.note("T.md", b"t")
    moved, trashed = disk.apply(move("A.md", "B.md")), disk.apply(move("T.md", ".trash/T.md"))
    disk.note("A.md", b"another")
    disk.note("T.md", b"newer")
    (disk.vault / ".trash/T.md").unlink()  # what the journal has of it takes nobody's place
    for number, path in ((moved, "A.md"), (trashed, "T.md")):
        with pytest.raises(FilesChanged, match=f"{path} already exists"):
            disk.store.undo(number)
    assert disk.contents == {"A.md": b"another", "T.md": b"newer", "B.md": b"a"}
    (disk.vault / "A.md").unlink()
    (disk.vault / "B.md").unlink()
    with pytest.raises(FilesChanged, match=r"B\.md is no longer there"):
        disk.store.undo(moved)
    assert disk.states == ["applied", "applied"]


@pytest.mark.parametrize(
    ("later", "named"),
    [
        (change(write("A.md", b"2", b"3")), True),
        (change(move("A.md", "B.md")), True),
        (change(move("Folder", "Other")), True),
        (change(write("Other.md", b"o", b"o2")), False),
        (change(write("New/Second.md", None, b"x")), False),
    ],
)
def test_a_change_that_others_rest_on_is_undone_after_them(disk: Disk, later: ChangeSet, named: bool) -> None:
    disk.note("A.md", b"1")
    disk.note("Other.md", b"o")
    disk.note("Folder/F.md", b"f")
    first = disk.apply(write("A.md", b"1", b"2"), write("Folder/F.md", b"f", b"f2"), write("New/First.md", None, b"n"))
    second = disk.store.apply(later, HERE).id
    if named:
        before = disk.tree
        with pytest.raises(FilesChanged, match=f"change {second} .* same files"):
            disk.store.undo(first)
        assert disk.tree == before
        disk.store.undo(second)
    disk.store.undo(first)
    if not named:
        disk.store.undo(second)
    assert disk.contents == {"A.md": b"1", "Other.md": b"o", "Folder/F.md": b"f"}


def stopped_at_each_step(disk: Disk, act: Callable[[], object], error: BaseException, *, is_done_first: bool) -> int:
    """How often a change or an undo was stopped, once at each of its steps; all was as before each time."""
    as_before = disk.tree, disk.states
    for number in range(1, 100):
        files = disk.files
        files.stop(number, error, is_done_first=is_done_first)
        try:
            act()
        except (StorageError, Killed):
            if isinstance(error, Killed):
                disk.restart()
            assert (disk.tree, disk.states) == as_before
        if files.steps < number:
            return number - 1
    raise AssertionError


@pytest.mark.parametrize("is_done_first", [False, True])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), Killed()], ids=["fails", "is killed"])
def test_whichever_step_fails_or_is_killed_all_is_as_before(
    disk: Disk, error: BaseException, is_done_first: bool
) -> None:
    changes = wide_change(disk)
    before = disk.tree
    made = stopped_at_each_step(disk, lambda: disk.store.apply(changes, HERE), error, is_done_first=is_done_first)
    assert made > 10
    assert disk.tree != before
    (record,) = disk.store.records()
    undone = stopped_at_each_step(disk, lambda: disk.store.undo(record.id), error, is_done_first=is_done_first)
    assert undone > 6
    assert (disk.tree, disk.states) == (before, ["undone"])
    if isinstance(error, Killed):
        said = (("A change", made), ("The undo of a change", undone))
        assert disk.notices == [
            f"{what} was interrupted and has been undone: Rename A." for what, times in said for _ in range(times)
        ]


def test_whichever_step_a_restoring_undo_dies_at_the_next_start_leaves_all_as_before(disk: Disk) -> None:
    changes = wide_change(disk)
    disk.note("Last.md", b"last")
    number = disk.store.apply(replace(changes, moves=(*changes.moves, move("Last.md", ".trash/Last.md"))), HERE).id
    (disk.vault / ".trash/Gone.md").unlink()
    assert stopped_at_each_step(disk, lambda: disk.store.undo(number), Killed(), is_done_first=True) > 6
    assert disk.states == ["undone"]
    assert (disk.contents["Gone.md"], disk.contents["Last.md"]) == (b"gone", b"last")


def test_what_cannot_be_taken_back_now_is_taken_back_by_the_next_start(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.note("A.md", b"a")
    disk.note("B.md", b"b")
    failing: list[str] = []
    put = disk.files.put

    def fail_from_the_second_on(step: ContentChange, temporary: str) -> None:
        failing.append(step.path)
        if len(failing) > 1:
            raise OSError(5, "Input/output error")
        put(step, temporary)

    monkeypatch.setattr(disk.files, "put", fail_from_the_second_on)
    with pytest.raises(StorageError, match=r"could not be written.*could not be undone.*could not be written"):
        disk.apply(write("A.md", b"a", b"a2"), write("B.md", b"b", b"b2"))
    assert disk.contents != {"A.md": b"a", "B.md": b"b"}
    disk.restart()
    assert disk.contents == {"A.md": b"a", "B.md": b"b"}
    assert (len(disk.notices), disk.states) == (1, [])


def test_temporary_files_beside_what_links_lead_to_are_removed_too(disk: Disk) -> None:
    disk.note("Real/A.md", b"a")
    disk.note("Other/B.md", b"b")
    (disk.vault / "A.md").symlink_to("Real/A.md")
    (disk.vault / "B.md").symlink_to("Other/B.md")
    before = disk.tree
    kill_at(disk, 3, write("A.md", b"a", b"a2"), write("B.md", b"b", b"b2"), is_done_first=False)
    assert disk.tree != before
    disk.restart()
    assert disk.tree == before


def test_a_path_that_is_excluded_since_the_crash_is_left_and_named(disk: Disk) -> None:
    disk.note("A.md", b"a")
    disk.note("B.md", b"b")
    kill_at(disk, 5, move("B.md", "C.md"), write("A.md", b"a", b"a2"), write("N.md", None, b"n"), is_done_first=False)
    disk.store.close()
    disk.exclude = ["C.md"]
    disk.start()
    disk.store.recover()
    assert len(disk.notices) == 1
    assert "C.md was not moved back to B.md: 'C.md' is not a name for a note." in disk.notices[0]
    assert disk.contents == {"A.md": b"a", "C.md": b"b"}


def test_what_cannot_be_read_now_is_taken_back_by_the_next_change(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.note("A.md", b"a")
    kill_at(disk, 2, write("A.md", b"a", b"a2"))
    disk.store.close()
    disk.start()

    def refuse(_parts: list[str]) -> int:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(disk.files, "_open_without_links", refuse)
        with pytest.raises(StorageError, match=r"A\.md cannot be read"):
            disk.store.recover()
    disk.apply(write("B.md", None, b"b"))
    assert disk.contents == {"A.md": b"a", "B.md": b"b"}
    assert len(disk.notices) == 1


def test_a_read_only_note_is_not_written_but_may_be_moved(disk: Disk) -> None:
    disk.note("A.md", b"a", mode=0o444)
    before = disk.tree
    with pytest.raises(VaultError, match=r"A\.md is read-only"):
        disk.apply(write("A.md", b"a", b"b"))
    assert disk.tree == before
    disk.store.undo(disk.apply(move("A.md", "B.md")))
    assert disk.tree == before


def test_a_file_that_somebody_changed_after_the_crash_is_left_and_named(disk: Disk) -> None:
    disk.note("A.md", b"a")
    disk.note("B.md", b"b")
    kill_at(disk, 4, write("A.md", b"a", b"a2"), write("B.md", b"b", b"b2"))
    disk.note("A.md", b"theirs")
    disk.restart()
    assert disk.contents == {"A.md": b"theirs", "B.md": b"b"}
    assert disk.notices == [
        "A change was interrupted and has been undone, except for 1 file: Change.\nA.md was changed by another "
        "program, so it was left alone."
    ]


RENAMED = (
    "A change was interrupted and has been completed: Rename Center.\n"
    "Mitte.md could not be moved back: Center.md exists again.\n"
)
REST = "The change was made to all other files and the links in them; zkchat undo --list shows it."


def interrupted_rename(disk: Disk, *, at: int) -> dict[str, bytes]:
    """Kill a rename at one of its steps: the move, five files that are prepared, five that are put. Returns what the
    vault holds when it is done."""
    disk.note("Center.md", b"the note")
    for number in range(5):
        disk.note(f"{number}.md", b"[[Center]]")
    disk.files.stop(at, Killed(), is_done_first=True)
    with pytest.raises(Killed):
        disk.apply(
            move("Center.md", "Mitte.md"),
            *(write(f"{number}.md", b"[[Center]]", b"[[Mitte]]") for number in range(5)),
            title="Rename Center",
        )
    return {"Mitte.md": b"the note", **{f"{number}.md": b"[[Mitte]]" for number in range(5)}}


@pytest.mark.parametrize("at", [3, 8])
def test_a_rename_whose_old_name_was_taken_after_the_crash_is_completed_and_can_be_undone(disk: Disk, at: int) -> None:
    done = interrupted_rename(disk, at=at)
    disk.note("Center.md", b"another")
    disk.restart()
    assert disk.contents == {**done, "Center.md": b"another"}
    assert (disk.notices, disk.states) == ([RENAMED + REST], ["applied"])
    (record,) = disk.store.records()
    with pytest.raises(VaultError, match=r"Center\.md"):
        disk.store.undo(record.id)
    (disk.vault / "Center.md").unlink()
    disk.store.undo(record.id)
    assert disk.contents == {"Center.md": b"the note", **{f"{number}.md": b"[[Center]]" for number in range(5)}}


def test_a_note_that_was_changed_too_is_left_and_named_when_a_rename_is_completed(disk: Disk) -> None:
    done = interrupted_rename(disk, at=8)
    disk.note("Center.md", b"another")
    disk.note("3.md", b"[[Center]] is theirs")
    disk.restart()
    assert disk.contents == {**done, "Center.md": b"another", "3.md": b"[[Center]] is theirs"}
    assert disk.notices == [f"{RENAMED}3.md was changed by another program, so it was left alone.\n{REST}"]


def test_a_crash_while_a_rename_is_completed_is_no_end(disk: Disk) -> None:
    done = interrupted_rename(disk, at=3)
    disk.note("Center.md", b"another")
    disk.store.close()
    disk.start()
    disk.files.stop(7, Killed(), is_done_first=True)
    with pytest.raises(Killed):
        disk.store.recover()
    disk.restart()
    assert disk.contents == {**done, "Center.md": b"another"}


def test_a_folder_that_somebody_made_anew_keeps_the_moved_one_where_it_is(disk: Disk) -> None:
    disk.note("Old/A.md", b"[[B]]")
    disk.note("B.md", b"[[Old/A]]")
    kill_at(
        disk, 3, move("Old", "New"), write("B.md", b"[[Old/A]]", b"[[New/A]]"), write("New/A.md", b"[[B]]", b"[[b]]")
    )
    disk.note("Old/A.md", b"saved by an editor")
    disk.restart()
    assert disk.contents == {"Old/A.md": b"saved by an editor", "New/A.md": b"[[b]]", "B.md": b"[[New/A]]"}
    assert "New could not be moved back: Old exists again." in disk.notices[0]


def test_where_it_cannot_be_told_whether_a_file_was_moved_both_are_left_and_named(disk: Disk) -> None:
    disk.note("A.md", b"a")
    kill_at(disk, 1, move("A.md", "B.md"))
    disk.note("A.md", b"another")
    disk.restart()
    assert disk.contents == {"A.md": b"another", "B.md": b"a"}
    assert disk.notices == [
        "A change was interrupted and has been undone, except for 1 file: Change.\nA.md and B.md both exist, "
        "and were not changed."
    ]


def test_of_many_files_that_were_changed_after_a_crash_ten_are_named(disk: Disk) -> None:
    writes = [write(f"{number}.md", b"old", b"new") for number in range(12)]
    for each in writes:
        disk.note(each.path, b"old")
    kill_at(disk, 20, *writes)
    for each in writes:
        disk.note(each.path, b"theirs")
    disk.restart()
    first, *named, rest = disk.notices[0].split("\n")
    assert first == "A change was interrupted and has been undone, except for 12 files: Change."
    assert (len(named), rest) == (10, "… and 2 more.")
