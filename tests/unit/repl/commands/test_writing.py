"""/write in memory: what is in force, and what became of the last proposal."""

import pytest
from msgspec.structs import replace

from tests.support.command_harness import CommandHarness
from zkchat.core.choices import WriteMode
from zkchat.core.session import ChangesEntry
from zkchat.writing.proposals import Proposals, ReviewPolicy
from zkchat.writing.staging import StagedChanges


@pytest.fixture
def harness() -> CommandHarness:
    harness = CommandHarness()
    harness.exchange("What is sleep?", "Rest.")
    return harness


def allow(harness: CommandHarness, *accepted: str, mode: WriteMode = "ask", agreed: tuple[str, ...] = ()) -> str:
    """What `/write on` says."""
    harness.conversation.writing.proposals = Proposals(
        staged=StagedChanges(harness.changes),
        store=harness.changes,
        policy=ReviewPolicy(mode=mode, accept=accepted),
        always=set(agreed),
    )
    return harness.typed("/write on")


def test_the_status_lists_the_mode_and_the_folders_that_need_no_question(harness: CommandHarness) -> None:
    said = allow(harness, "Inbox", "Journal/**", agreed=("Projects", ""))
    assert said == harness.typed("/write")
    assert "and decide (write.mode is ask)." in said
    assert "Folders where you are not asked first (write.accept): Inbox, Journal/**" in said
    assert "Also in this session, because you answered “a”: the top folder, Projects" in said
    assert "Folders where you are not asked first (write.accept): none" in allow(harness)
    said = allow(harness, "Inbox", mode="propose", agreed=("Projects",))
    assert "never applied (write.mode is propose)." in said
    assert "Inbox" not in said, "where proposals are only shown, no folder counts"
    assert "The model cannot change your notes." in harness.typed("/write off")


def test_a_proposal_that_was_undone_is_still_the_last_one(harness: CommandHarness) -> None:
    last = harness.conversation.messages[-1].id
    applied = ChangesEntry(message_id=last, decision="applied", title="Add a line", record=3, diff="+x\n")
    harness.conversation.append(applied)
    assert "Last proposal, applied: Add a line." in harness.typed("/write")
    harness.conversation.append(replace(applied, decision="undone", diff=""))
    assert "Last proposal, applied, and undone since: Add a line." in harness.typed("/write")
    assert harness.typed("/write diff").strip() == "+x"
