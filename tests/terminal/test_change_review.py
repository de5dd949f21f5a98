"""Changes that a model proposes, reviewed with single keys at a real terminal."""

import termios
from typing import Any

import pytest

from tests.support.ptys import Terminal
from tests.support.world import World

pytestmark = pytest.mark.outside

SAYS = {"text": "I propose it."}


def edit(old: str, new: str) -> dict[str, Any]:
    return {"tool": "edit_document", "arguments": {"relative_path": "Sleep.md", "old": old, "new": new}}


def test_one_key_answers_and_nothing_that_was_typed_before_does(world: World) -> None:
    note = world.note("Sleep.md", "Seven hours.\n")
    editor = world.root / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/Eight/Nine/ "$1"\n')
    editor.chmod(0o755)
    model = world.script(
        [edit("Seven", "Eight")],
        [{"delay": 0.5}, SAYS],
        [
            edit("Seven", "Eight"),
            {"tool": "create_document", "arguments": {"relative_path": "Tea.md", "text": "tea\n" * 99}},
        ],
        [SAYS],
        [{"text": "You declined it, then edited it."}],
    )
    with Terminal(world, "--model", model, "--write", width=70, height=60, variables={"EDITOR": str(editor)}) as chat:
        chat.wait_for_prompt()
        assert chat.rows[-1].rstrip().endswith("· write") or "write" in chat.text
        chat.type("First\r")
        chat.wait_for('edit "Sleep.md"')
        chat.type("y")  # while it answers: that is for the next prompt, not for the question
        chat.wait_for("Sleep.md: changed, +1 -1", "Apply?")
        chat.type("\x1b[A")
        chat.paste("yes")
        chat.type("?")
        chat.wait_for("n  apply nothing (also Ctrl-C and Esc)")
        chat.type("\x03")
        chat.wait_for("Not applied: Edit Sleep.md.")
        assert note.read_text() == "Seven hours.\n"
        chat.wait_until(lambda: chat.rows[chat.cursor_row] == "you › y", "what was typed ahead")
        assert "Stopped" not in chat.text
        chat.type("\x7fSecond\r")
        chat.wait_for("2  Tea.md: new file, 99 lines")
        chat.type("d")
        chat.wait_for("… press d for more")
        chat.type("e")
        chat.wait_for("Edit which file (1-2)?")
        chat.type("1\r")
        chat.wait_for("1 + Nine hours.")
        chat.type("d")  # from the beginning of the diff that there is now
        chat.wait_until(lambda: chat.written.count("… press d for more") == 2, "its first page")
        chat.type("2")
        chat.wait_for("Change 2 is left out: Create Tea.md")
        chat.type("d")
        chat.wait_for("2  left out: Create Tea.md")
        chat.type("y")
        chat.wait_for("Applied with your edits: Edit Sleep.md. /undo reverts it.")
        assert note.read_text() == "Nine hours.\n"
        assert not (world.vault / "Tea.md").exists()
        chat.wait_for_prompt()
        chat.type("And?\r")
        chat.wait_for("You declined it, then edited it.")
        chat.wait_for_prompt()
        chat.type("\x04")
        assert chat.finish() == 0
        assert chat.modes_at_end & termios.ECHO
        assert chat.modes_at_end & termios.ISIG
    told = world.run("context", "show", "--request", "--json").json["messages"][-1]["text"]
    assert "were applied as the user edited them" in told
    assert "-Eight hours.\n+Nine hours." in told
    assert "left out: Tea.md" in told
