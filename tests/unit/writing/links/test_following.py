"""Links that were written while the question about a rename stood."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.changes import Answering, no, yes
from tests.support.libraries import Located
from tests.support.world import World
from zkchat.app.conversation_core import WritingOptions
from zkchat.app.library import open_note_library
from zkchat.app.workspace import UNATTENDED, load_workspace
from zkchat.app.writing import ProposalParts, open_change_store
from zkchat.chat.tools.readings import Readings
from zkchat.core.changes import ChangeOrigin, ChangeSet
from zkchat.writing.links.renames import stage_move
from zkchat.writing.proposals import ReviewPolicy, Verdict
from zkchat.writing.targets import LinkStyle

Meanwhile = Callable[[World], object]
NOTES = {"Hub.md": "# Hub\n", "A.md": "one [[Hub]]\n\ntwo\n\nthree\n", "B.md": "two [[Hub|x]]\n", "Out.md": "nothing\n"}


def rename(folder: Path, meanwhile: Meanwhile, *answers: Any, edit: str = "", **policy: Any) -> tuple[Any, ...]:
    """Rename Hub to Centre; while the first question stands, or before the yes is acted on, somebody else writes."""
    world = World(folder)
    for path, text in NOTES.items():
        world.note(path, text)
    workspace = load_workspace(world.environment(), world.vault)
    first, *others = answers or (yes,)

    def answered_late(changes: ChangeSet) -> Verdict:
        meanwhile(world)
        verdict: Verdict = first(changes)
        return verdict

    reviewer = Answering(answered_late, *others)
    with ExitStack() as stack:
        library, _ = stack.enter_context(open_note_library(workspace))
        library.refresh()
        model = Located(on_this_machine=False)
        store = stack.enter_context(open_change_store(workspace, library))
        parts = ProposalParts(store, workspace, model, UNATTENDED, WritingOptions())
        guarded = library.overlaid(parts.staged).guarded_for(model)
        proposals = parts.proposals(guarded, Readings(guarded))
        proposals.reviewer, proposals.policy = reviewer, ReviewPolicy(**policy)
        stage_move(library, parts.staged, "Hub.md", "Centre.md", LinkStyle())
        if edit:
            before = parts.staged.read("A.md") or ""
            parts.staged.write("A.md", before + edit, made_from=before, title="Append to A.md")
        if policy:
            meanwhile(world)
        outcome = proposals.settle(ChangeOrigin())
    assert outcome
    return world, reviewer, outcome


def text(world: World, path: str) -> str:
    return (world.vault / path).read_text()


def test_nothing_more_is_said_where_nothing_was_written(tmp_path: Path) -> None:
    world, reviewer, outcome = rename(tmp_path, lambda _: None)
    assert (outcome.decision, outcome.reason, len(reviewer.asked)) == ("applied", "", 1)
    assert text(world, "A.md") == "one [[Centre]]\n\ntwo\n\nthree\n"


def test_links_in_notes_that_were_not_shown_follow_after_another_yes(tmp_path: Path) -> None:
    def meanwhile(world: World) -> None:
        for path in ("New.md", "Out.md"):
            world.note(path, "[[Hub]] and [[Hub#Hub|h]]\n")

    world, reviewer, outcome = rename(tmp_path, meanwhile, yes, yes)
    for path in ("New.md", "Out.md"):
        assert text(world, path) == "[[Centre]] and [[Centre#Hub|h]]\n"
        assert [path in {write.path for write in asked.writes} for asked in reviewer.asked] == [False, True]
    assert reviewer.remarks == ["Also changed: 4 links added in the meantime."]
    assert (outcome.decision, outcome.edited, outcome.proposed) == ("applied", False, outcome.changes)


def test_a_no_to_the_second_question_leaves_everything_as_it_was(tmp_path: Path) -> None:
    world, _, outcome = rename(tmp_path, lambda world: world.note("New.md", "[[Hub]]\n"), yes, no)
    assert outcome.decision == "declined"
    assert text(world, "B.md") == NOTES["B.md"]
    assert (world.vault / "Hub.md").exists()


@pytest.mark.parametrize("edit", ["", "\nmore\n"])
def test_a_link_added_to_a_note_of_the_set_follows_without_another_question(tmp_path: Path, edit: str) -> None:
    def meanwhile(world: World) -> None:
        world.note("A.md", NOTES["A.md"].replace("one", "[[Hub]] first\n\none"))

    world, reviewer, outcome = rename(tmp_path, meanwhile, edit=edit)
    assert text(world, "A.md") == "[[Centre]] first\n\none [[Centre]]\n\ntwo\n\nthree\n" + edit
    assert len(reviewer.asked) == 1
    assert outcome.reason == (
        "Changed meanwhile: A.md. The proposal was adapted to the new text. Also changed: 1 link added in the meantime."
    )


def test_where_the_same_place_was_changed_nothing_is_written(tmp_path: Path) -> None:
    def meanwhile(world: World) -> None:
        world.note("A.md", NOTES["A.md"].replace("three", "four"))

    world, reviewer, outcome = rename(tmp_path, meanwhile, edit="\nmore\n")
    assert outcome.decision == "kept"
    assert "A.md" in outcome.reason
    assert [write.path for write in reviewer.shown[0].writes] == ["A.md"]
    assert (world.vault / "Hub.md").exists()


def test_a_yes_beforehand_holds_for_links_that_are_written_meanwhile(tmp_path: Path) -> None:
    world, _, outcome = rename(tmp_path, lambda world: world.note("New.md", "[[Hub]]\n"), assumes_yes=True)
    assert text(world, "New.md") == "[[Centre]]\n"
    assert outcome.reason == "Also changed: 1 link added in the meantime."


def test_a_note_that_the_user_left_out_stays_left_out(tmp_path: Path) -> None:
    def without_b(changes: ChangeSet) -> Verdict:
        writes = tuple(write for write in changes.writes if write.path != "B.md")
        return Verdict(answer="yes", changes=ChangeSet(title=changes.title, moves=changes.moves, writes=writes))

    world, _, outcome = rename(tmp_path, lambda _: None, without_b)
    assert outcome.decision == "applied"
    assert text(world, "B.md") == NOTES["B.md"]


def test_where_the_note_is_gone_the_reason_is_said(tmp_path: Path) -> None:
    _, _, outcome = rename(tmp_path, lambda world: (world.vault / "Hub.md").unlink())
    assert outcome.decision == "kept"
    assert "There is no file Hub.md" in outcome.reason
