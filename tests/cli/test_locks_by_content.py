"""A model edits notes as it was given them: over a turn, from one turn to the next, and in a resumed session."""

from typing import Any

from tests.support.world import World
from zkchat.app import stores
from zkchat.core.message import ToolResultPart
from zkchat.core.session_history import History

TEA = "# Tea\n\nGreen.\n\n## Brewing\n\nHot.\n"


def call(tool: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"tool": tool, "arguments": arguments}]


def say(text: str) -> list[dict[str, Any]]:
    return [{"text": text}]


def results(world: World) -> list[ToolResultPart]:
    """What the tools answered in the last session."""
    with stores.open_sessions(world.environment(), world.vault) as store:
        thread = History(store.entries(store.sessions()[0].id)).thread
    return [part for message in thread for part in message.parts if isinstance(part, ToolResultPart)]


REPLACE = call("edit_section", relative_path="Tea", section="Brewing", text="Cold.", position="replace")


def test_a_refused_call_is_made_again_and_a_changed_note_read_again(world: World) -> None:
    world.note("Tea.md", TEA)
    edit = call("edit_document", relative_path="Tea", old="Green.", new="Black.")
    read = call("read_document", relative_path="Tea")
    model = world.script(REPLACE, REPLACE, read, edit, read, say("Proposed."))
    ran = world.run("ask", "Change it.", "--write", "--yes", "--model", model)
    assert ran.code == 0, ran.err
    refused, proposed, first, _, second = results(world)
    assert refused.failed
    assert not proposed.failed
    assert "Cold." in first.text
    assert "Green." in first.text
    assert "Black." in second.text
    assert (world.vault / "Tea.md").read_text() == TEA.replace("Hot.", "Cold.").replace("Green.", "Black.")


def test_a_note_that_changed_between_turns_is_not_replaced_unseen(world: World) -> None:
    world.note("Tea.md", TEA)
    delete = call("delete_document", relative_path="Tea")
    model = world.script(say("I see."), delete, say("I did not."), delete, delete, say("Proposed."))
    assert world.run("ask", "What is [[Tea]]?", "--model", model).code == 0
    world.note("Tea.md", TEA.replace("Hot.", "Very hot."))
    refused = world.run("ask", "Delete it.", "--write", "--yes", "--continue", "--model", model)
    assert refused.code == 0, refused.err
    assert (world.vault / "Tea.md").exists()
    done = world.run("ask", "Delete it.", "--write", "--yes", "--continue", "--model", model)
    assert done.code == 0, done.err
    assert (world.vault / ".trash" / "Tea.md").read_text() == TEA.replace("Hot.", "Very hot.")
