"""`zkchat changes` and `zkchat undo`: what zkchat changed, and the way back."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode

INBOX = "# Inbox\n\n- One\n"


@pytest.fixture
def garden(world: World) -> World:
    world.note("Inbox.md", INBOX)
    world.note("Plants/Compost.md", "# Compost\n\nSee [[Inbox]].")
    return world


def append(world: World, text: str, name: str = "Inbox") -> int:
    number: int = world.run("note", "append", name, text, "--yes", "--json").json["id"]
    return number


def test_undo_restores_the_last_change_and_tells_it(garden: World) -> None:
    before = garden.files
    append(garden, "- Two")
    undone = garden.run("undo", "--yes")
    assert (undone.code, undone.out) == (0, "Inbox.md is as it was.\n")
    assert garden.files == before
    again = garden.run("undo", "--yes")
    assert (again.code, again.out) == (ExitCode.USAGE, "")
    assert "There is nothing to undo" in again.err


def test_several_changes_are_undone_from_the_last_to_the_first(garden: World) -> None:
    before = garden.files
    for text in ("- Two", "- Three", "- Four"):
        append(garden, text)
    garden.run("note", "new", "Fresh", "text", "--yes")
    garden.run("note", "trash", "Compost", "--yes")
    too_many = garden.run("undo", "6", "--yes")
    assert (too_many.code, too_many.out) == (ExitCode.USAGE, "")
    undone = garden.run("undo", "2", "--yes")
    assert undone.out == "Plants/Compost.md is back from the trash.\nFresh.md is removed again.\n"
    assert garden.run("undo", "3", "--yes", "--json").json["undone"][0]["title"] == "Append to Inbox.md"
    assert garden.files == before


def test_undo_shows_what_it_would_do_and_asks(garden: World) -> None:
    append(garden, "- Two")
    changed = garden.files
    for typed in ("n\n", "\n"):
        no = garden.run("undo", typed=typed, terminal=True)
        assert no.code == ExitCode.USAGE
        for said in ("Undo change 1? [y/N]", "Append to Inbox.md", "- Two"):
            assert said in no.err
    piped = garden.run("undo", stdin="y\n")
    assert piped.code == ExitCode.USAGE
    assert "--yes" in piped.err
    dry = garden.run("undo", "--dry-run", stdin="")
    assert dry.code == 0
    assert "-- Two" in dry.out
    (row,) = garden.run("undo", "--dry-run", "--json", stdin="").json["would_undo"]
    assert "-- Two" in row["diff"]
    assert garden.files == changed
    assert garden.run("undo", typed="y\n", terminal=True).code == 0
    assert (garden.vault / "Inbox.md").read_text() == INBOX


def test_a_file_that_changed_since_is_left_and_both_changes_are_shown(garden: World) -> None:
    append(garden, "- Two")
    garden.note("Inbox.md", INBOX + "- Two\n- Mine\n")
    for options in (["--dry-run"], []):
        unasked = garden.run("undo", *options, typed="y\n")
        assert (unasked.code, "Undo change" in unasked.err) == (ExitCode.VAULT, False)
    refused = garden.run("undo", "--yes")
    assert refused.code == ExitCode.VAULT
    assert (garden.vault / "Inbox.md").read_text() == INBOX + "- Two\n- Mine\n"
    ours, _, theirs = refused.err.partition("What changed in Inbox.md since:")
    assert "+- Two" in ours
    assert "+- Mine" in theirs
    assert "+- Two" not in theirs
    assert "(Append to Inbox.md) is not undone: Inbox.md changed since." in refused.err
    assert len(refused.err.partition("zkchat: ")[2].splitlines()) == 2, "a way out"
    (garden.vault / "Inbox.md").unlink()
    assert "Inbox.md no longer exists." in garden.run("undo", "--yes").err


def test_several_changes_are_checked_before_the_first_is_undone(garden: World) -> None:
    first = append(garden, "- Two")
    append(garden, "More.", "Compost")
    garden.run("note", "new", "Fresh", "text", "--yes")
    garden.note("Inbox.md", INBOX + "- Two\n- Mine\n")
    before = garden.files
    for option in ("--yes", "--dry-run"):
        refused = garden.run("undo", "3", option)
        assert (refused.code, refused.out, garden.files) == (ExitCode.VAULT, "", before)
        assert f"None of the 3 changes was undone. Change {first} (Append to Inbox.md) is not undone" in refused.err
        assert "To undo only later changes: zkchat undo 2" in refused.err
    assert garden.run("undo", "2", "--yes").code == 0
    append(garden, "More.", "Compost")
    garden.note("Plants/Compost.md", "Mine.")
    stuck = garden.run("undo", "--yes")
    assert (f"zkchat undo --id {first}" in stuck.err, "None of" in stuck.err) == (True, False), "the way on"


def test_a_change_that_was_taken_back_by_other_means_counts_as_undone(garden: World) -> None:
    first = append(garden, "More.", "Compost")
    taken_back = append(garden, "- Two")
    garden.note("Inbox.md", INBOX)
    assert "-More." in garden.run("undo", "--dry-run").out
    undone = garden.run("undo", "--yes")
    assert undone.out == "Plants/Compost.md is as it was.\n"
    assert f"Change {taken_back} (Append to Inbox.md) had already been reverted" in undone.err
    rows = garden.run("changes", "--json").json
    assert [(row["id"], row["state"]) for row in rows] == [(taken_back, "undone"), (first, "undone")]


def test_one_change_is_undone_by_its_number(garden: World) -> None:
    first = append(garden, "- Two")
    second = append(garden, "More.", "Compost")
    assert garden.run("undo", "--id", str(first), "--yes").out == "Inbox.md is as it was.\n"
    again = garden.run("undo", "--id", str(first), "--yes")
    assert (again.code, "undone already" in again.err) == (ExitCode.USAGE, True)
    assert garden.run("undo", "--id", "999", "--yes").code == ExitCode.USAGE
    third = append(garden, "Even more.", "Compost")
    append(garden, "Most.", "Compost")
    below = garden.run("undo", "--id", str(second), "--yes")
    assert below.code == ExitCode.VAULT
    assert f"zkchat undo --id {third}" in below.err


def test_what_undo_takes_is_told(garden: World) -> None:
    append(garden, "- Two")
    for arguments in (["abc"], ["0"], ["9" * 30], ["#"], ["--id", "x"], ["1", "--id", "1"]):
        refused = garden.run("undo", *arguments, "--yes")
        assert (refused.code, refused.out) == (ExitCode.USAGE, "")
        assert "zkchat undo 3 reverts the last three changes, zkchat undo --id 3 only change 3." in refused.err
    assert garden.run("undo", "#1", "--yes").out == "Inbox.md is as it was.\n"


def test_changes_lists_what_was_changed_by_which_command(garden: World) -> None:
    assert "nothing" in garden.run("changes").err
    first = append(garden, "- Two")
    garden.run("note", "new", "Fresh", "text", "--yes")
    garden.run("undo", "--yes")
    newest, oldest = garden.run("changes").out.splitlines()
    assert newest.endswith("Create Fresh.md  (note new, undone)")
    assert oldest.split()[0] == str(first)
    assert oldest.endswith("Append to Inbox.md  (note append)")
    assert garden.run("changes", "--limit", "1").out.splitlines() == [newest]
    row = garden.run("changes", "--json").json[1]
    assert datetime.now(UTC) - datetime.fromisoformat(row.pop("at")) < timedelta(hours=1)
    assert row == {
        "id": first,
        "state": "applied",
        "title": "Append to Inbox.md",
        "command": "note append",
        "session": None,
        "message": None,
        "files": [{"path": "Inbox.md", "action": "edited", "moved_from": None, "edited": True}],
    }


def test_changes_of_a_time_and_of_a_note(garden: World) -> None:
    append(garden, "- Two")
    append(garden, "More.", "Compost")
    garden.run("note", "trash", "Compost", "--yes")
    assert garden.run("changes", "--since", "2999-01-01").out == ""
    soon = garden.run("changes", "--since", "soon")
    assert (soon.code, "yesterday" in soon.err) == (ExitCode.USAGE, True), "with the forms that are taken"
    assert len(garden.run("changes", "--since", "yesterday", "--json").json) == 3
    assert len(garden.run("changes", "--since", "2020-01-01", "--json").json) == 3
    (only,) = garden.run("changes", "Inbox", "--json").json
    assert only["title"] == "Append to Inbox.md"
    assert len(garden.run("changes", "Plants/Compost.md", "--json").json) == 2, "by the path of a note that is gone"
    assert len(garden.run("changes", "Plants/Compost.md", "--limit", "1", "--json").json) == 1
    assert "+- Two" in garden.run("changes", "Inbox", "--diff").out
    assert "+- Two" in garden.run("changes", "Inbox", "--diff", "--json").json[0]["diff"]


def test_changes_of_a_note_that_has_none_or_that_nobody_knows(garden: World) -> None:
    unchanged = garden.run("changes", "Compost")
    assert (unchanged.code, unchanged.err) == (0, "zkchat changed nothing in Compost.\n")
    unknown = garden.run("changes", "Compots")
    assert (unknown.code, unknown.out) == (ExitCode.VAULT, "")
    assert "There is no note 'Compots' in the vault, and zkchat changed none of that name." in unknown.err
    assert "[[Compost]]" in unknown.err
    append(garden, "More.", "Compost")
    garden.run("note", "trash", "Compost", "--yes")
    for name in ("Compost", "[[Compost]]", "Plants/Compost", "Compost.md"):
        assert len(garden.run("changes", name, "--json").json) == 2, "by the name of a note that is gone"
    later = garden.run("changes", "Compost", "--since", "2999-01-01")
    assert (later.code, later.err) == (0, "zkchat changed nothing in Compost since then.\n")


def test_one_change_is_shown_by_its_number(garden: World) -> None:
    first = append(garden, "- Two")
    append(garden, "- Three")
    shown = garden.run("changes", "--id", str(first)).out
    assert "+- Two" in shown
    assert "Three" not in shown
    (row,) = garden.run("changes", "--id", str(first), "--json").json
    assert (row["id"], "+- Two" in row["diff"]) == (first, True)
    assert garden.run("changes", "--id", "77").code == ExitCode.USAGE
    assert garden.run("changes", "Inbox", "--id", str(first)).code == ExitCode.USAGE


def test_a_change_of_a_model_names_the_message_that_proposed_it(garden: World) -> None:
    arguments = {"relative_path": "New.md", "text": "new"}
    model = garden.script([{"tool": "create_document", "arguments": arguments}], [{"text": "I propose a note."}])
    assert garden.run("ask", "Make a note", "--write", "--yes", "--model", model).code == 0
    (row,) = garden.run("changes", "--json").json
    shown = garden.run("sessions", "show", row["session"], "--json").json["messages"]
    number = [each["id"] for each in shown].index(row["message"]) + 1
    assert garden.run("changes").out.endswith(f"(create_document in “Make a note”, message {number})\n")
