"""Which notes of a proposal are kept from its model, so that nothing but the user's yes applies it."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.libraries import Located
from tests.support.world import World
from zkchat.app.conversation_core import WritingOptions
from zkchat.app.library import open_note_library
from zkchat.app.workspace import UNATTENDED, load_workspace
from zkchat.app.writing import ProposalParts, open_change_store
from zkchat.chat.tools.readings import Readings
from zkchat.core.changes import ChangeSet, FileMove, FileWrite

LOCAL = b"---\nzkchat: local\n---\nmine\n"
NEVER = b"---\nzkchat: never\n---\nmine\n"


def wrote(path: str, before: bytes | None, after: bytes) -> ChangeSet:
    return ChangeSet(title="Edit", writes=(FileWrite(path=path, before=before, after=after),))


def moved(source: str, target: str) -> ChangeSet:
    return ChangeSet(title="Move", moves=(FileMove(source=source, target=target),))


@pytest.mark.parametrize("is_here", [True, False])
def test_a_note_that_is_was_or_will_be_private_is_kept_from_a_model_elsewhere(tmp_path: Path, is_here: bool) -> None:
    world = World(tmp_path, variables={"ZKCHAT_PRIVACY__LOCAL_ONLY": '["Diary"]'})
    world.note("Open.md", "open\n")
    world.note("Local.md", LOCAL)
    world.note("Never.md", NEVER)
    world.note("Diary/Day.md", "day\n")
    workspace = load_workspace(world.environment(), world.vault)
    with ExitStack() as stack:
        library, _ = stack.enter_context(open_note_library(workspace))
        library.refresh()
        model = Located(is_here)
        store = stack.enter_context(open_change_store(workspace, library))
        parts = ProposalParts(store, workspace, model, UNATTENDED, WritingOptions())
        guarded = library.overlaid(parts.staged).guarded_for(model)
        proposals = parts.proposals(guarded, Readings(guarded))

        def is_withheld(changes: ChangeSet, path: str) -> bool:
            return proposals.is_withheld(changes, path)

        assert not proposals.is_on
        assert not is_withheld(wrote("Open.md", b"open\n", b"changed\n"), "Open.md")
        for changes, path in [
            (wrote("Local.md", LOCAL, LOCAL + b"x\n"), "Local.md"),
            (wrote("Local.md", LOCAL, b"mine\n"), "Local.md"),
            (wrote("New.md", None, LOCAL), "New.md"),
            (wrote("Diary/New.md", None, b"new\n"), "Diary/New.md"),
            (moved("Local.md", "Other.md"), "Other.md"),
            (moved("Open.md", "Diary/Open.md"), "Diary/Open.md"),
        ]:
            assert is_withheld(changes, path) != is_here
        assert is_withheld(wrote("Never.md", NEVER, NEVER + b"x\n"), "Never.md")
        assert is_withheld(wrote("New.md", None, NEVER), "New.md")
