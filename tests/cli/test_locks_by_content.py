"""A model edits notes as it was given them, also from one turn to the next."""

from typing import Any

from tests.support.world import World

TEA = "# Tea\n\nGreen.\n\n## Brewing\n\nHot.\n"


def call(tool: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"tool": tool, "arguments": arguments}]


def say(text: str) -> list[dict[str, Any]]:
    return [{"text": text}]


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
