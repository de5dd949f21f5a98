"""Slash commands that need a real terminal: an editor, the clipboard, single keys and the text of the prompt."""

import base64
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support.ptys import Child
from tests.support.waiting import DEADLINE
from tests.support.world import World

PROMPT = "you ›"
ANSWERS = ["Seven hours, says [[Sleep]].", "Eight hours."]
EDITOR = """#!/bin/sh
for file; do echo "$file" >> "$0.arguments"; done
sed -i s/What/That/ "$file"
"""
"""It writes down what it is called with, and changes a word of the file."""


class Chat:
    """`zkchat chat` in a small vault, with a model that counts hours."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.note("Sleep.md", "# Sleep\n\nAdults need seven hours of sleep.\n\nBut [[Coffee]] and [[Nowhere]].\n")
        world.note("Coffee.md", "# Coffee\n\nCoffee keeps people awake. #drink\n")
        world.note("Long.md", "".join(f"Paragraph {number}.\n\n" for number in range(1, 60)) + "## Zebra\n\nStripes.\n")
        self.editor = world.root / "vim"
        self.editor.write_text(EDITOR)
        self.editor.chmod(0o755)
        model = world.script(*[[{"text": text}] for text in ANSWERS])
        unset = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "CI", "VISUAL"), "")
        self.terminal = Child(
            sys.executable,
            ["-m", "zkchat", "chat", "--vault", str(world.vault), "--model", model],
            env={
                **os.environ,
                **unset,
                "HOME": str(world.home),
                "TERM": "xterm-256color",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "EDITOR": str(self.editor),
            },
            dimensions=(24, 80),
            encoding="utf-8",
            timeout=DEADLINE,
        )
        self.terminal.expect(PROMPT)

    def say(self, line: str, *expected: str) -> str:
        """Type a line and wait for what is to be seen, in order, and for the next prompt; returns all of it."""
        self.terminal.send(f"{line}\r")
        return self.see(*expected, PROMPT)

    def see(self, *expected: str) -> str:
        seen = ""
        for text in expected:
            self.terminal.expect_exact(text)
            seen += (self.terminal.before or "") + text
        return seen

    def messages(self) -> list[str]:
        """The texts of the conversation as it stands, of the session used last."""
        shown = self.world.run("context", "export").json["messages"]
        return [message["content"] for message in shown]


@pytest.fixture
def chat(world: World) -> Iterator[Chat]:
    chat = Chat(world)
    chat.say("Tell me of [[Sleep]]", "Seven hours")
    yield chat
    chat.terminal.send("/quit\r")
    chat.terminal.expect(pexpect.EOF)
    chat.terminal.close()
    assert chat.terminal.exitstatus == 0


def test_an_answer_is_copied_saved_undone_and_exported_after_a_yes(chat: Chat) -> None:
    chat.say("/sources", "Referenced Documents", "[[Sleep]]")
    (copied,) = re.findall(r"\x1b\]52;c;([\w+/=]*)\x07", chat.say("/copy", "characters to the clipboard"))
    assert base64.b64decode(copied).decode() == ANSWERS[0]
    chat.say("/check", "1.", "Seven hours, says", "is in your notes", "/show N reads entry N")
    chat.terminal.send("/save [[Kept]] \r")
    chat.see("Save the answer as Kept.md? [y/N]")
    chat.terminal.send("y")
    chat.see("Saved as Kept.md.", PROMPT)
    assert "> Tell me of [[Sleep]]\n\nSeven hours" in (chat.world.vault / "Kept.md").read_text()
    chat.terminal.send("/undo\r")
    chat.see("Create Kept.md", "Undo change 1? [y/N]")
    chat.terminal.send("y")
    chat.see("Kept.md is removed again.")
    assert not (chat.world.vault / "Kept.md").exists()
    before = {*chat.world.vault.iterdir()}
    chat.terminal.send("/export\r")
    chat.see("Save the conversation as", "[y/N]")
    chat.say("n", "Nothing was saved. To choose the name: /export NAME")
    assert {*chat.world.vault.iterdir()} == before
    chat.terminal.send("/export talk.json\r")
    chat.see("Save the conversation as talk.json? [y/N]")
    chat.terminal.send("y")
    chat.see("Saved as talk.json.", PROMPT)
    assert len(json.loads((chat.world.vault / "talk.json").read_text())["messages"]) == 2


def test_notes_are_found_read_opened_linked_and_renamed_and_nothing_of_it_is_said(chat: Chat) -> None:
    chat.say("/search stripes", "1.", "Long › Zebra", "Long.md:121", "Stripes", "/show N reads entry N, /open N opens")
    chat.say("/open 1", "Opened Long.md:121 in vim.")
    assert Path(f"{chat.editor}.arguments").read_text().splitlines() == ["+121", str(chat.world.vault / "Long.md")]
    assert "Paragraph 20." not in chat.say("/show [[Long]] ", "Paragraph 1.", "/show more continues")
    chat.say("/show more", "Paragraph 10.", "/show more continues")
    naps = chat.world.note("Naps.md", "Long sleep, short sleep; coffee first.\n")
    chat.terminal.send("/link\r")
    chat.see("Naps.md:1", "Link it?")
    chat.terminal.send("n")
    chat.see("[[Sleep|sleep]]", "a all 2 here")
    chat.terminal.send("a")
    chat.see("[[Coffee|coffee]]", "Link it?")
    chat.terminal.send("q")
    chat.see("2 mentions linked in 1 note.", "/undo reverts it.", PROMPT)
    assert naps.read_text() == "Long [[Sleep|sleep]], short [[Sleep|sleep]]; coffee first.\n"
    chat.terminal.send("/rename Naps.md Short sleep\r")
    chat.see("Rename Naps.md to Short sleep.md?")
    chat.terminal.send("y")
    chat.see("Rename Naps.md to Short sleep.md: done. /undo reverts it.", PROMPT)
    assert not naps.exists()
    assert chat.messages() == ["Tell me of [[Sleep]]", ANSWERS[0]]


def test_a_message_is_edited_in_the_prompt_and_the_page_of_the_vault_in_the_editor(chat: Chat) -> None:
    chat.say("/edit", "replaces message 1")
    chat.see("Tell me of [[Sleep]]")
    chat.say(" now", "Eight hours")
    assert chat.messages() == ["Tell me of [[Sleep]] now", "Eight hours."]
    chat.terminal.send("/memory\r")
    chat.see("ZKCHAT.md, a note in your vault for what the model should always know")
    chat.say("y", "ZKCHAT.md is sent with every message")
    assert (chat.world.vault / "ZKCHAT.md").read_text().startswith("That everyone")
