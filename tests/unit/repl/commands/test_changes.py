import pytest

from tests.support.command_harness import CommandHarness
from zkchat.core.changes import ChangeOrigin, ChangeSet, FileMove, FileWrite


@pytest.fixture
def harness() -> CommandHarness:
    harness = CommandHarness()
    harness.exchange("What is sleep?", "Rest.")
    harness.changes.files = {"Inbox.md": b"one\n", "Old.md": b"old\n"}
    return harness


def append(harness: CommandHarness, text: str, origin: ChangeOrigin | None = None) -> None:
    before = harness.changes.files["Inbox.md"]
    write = FileWrite(path="Inbox.md", before=before, after=before + text.encode())
    harness.changes.apply(
        ChangeSet(title="Append to Inbox.md", writes=(write,)), origin or ChangeOrigin(command="note")
    )


def test_changes_lists_who_made_each_and_shows_one(harness: CommandHarness) -> None:
    assert harness.typed("/changes") == "zkchat changed nothing in this vault."
    append(harness, "two\n")
    append(harness, "three\n", ChangeOrigin(command="edit_document", session_id="s1", message_id="m2"))
    last, first, hint = harness.typed("/changes").splitlines()
    assert last.split()[0] == "2"
    assert last.endswith("Append to Inbox.md  (edit_document in this session, message 2)")
    assert first.endswith("(note)")
    assert hint == "/undo reverts the last change, /undo #2 only change 2; /undo --list 2 shows it."
    assert "+three" in harness.typed("/changes 2")
    assert harness.typed("/changes 9").startswith("There is no change 9.")
    assert harness.typed("/changes x") == "'x' is not a number. /undo --list 12 shows change 12."


def test_undo_shows_what_it_takes_back_asks_and_tells(harness: CommandHarness) -> None:
    append(harness, "two\n")
    harness.surface.says_yes = False
    refused = harness.typed("/undo")
    assert "-two" in refused
    assert refused.endswith("Nothing was undone.")
    assert harness.surface.questions == ["Undo change 1?"]
    harness.surface.says_yes = True
    assert harness.typed("/undo").endswith("Inbox.md is as it was.")
    assert harness.files["Inbox.md"] == "one\n"
    assert harness.conversation.writing.undone == [1]
    assert harness.typed("/undo").startswith("There is nothing to undo.")


@pytest.mark.parametrize(("files", "rest"), [(10, []), (12, ["… and 2 more files."])])
def test_of_a_change_of_many_files_the_first_are_told_and_the_rest_counted(
    harness: CommandHarness, files: int, rest: list[str]
) -> None:
    writes = tuple(FileWrite(path=f"{number}.md", before=None, after=b"x") for number in range(files))
    harness.changes.apply(ChangeSet(title="Import", writes=writes), ChangeOrigin(command="note"))
    told = harness.typed("/undo").partition("0.md is removed again.\n")[2].splitlines()
    assert told == [*(f"{number}.md is removed again." for number in range(1, 10)), *rest]


def test_several_changes_are_undone_the_last_first(harness: CommandHarness) -> None:
    append(harness, "two\n")
    moved = ChangeSet(title="Rename Old.md", moves=(FileMove(source="Old.md", target="New.md"),))
    harness.changes.apply(moved, ChangeOrigin(command="note rename"))
    append(harness, "three\n")
    assert harness.typed("/undo #9").startswith("There is no change 9.")
    assert harness.typed("/undo #2").endswith("Old.md is back (it was New.md).")
    assert harness.surface.questions == ["Undo change 2?"]
    harness.changes.apply(moved, ChangeOrigin(command="note rename"))
    assert harness.typed("/undo 4") == "Only the last 3 changes can be undone. See: /undo --list"
    told = harness.typed("/undo 3").splitlines()
    assert told[-3:] == ["Old.md is back (it was New.md).", "Inbox.md is as it was.", "Inbox.md is as it was."]
    assert harness.surface.questions[-1] == "Undo the last 3 changes (4, 3, 1)?"
    assert harness.files == {"Inbox.md": "one\n", "Old.md": "old\n"}
    assert harness.conversation.writing.undone == [2, 4, 3, 1]


def test_a_file_that_changed_since_stays_and_both_changes_are_shown(harness: CommandHarness) -> None:
    append(harness, "two\n")
    harness.changes.files["Inbox.md"] += b"mine\n"
    ours, _, theirs = harness.typed("/undo").partition("What changed in Inbox.md since:")
    assert "+two" in ours
    assert "+mine" in theirs
    assert "Change 1 (Append to Inbox.md) is not undone: Inbox.md changed since." in theirs
    assert not harness.surface.questions
    assert harness.files["Inbox.md"] == "one\ntwo\nmine\n"
    assert harness.conversation.writing.undone == []
