import pytest

from tests.support.changes import Answering, yes
from tests.support.world import World
from zkchat.cli import note_changes
from zkchat.core.changes import ChangeSet
from zkchat.writing.proposals import Verdict

NOTES = {
    "a/Tea.md": "# Tea\n\nSee [[../Water]].\n",
    "Water.md": "[[tea]], [[a/Tea|Tea]] and [brewed](a/Tea.md#Tea 'Tea').\r\n`[[Tea]]`",
    "b/Green tea.md": "[[Tea]]",
}


def test_links_follow_a_rename_and_come_back_with_it(world: World) -> None:
    for path, text in NOTES.items():
        world.note(path, text)
    assert world.run("note", "rename", "Tea", "Black tea", "--yes").code == 0
    assert (world.vault / "Water.md").read_bytes().decode() == (
        "[[Black tea]], [[a/Black tea|Tea]] and [brewed](a/Black%20tea.md#Tea 'Tea').\r\n`[[Tea]]`"
    )
    assert world.run("note", "move", "Black tea", "b", "--yes").code == 0
    assert world.run("note", "rename", "b/", "c", "--yes").code == 0
    assert (world.vault / "c/Black tea.md").read_text() == NOTES["a/Tea.md"]
    back = ("rename", "Black", "tea", "to", "[[Tea]]")
    for command in (("rename", "c/", "to", "b"), ("move", "Black tea", "a"), back):
        assert world.run("note", *command, "--yes").code == 0
    assert {path: (world.vault / path).read_bytes().decode() for path in NOTES} == NOTES


def test_links_that_are_written_while_the_question_stands_follow_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(changes: ChangeSet) -> Verdict:
        world.note("Water.md", "[[Tea]]\n" + NOTES["Water.md"])
        world.note("New.md", "[[Tea]]\n")
        return yes(changes)

    for path, text in NOTES.items():
        world.note(path, text)
    reviewer = Answering(meanwhile, yes)
    monkeypatch.setattr(note_changes, "reviewer_of", lambda *_: reviewer)
    assert world.run("note", "rename", "Tea", "Coffee").code == 0
    assert (world.vault / "New.md").read_text() == "[[Coffee]]\n"
    assert (world.vault / "Water.md").read_text().startswith("[[Coffee]]\n[[Coffee]], [[a/Coffee|Tea]]")
    assert len(reviewer.asked) == 2
    assert reviewer.remarks[-1] == "2 links added in the meantime: changed too."
    assert world.run("undo", "--yes").code == 0
    assert (world.vault / "New.md").read_text() == "[[Tea]]\n"
